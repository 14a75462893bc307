"""Sums of matrices whose columns XLA's new kernels for CPUs do not divide among the cores."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp

from xarrayops.plugin import Array

_ELEMENTS, _COLUMNS, _EVEN = 1 << 20, 512, 256
"""The least elements and columns of an uneven matrix, and the number that does not divide its columns. Four times as
many elements are beyond the caches."""


def is_uneven(x: Array) -> bool:
    """Whether x is a matrix of which XLA's new kernels take 1.4 to 4 times as long to add the elements."""
    if not _ELEMENTS <= x.size <= 4 * _ELEMENTS or x.ndim != 2 or x.dtype != jnp.float32:
        return False
    return bool(x.shape[1] >= _COLUMNS and x.shape[1] % _EVEN)


def sum_of_columns(function: Callable[..., Any]) -> Callable[..., Any]:
    """The sum; that of all elements from the sums of columns, which XLA vectorises."""

    @wraps(function)
    def sum(x: Array, /, *, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
        if axis is not None or options.get("dtype") is not None:  # a narrow dtype would round each column
            return function(x, axis=axis, keepdims=keepdims, **options)
        columns = function(x, axis=0, keepdims=keepdims, **options)
        kept = jax.lax.optimization_barrier(columns)  # type: ignore[no-untyped-call]
        return function(kept, keepdims=keepdims, **options)

    return sum
