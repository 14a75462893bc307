"""Reductions of the elements that are not NaN, and quantiles."""

from __future__ import annotations

from typing import Any

import xarrayops as xo
from xarrayops.numpy import _reductions as plain
from xarrayops.numpy._dtypes import named
from xarrayops.numpy._operands import (
    array,
    arrays,
    first_array,
    floating,
    is_complex,
    is_integer,
    raveled,
    refuse,
    written,
)
from xarrayops.numpy._reductions import Axis


def _numbers(x: Any) -> Any:
    """A mask of the elements that are not NaN; True if none can be."""
    return True if is_integer(x) else xo.logical_not(xo.isnan(x))


def _and(mask: Any, where: Any) -> Any:
    """The logical and of two masks, either of which may be the Python bool True."""
    if where is True or mask is True:
        return mask if where is True else where
    return xo.logical_and(mask, arrays(mask, where)[1])


def _without(x: Any, value: Any) -> Any:
    """The elements with NaN replaced by a value."""
    mask = _numbers(x)
    return x if mask is True else xo.where(mask, x, value)


def _of_inexact(verb: str, x: Any, dtype: Any) -> Any:
    """x; TypeError if it is floating-point and dtype is an integer dtype."""
    if dtype is not None and not is_integer(x) and xo.isdtype(named(dtype), ("integral", "bool")):
        raise TypeError(f"np.{verb}: if x is inexact, then dtype must be inexact, not {dtype!r}")
    return x


def nansum(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """The sum of the elements that are not NaN, by `xarrayops.sum`."""
    return plain.sum(_without(array(a), 0), axis, dtype, out, keepdims, initial, where)


def nanprod(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """The product of the elements that are not NaN, by `xarrayops.prod`."""
    return plain.prod(_without(array(a), 1), axis, dtype, out, keepdims, initial, where)


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """The partial sums with NaN as 0, by `xarrayops.cumulative_sum`."""
    return plain.cumsum(_without(array(a), 0), axis, dtype, out)


def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """The partial products with NaN as 1, by `xarrayops.cumulative_prod`."""
    return plain.cumprod(_without(array(a), 1), axis, dtype, out)


def _extremum(verb: str, a: Any, axis: Axis, out: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    x = array(a)
    if initial is None and where is True:
        return written(f"nan{verb}", getattr(xo, f"nan{verb}")(x, axis=axis, keepdims=bool(keepdims)), out)
    mask = _and(_numbers(x), where)
    return plain.reduced(verb, x, axis, None, out, keepdims, initial, mask)


def nanmax(
    a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """The largest element that is not NaN, by `xarrayops.nanmax`."""
    return _extremum("max", a, axis, out, keepdims, initial, where)


def nanmin(
    a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """The smallest element that is not NaN, by `xarrayops.nanmin`."""
    return _extremum("min", a, axis, out, keepdims, initial, where)


def nanmean(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Any:
    """The mean of the elements that are not NaN, by `xarrayops.nanmean`."""
    x = _of_inexact("nanmean", array(a), dtype)
    if where is True and dtype is None:
        return written("nanmean", xo.nanmean(floating(x), axis=axis, keepdims=bool(keepdims)), out)
    return plain.mean(x, axis, dtype, out, keepdims, where=_and(_numbers(x), where))


def nanvar(
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
    """The variance of the elements that are not NaN, by `xarrayops.nanvar`."""
    x = _of_inexact("nanvar", array(a), dtype)
    if where is True and dtype is None and mean is None and correction is None and not is_complex(x):
        return written("nanvar", xo.nanvar(floating(x), axis=axis, correction=ddof, keepdims=bool(keepdims)), out)
    mask = _and(_numbers(x), where)
    return plain.var(x, axis, dtype, out, ddof, keepdims, where=mask, mean=mean, correction=correction)


def nanstd(
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
    """The standard deviation of the elements that are not NaN, by `xarrayops.nanvar`."""
    variance = nanvar(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    return written("nanstd", xo.sqrt(variance), out)


def _argument(verb: str, worst: float, a: Any, axis: int | None, out: Any, keepdims: bool) -> Any:
    x = array(a)
    missing = None if is_integer(x) else xo.isnan(x)
    if missing is not None:
        if not xo.is_lazy(x) and bool(xo.any(xo.all(missing, axis=axis))):
            raise ValueError("All-NaN slice encountered")
        x = xo.where(missing, worst, x)
    return written(f"nan{verb}", getattr(xo, verb)(x, axis=axis, keepdims=keepdims), out)


def nanargmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """The index of the largest element that is not NaN, by `xarrayops.argmax`."""
    return _argument("argmax", -xo.inf, a, axis, out, keepdims)


def nanargmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """The index of the smallest element that is not NaN, by `xarrayops.argmin`."""
    return _argument("argmin", xo.inf, a, axis, out, keepdims)


def median(a: Any, axis: Axis = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """The median along the axes, by `xarrayops.median`; the input is never overwritten."""
    return written("median", xo.median(floating(array(a)), axis=axis, keepdims=bool(keepdims)), out)


def nanmedian(a: Any, axis: Axis = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """The median of the elements that are not NaN, by `xarrayops.nanmedian`; the input is never overwritten."""
    return written("nanmedian", xo.nanmedian(floating(array(a)), axis=axis, keepdims=bool(keepdims)), out)


_CHOOSING = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")
"""The methods that choose an element: integers stay integers."""


def _quantile(verb: str, a: Any, q: Any, axis: Axis, out: Any, method: str, keepdims: bool, weights: Any) -> Any:
    refuse(verb, "repeat each element by its weight, np.repeat(a, weights)", weights=weights is not None)
    (x,) = arrays(a) if first_array((a,)) is not None else arrays(a, q)[:1]
    x = x if method in _CHOOSING else floating(x)
    q = q if isinstance(q, (int, float)) else floating(arrays(x, q)[1])
    if hasattr(q, "ndim") and q.ndim > 1:
        found = getattr(xo, verb)(x, raveled(q), axis=axis, method=method, keepdims=bool(keepdims))
        result = xo.reshape(found, (*q.shape, *found.shape[1:]))
    else:
        result = getattr(xo, verb)(x, q, axis=axis, method=method, keepdims=bool(keepdims))
    return written(verb, result, out)


def quantile(
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
    """Quantiles along the axes, by `xarrayops.quantile`; the input is never overwritten."""
    return _quantile("quantile", a, q, axis, out, method, keepdims, weights)


def percentile(
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
    """Percentiles along the axes, by `xarrayops.percentile`; the input is never overwritten."""
    return _quantile("percentile", a, q, axis, out, method, keepdims, weights)


def nanquantile(
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
    """Quantiles of the elements that are not NaN, by `xarrayops.nanquantile`; the input is never overwritten."""
    return _quantile("nanquantile", a, q, axis, out, method, keepdims, weights)


def nanpercentile(
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
    """Percentiles of the elements that are not NaN, by `xarrayops.nanpercentile`; the input is never overwritten."""
    return _quantile("nanpercentile", a, q, axis, out, method, keepdims, weights)


__all__ = [
    *("median", "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin"),
    *("nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum", "nanvar", "percentile", "quantile"),
]
