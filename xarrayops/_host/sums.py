"""Sums in host memory, with a small error in half and single precision for any axes and strides.

NumPy adds in pairs (an error of order eps·log2 n) only along the axis with the smallest stride. Along other axes, and
in `numpy.cumsum`, it adds one number after the other (of order eps·n), and sums of half precision stop growing once the
next number is less than the spacing of the sum.

Here the error of `sum` is at most ``4 * eps * log2(n) * sum(abs(x))`` for n numbers: blocks of `BLOCK` numbers are
added sequentially, and the sums of the blocks are added in double precision. See N. J. Higham, "The accuracy of
floating point summation", 1993.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from xarrayops._host import threads

Array = np.ndarray[Any, Any]
Axes = int | tuple[int, ...] | None

_add: Any = np.add.reduce
# Elements that are added one after the other. n - 1 additions have an error of at most (n - 1) * eps / 2 times the sum
# of the absolute values, which is within the bound: (32 - 1) / 2 <= 4 * log2(32).
BLOCK = 32
# Elements of a block that is widened, so that it stays in the cache.
CACHED = 1 << 15
# The number of elements from which BLAS adds contiguous numbers of single precision, in half of NumPy's time; the
# elements of a block, all of which are within the bound if they are added in four sums or more, as every BLAS does; and
# the least extent of an axis.
LARGE, TERMS, LINE = 1 << 17, 512, 128
# Elements that one task adds. The number does not depend on the number of threads, and so neither does the sum.
SHARE = 1 << 21
# Contiguous products that BLAS adds within the bound. On AVX2 it adds float32 in 32 sums, so that 12288 equal numbers
# have an error of 3.5 * eps * log2(n); complex numbers have fewer sums.
LONG, LONG_COMPLEX = 12288, 4096
# The codes of the dtypes for which NumPy's sums are used: integers, and floating point of 64 bits or more.
EXACT = frozenset("?bBhHiIlLqQnNpPdDgG")


def sum(x: Array, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """The sum of numbers. If a sum of single precision overflows, it is computed again in double precision."""
    made = x.dtype if dtype is None else np.dtype(dtype)
    if made.char in EXACT:
        return _add(x, axis, dtype, keepdims=keepdims)
    total = _sum(x, axis, made, keepdims)
    if is_half(made) or not has_overflowed(total):
        return total
    return np.asarray(_add(x, axis, _wide(made), keepdims=keepdims)).astype(made)[()]


def has_overflowed(x: Array, /) -> bool:
    """Whether a value is not finite."""
    return not (np.isfinite(x).all() if x.ndim else cmath.isfinite(x))


def _sum(x: Array, axis: Axes, dtype: np.dtype[Any], keepdims: bool) -> Array:
    if is_half(dtype):
        # Half types: NumPy widens in a buffer, which is faster than its half-precision arithmetic. The sum is rounded
        # once, at the end.
        return _add(x, axis, np.float64, keepdims=keepdims).astype(dtype)
    x = x.astype(dtype, copy=False)
    axes = _axes(axis, x.ndim)
    # Contiguous memory is one line for NumPy, whose pairwise sum is within the bound.
    is_line = len(axes) == x.ndim and (x.flags.c_contiguous or x.flags.f_contiguous)
    if x.size <= BLOCK or not axes or is_line:
        if x.size >= LARGE and len(axes) == x.ndim:
            return _spread(x, keepdims)
        return _add(x, axes, keepdims=keepdims)
    # The smallest stride first: its sum reads memory in order, and leaves the least for the other axes.
    for each in sorted(axes, key=lambda i: abs(x.strides[i])):
        x = _along(x, each)
    return x if keepdims else np.squeeze(x, axes)[()]


def sum_along(x: Array, axis: int, keepdims: bool) -> Array:
    """The sum of numbers along one axis. Few of them are within the bound in any order."""
    is_short = -x.ndim <= axis < x.ndim and x.shape[axis] <= BLOCK
    return _add(x, axis, keepdims=keepdims) if is_short else sum(x, axis, None, keepdims)


def vecdot(x1: Array, x2: Array, axis: int = -1) -> Array:
    """The products of vectors. BLAS adds all products of single precision in a few sums; here blocks of them."""
    count = x1.shape[axis]
    if count <= BLOCK or x2.shape[axis] != count or (dtype := np.result_type(x1, x2)).char not in "fF":
        return np.vecdot(x1, x2, axis=axis)  # type: ignore[call-overload]
    if x1.strides[axis] != x1.itemsize or x2.strides[axis] != x2.itemsize:  # added in one or two sums
        return sum(np.conj(np.moveaxis(x1, axis, -1)) * np.moveaxis(x2, axis, -1), -1)
    block = LONG if dtype.char == "f" else LONG_COMPLEX
    if count <= block:
        return np.vecdot(x1, x2, axis=axis)  # type: ignore[call-overload]
    if x1.ndim == x2.ndim == 1 and count <= 8 * block:
        total = 0.0
        x1 = x1.conj() if x1.dtype.kind == "c" else x1
        for i in range(0, count, block):
            total += x1[i : i + block].dot(x2[i : i + block]).item()  # as a Python number, in double precision
        return dtype.type(total)
    x1, x2 = (np.moveaxis(x, axis, -1) for x in (x1, x2))
    whole = count // block * block
    blocks = (x[..., :whole].reshape(*x.shape[:-1], -1, block) for x in (x1, x2))
    total = _add(np.vecdot(*blocks), -1, _wide(dtype))
    return (total + np.vecdot(x1[..., whole:], x2[..., whole:])).astype(dtype)


def root_of_squares(x: Array) -> Array:
    """The root of the sum of the squares of real numbers."""
    flat = x.ravel("K")  # contiguous
    return np.sqrt(flat.dot(flat) if flat.size <= LONG else vecdot(flat, flat))


def mean(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """The mean of numbers."""
    # np.mean computes the same for these dtypes, with more steps in Python.
    if x.dtype.char in "dD":
        return sum(x, axis, None, keepdims) / count(x, axis)
    if _narrow(x) is None:
        return np.mean(x, axis, keepdims=keepdims)
    # The sum of half types can overflow them although the mean does not: it is divided before it is rounded.
    total = _sum(x, axis, x.dtype, keepdims) if x.dtype.char in "fF" else _add(x, axis, np.float64, keepdims=keepdims)
    return (total / count(x, axis)).astype(x.dtype)


def var(x: Array, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """The variance of numbers, in two passes."""
    # Without a degree of freedom NumPy warns and gives NaN or infinity; its own function does both.
    if x.dtype.char in EXACT or (n := count(x, axis)) <= correction:
        return np.var(x, axis, correction=correction, keepdims=keepdims)
    return _variance(x, axis, n - correction, keepdims).astype(x.real.dtype)


def std(x: Array, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """The square root of the variance."""
    if x.dtype.char in EXACT or (n := count(x, axis)) <= correction:
        return np.std(x, axis, correction=correction, keepdims=keepdims)
    return np.sqrt(_variance(x, axis, n - correction, keepdims)).astype(x.real.dtype)


def cumulative_sum(x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """The cumulative sum of numbers, computed in double precision; each element is rounded once."""
    narrow = _narrow(x, dtype)
    if narrow is None or x.ndim == 0 or (axis is None and x.ndim > 1):  # NumPy raises for the latter two
        return np.cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial)
    dtype = narrow
    (axis,) = _axes(0 if axis is None else axis, x.ndim)
    shape = list(x.shape)
    shape[axis] += include_initial
    out = np.empty(shape, dtype)
    sums = np.moveaxis(out, axis, 0)
    if include_initial:
        sums[0] = 0
        sums = sums[1:]
    sums = np.moveaxis(sums, 0, axis)
    # x.size // len(x) elements for each step along axis 0. Not 0: an array without elements is not narrow.
    rows = max(1, CACHED * len(x) // x.size)
    carry: Any = 0
    for i in range(0, len(x), rows):
        block = x[i : i + rows].astype(_wide(dtype))
        # Blocks are cut along axis 0. Only if the sums run along it does a block continue the one before it.
        if axis == 0:
            block[0] += carry
        np.cumsum(block, axis, out=block)
        sums[i : i + rows] = block
        # A view would keep the whole block alive while the next one is allocated.
        carry = block[-1].copy()
    return out


def _narrow(x: Array, dtype: Any = None) -> np.dtype[Any] | None:
    """The dtype of the result if the error of NumPy's own sum may exceed the bound; else None."""
    dtype = x.dtype if dtype is None else np.dtype(dtype)
    # Sums of so few elements are within the bound in any order. This excludes half types: a partial sum of three can
    # overflow although the total is within their range.
    is_short = x.size <= BLOCK and not (x.size and is_half(dtype))
    return None if is_short or dtype.char in EXACT else dtype


