"""How JAX multiplies, and the classes that its transformations accept as pytrees."""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from typing import Any

import jax
import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.host import sums
from xarrayops.plugin.precision import refuse_forced_tf32

_jax: Any = jax  # untyped: JAX does not annotate these functions
# The names of ``jax_default_matmul_precision``: "high" is TF32 on GPUs, and three passes of bfloat16 on TPUs.
_PRECISIONS = {"ieee": "highest", "tf32": "high"}


def product_precision(products: str, /, *arrays: Array) -> AbstractContextManager[Any]:
    """JAX's own context, which belongs to this thread and is part of the keys of compiled functions."""
    refuse_forced_tf32(products)
    return _jax.default_matmul_precision(_PRECISIONS[products])


def rounded(x: Array, dtype: Any, /) -> Array:
    """A cast behind a barrier: XLA may skip a cast to a narrower dtype whose result is widened again."""
    return _jax.lax.optimization_barrier(x.astype(dtype))


def double_precision() -> AbstractContextManager[Any]:
    """Also while JAX's 64-bit types are off."""
    return jax.enable_x64(True)


def has_overflowed(x: Array, /) -> bool:
    """On the CPU, where NumPy reads the memory of x. `xo.profile` does not count that as a transfer."""
    if isinstance(x, jax.core.Tracer):
        return False
    devices = x.devices()
    if len(devices) > 1 or next(iter(devices)).platform != "cpu":
        return False
    x = x if x.dtype.itemsize > 2 else x.astype("float32")  # NumPy has no bfloat16 of its own
    return sums.has_overflowed(np.from_dlpack(x.block_until_ready()))


def register_state(cls: type, data: tuple[str, ...], constants: tuple[str, ...], /) -> None:
    """Register a pytree whose leaves are the data."""

    def flatten(state: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return tuple(getattr(state, name) for name in data), tuple(getattr(state, name) for name in constants)

    def unflatten(known: tuple[Any, ...], values: Any) -> Any:
        return cls(**dict(zip((*data, *constants), (*values, *known), strict=True)))

    # JAX raises if it knows the class from an earlier import of this module.
    with suppress(ValueError):
        _jax.tree_util.register_pytree_node(cls, flatten, unflatten)
