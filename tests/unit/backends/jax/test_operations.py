"""Operations in programs for a machine with CPUs and GPUs: each platform gets its kernel, or the reference."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.plugin import Device
from xarrayops.plugin.native import NativeKernel

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from xarrayops_backends.jax import _operations  # noqa: E402

_numbers = count()
X = jnp.arange(4, dtype="float32")


def program(function: Any, platform: str) -> str:
    return str(jax.jit(function).trace(X).lower(lowering_platforms=(platform,)).as_text())


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine with a GPU."""
    known = [*_operations.devices(), Device("cuda", "cuda:0", object(), "a GPU")]
    monkeypatch.setattr(_operations, "devices", lambda: known)
    monkeypatch.setattr(type(xo.backend("jax")), "devices", lambda self: known)


def test_each_platform_gets_its_kernel(both: None) -> None:
    """A jit over arrays on the CPU of a machine with a GPU took the kernel of the GPU."""

    @xo.operation(f"tests::platforms{next(_numbers)}")
    def twice(x: Any) -> Any:
        return x + x

    twice.kernel("jax:for_cuda", device="cuda")(lambda x: jnp.sin(x))
    twice.kernel("jax:for_cpu", device="cpu")(lambda x: jnp.cos(x))
    for platform, word in (("cpu", "cosine"), ("cuda", "sine"), ("tpu", "add")):
        text = program(twice, platform)
        assert [each for each in ("cosine", "sine", "add") if f"stablehlo.{each}" in text] == [word]
    np.testing.assert_array_equal(jax.jit(twice)(X), np.asarray(jnp.cos(X)))
    np.testing.assert_array_equal(twice(X), np.asarray(jnp.cos(X)))


@pytest.mark.parametrize(("device", "others"), [("cuda", ("cpu", "tpu", "rocm")), ("cpu", ("cuda", "tpu"))])
def test_native_kernels_are_for_one_platform(device: str, others: tuple[str, ...], monkeypatch: Any) -> None:
    """XLA finds a foreign function only on the platform for which it is registered."""
    monkeypatch.setattr(_operations, "find_spec", lambda name: name)
    monkeypatch.setattr("jax_tvm_ffi.register_ffi_target", lambda *args, **options: None)
    name = f"tests.native{next(_numbers)}"
    kernel = _operations.native_kernel(NativeKernel(name, lambda: None, lambda x: x + x, (), device))  # type: ignore[arg-type, return-value]
    assert name in program(kernel, device)
    for platform in others:
        assert name not in program(kernel, platform)
        assert "stablehlo.add" in program(kernel, platform)
