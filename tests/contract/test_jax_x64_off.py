"""JAX with 64-bit dtypes disabled, its default: in a separate process, because the switch is global."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("jax", exc_type=ImportError)

PROGRAM = """
import jax, numpy as np, xarrayops as xo

x = xo.zeros(3, backend="jax")
assert (str(x.dtype), str(xo.arange(3, backend="jax").dtype)) == ("float32", "int32"), "the library's own defaults"
assert xo.add(x, 1.5).dtype == x.dtype

REFUSED = {
    "zeros": lambda: xo.zeros(3, dtype="float64", backend="jax"),
    "like": lambda: xo.ones(3, dtype="int64", like=x),
    "native": lambda: xo.zeros(3, dtype=np.dtype("float64"), like=x),
    "astype": lambda: xo.astype(x, "float64"),
    "sum": lambda: xo.sum(x, dtype="float64"),
    "asarray": lambda: xo.asarray([1.0], dtype="complex128", like=x),
    "convert": lambda: xo.convert(np.zeros(3), "jax"),
    "convert integers": lambda: xo.convert(np.zeros(3, dtype="uint64"), "jax"),
    "asarray of an array": lambda: xo.asarray(np.zeros(3), backend="jax"),
}
for what, use in REFUSED.items():
    try:
        use()
    except (xo.Unsupported, xo.ExchangeError) as error:
        message = str(error)
        assert "jax_enable_x64" in message, (what, "does not name the switch", message)
        assert "32" in message or "complex64" in message, (what, "does not name a 32-bit dtype", message)
    else:
        raise SystemExit(f"{what}: 64 bits were narrowed without an error")

TOO_LARGE = {
    "arange": lambda: xo.arange(2**40, 2**40 + 3, backend="jax"),
    "arange beyond the end": lambda: xo.arange(2**31 - 1, 2**31 + 2, backend="jax"),
    "full": lambda: xo.full(2, 2**31, like=x),
    "asarray": lambda: xo.asarray(-(2**40), like=x),
    "asarray of a list": lambda: xo.asarray([1, 2**40], like=x),
}
for what, use in TOO_LARGE.items():
    try:
        use()
    except OverflowError as error:
        assert "does not fit into int32" in str(error), (what, error)
    else:
        raise SystemExit(f"{what}: an integer wrapped")
assert xo.arange(2**31 - 2, 2**31, backend="jax").tolist() == [2**31 - 2, 2**31 - 1]
assert "float32" in str(xo.convert(np.zeros(3, dtype="float32"), "jax").dtype)
"""


def test_64_bit_dtypes_raise() -> None:
    environment = {**os.environ, "JAX_ENABLE_X64": "0"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
