"""Sets: JAX's functions, with an error of ours where a tracer has no values."""

from __future__ import annotations

from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Gap

_SHAPES = "the shape of the result depends on values, which are unknown under jax.jit and jax.vmap"
_UNIQUE = Gap(_SHAPES, "call it outside jax.jit and jax.vmap, or use jax.numpy.unique(x, size=...)")
SIZE_UNKNOWN = {
    "compress": Gap(_SHAPES, "xo.where(condition, x, y)"),
    **dict.fromkeys(("intersect1d", "setdiff1d", "setxor1d", "union1d"), Gap(_SHAPES, "call it outside jax.jit")),
    "nonzero": Gap(_SHAPES, "xo.where(mask, x, y), or jax.numpy.nonzero(x, size=...)"),
    "repeat": Gap(
        f"{_SHAPES}, if repeats is a traced array", "a Python int, or jax.numpy.repeat(total_repeat_length=...)"
    ),
    **dict.fromkeys(("unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"), _UNIQUE),
}
"""Why a function does not work under `jax.jit`, and what to write instead."""


def _require_values(verb: str, x: Any) -> None:
    if isinstance(x, jax.core.Tracer):
        raise Unsupported(f"xo.{verb}: {SIZE_UNKNOWN[verb]}")


def _with_values(verb: str, function: Any) -> Any:
    """A function of an array, which must not be a tracer unless JAX's option ``size=`` gives the size of the result.

    array-api-extra gives this option.
    """

    @wraps(function)
    def checked(x: Array, /, **options: Any) -> Any:
        if "size" not in options:
            _require_values(verb, x)
        return function(x, **options)

    return checked


nonzero = _with_values("nonzero", jnp.nonzero)
unique_all = _with_values("unique_all", jnp.unique_all)
unique_counts = _with_values("unique_counts", jnp.unique_counts)
unique_inverse = _with_values("unique_inverse", jnp.unique_inverse)
unique_values = _with_values("unique_values", jnp.unique_values)


def repeat(x: Array, repeats: int | Array, /, *, axis: int | None = None) -> Array:
    """The number of elements must be known."""
    _require_values("repeat", repeats)
    return jnp.repeat(x, repeats, axis=axis)


def unique(
    x: Array, /, *, return_index: bool, return_inverse: bool, return_counts: bool, axis: int | None
) -> Array | tuple[Array, ...]:
    """JAX's own function; it would merge slices with NaN, and changes complex NaNs."""
    _require_values("unique", x)
    if axis is not None or not jnp.iscomplexobj(x):
        found: Any = jnp.unique(x, return_index, return_inverse, return_counts, axis, equal_nan=axis is None)
        return found
    _, indices, *others = jnp.unique(x, True, return_inverse, return_counts)
    found = (x.reshape(-1)[indices], *([indices] if return_index else []), *others)
    return found if len(found) > 1 else found[0]
