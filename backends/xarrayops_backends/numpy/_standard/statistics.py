"""Reductions that call ``ufunc.reduce`` directly, and sums of narrow dtypes with a small error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.host import NUMBERS, sums
from xarrayops_backends.numpy._guard import require_numbers as _require_numbers


def _reduction(verb: str, ufunc: np.ufunc) -> Callable[..., Array]:
    """A direct call of ``ufunc.reduce``: NumPy's wrapper takes twice the time for the sum of a small array."""

    def reduced(x: Array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
        if x.dtype.kind not in NUMBERS:
            _require_numbers(verb, x.dtype)
        return ufunc.reduce(x, axis, keepdims=keepdims)

    return reduced


Axes = int | tuple[int, ...] | None
_add: Any = np.add.reduce
_multiply: Any = np.multiply.reduce


def sum(x: Array, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """np.add.reduce, with a small error in narrow dtypes."""
    if dtype is None and x.dtype.char in sums.EXACT:
        return _add(x, axis, None, keepdims=keepdims)
    if x.dtype.kind not in NUMBERS:
        _require_numbers("sum", x.dtype)
    return sums.sum(x, axis, dtype, keepdims)


def prod(x: Array, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """np.multiply.reduce."""
    if x.dtype.kind not in NUMBERS:
        _require_numbers("prod", x.dtype)
    return _multiply(x, axis, dtype, keepdims=keepdims)


def mean(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """np.mean, with a small error in narrow dtypes."""
    return sums.mean(x, axis, keepdims)


def var(x: Array, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """np.var, with a small error in narrow dtypes."""
    return sums.var(x, axis, correction, keepdims)


def std(x: Array, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """np.std, with a small error in narrow dtypes."""
    return sums.std(x, axis, correction, keepdims)


def cumulative_sum(x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """np.cumulative_sum, with a small error in narrow dtypes."""
    return sums.cumulative_sum(x, axis, dtype, include_initial)


max = _reduction("max", np.maximum)
min = _reduction("min", np.minimum)
all = _reduction("all", np.logical_and)
any = _reduction("any", np.logical_or)
