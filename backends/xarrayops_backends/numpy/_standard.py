"""Functions of the standard that NumPy computes differently or slowly.

- Creation: values that are not numbers are refused.
- Elementwise functions, sorts, sets: corrections of results that deviate from the standard.
- Products: half precision, 8-bit integers, BLAS. Linear algebra: complex eigenvalues.
- Reductions: ``ufunc.reduce`` is called directly, and sums of narrow dtypes have a small error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from xarrayops.plugin import Array, generic
from xarrayops.plugin.host import NUMBERS, elementwise, products, refuse_discarding, sums
from xarrayops.plugin.products import multiplications
from xarrayops_backends.numpy._dtypes import astype
from xarrayops_backends.numpy._guard import (
    ARRAY_TYPES,
    require_array as _require_array,
    require_numbers as _require_numbers,
)

Axes = int | tuple[int, ...] | None
matmul_int32 = products.matmul_int32
cumulative_sum = sums.cumulative_sum
mean = sums.mean
std = sums.std
var = sums.var
_add: Any = np.add.reduce
_multiply: Any = np.multiply.reduce
_vector_norm: Any = np.linalg.vector_norm
_matrix_norm: Any = np.linalg.matrix_norm
_BLAS = frozenset("fdFDgG")
"""The codes of the dtypes that NumPy multiplies with BLAS, or sums in their own precision."""
_BYTES = frozenset("bB")
_SMALL = 1 << 13
"""The number of multiplications up to which NumPy's loop for 8-bit integers is faster than BLAS and two casts; and the
number of elements up to which a stable sort is as fast."""


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Array:
    """NumPy's asarray, without its arrays of objects, text or dates for values that are not numbers."""
    if dtype is not None and isinstance(obj, ARRAY_TYPES):
        refuse_discarding(obj.dtype, dtype)
    # Options cost a fifth of the call.
    result = np.asarray(obj) if dtype is device is copy is None else np.asarray(obj, dtype, device=device, copy=copy)
    if result.dtype.kind not in NUMBERS:
        _require_numbers("asarray", result)
    return result


def fft_fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """NumPy's function takes no dtype."""
    return np.fft.fftfreq(n, d=d).astype(dtype or np.float64, copy=False)


def fft_rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """NumPy's function takes no dtype."""
    return np.fft.rfftfreq(n, d=d).astype(dtype or np.float64, copy=False)


def floor_divide(x1: Any, x2: Any, /) -> Array:
    """NumPy follows Python: ``1.0 // -inf`` is -1, ``inf // 1`` is NaN."""
    if (
        (type(x1) is type(x2) is np.ndarray and x1.dtype.char in "fd" and x1.shape == x2.shape)
        # If this sum of products is finite, all numbers are. It takes a third of the time of two checks, and unlike
        # `dot` it does not warn of infinities.
        and math.isfinite(np.vdot(x1, x2))
    ):
        return np.floor_divide(x1, x2)
    kind = (x1 if hasattr(x1, "dtype") else x2).dtype.kind
    x1, x2 = (float(x) if type(x) is int and kind == "f" else x for x in (x1, x2))  # isfinite takes no large integers
    if kind != "f" or (np.isfinite(x1).all() and np.isfinite(x2).all()):
        return np.floor_divide(x1, x2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.isinf(x1) | np.isinf(x2), np.divide(x1, x2), np.floor_divide(x1, x2))[()]


def maximum(x1: Any, x2: Any, /) -> Array:
    """NumPy does not vectorise the maximum of an array and a number."""
    return _extremum(np.maximum, x1, x2)


def minimum(x1: Any, x2: Any, /) -> Array:
    """NumPy does not vectorise the minimum of an array and a number."""
    return _extremum(np.minimum, x1, x2)


def _extremum(ufunc: np.ufunc, x: Any, value: Any) -> Array:
    if type(value) in (float, int) and type(x) is np.ndarray and x.dtype.kind == "f" and elementwise.is_served(x):
        return elementwise.extremum(ufunc, x, value, np.empty_like(x))
    return ufunc(x, value)


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """The result keeps the dtype of x. Bounds are cast to it, within its limits."""
    if x.dtype.kind == "c":  # np.clip ignores bounds whose imaginary part is NaN
        return generic.complex_order.clip(np, x, min, max)
    return x.copy() if min is None and max is None else np.clip(x, _bound(x, min), _bound(x, max))


