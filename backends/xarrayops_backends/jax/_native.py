"""Native kernels of users' operations as calls of XLA's foreign function interface."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from threading import Lock
from typing import Any

import jax
import numpy as np

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, install_command, options_of, written_options
from xarrayops.plugin.native import NativeKernel

_jax: Any = jax  # untyped: JAX does not annotate these functions
_PLATFORMS = {"cpu": "cpu", "cuda": "gpu"}
_ATTRIBUTES: dict[type, Callable[[Any], Any]] = {bool: np.bool_, int: np.int64, float: np.float64, str: str}
"""How XLA takes an option. A Python float would become float32."""


def native_kernel(native: NativeKernel, /) -> Callable[..., Any]:
    """A native kernel, also in functions that JAX transforms. It is compiled once for each form of a call."""
    if find_spec("jax_tvm_ffi") is None:
        raise Unsupported(f"jax-tvm-ffi is not installed: {install_command('native-jax')}")
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
        return _jax.ffi.ffi_call(native.name, types)(*arrays, **attributes)

    compiled = _jax.jit(call, static_argnames="written")  # as text: JAX finds 0.0 and -0.0 equal

    def kernel(*arrays: Array, **options: Any) -> Any:
        return compiled(*arrays, written=written_options(options))

    return kernel
