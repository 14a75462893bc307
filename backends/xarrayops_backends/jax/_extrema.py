"""Maxima and minima that keep NaN: on a CPU, JAX ignores it in 4096 elements or more (jax-ml/jax#39887)."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from xarrayops.plugin import Array

Axes = int | tuple[int, ...] | None


@partial(jax.jit, static_argnames=("axis", "keepdims"))
def max(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Return NaN where there is one."""
    return _with_nan(jnp.max(x, axis=axis, keepdims=keepdims), x, axis, keepdims)


@partial(jax.jit, static_argnames=("axis", "keepdims"))
def min(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Return NaN where there is one."""
    return _with_nan(jnp.min(x, axis=axis, keepdims=keepdims), x, axis, keepdims)


def linalg_matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """Return NaN where there is one, also for norms that are a maximum or minimum of sums."""
    norm = jnp.linalg.matrix_norm(x, keepdims=keepdims, ord=ord)
    return _with_nan(norm, x, (-2, -1), keepdims) if ord in (1, -1, math.inf, -math.inf) else norm


def linalg_vector_norm(x: Array, /, *, axis: Axes = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """Return NaN where there is one, also for norms that are a maximum or minimum."""
    norm = jnp.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
    return _with_nan(norm, x, axis, keepdims) if math.isinf(ord) else norm


def _with_nan(result: Array, x: Array, axis: Axes, keepdims: bool) -> Array:
    """The result of a reduction, and NaN where the reduced elements have one."""
    if not jnp.isdtype(x.dtype, ("real floating", "complex floating")):
        return result
    return jnp.where(jnp.isnan(x).any(axis=axis, keepdims=keepdims), jnp.nan, result)