def _bound(x: Array, value: Any) -> Any:
    """A bound in the dtype of x; beyond the range of an integer dtype, the nearest limit."""
    has_dtype = hasattr(value, "dtype")
    if value is None or (has_dtype and value.dtype == x.dtype):
        return value
    if x.dtype.kind not in "iu":
        return astype(value, x.dtype, copy=False) if has_dtype else value
    limits = np.iinfo(x.dtype)
    if not has_dtype:
        return limits.min if value <= limits.min else limits.max if value >= limits.max else value
    low, high = (x.dtype.type(limit) for limit in (limits.min, limits.max))
    with np.errstate(invalid="ignore"):  # the cast of values out of range
        return np.where(value <= limits.min, low, np.where(value >= limits.max, high, value.astype(x.dtype)))


def searchsorted(x1: Array, x2: Any, /, *, side: Any = "left", sorter: Array | None = None) -> Array:
    """np.searchsorted, which says of a matrix only that it is too deep."""
    try:
        return np.searchsorted(x1, x2, side, sorter)
    except ValueError:
        if x1.ndim != 1:
            raise ValueError(f"the sorted array must be a vector, but its shape is {x1.shape}") from None
        raise


def einsum(subscripts: str, /, *operands: Array) -> Array:
    """NumPy's einsum, with an optimized order of contractions; half precision is widened for BLAS."""
    narrow = _narrow(*operands)
    if narrow is None:
        return np.einsum(subscripts, *operands, optimize=len(operands) > 2)
    wide = (np.astype(x, np.float32) for x in operands)
    return np.einsum(subscripts, *wide, optimize=True).astype(narrow)


def matmul(x1: Array, x2: Array, /) -> Array:
    """Two float matrices use ``dot``, whose overhead before BLAS is half that of the generalised ufunc.

    Products of 8-bit integers wrap, as do those of int32 that are narrowed.
    """
    if not type(x1) is type(x2) is np.ndarray:
        _require_array("matmul", x1)
        _require_array("matmul", x2)
    if x1.dtype.char in _BLAS and x2.dtype.char in _BLAS:
        return x1.dot(x2) if x1.ndim == 2 == x2.ndim else np.matmul(x1, x2)
    _require_numbers("matmul", x1)
    _require_numbers("matmul", x2)
    if x1.dtype.char in _BYTES and x2.dtype.char in _BYTES:
        is_small = multiplications(x1, x2) <= _SMALL
        return np.matmul(x1, x2) if is_small else matmul_int32(x1, x2).astype(np.result_type(x1, x2))
    narrow = _narrow(x1, x2)
    return np.matmul(x1, x2) if narrow is None else products.matmul(x1, x2, narrow)


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """NumPy's function; half precision is widened for BLAS."""
    narrow = _narrow(x1, x2)
    return sums.vecdot(x1, x2, axis) if narrow is None else products.vecdot(x1, x2, narrow, axis)


def tensordot(x1: Array, x2: Array, /, *, axes: Any = 2) -> Array:
    """NumPy's function; half precision is widened for BLAS."""
    narrow = _narrow(x1, x2)
    return np.tensordot(x1, x2, axes=axes) if narrow is None else products.tensordot(x1, x2, narrow, axes)


def _narrow(*operands: Array) -> np.dtype[Any] | None:
    """The dtype of the result if it is narrower than float32, else None."""
    if {x.dtype.char for x in operands} <= _BLAS:
        return None
    dtype = np.result_type(*operands)
    return dtype if dtype.kind in "fV" and dtype.itemsize < 4 else None


def linalg_eig(x: Array, /) -> tuple[Array, Array]:
    """NumPy returns real numbers if all eigenvalues are real; the standard requires complex ones."""
    found = np.linalg.eig(x)
    complex_ = np.result_type(found[0].dtype, np.complex64)
    return type(found)(*(part.astype(complex_, copy=False) for part in found))


def linalg_eigvals(x: Array, /) -> Array:
    """As for eig."""
    found = np.linalg.eigvals(x)
    return found.astype(np.result_type(found.dtype, np.complex64), copy=False)


def linalg_vector_norm(x: Array, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2) -> Array:
    """NumPy's function adds numbers one after the other along some axes, and computes with integers in float64."""
    if x.dtype.char not in "fF" or ord in (np.inf, -np.inf) or sums.count(x, axis) <= sums.BLOCK:
        return _vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
    if ord == 2 and x.dtype.char == "f":
        if axis is None and not keepdims:
            return sums.root_of_squares(x)
        return np.sqrt(sums.sum(x * x, axis, None, keepdims))
    size = np.abs(x)
    if ord == 0:
        return sums.sum((size != 0).astype(size.dtype), axis, None, keepdims)
    return sums.sum(size**ord, axis, None, keepdims) ** size.dtype.type(1 / ord)


