"""Sorting, searching, sets and comparison."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Any, Literal

import xarrayops as xo
from xarrayops.errors import Unsupported
from xarrayops.numpy import _axes, _comparison, _operands as ops, _promotion, _results
from xarrayops.numpy._elementwise import UFUNCS

_KINDS = ("quicksort", "mergesort", "heapsort", "stable", None)
_FIELDS = "sort by several keys with np.lexsort"


def _sorted(function: str, a: Any, axis: int | None, kind: Any, order: Any, stable: Any, *kth: Any) -> Any:
    _results.refuse(function, _FIELDS, order=order is not None)
    if kind not in _KINDS and not kth:
        raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})")
    if kth and kind != "introselect":
        raise ValueError(f"select kind must be 'introselect' (got {kind!r})")
    if kind is not None and stable is not None:
        raise ValueError("`kind` and keyword parameters can't be provided at the same time.")
    x = ops.array(a)
    x, axis = (_axes.raveled(x), 0) if axis is None else (x, axis)
    return getattr(xo, function)(x, *kth, axis=_axes.one_axis(axis, x.ndim))


def sort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: bool | None = None) -> Any:
    """The elements in ascending order along an axis, by `xarrayops.sort`; the sort is stable."""
    return _sorted("sort", a, axis, kind, order, stable)


def argsort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: bool | None = None) -> Any:
    """The indices that sort along an axis, by `xarrayops.argsort`; the sort is stable."""
    x = ops.array(a)
    x = _axes.raveled(x) if x.ndim == 0 and axis in (0, -1) else x
    return _sorted("argsort", x, axis, kind, order, stable)


def partition(a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None) -> Any:
    """The elements with each kth element at its sorted position, by `xarrayops.partition`."""
    return _sorted("partition", a, axis, kind, order, None, kth)


def argpartition(a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None) -> Any:
    """The indices that bring each kth element to its sorted position, by `xarrayops.argpartition`."""
    return _sorted("argpartition", a, axis, kind, order, None, kth)


def lexsort(keys: Any, axis: int = -1) -> Any:
    """The indices that sort by several keys, of which the last is the primary one, by `xarrayops.lexsort`."""
    members = list(xo.unstack(keys)) if hasattr(keys, "dtype") else list(keys)
    if not members:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    return xo.lexsort(ops.arrays(*members), axis=axis)


def searchsorted(a: Any, v: Any, side: Literal["left", "right"] = "left", sorter: Any = None) -> Any:
    """The positions of the values in a sorted vector, by `xarrayops.searchsorted`."""
    values, order = ops.arrays(a, v), None if sorter is None else ops.indices(sorter, ops.first_array((a, v)))
    if side not in ("left", "right"):
        raise ValueError(f"search side must be one of 'left' or 'right' (got {side!r})")
    if 0 in tuple(values[1].shape):
        return xo.zeros(tuple(values[1].shape), dtype=int, like=values[1])
    return _comparison.searchsorted(*values, side=side, sorter=order)


def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: str | None = None
) -> Any:
    """Whether each element is one of the others, by `xarrayops.isin`."""
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    x, others = ops.arrays(element, test_elements)
    if kind == "table" and not (_promotion.is_integer(x) and _promotion.is_integer(others)):
        raise ValueError("The 'table' method is only supported for boolean or integer arrays. Instead: kind='sort'")
    return _comparison.isin(x, others, invert=invert)


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """The distinct elements in ascending order, by `xarrayops.unique`; with options also indices and counts."""
    x = ops.array(ar)
    if not equal_nan and not _promotion.is_integer(x):
        if axis is not None:
            raise Unsupported("np.unique: equal_nan=False with axis= is not supported. Instead: leave out one of them")
        results = tuple(compress(xo.unique_all(x), (True, return_index, return_inverse, return_counts)))
        return results if len(results) > 1 else results[0]
    if axis is not None:
        axis = _axes.one_axis(axis, x.ndim)
    return xo.unique(
        x, return_index=return_index, return_inverse=return_inverse, return_counts=return_counts, axis=axis
    )


def unique_all(x: Any) -> Any:
    """The distinct elements, their indices, inverse indices and counts, by `xarrayops.unique_all`."""
    return xo.unique_all(ops.array(x))


def unique_counts(x: Any) -> Any:
    """The distinct elements and their counts, by `xarrayops.unique_counts`."""
    return xo.unique_counts(ops.array(x))


def unique_inverse(x: Any) -> Any:
    """The distinct elements and the inverse indices, by `xarrayops.unique_inverse`."""
    return xo.unique_inverse(ops.array(x))


def unique_values(x: Any) -> Any:
    """The distinct elements, by `xarrayops.unique_values`."""
    return xo.unique_values(ops.array(x))


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The sorted distinct elements of both arrays, by `xarrayops.intersect1d`."""
    x, y = _promotion.together(ar1, ar2)
    return xo.intersect1d(x, y, assume_unique=assume_unique, return_indices=return_indices)


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """The distinct elements of the first array that are not in the second, by `xarrayops.setdiff1d`."""
    x, y = ops.arrays(ar1, ar2)
    return xo.setdiff1d(x, y if _axes.size_of(y) else xo.astype(y, x.dtype), assume_unique=assume_unique)


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """The sorted distinct elements that are in exactly one of the arrays, by `xarrayops.setxor1d`."""
    return xo.setxor1d(*_promotion.together(ar1, ar2), assume_unique=assume_unique)


