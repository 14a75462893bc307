"""Sets: JAX's functions, with an error of ours where a tracer has no values."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Gap

SIZE_UNKNOWN = Gap(
    "the shape of the result depends on values, which are unknown under jax.jit and jax.vmap",
    "call it outside jax.jit and jax.vmap, or use jax.numpy.unique(x, size=...)",
)


def unique(
    x: Array, /, *, return_index: bool, return_inverse: bool, return_counts: bool, axis: int | None
) -> Array | tuple[Array, ...]:
    """JAX's own function; it would merge slices with NaN, and changes complex NaNs."""
    if isinstance(x, jax.core.Tracer):
        raise Unsupported(f"xo.unique: {SIZE_UNKNOWN}")
    if axis is not None or not jnp.iscomplexobj(x):
        found: Any = jnp.unique(x, return_index, return_inverse, return_counts, axis, equal_nan=axis is None)
        return found
    _, indices, *others = jnp.unique(x, True, return_inverse, return_counts)
    found = (x.reshape(-1)[indices], *([indices] if return_index else []), *others)
    return found if len(found) > 1 else found[0]
