"""Medians, quantiles and percentiles along axes, also of the elements that are not NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import xarrayops as xo
from xarrayops.numpy import _axes, _operands as ops, _promotion, _results, _warnings
from xarrayops.numpy._axes import Axis
from xarrayops.numpy._weighted import as_fractions, weighted_quantile


def _middle(name: str, a: Any, axis: Any, out: Any, keepdims: bool) -> Any:
    x, axis = ops.reduced_array(a, axis), _axes.axis_or_axes(axis)
    if not ops.is_numpys(x):
        _warnings.of_empty(x, axis)
    found = getattr(xo, name)(_promotion.floating(x), axis=axis, keepdims=bool(keepdims))
    return _results.written(name, found, out)


def median(a: Any, axis: Axis = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """The median along the axes, by `xarrayops.median`; the input is never overwritten."""
    return _middle("median", a, axis, out, keepdims)


def nanmedian(a: Any, axis: Axis = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """The median of the elements that are not NaN, by `xarrayops.nanmedian`; the input is never overwritten."""
    return _middle("nanmedian", a, axis, out, keepdims)


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
    __all__ = ops.public(globals())