def union1d(ar1: Any, ar2: Any) -> Any:
    """The sorted distinct elements of both arrays, by `xarrayops.union1d`."""
    return xo.union1d(*_promotion.alike(ar1, ar2))


def isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    """Whether the elements of each pair are close, by `xarrayops.isclose`."""
    a, b = ops.numpy_numbers(a, b)
    x, y = ops.arrays(*ops.with_numbers(a, b))
    if _comparison.lack_common_dtype(x, y):
        return _comparison.isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan)
    x, y = (xo.astype(z, float) if xo.isdtype(z.dtype, "bool") else z for z in _promotion.alike(a, b))
    if hasattr(rtol, "dtype") or hasattr(atol, "dtype"):
        x, y, rtol, atol = _promotion.together(*(_promotion.floating(x), _promotion.floating(y), rtol, atol))
        near = xo.logical_and(xo.abs(x - y) <= atol + rtol * xo.abs(y), xo.isfinite(y))
        near = xo.logical_or(near, x == y)
        return xo.logical_or(near, xo.logical_and(xo.isnan(x), xo.isnan(y))) if equal_nan else near
    return xo.isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan)


def allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> bool:
    """Whether the elements of all pairs are close, by `xarrayops.isclose`; a Python bool, so lazy arrays compute."""
    return _results.truth("allclose", xo.all(isclose(a, b, rtol, atol, equal_nan)), "np.all(np.isclose(a, b))")


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Whether shapes and elements are equal, by `xarrayops.array_equal`; a Python bool, so lazy arrays compute."""
    x, y = ops.arrays(a1, a2)
    if _comparison.lack_common_dtype(x, y):
        return tuple(x.shape) == tuple(y.shape) and array_equiv(x, y)
    is_equal = xo.array_equal(*_promotion.harmonised(x, y), equal_nan=equal_nan)
    return _results.truth("array_equal", is_equal, "np.all(np.equal(a1, a2))")


def array_equiv(a1: Any, a2: Any) -> bool:
    """Whether all elements are equal after broadcasting, by `xarrayops.equal`; a Python bool."""
    x, y = ops.arrays(*ops.with_numbers(a1, a2))
    try:
        xo.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return False
    return _results.truth("array_equiv", xo.all(UFUNCS["equal"](x, y)), "np.all(np.equal(a1, a2))")


def iscomplex(x: Any) -> Any:
    """Whether the imaginary part of each element is not 0, by `xarrayops.imag`."""
    z = ops.operand(x)
    return xo.imag(z) != 0 if _promotion.is_complex(z) else xo.zeros_like(z, dtype="bool")


def isreal(x: Any) -> Any:
    """Whether the imaginary part of each element is 0, by `xarrayops.imag`."""
    return xo.logical_not(iscomplex(x))


def _extreme_place(verb: str, a: Any, axis: int | None, out: Any, keepdims: bool) -> Any:
    x, axis = ops.reduced_array(a, axis), _axes.axis_or_axes(axis)
    axis = None if _axes.axis_of_scalar(x, axis) == () else axis
    found = getattr(xo, verb)(x, axis=axis, keepdims=bool(keepdims))
    can_lack = verb.startswith("nan") and not _promotion.is_integer(x) and not xo.is_lazy(found)
    if can_lack and bool(xo.any(found < 0)):
        raise ValueError("All-NaN slice encountered")
    return _results.written(verb, found, out)


def argmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """The index of the largest element along an axis, by `xarrayops.argmax`."""
    return _extreme_place("argmax", a, axis, out, keepdims)


def argmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """The index of the smallest element along an axis, by `xarrayops.argmin`."""
    return _extreme_place("argmin", a, axis, out, keepdims)


def nanargmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """The index of the largest element that is not NaN, by `xarrayops.nanargmax`."""
    return _extreme_place("nanargmax", a, axis, out, keepdims)


def nanargmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """The index of the smallest element that is not NaN, by `xarrayops.nanargmin`."""
    return _extreme_place("nanargmin", a, axis, out, keepdims)


if not TYPE_CHECKING:
    __all__ = ops.public(globals())
