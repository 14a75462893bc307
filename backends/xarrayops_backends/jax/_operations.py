"""Operations of users in functions that JAX transforms: kernels with the derivatives and batches of the reference.

Native kernels are calls of XLA's foreign function interface.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from threading import Lock, local
from typing import Any

import jax
import numpy as np

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, CallTests, Device, Operation, install_command, options_of, written_options
from xarrayops.plugin.native import NativeKernel
from xarrayops_backends.jax._compiler import _jit
from xarrayops_backends.jax._devices import _lowered_for, _on_platform, devices, is_lazy

_jax: Any = jax  # untyped: JAX does not annotate these functions
_PLATFORMS = {"cpu": "cpu", "cuda": "gpu", "rocm": "gpu", "tpu": "tpu"}
_ATTRIBUTES: dict[type, Callable[[Any], Any]] = {bool: np.bool_, int: np.int64, float: np.float64, str: str}
"""How XLA takes an option. A Python float would become float32."""
CALL_TESTS = CallTests(eager_array="not isinstance({x}, _Tracer)", names={"_Tracer": jax.core.Tracer})


class _References(local):
    """Whether operations run their references in this thread: an export is loaded where the kernels may not exist."""

    wanted = False


references = _References()


def carry_operation(operation: Operation, /) -> Callable[..., Any]:
    """The operation for tracers; the reference alone if the operation has neither a kernel nor a gradient."""
    if not operation.has_kernel and operation.gradient is None:
        return operation.reference
    made: dict[tuple[str, tuple[int, ...]], Callable[..., Any]] = {}

    def call(*arrays: Array | None, **options: Any) -> Any:
        if references.wanted:
            return operation.reference(*arrays, **options)
        places = tuple(k for k, x in enumerate(arrays) if x is not None)
        key = written_options(options), places
        if key not in made:
            made[key] = _transformable(operation, key[0], places)
        return made[key](*(arrays[k] for k in places))

    return call


def _transformable(operation: Operation, written: str, places: tuple[int, ...]) -> Callable[..., Any]:
    """A function of the given arrays with rules for batches and derivatives."""
    options = options_of(written)

    def filled(given: tuple[Array, ...]) -> list[Array | None]:
        arrays: list[Array | None] = [None] * len(operation.arrays)
        for place, x in zip(places, given, strict=True):
            arrays[place] = x
        return arrays

    def reference(*given: Array) -> Any:
        return operation.reference(*filled(given), **options)

    def served_at(device: Device, *given: Array) -> Any:
        with _lowered_for(device.kind, device.native):
            return operation.serve(*filled(given), **options)

    def plain(*given: Array) -> Any:
        at = {each.kind: partial(served_at, each) for each in reversed(devices()) if each.kind in _PLATFORMS}
        if len(at) == 1 or not any(map(is_lazy, given)):
            return operation.serve(*filled(given), **options)
        return _on_platform(None, *given, default=reference, **at)

    def batched(size: int, in_batched: list[bool], *given: Array) -> Any:
        found = _jax.vmap(reference, in_axes=tuple(0 if each else None for each in in_batched), axis_size=size)(*given)
        return found, _jax.tree.map(lambda _: True, found)

    served = _jax.custom_batching.custom_vmap(plain)
    served.def_vmap(batched)
    differentiable: Any
    if operation.gradient is None:
        differentiable = _jax.custom_jvp(served)
        differentiable.defjvp(lambda values, tangents: _jax.jvp(reference, values, tangents))
        return differentiable

    gradient = operation.gradient

    def backward(given: tuple[Array, ...], g: Any) -> tuple[Any, ...]:
        found = gradient(g, *filled(given), **options)
        listed = found if isinstance(found, (tuple, list)) else (found,)
        return tuple(listed[k] for k in places)

    differentiable = _jax.custom_vjp(served)
    differentiable.defvjp(lambda *given: (served(*given), given), backward)
    return differentiable


def native_kernel(native: NativeKernel, /) -> Callable[..., Any]:
    """A native kernel, also in functions that JAX transforms. It is compiled once for each form of a call."""
    if find_spec("jax_tvm_ffi") is None:
        raise Unsupported(f"jax-tvm-ffi is not installed: {install_command('native-jax')}")
    if native.device not in ("cpu", "cuda"):
        raise Unsupported(f"jax-tvm-ffi serves cpu and cuda, not {native.device}")
    registering, registered = Lock(), False

    def register() -> None:
        nonlocal registered
        with registering:
            if not registered:
                from jax_tvm_ffi import register_ffi_target

                taken = ["args", *(f"attrs.{name}" for name in native.options), "rets"]
                register_ffi_target(native.name, native.load(), taken, platform=_PLATFORMS[native.device])
                registered = True

    def call(*arrays: Array, written: str) -> Any:
        register()
        options = options_of(written)
        found = _jax.eval_shape(partial(native.reference, **options), *arrays)
        types = _jax.tree.map(lambda y: _jax.ShapeDtypeStruct(y.shape, y.dtype), found)
        attributes = {name: _ATTRIBUTES[type(options[name])](options[name]) for name in native.options}
        call = partial(_jax.ffi.ffi_call(native.name, types), **attributes)
        # A program may be lowered for a platform that has no such kernel.
        return _on_platform(None, *arrays, default=partial(native.reference, **options), **{native.device: call})

    compiled = _jit(call, static_argnames="written")  # as text: JAX finds 0.0 and -0.0 equal

    def kernel(*arrays: Array, **options: Any) -> Any:
        return compiled(*arrays, written=written_options(options))

    return kernel
