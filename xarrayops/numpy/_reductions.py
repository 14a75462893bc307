# Long: the reductions, with those of the elements that are not NaN.
"""Sums, products, extrema, moments, quantiles and truth along axes, also of the elements that are not NaN."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, Protocol

import xarrayops as xo
from xarrayops._core.backends.dtype_names import name_of
from xarrayops._generic.extra.statistics import along
from xarrayops.errors import Unsupported
from xarrayops.numpy import _axes, _operands as ops, _promotion, _results, _warnings
from xarrayops.numpy._dtypes import named
from xarrayops.numpy._weighted import as_fractions, weighted_quantile

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
    x = ops.reduced_array(a, axis)
    if isinstance(axis, list):
        raise TypeError(f"np.{verb}: axis must be an integer or a tuple of integers, not a list")
    axis = None if axis is None else _axes.axes_of(x, _axes.axis_of_scalar(x, axis))
    if out is not None and dtype is None and verb in ("sum", "prod"):
        dtype = _floating_for(out, x)
    if dtype is not None and verb in LIMITED:
        x = xo.astype(x, named(dtype))
    initial = _of_class(x, initial) if verb in LIMITED else initial  # a sum may have a wider dtype than x
    if where is not True:
        x = _selected(verb, x, where, initial)
    options = {"dtype": named(dtype)} if verb in ("sum", "prod") else {}
    if verb in LIMITED and initial is not None and 0 in [x.shape[a] for a in _axes.axes_of(x, axis)]:
        result = _of_no_elements(x, axis, keepdims, initial)
    elif axis == ():
        result = xo.astype(x, named(dtype) or x.dtype) if verb not in ("all", "any") else xo.astype(x, "bool")
        result = xo.sum(result[None], axis=0, **options) if options and dtype is None else result
    else:
        result = getattr(xo, verb)(x, axis=axis, keepdims=bool(keepdims), **options)
    if initial is not None:
        result = getattr(xo, COMBINED[verb])(result, _of_class(result, initial))
    return _results.written(verb, result, out, "unsafe")  # as in NumPy


def _floating_for(out: Any, x: Any) -> str | None:
    """The wider floating-point dtype for an output; sums of integers wrap in any dtype as they do in that of out."""
    wider = _results.wider_for(out, x)
    return None if wider is None or "int" in wider else wider


def _of_class(x: Any, initial: Any) -> Any:
    """A Python number as an initial value for x, which determines the class as in NumPy."""
    if type(initial) not in ops.NUMBERS or not _promotion.is_integer(x):
        return initial
    return (bool if xo.isdtype(x.dtype, "bool") else int)(initial)


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
    return xo.where(xo.broadcast_to(ops.arrays(x, where)[1], tuple(x.shape)), x, NEUTRAL.get(verb, initial))


def _of_no_elements(x: Any, axis: tuple[int, ...] | None, keepdims: bool, initial: Any) -> Any:
    """The initial value in the shape of the reduction."""
    axes = _axes.axes_of(x, axis)
    shape = tuple(1 if a in axes else n for a, n in enumerate(x.shape) if keepdims or a not in axes)
    return xo.full(shape, initial, dtype=x.dtype, like=x)


def _numbers(x: Any, where: Any) -> Any:
    """A mask of the selected elements that are not NaN; True for all elements."""
    if _promotion.is_integer(x):
        return where
    mask = xo.logical_not(xo.isnan(x))
    return mask if where is True else xo.logical_and(mask, ops.arrays(mask, where)[1])


def _replaced(x: Any, value: Any) -> Any:
    """The elements with NaN replaced by a value."""
    return x if _promotion.is_integer(x) else xo.where(xo.isnan(x), value, x)


class _Total(Protocol):
    """The parameters of sums and products."""

    def __call__(
        self,
        a: Any,
        axis: Axis = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any: ...


def _total(name: str, text: str) -> _Total:
    """A sum or a product."""
    verb = name.removeprefix("nan")

    def function(
        a: Any,
        axis: Axis = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        x = a if name == verb else _replaced(ops.reduced_array(a, axis), NEUTRAL[verb])
        return reduced(verb, x, axis, dtype, out, keepdims, initial, where)

    return ops.entitled(function, name, text)


sum = _total("sum", "The sum along the axes, by `xarrayops.sum`.")
prod = _total("prod", "The product along the axes, by `xarrayops.prod`.")
nansum = _total("nansum", "The sum of the elements that are not NaN, by `xarrayops.sum`.")
nanprod = _total("nanprod", "The product of the elements that are not NaN, by `xarrayops.prod`.")


class _Extremum(Protocol):
    """The parameters of maxima and minima."""

    def __call__(
        self, a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Any: ...


def _extremum(name: str, text: str) -> _Extremum:
    """A maximum or a minimum."""
    verb = name.removeprefix("nan")

    def function(
        a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Any:
        if name == verb:
            return reduced(verb, a, axis, None, out, keepdims, initial, where)
        x = ops.reduced_array(a, axis)
        if initial is None and where is True:
            axis = _axes.axis_or_axes(axis)
            return _results.written(name, getattr(xo, name)(x, axis=axis, keepdims=bool(keepdims)), out, "unsafe")
        return reduced(verb, x, axis, None, out, keepdims, initial, _numbers(x, where))

    return ops.entitled(function, name, text)


max = _extremum("max", "The largest element along the axes, by `xarrayops.max`.")
min = _extremum("min", "The smallest element along the axes, by `xarrayops.min`.")
nanmax = _extremum("nanmax", "The largest element that is not NaN, by `xarrayops.nanmax`.")
nanmin = _extremum("nanmin", "The smallest element that is not NaN, by `xarrayops.nanmin`.")
amax, amin = max, min


def all(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """Whether all elements along the axes are true, by `xarrayops.all`."""
    return reduced("all", a, axis, None, out, keepdims, None, where)


def any(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """Whether any element along the axes is true, by `xarrayops.any`."""
    return reduced("any", a, axis, None, out, keepdims, None, where)


def ptp(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False) -> Any:
    """The largest element minus the smallest along the axes, by `xarrayops.ptp`."""
    x = _results.widened_for("ptp", out, ops.reduced_array(a, axis), None)
    return _results.written("ptp", xo.ptp(x, axis=_axes.axis_or_axes(axis), keepdims=bool(keepdims)), out)


def count_nonzero(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The number of elements that are not zero, by `xarrayops.count_nonzero`."""
    return xo.count_nonzero(ops.reduced_array(a, axis), axis=_axes.axis_or_axes(axis), keepdims=bool(keepdims))