def linalg_matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """NumPy's function adds the numbers of a column one after the other."""
    if x.dtype.char not in "fF" or ord not in (1, -1, np.inf, -np.inf, "fro") or sums.count(x, (-2, -1)) <= sums.BLOCK:
        return _matrix_norm(x, keepdims=keepdims, ord=ord)
    size = np.abs(x)
    if ord == "fro":
        return np.sqrt(sums.sum(size * size, (-2, -1), None, keepdims))
    total = sums.sum(size, -2 if abs(ord) == 1 else -1, None, True)
    return (np.max if ord > 0 else np.min)(total, axis=(-2, -1), keepdims=keepdims)


def diff(x: Array, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Array:
    """NumPy treats None as a value to prepend or append."""
    ends = {name: end for name, end in (("prepend", prepend), ("append", append)) if end is not None}
    return np.diff(x, n=n, axis=axis, **ends)


def sort(x: Array, /, *, axis: int | None = -1, descending: bool = False, stable: bool = True) -> Array:
    """NumPy sorts only in ascending order. A stable sort takes longer: it is for values that need it."""
    result = np.sort(x, axis=axis, stable=stable and not _are_interchangeable(x))
    return np.flip(result, axis=axis) if descending else result


def _are_interchangeable(x: Array) -> bool:
    """Whether values of x that compare equal have the same bits: no zeros, which have signs, and no NaNs."""
    if x.itemsize < 4 or x.size < _SMALL:  # fast in any order
        return False
    is_real = x.dtype.kind == "f" and x.dtype.char != "g"
    return x.dtype.kind in "iu" or (is_real and np.count_nonzero(x) == x.size and not np.isnan(x.min()))


def argsort(x: Array, /, *, axis: int | None = -1, descending: bool = False, stable: bool = True) -> Array:
    """NumPy sorts only in ascending order; a stable descending order also needs the reversed input."""
    if not descending:
        return np.argsort(x, axis=axis, stable=stable)
    if axis is None:
        x, axis = x.reshape(-1), 0
    backward = np.argsort(np.flip(x, axis=axis), axis=axis, stable=stable)
    return x.shape[axis] - 1 - np.flip(backward, axis=axis)


def unique_values(x: Array, /) -> Array:
    """Since 2.3 NumPy's function does not sort integers and complex numbers."""
    return np.unique(x, equal_nan=False)


def unique(
    x: Array, /, *, return_index: bool, return_inverse: bool, return_counts: bool, axis: int | None
) -> Array | tuple[Array, ...]:
    """NumPy's own function. It sorts complex NaNs, and finds the first one only if all are equal."""
    function: Any = np.unique  # its overloads require literals
    if axis is not None or x.dtype.kind != "c":
        return function(x, return_index, return_inverse, return_counts, axis)
    alike = np.where(np.isnan(x), np.nan, x)
    _, indices, *others = function(alike, True, return_inverse, return_counts)
    found = (x.reshape(-1)[indices], *([indices] if return_index else []), *others)
    return found if len(found) > 1 else found[0]


def _reduction(verb: str, ufunc: np.ufunc) -> Callable[..., Array]:
    """A direct call of ``ufunc.reduce``: NumPy's wrapper takes twice the time for the sum of a small array."""

    def reduced(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
        if type(x) is not np.ndarray or x.dtype.kind not in NUMBERS:
            _require_array(verb, x)
        return ufunc.reduce(x, axis, keepdims=keepdims)

    return reduced


def sum(x: Array, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """np.add.reduce, with a small error in narrow dtypes."""
    if type(x) is not np.ndarray:
        _require_array("sum", x)
    if dtype is None and x.dtype.char in sums.EXACT:
        return _add(x, axis, None, keepdims=keepdims)
    if x.dtype.kind not in NUMBERS:
        _require_numbers("sum", x)
    return sums.sum(x, axis, dtype, keepdims)


def prod(x: Array, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """np.multiply.reduce."""
    if type(x) is not np.ndarray or x.dtype.kind not in NUMBERS:
        _require_array("prod", x)
    return _multiply(x, axis, dtype, keepdims=keepdims)


max = _reduction("max", np.maximum)
min = _reduction("min", np.minimum)
all = _reduction("all", np.logical_and)
any = _reduction("any", np.logical_or)
