"""Quantiles and greatest elements, with no more than a chunk in a task."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.generic import common, order, quantiles
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import da
from xarrayops_backends.dask._selection import selected, with_rows


def _select(xp: Any, x: Array, *indices: Any) -> list[Array]:
    """As `quantiles.by_sort`, with no more than a chunk in a task."""
    rows = with_rows(_blocks.without_empty_chunks(x), x.ndim - 1)
    if rows is not None:
        return quantiles.by_sort(xp, rows, *indices)
    rest = x.shape[:-1]
    arrays = [da.asarray(np.asarray([i]) if isinstance(i, int) else i) for i in indices]
    ranks = da.concatenate([da.broadcast_to(each, (*rest, each.shape[-1])) for each in arrays], axis=-1)
    found = selected(x, ranks)
    ends = np.cumsum([0, *(each.shape[-1] for each in arrays)])
    return [
        found[..., ends[i]] if isinstance(index, int) else found[..., ends[i] : ends[i + 1]]
        for i, index in enumerate(indices)
    ]


def _of_rows(name: str) -> Callable[..., Array]:
    """The generic function of the rows along the reduced axes, whose elements stay in their chunks."""
    function = getattr(quantiles, name)

    def reduced(x: Array, /, *q: Any, axis: common.Axes = None, keepdims: bool = False, **options: Any) -> Array:
        xp, axes = backend_by_name("dask").namespace, common.normal_axes(axis, x.ndim)
        if not axes or math.isnan(x.size):
            return function(xp, x, *q, axis=axis, keepdims=keepdims, **options)
        rest = tuple(each for each in range(x.ndim) if each not in axes)
        x = _blocks.without_empty_chunks(x)
        rows = _blocks.merged(da.transpose(x, (*rest, *axes)), len(axes))
        found = function(xp, rows, *q, axis=-1, order=quantiles.Order(_select), **options)
        kept = (None if each in axes else slice(None) for each in range(x.ndim))
        return found[(..., *kept)] if keepdims else found

    def of_middle(x: Array, /, *, axis: common.Axes = None, keepdims: bool = False) -> Array:
        return reduced(x, axis=axis, keepdims=keepdims)

    def of_probabilities(
        x: Array, /, q: Any, *, axis: common.Axes = None, method: str = "linear", keepdims: bool = False
    ) -> Array:
        return reduced(x, q, axis=axis, keepdims=keepdims, method=method)

    found: Callable[..., Array] = of_middle if name.endswith("median") else of_probabilities
    found.__name__ = found.__qualname__ = name
    found.__doc__ = _of_rows.__doc__
    return found


median, quantile, percentile = map(_of_rows, ("median", "quantile", "percentile"))
nanmedian, nanquantile, nanpercentile = map(_of_rows, ("nanmedian", "nanquantile", "nanpercentile"))


def greatest(x: Array, /, k: int, *, axis: int = -1, largest: bool = True) -> tuple[Array, Array]:
    """The elements of each chunk, which a tree merges."""
    axis = order.require_count(x, k, axis)
    x = _blocks.without_empty_chunks(x)
    places = da.arange(x.shape[axis], chunks=(x.chunks[axis],))[(..., *(None,) * (x.ndim - axis - 1))]
    merge = partial(_merged, k=k, largest=largest)
    pairs = da.reduction(
        da.map_blocks(_pair, x, places, dtype=x.dtype, meta=x._meta),
        *(merge, partial(merge, is_last=True)),
        combine=merge,
        axis=axis,
        keepdims=True,
        concatenate=False,
        output_size=k,
        dtype=x.dtype,
        meta=x._meta,
    )
    dtypes = x.dtype, np.dtype(np.intp)
    values, indices = (
        da.map_blocks(itemgetter(i), pairs, dtype=dtype, meta=_blocks.meta(x, dtype, x.ndim))
        for i, dtype in enumerate(dtypes)
    )
    return values, indices


def _pair(x: Any, places: Any) -> tuple[Any, Any]:
    return x, np.broadcast_to(places, x.shape)


def _merged(pairs: Any, *, axis: Any, keepdims: bool, k: int, largest: bool, is_last: bool = False) -> tuple[Any, Any]:
    """The k greatest or least elements in ascending order, and their places; the greatest first at last."""
    (axis,) = axis
    parts = [pairs] if isinstance(pairs, tuple) else list(_flat(pairs))
    values, places = (np.concatenate(arrays, axis=axis) for arrays in zip(*parts, strict=True))
    found = np.argsort(values, axis=axis, stable=True)
    found = common.part(found, axis, max(found.shape[axis] - k, 0) if largest else 0, None if largest else k)
    found = np.flip(found, axis) if largest and is_last else found
    return np.take_along_axis(values, found, axis), np.take_along_axis(places, found, axis)


def _flat(parts: Any) -> Any:
    return [parts] if isinstance(parts, tuple) else chain.from_iterable(map(_flat, parts))
