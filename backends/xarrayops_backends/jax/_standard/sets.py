"""Set functions, and the errors of functions that need the values of tracers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Gap

_SHAPES = "the shape of the result depends on values, which are unknown under jax.jit and jax.vmap"
_PLACES = "the index is an array of values, which are unknown under jax.jit and jax.vmap"


def _with_size(call: str) -> Gap:
    return Gap(_SHAPES, f"call it outside jax.jit and jax.vmap, or use jax.numpy.{call[:-1]}, size=...)")


_UNIQUE = _with_size("unique(x)")
SIZE_UNKNOWN = {
    "compress": Gap(_SHAPES, "xo.where(condition, x, y), or jax.numpy.compress(condition, x, size=...)"),
    **{name: _with_size(f"{name}(x1, x2)") for name in ("intersect1d", "setdiff1d", "setxor1d", "union1d")},
    "nonzero": Gap(_SHAPES, "xo.where(mask, x, y), or jax.numpy.nonzero(x, size=...)"),
    "repeat": Gap(
        f"{_SHAPES}, if repeats is a traced array", "a Python int, or jax.numpy.repeat(total_repeat_length=...)"
    ),
    **dict.fromkeys(("unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"), _UNIQUE),
}
"""Why a function does not work under `jax.jit`, and what to write instead."""
_NEEDING_VALUES = SIZE_UNKNOWN | {
    "delete": Gap(_PLACES, "Python integers as the index, or xo.where(mask, y, x)"),
    "insert": Gap(_PLACES, "Python integers as the index, or xo.concat"),
}
_OF_TRACERS = (
    jax.errors.ConcretizationTypeError,
    jax.errors.NonConcreteBooleanIndexError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)
"""JAX's errors for calls that need the value of a tracer."""


def _naming_a_way(verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function. If it needs values, it raises an error for tracers that says what to write instead.

    JAX's own option ``size=``, which array-api-extra gives, is passed on.
    """
    if verb not in _NEEDING_VALUES:
        return function

    @wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except (*_OF_TRACERS, Unsupported) as error:
            cause = error.__cause__ if isinstance(error, Unsupported) else error  # of a step of the function
            if not isinstance(cause, _OF_TRACERS):
                raise
            raise Unsupported(f"xo.{verb}: {_NEEDING_VALUES[verb]}") from cause

    return called


def unique(
    x: Array, /, *, return_index: bool, return_inverse: bool, return_counts: bool, axis: int | None
) -> Array | tuple[Array, ...]:
    """JAX's own function, except where it merges slices with NaN or changes complex NaNs."""
    if axis is not None or not jnp.iscomplexobj(x):
        found: Any = jnp.unique(x, return_index, return_inverse, return_counts, axis, equal_nan=axis is None)
        return found
    _, indices, *others = jnp.unique(x, True, return_inverse, return_counts)
    found = (x.reshape(-1)[indices], *([indices] if return_index else []), *others)
    return found if len(found) > 1 else found[0]