def is_half(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype is a floating-point dtype narrower than single precision: float16, bfloat16, float8."""
    return dtype.char not in EXACT and dtype.char not in "fF"


def _wide(dtype: np.dtype[Any]) -> type[np.inexact[Any]]:
    """The double-precision dtype for a narrow dtype."""
    return np.complex128 if dtype.char == "F" else np.float64


def _spread(x: Array, keepdims: bool) -> Array:
    """The sum of all numbers of a contiguous single-precision array, by several threads."""
    # A view: the array is contiguous in C or Fortran order.
    flat = x.ravel(order="K")
    parts = np.empty(-(-flat.size // SHARE), _wide(x.dtype))
    # The settings of numpy.errstate are those of a thread; the pool's threads do not have the caller's.
    settings: Any = np.geterr()

    def add(numbers: Iterable[int]) -> None:
        with np.errstate(**settings):
            for k in numbers:
                parts[k] = _of_lines(flat[k * SHARE : (k + 1) * SHARE])

    threads.run(add, range(parts.size))
    total = _add(parts).astype(x.dtype)
    return total.reshape((1,) * x.ndim) if keepdims else total


def _of_lines(x: Array) -> Array:
    """The sums along the last axis, which is contiguous; those of single precision in double."""
    length = x.shape[-1]
    if x.dtype.char != "f" or length < LINE:
        return _add(x, -1)
    terms = TERMS if x.ndim == 1 else length // -(-length // TERMS)
    whole = length // terms * terms
    with np.errstate(all="ignore"):
        parts = np.vecdot(x[..., :whole].reshape(*x.shape[:-1], -1, terms), _ones(terms))
        total = _add(parts, -1, np.float64) + _add(x[..., whole:], -1)
    # Of sums that are not finite, NumPy's own function warns.
    return _add(x, -1) if has_overflowed(total) else total


@lru_cache
def _ones(count: int) -> Array:
    return np.ones(count, np.float32)


def _along(x: Array, axis: int) -> Array:
    """The sum along one axis, which is kept with length 1. x is of single precision."""
    count = x.shape[axis]
    others = (abs(x.strides[i]) for i in range(x.ndim) if i != axis and x.shape[i] > 1)
    # NumPy adds in pairs along the axis with the smallest stride, and in sequence along others.
    if count <= BLOCK or all(abs(x.strides[axis]) < stride for stride in others):
        if x.size < LARGE or x.strides[axis] != x.itemsize:
            return _add(x, axis, keepdims=True)
        return np.expand_dims(_of_lines(np.moveaxis(x, axis, -1)).astype(x.dtype), axis)
    blocks = count // BLOCK
    before = (slice(None),) * axis
    whole = x[(*before, slice(blocks * BLOCK))].reshape(*x.shape[:axis], blocks, BLOCK, *x.shape[axis + 1 :])
    # Blocks in single precision, their sums in double: only 1 of 32 elements is widened, and the second sum adds an
    # error of count / 32 * 2**-53, far below the first.
    total = _add(_add(whole, axis + 1), axis, _wide(x.dtype), keepdims=True)
    if count % BLOCK:
        total += _add(x[(*before, slice(blocks * BLOCK, None))], axis, keepdims=True)
    return total.astype(x.dtype)


def _variance(x: Array, axis: Axes, divisor: float, keepdims: bool) -> Array:
    """The variance in single precision."""
    centred = x if x.dtype.char in "fF" else x.astype(np.float32)
    # Two passes, because mean(x**2) - mean(x)**2 cancels if the mean is large compared with the deviation.
    centred = centred - mean(centred, axis=axis, keepdims=True)
    if x.dtype.char == "F":
        # Not abs(centred)**2: the root that abs takes would round once more.
        squares = (centred * centred.conj()).real
    else:
        # `centred` is a new array by now, never x itself, so it may be overwritten.
        centred *= centred
        squares = centred
    return sum(squares, axis, keepdims=keepdims) / divisor


def _axes(axis: Axes, ndim: int) -> tuple[int, ...]:
    return tuple(range(ndim)) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, ndim)


def count(x: Array, axis: Axes) -> int:
    """The number of elements in each sum along the axes."""
    return math.prod(x.shape[i] for i in _axes(axis, x.ndim))
