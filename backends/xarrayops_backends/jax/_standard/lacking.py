"""Functions that XLA lacks on a platform, and those that end its compiler."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib.util import find_spec
from typing import Any

import jax.numpy as jnp

from xarrayops.errors import Unsupported
from xarrayops.plugin import Gap, KnownBad
from xarrayops_backends.jax._devices import _platform_of
from xarrayops_backends.jax._dtypes import _CONFIG

_ON_CPU = "on the CPU: xo.to_device(x, 'cpu')"
_NO_EIG = Gap("XLA has no eigenvalues of general matrices on TPUs", _ON_CPU)
_NO_BITS = Gap("XLA does not see the bits of float64 on TPUs", f"float32, or {_ON_CPU}")
LACKING = {
    "tpu": {
        "linalg.eig": _NO_EIG,
        "linalg.eigvals": _NO_EIG,
        "nextafter": _NO_BITS,
        "random.normal": _NO_BITS,
    }
}
"""What is missing, by platform. JAX says so when it lowers a program; the calls of arrays say what to do instead."""

TPU_BUGS = (
    KnownBad(
        "jaxlib",
        ">=0.10,<0.10.3",
        "tpu",
        "svd and pinv of float32 abort the process while 64-bit types are on",
        "found by benchmarks/compile_devices with libtpu 0.0.41 and 0.0.42",
        advice=f"{_ON_CPU}, or turn 64-bit types off by JAX_ENABLE_X64=0",
        cured=lambda: find_spec("libtpu") is None or not _CONFIG.jax_enable_x64,
    ),
)


def _declared(name: str, function: Callable[..., Any], lacks: Callable[[Any], bool] = lambda x: True) -> Any:
    @wraps(function)
    def call(x: Any, /, *others: Any) -> Any:
        gaps = LACKING.get(_platform_of(x) or "", {}) if hasattr(x, "devices") else {}
        if name in gaps and lacks(x):
            raise Unsupported(str(gaps[name]))
        return function(x, *others)

    return call


linalg_eig = _declared("linalg.eig", jnp.linalg.eig)
linalg_eigvals = _declared("linalg.eigvals", jnp.linalg.eigvals)
nextafter = _declared("nextafter", jnp.nextafter, lambda x: x.dtype == jnp.float64)
