"""Lazy functions beyond the standard: those whose generic twins would need sizes or all chunks."""

from __future__ import annotations

from typing import Any

import numpy as np
from dask.delayed import delayed

from xarrayops.plugin import Array
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.generic import common, shaping
from xarrayops_backends.dask import _blocks, _counting, _order, _reductions
from xarrayops_backends.dask._blocks import da
from xarrayops_backends.dask._order import (
    median as median,
    nanmedian as nanmedian,
    nanpercentile as nanpercentile,
    nanquantile as nanquantile,
    percentile as percentile,
    quantile as quantile,
)
from xarrayops_backends.dask._standard.manipulation import nonzero
from xarrayops_backends.dask._windows import (
    convolve as convolve,
    correlate as correlate,
    sliding_window_view as sliding_window_view,
)

histogram, topk = _counting.chunked_histogram, _order.greatest
nanvar, nanstd, logsumexp = _reductions.nan_variance, _reductions.nan_deviation, _reductions.merged_logsumexp


def _of_whole(function: Any, count: int, x1: Array, x2: Array, **options: Any) -> Any:
    """NumPy's function of two whole arrays, with results of unknown size."""
    whole = (x.rechunk(-1).to_delayed(optimize_graph=False).ravel()[0] for x in (x1, x2))
    found = delayed(function, pure=True)(*whole, **options)
    dtypes = (np.result_type(x1.dtype, x2.dtype), np.intp, np.intp)
    parts = [found] if count == 1 else [found[i] for i in range(count)]
    made = [
        da.from_delayed(part, (np.nan,), meta=_blocks.meta(x1, dtype, 1))
        for part, dtype in zip(parts, dtypes, strict=False)
    ]
    return made[0] if count == 1 else tuple(made)


def argwhere(x: Array, /) -> Array:
    """A stack of vectors whose size is not known."""
    if x.ndim == 0:
        return nonzero(x[None])[0][:, None][:, :0]
    return da.stack(nonzero(x), axis=-1, allow_unknown_chunksizes=True)


def diag(x: Array, /, k: int = 0) -> Array:
    """Dask's function of a vector makes chunks of zeros; the generic one has a mask of the whole matrix."""
    k = common.whole("k", k)
    if x.ndim != 1:
        return shaping.diag(backend_by_name("dask").namespace, x, k)
    x = _blocks.without_empty_chunks(x)
    return da.diag(x, k) if x.size else da.zeros_like(x, shape=(abs(k), abs(k)))  # Dask divides by the size


def erf(x: Array, /) -> Array:
    """NumPy's erf of each chunk: it takes twenty operations."""
    dtype = _erf(np.empty(0, x.dtype)).dtype
    return x.map_blocks(_erf, dtype=dtype, meta=_blocks.meta(x, dtype, x.ndim))


def _erf(chunk: Any) -> Any:
    return backend_by_name("numpy").functions["erf"](chunk)


def intersect1d(x1: Array, x2: Array, /, *, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """NumPy's function in one task."""
    options = {"assume_unique": assume_unique, "return_indices": return_indices}
    return _of_whole(np.intersect1d, 3 if return_indices else 1, x1, x2, **options)


def setdiff1d(x1: Array, x2: Array, /, *, assume_unique: bool = False) -> Array:
    """NumPy's function in one task; it keeps the dtype of x1."""
    return _of_whole(np.setdiff1d, 1, x1, x2, assume_unique=assume_unique).astype(x1.dtype)


def setxor1d(x1: Array, x2: Array, /, *, assume_unique: bool = False) -> Array:
    """NumPy's function in one task."""
    return _of_whole(np.setxor1d, 1, x1, x2, assume_unique=assume_unique)
