"""Sums, products, extrema, moments and truth along axes."""

from __future__ import annotations

from typing import Any

import xarrayops as xo
from xarrayops._generic.extra.statistics import along
from xarrayops.numpy._dtypes import named
from xarrayops.numpy._operands import array, arrays, axes_of, floating, is_complex, is_integer, raveled, written

Axis = int | tuple[int, ...] | None

NEUTRAL = {"sum": 0, "prod": 1, "all": True, "any": False}
"""The neutral value of each reduction."""
COMBINED = {
    "sum": "add",
    "prod": "multiply",
    "max": "maximum",
    "min": "minimum",
    "all": "logical_and",
    "any": "logical_or",
}
"""The function of two operands that each reduction applies; it also joins the result with an initial value."""
LIMITED = ("max", "min")
"""Reductions that need an element or an initial value."""


def reduced(verb: str, a: Any, axis: Any, dtype: Any, out: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    """A reduction of some elements, joined with an initial value, in a dtype, into an output."""
    x = array(a)
    if isinstance(axis, list):
        raise TypeError(f"np.{verb}: axis must be an integer or a tuple of integers, not a list")
    axis = None if axis is None else axes_of(x, axis)
    if dtype is not None and verb in LIMITED:
        x = xo.astype(x, named(dtype))
    if where is not True:
        x = _selected(verb, x, where, initial)
    options = {"dtype": named(dtype)} if verb in ("sum", "prod") else {}
    if verb in LIMITED and initial is not None and _is_empty(x, axis):
        result = _of_no_elements(x, axis, keepdims, initial)
    elif axis == ():
        result = xo.astype(x, named(dtype) or x.dtype) if verb not in ("all", "any") else xo.astype(x, "bool")
        result = xo.sum(result[None], axis=0, **options) if options and dtype is None else result
    else:
        result = getattr(xo, verb)(x, axis=axis, keepdims=bool(keepdims), **options)
        if initial is not None:
            result = getattr(xo, COMBINED[verb])(result, initial)
    return written(verb, result, out)


def _selected(verb: str, x: Any, where: Any, initial: Any) -> Any:
    """The elements, with the neutral value where the mask is false."""
    if verb in LIMITED and initial is None:
        name = "maximum" if verb == "max" else "minimum"
        raise ValueError(
            f"reduction operation '{name}' does not have an identity, so to use a where mask one has to "
            "specify 'initial'"
        )
    if verb in ("all", "any") and not xo.isdtype(x.dtype, "bool"):
        x = x != 0
    return xo.where(arrays(x, where)[1], x, NEUTRAL.get(verb, initial))


def _is_empty(x: Any, axis: tuple[int, ...] | None) -> bool:
    return 0 in [x.shape[a] for a in axes_of(x, axis)]


def _of_no_elements(x: Any, axis: tuple[int, ...] | None, keepdims: bool, initial: Any) -> Any:
    """The initial value in the shape of the reduction."""
    axes = axes_of(x, axis)
    shape = tuple(1 if a in axes else n for a, n in enumerate(x.shape) if keepdims or a not in axes)
    return xo.full(shape, initial, dtype=x.dtype, like=x)


def sum(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """The sum along the axes, by `xarrayops.sum`."""
    return reduced("sum", a, axis, dtype, out, keepdims, initial, where)


def prod(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """The product along the axes, by `xarrayops.prod`."""
    return reduced("prod", a, axis, dtype, out, keepdims, initial, where)


def max(
    a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """The largest element along the axes, by `xarrayops.max`."""
    return reduced("max", a, axis, None, out, keepdims, initial, where)


def min(
    a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """The smallest element along the axes, by `xarrayops.min`."""
    return reduced("min", a, axis, None, out, keepdims, initial, where)


amax, amin = max, min


def all(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """Whether all elements along the axes are true, by `xarrayops.all`."""
    return reduced("all", a, axis, None, out, keepdims, None, where)


def any(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """Whether any element along the axes is true, by `xarrayops.any`."""
    return reduced("any", a, axis, None, out, keepdims, None, where)


def ptp(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False) -> Any:
    """The largest element minus the smallest along the axes, by `xarrayops.ptp`."""
    return written("ptp", xo.ptp(array(a), axis=axis, keepdims=keepdims), out)


def count_nonzero(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The number of elements that are not zero, by `xarrayops.count_nonzero`."""
    return xo.count_nonzero(array(a), axis=axis, keepdims=keepdims)


def _in(dtype: Any, x: Any) -> Any:
    """x in the given dtype, its own floating-point dtype, or the default; float64 instead of an integer dtype."""
    x = floating(x) if dtype is None else xo.astype(x, named(dtype))
    return xo.astype(x, "float64") if is_integer(x) else x


def _sums(x: Any, mask: Any, axis: Any, keepdims: bool) -> tuple[Any, Any]:
    """The sum and the number of the elements where the mask is true."""
    mask = xo.broadcast_to(mask, tuple(xo.broadcast_shapes(mask.shape, x.shape)))
    total = xo.sum(xo.where(mask, x, 0), axis=axis, keepdims=keepdims, dtype=x.dtype)
    return total, xo.astype(xo.count_nonzero(mask, axis=axis, keepdims=keepdims), _real(x))


def _real(x: Any) -> Any:
    """The real dtype of a floating-point x."""
    return xo.real(x).dtype if is_complex(x) else x.dtype


def mean(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Any:
    """The mean along the axes, by `xarrayops.mean`."""
    x = _in(dtype, array(a))
    if where is True:
        return written("mean", xo.mean(x, axis=axis, keepdims=bool(keepdims)), out)
    total, count = _sums(x, arrays(x, where)[1], axis, bool(keepdims))
    return written("mean", xo.divide(total, count), out)


def var(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """The variance along the axes, by `xarrayops.var`; ``correction`` is another name of ``ddof``."""
    return written("var", _variance(a, axis, dtype, ddof, keepdims, where, mean, correction), out)


def std(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """The standard deviation along the axes, by `xarrayops.std`; ``correction`` is another name of ``ddof``."""
    return written("std", xo.sqrt(_variance(a, axis, dtype, ddof, keepdims, where, mean, correction)), out)


def _variance(a: Any, axis: Any, dtype: Any, ddof: Any, keepdims: Any, where: Any, mean: Any, correction: Any) -> Any:
    if correction is not None:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    x = _in(dtype, array(a))
    if where is True and mean is None and not is_complex(x):
        return xo.var(x, axis=axis, correction=ddof, keepdims=bool(keepdims))
    mask = xo.ones_like(x, dtype="bool") if where is True else arrays(x, where)[1]
    if mean is None:
        mean = xo.divide(*_sums(x, mask, axis, True))
    centered = xo.subtract(x, arrays(x, mean)[1])
    total, count = _sums(xo.square(xo.abs(centered)), mask, axis, bool(keepdims))
    return xo.divide(total, xo.maximum(count - ddof, 0))


def argmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """The index of the largest element along an axis, by `xarrayops.argmax`."""
    return written("argmax", xo.argmax(array(a), axis=axis, keepdims=keepdims), out)


def argmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """The index of the smallest element along an axis, by `xarrayops.argmin`."""
    return written("argmin", xo.argmin(array(a), axis=axis, keepdims=keepdims), out)


def _cumulative(verb: str, a: Any, axis: int | None, dtype: Any, out: Any) -> Any:
    x = array(a)
    x, axis = (raveled(x), 0) if axis is None else (x, axis)
    return written(verb, getattr(xo, verb)(x, axis=axis, dtype=named(dtype)), out)


def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """The partial sums along an axis, by default of all elements, by `xarrayops.cumulative_sum`."""
    return _cumulative("cumulative_sum", a, axis, dtype, out)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """The partial products along an axis, by default of all elements, by `xarrayops.cumulative_prod`."""
    return _cumulative("cumulative_prod", a, axis, dtype, out)


def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """The partial sums along an axis, by `xarrayops.cumulative_sum`."""
    result = xo.cumulative_sum(
        _axis_given("cumulative_sum", array(x), axis), axis=axis, dtype=named(dtype), include_initial=include_initial
    )
    return written("cumulative_sum", result, out)


def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """The partial products along an axis, by `xarrayops.cumulative_prod`."""
    result = xo.cumulative_prod(
        _axis_given("cumulative_prod", array(x), axis), axis=axis, dtype=named(dtype), include_initial=include_initial
    )
    return written("cumulative_prod", result, out)


def _axis_given(verb: str, x: Any, axis: int | None) -> Any:
    if axis is None and x.ndim != 1:
        raise ValueError(f"np.{verb}: for arrays that have not one dimension the axis is required")
    return x


def average(a: Any, axis: Axis = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """The weighted mean along the axes, by `xarrayops.average`; with ``returned`` also the sum of the weights."""
    x = floating(array(a))
    if weights is None:
        result = xo.mean(x, axis=axis, keepdims=keepdims)
        count = xo.count_nonzero(xo.ones_like(x, dtype="bool"), axis=axis, keepdims=keepdims)
        total = xo.astype(count, result.dtype)
    else:
        x, w = arrays(x, weights)
        result = xo.average(x, axis=axis, weights=floating(w), keepdims=keepdims)
        total = xo.astype(_sum_of_weights(x, w, axis, keepdims), result.dtype)
    return (result, xo.broadcast_to(total, tuple(result.shape))) if returned else result


def _sum_of_weights(x: Any, w: Any, axis: Any, keepdims: bool) -> Any:
    """The sum of weights with the shape of x or of its axes."""
    w = w if tuple(w.shape) == tuple(x.shape) else along(xo, w, x, axis)
    return xo.sum(w, axis=axis, keepdims=keepdims)


__all__ = [
    *("all", "amax", "amin", "any", "argmax", "argmin", "average", "count_nonzero", "cumprod", "cumsum"),
    *("cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "ptp", "std", "sum", "var"),
]