def _in(dtype: Any, x: Any) -> Any:
    """x in the given dtype, its own floating-point dtype, or the default; float64 instead of an integer dtype."""
    return _promotion.inexact(x if dtype is None else xo.astype(x, named(dtype)))


def _sums(x: Any, mask: Any, axis: Any, keepdims: bool) -> tuple[Any, Any]:
    """The sum and the number of the elements where the mask is true."""
    mask = xo.broadcast_to(mask, tuple(x.shape))
    total = xo.sum(xo.where(mask, x, 0), axis=axis, keepdims=keepdims, dtype=x.dtype)
    return total, xo.astype(xo.count_nonzero(mask, axis=axis, keepdims=keepdims), _real(x))


def _real(x: Any) -> Any:
    """The real dtype of a floating-point x."""
    return xo.real(x).dtype if _promotion.is_complex(x) else x.dtype


def mean(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Any:
    """The mean along the axes, by `xarrayops.mean`."""
    x = ops.reduced_array(a, axis)
    is_half = name_of(x.dtype) == "float16"
    x = _in(dtype, _results.widened_for("mean", out, x, dtype) if is_half else x)
    axis = _axes.axis_of_scalar(x, _axes.axis_or_axes(axis))
    if where is True:
        with _warnings.once_of_empty(x, axis):
            found = xo.mean(x, axis=axis, keepdims=bool(keepdims))
    else:
        found = xo.divide(*_sums(x, ops.arrays(x, where)[1], axis, bool(keepdims)))
    found = found if dtype is None or out is not None else xo.astype(found, named(dtype))
    return _results.written("mean", found, out, "unsafe")


def nanmean(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Any:
    """The mean of the elements that are not NaN, by `xarrayops.nanmean`."""
    x = _of_inexact("nanmean", ops.reduced_array(a, axis), dtype)
    axis = _axes.axis_of_scalar(x, _axes.axis_or_axes(axis))
    if where is not True or dtype is not None:
        return mean(x, axis, dtype, out, keepdims, where=_numbers(x, where))
    if not ops.is_numpys(x):  # NumPy warns itself, also of slices of NaN
        _warnings.of_empty(x, axis)
    return _results.written("nanmean", xo.nanmean(_promotion.floating(x), axis=axis, keepdims=bool(keepdims)), out)


def _of_inexact(name: str, x: Any, dtype: Any) -> Any:
    """x; TypeError if it is floating-point and dtype is an integer dtype."""
    if dtype is not None and not _promotion.is_integer(x) and xo.isdtype(named(dtype), ("integral", "bool")):
        raise TypeError(f"np.{name}: if x is inexact, then dtype must be inexact, not {dtype!r}")
    return x


class _Spread(Protocol):
    """The parameters of variances and standard deviations."""

    def __call__(
        self,
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
    ) -> Any: ...


def _spread(name: str, text: str) -> _Spread:
    """A variance or a standard deviation."""
    is_root = name.endswith("std")

    def function(
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
        if dtype is not None and xo.isdtype(named(dtype), ("integral", "bool")):
            raise Unsupported(f"np.{name} cannot compute in {named(dtype)}. Instead: np.astype(np.{name}(x), dtype)")
        if correction is not None:
            if ddof != 0:
                raise ValueError("ddof and correction can't be provided simultaneously.")
            ddof = correction
        x, axis, ddof = ops.reduced_array(a, axis), _axes.axis_or_axes(axis), _axes.plain_number(ddof)
        if where is True:
            _warnings.of_freedom(x, axis, ddof, name.startswith("nan"))
        found = _variance(name, x, axis, dtype, ddof, bool(keepdims), where, mean)
        found = xo.sqrt(found) if is_root else found
        found = found if dtype is None or _promotion.is_complex(x) else xo.astype(found, named(dtype))
        return _results.written(name, found, out, "unsafe")

    return ops.entitled(function, name, f"{text}; ``correction`` is another name of ``ddof``.")


def _variance(name: str, x: Any, axis: Any, dtype: Any, ddof: Any, keepdims: bool, where: Any, mean: Any) -> Any:
    axis = _axes.axis_of_scalar(x, axis)
    if name.startswith("nan"):
        if where is True and dtype is None and mean is None and not _promotion.is_complex(x):
            return xo.nanvar(_promotion.floating(x), axis=axis, correction=ddof, keepdims=keepdims)
        where = _numbers(_of_inexact(name, x, dtype), where)
    x = _in(dtype, x)
    if where is True and mean is None and not _promotion.is_complex(x):
        return xo.var(x, axis=axis, correction=ddof, keepdims=keepdims)
    mask = xo.ones_like(x, dtype="bool") if where is True else ops.arrays(x, where)[1]
    if mean is None:
        mean = xo.divide(*_sums(x, mask, axis, True))
    centered = xo.subtract(x, ops.arrays(x, mean)[1])
    total, count = _sums(xo.square(xo.abs(centered)), mask, axis, keepdims)
    freedom = count - ddof
    if name.startswith("nan"):
        return xo.where(freedom > 0, xo.divide(total, freedom), xo.nan)
    return xo.divide(total, xo.maximum(freedom, 0))


var = _spread("var", "The variance along the axes, by `xarrayops.var`")
std = _spread("std", "The standard deviation along the axes, by `xarrayops.std`")
nanvar = _spread("nanvar", "The variance of the elements that are not NaN, by `xarrayops.nanvar`")
nanstd = _spread("nanstd", "The standard deviation of the elements that are not NaN, by `xarrayops.nanvar`")


def argmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """The index of the largest element along an axis, by `xarrayops.argmax`."""
    return _results.written(
        "argmax", xo.argmax(ops.reduced_array(a, axis), axis=_axes.axis_or_axes(axis), keepdims=bool(keepdims)), out
    )


def argmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """The index of the smallest element along an axis, by `xarrayops.argmin`."""
    return _results.written(
        "argmin", xo.argmin(ops.reduced_array(a, axis), axis=_axes.axis_or_axes(axis), keepdims=bool(keepdims)), out
    )


def _extreme_place(verb: str, a: Any, axis: int | None, out: Any, keepdims: bool) -> Any:
    x, axis = ops.reduced_array(a, axis), _axes.axis_or_axes(axis)
    axis = None if _axes.axis_of_scalar(x, axis) == () else axis
    found = getattr(xo, verb)(x, axis=axis, keepdims=keepdims)
    if not _promotion.is_integer(x) and not xo.is_lazy(found) and bool(xo.any(found < 0)):
        raise ValueError("All-NaN slice encountered")
    return _results.written(verb, found, out)


def nanargmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """The index of the largest element that is not NaN, by `xarrayops.nanargmax`."""
    return _extreme_place("nanargmax", a, axis, out, keepdims)


def nanargmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """The index of the smallest element that is not NaN, by `xarrayops.nanargmin`."""
    return _extreme_place("nanargmin", a, axis, out, keepdims)


def _accumulated(name: str, x: Any, axis: int | None, dtype: Any, out: Any) -> Any:
    accumulate = xo.cumulative_sum if name.endswith("sum") else xo.cumulative_prod
    if axis is None or _axes.axis_of_scalar(x, index(axis)) == ():
        x, axis = _axes.raveled(x), 0
    axis = index(axis)
    if out is not None and dtype is None:
        dtype = _floating_for(out, x)
    return _results.written(name, accumulate(x, axis=axis, dtype=named(dtype)), out, "unsafe")  # as in NumPy


def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """The partial sums along an axis, by default of all elements, by `xarrayops.cumulative_sum`."""
    return _accumulated("cumsum", ops.array(a), axis, dtype, out)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """The partial products along an axis, by default of all elements, by `xarrayops.cumulative_prod`."""
    return _accumulated("cumprod", ops.array(a), axis, dtype, out)


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """The partial sums with NaN as 0, by `xarrayops.cumulative_sum`."""
    return _accumulated("nancumsum", _replaced(ops.array(a), 0), axis, dtype, out)


def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """The partial products with NaN as 1, by `xarrayops.cumulative_prod`."""
    return _accumulated("nancumprod", _replaced(ops.array(a), 1), axis, dtype, out)


class _Cumulative(Protocol):
    """The parameters of partial sums and products, as in the standard."""

    def __call__(
        self, x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
    ) -> Any: ...


def _cumulative(verb: str, text: str) -> _Cumulative:
    """The partial sums or products, with the arguments of the standard."""

    def function(
        x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
    ) -> Any:
        x, axis = ops.array(x), _axes.axis_or_axes(axis)
        x = _axes.raveled(x) if x.ndim == 0 else x
        if axis is None and x.ndim != 1:
            raise ValueError(f"np.{verb}: for arrays that have not one dimension the axis is required")
        found = getattr(xo, verb)(x, axis=axis, dtype=named(dtype), include_initial=include_initial)
        return _results.written(verb, found, out)

    return ops.entitled(function, verb, text)


cumulative_sum = _cumulative("cumulative_sum", "The partial sums along an axis, by `xarrayops.cumulative_sum`.")
cumulative_prod = _cumulative("cumulative_prod", "The partial products along an axis, by `xarrayops.cumulative_prod`.")


def average(a: Any, axis: Axis = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """The weighted mean along the axes, by `xarrayops.average`; with ``returned`` also the sum of the weights."""
    x, axis = _promotion.floating(ops.reduced_array(a, axis)), _axes.axis_or_axes(axis)
    if weights is None:
        with _warnings.once_of_empty(x, axis):
            result = xo.mean(x, axis=axis, keepdims=keepdims)
        count = xo.count_nonzero(xo.ones_like(x, dtype="bool"), axis=axis, keepdims=keepdims)
        total = xo.astype(count, result.dtype)
    else:
        x, w = _promotion.alike(_promotion.inexact(x), weights)
        result = xo.average(x, axis=axis, weights=w, keepdims=keepdims)
        w = w if tuple(w.shape) == tuple(x.shape) else along(xo, w, x, axis)
        total = xo.astype(xo.sum(w, axis=axis, keepdims=keepdims), result.dtype)
    return (result, xo.broadcast_to(total, tuple(result.shape))) if returned else result


def median(a: Any, axis: Axis = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """The median along the axes, by `xarrayops.median`; the input is never overwritten."""
    x, axis = ops.reduced_array(a, axis), _axes.axis_or_axes(axis)
    if not ops.is_numpys(x):
        _warnings.of_empty(x, axis)
    return _results.written("median", xo.median(_promotion.floating(x), axis=axis, keepdims=bool(keepdims)), out)


def nanmedian(a: Any, axis: Axis = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """The median of the elements that are not NaN, by `xarrayops.nanmedian`; the input is never overwritten."""
    x, axis = ops.reduced_array(a, axis), _axes.axis_or_axes(axis)
    if not ops.is_numpys(x):
        _warnings.of_empty(x, axis)
    return _results.written("nanmedian", xo.nanmedian(_promotion.floating(x), axis=axis, keepdims=bool(keepdims)), out)


_CHOOSING = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")
"""The methods that choose an element: integers stay integers."""


class _Quantile(Protocol):
    """The parameters of quantiles and percentiles."""

    def __call__(
        self,
        a: Any,
        q: Any,
        axis: Axis = None,
        out: Any = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: bool = False,
        *,
        weights: Any = None,
    ) -> Any: ...


def _quantile(name: str, text: str) -> _Quantile:
    """Quantiles or percentiles."""

    def function(
        a: Any,
        q: Any,
        axis: Axis = None,
        out: Any = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: bool = False,
        *,
        weights: Any = None,
    ) -> Any:
        (x,) = ops.arrays(a) if ops.first_array((a,)) is not None else ops.arrays(a, q)[:1]
        axis = _axes.axis_or_axes(axis)
        if weights is not None:
            return _results.written(name, weighted_quantile(name, x, q, axis, method, bool(keepdims), weights), out)
        x = x if method in _CHOOSING else _promotion.floating(x)
        if not isinstance(q, (int, float)):
            q = as_fractions(ops.arrays(x, q)[1])
        elif not 0 <= q <= (100 if name.endswith("percentile") else 1):
            raise ValueError(f"np.{name}: q must be from 0 to {100 if name.endswith('percentile') else 1}, not {q}")
        is_of_axes = getattr(q, "ndim", 0) > 1
        places = _axes.raveled(q) if is_of_axes else q
        found = getattr(xo, name)(x, places, axis=axis, method=method, keepdims=bool(keepdims))
        return _results.written(name, xo.reshape(found, (*q.shape, *found.shape[1:])) if is_of_axes else found, out)

    return ops.entitled(function, name, f"{text}, by `xarrayops.{name}`; the input is never overwritten.")


quantile = _quantile("quantile", "Quantiles along the axes")
percentile = _quantile("percentile", "Percentiles along the axes")
nanquantile = _quantile("nanquantile", "Quantiles of the elements that are not NaN")
nanpercentile = _quantile("nanpercentile", "Percentiles of the elements that are not NaN")

if not TYPE_CHECKING:
    __all__ = ops.public(globals(), hidden=("reduced",))
