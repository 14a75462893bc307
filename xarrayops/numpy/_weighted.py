"""Quantiles with weights: the inverse of the weighted distribution function, as in NumPy."""

from __future__ import annotations

from typing import Any

import xarrayops as xo
from xarrayops._generic.extra.common import rows
from xarrayops.numpy import _axes, _operands as ops, _promotion


def weighted_quantile(name: str, x: Any, q: Any, axis: Any, method: str, keepdims: bool, weights: Any) -> Any:
    """Quantiles, or percentiles, by name: the first sorted element whose share of the weights reaches q.

    With "nan" in the name, elements that are NaN and their weights do not count. Each q is compared with the share of
    every element.
    """
    if method != "inverted_cdf":
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    probabilities = _probabilities(name, x, q)
    values, shape = rows(xo, x, axis, keepdims=keepdims)
    given, _ = rows(xo, _weights_of(x, weights, axis), axis, keepdims=keepdims)
    missing = xo.isnan(values) if xo.isdtype(x.dtype, "real floating") else None
    if missing is not None and name.startswith("nan"):
        given = xo.where(missing, 0, given)
    order = xo.argsort(values, axis=-1)
    values, share = (xo.take_along_axis(each, order, axis=-1) for each in (values, given))
    share = xo.cumulative_sum(xo.astype(share, float), axis=-1)
    share = xo.divide(share, share[..., -1:])
    _require_total(name, share)
    share = xo.astype(share, probabilities.dtype) if probabilities.dtype != share.dtype else share
    share = xo.where(share == 0, -1, share)  # so that q=0 is the first element with a weight
    below = xo.count_nonzero(share[..., None, :] < xo.reshape(probabilities, (-1, 1)), axis=-1)
    found = xo.take_along_axis(values, xo.minimum(below, values.shape[-1] - 1), axis=-1)
    if missing is not None:
        is_missing = xo.all(missing, axis=-1) if name.startswith("nan") else xo.any(missing, axis=-1)
        found = xo.where(is_missing[..., None], xo.nan, found)
    return xo.reshape(xo.moveaxis(found, -1, 0), (*probabilities.shape, *shape))


def _probabilities(name: str, x: Any, q: Any) -> Any:
    """q as an array of floating-point numbers from 0 to 1; a Python number has the dtype of a floating-point x."""
    is_weak = type(q) in ops.NUMBERS and xo.isdtype(x.dtype, "real floating")
    p = xo.asarray(q, dtype=x.dtype, like=x) if is_weak else as_fractions(ops.arrays(x, q)[1])
    kind, end = ("Percentiles", 100) if name.endswith("percentile") else ("Quantiles", 1)
    if not xo.is_lazy(p) and not bool(xo.all(xo.logical_and(p >= 0, p <= end))):
        raise ValueError(f"{kind} must be in the range [0, {end}]")
    return xo.divide(p, end)


def as_fractions(q: Any) -> Any:
    """Quantiles that are integers, 0 or 1, as floating-point numbers."""
    return xo.astype(q, float) if _promotion.is_integer(q) else q


def _weights_of(x: Any, weights: Any, axis: Any) -> Any:
    """The weights in the shape of x. Negative weights raise where the values are known."""
    w = ops.arrays(x, weights)[1]
    if tuple(w.shape) != tuple(x.shape):
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        axes = _axes.axes_of(x, axis)
        if tuple(w.shape) != tuple(x.shape[a] for a in axes):
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        w = xo.permute_dims(w, tuple(sorted(range(len(axes)), key=axes.__getitem__)))
        w = xo.reshape(w, tuple(n if a in axes else 1 for a, n in enumerate(x.shape)))
    if not xo.is_lazy(w) and bool(xo.any(w < 0)):
        raise ValueError("Weights must be non-negative.")
    return xo.broadcast_to(w, tuple(x.shape))


def _require_total(name: str, share: Any) -> None:
    """Raise if weights have no sum, where the values are known. Without numbers, nan functions give NaN."""
    if not name.startswith("nan") and not xo.is_lazy(share) and bool(xo.any(xo.isnan(share[..., -1:]))):
        raise ValueError("Weights included NaN, inf or were all zero.")
