"""How JAX multiplies, and the classes that its transformations accept as pytrees."""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from typing import Any

import jax

from xarrayops.plugin import Array
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


def register_state(cls: type, data: tuple[str, ...], constants: tuple[str, ...], /) -> None:
    """Register a pytree whose leaves are the data."""

    def flatten(state: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return tuple(getattr(state, name) for name in data), tuple(getattr(state, name) for name in constants)

    def unflatten(known: tuple[Any, ...], values: Any) -> Any:
        return cls(**dict(zip((*data, *constants), (*values, *known), strict=True)))

    # JAX raises if it knows the class from an earlier import of this module.
    with suppress(ValueError):
        _jax.tree_util.register_pytree_node(cls, flatten, unflatten)
