"""Segments, whose generic functions would hold all elements in one task, and correlations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.generic import common, counting, statistics
from xarrayops_backends.cubed import _blocks
from xarrayops_backends.cubed._devices import device
from xarrayops_backends.cubed._exchange import from_numpy
from xarrayops_backends.cubed._standard import astype

_numpy = backend_by_name("numpy").functions
intersect1d = setdiff1d = setxor1d = union1d = _blocks.NO_SIZES


def _segments(name: str, merge: np.ufunc) -> Callable[..., Array]:
    """NumPy's function of each chunk; the results are combined by a tree, sums in double precision."""

    def segment(x: Array, /, segment_ids: Array, num_segments: int | None = None) -> Array:
        space, dtype, axes = backend_by_name("cubed").namespace, x.dtype, [*range(x.ndim)]
        count = counting.segments(space, x, segment_ids, num_segments)
        kernel = partial(_numpy[name], num_segments=count)
        if not x.size or not count:
            return from_numpy(kernel(np.zeros(x.shape, dtype), np.full(x.shape[:1], -1)), device(x))
        if merge is np.add:
            dtype = np.dtype(np.int64) if dtype.kind == "b" else dtype
            x = common.doubled(space, counting.counted_booleans(space, x))
        options = {"dtype": x.dtype, "adjust_chunks": {0: count}, "extra_projected_mem": 2 * x.chunkmem}
        parts = _blocks.ops.blockwise(kernel, axes, x, axes, segment_ids, [0], **options)
        return astype(_blocks.merged(partial(merge.reduce, axis=0, dtype=x.dtype), count, parts), dtype, copy=False)

    return segment


segment_sum, segment_max, segment_min = map(
    _segments, ("segment_sum", "segment_max", "segment_min"), (np.add, np.maximum, np.minimum)
)


def corrcoef(x: Array, y: Any = None, /, *, rowvar: bool = True) -> Array:
    """The covariances, scaled in one chunk: cubed does not multiply real arrays by complex numbers."""
    found = statistics.cov(backend_by_name("cubed").namespace, x, y, rowvar=rowvar)
    if not found.ndim:
        return found / found
    return _blocks.ops.map_blocks(_correlations, found.rechunk(found.shape), dtype=found.dtype)


def _correlations(covariances: Any) -> Any:
    with np.errstate(all="ignore"):
        deviation = np.sqrt(np.diagonal(covariances).real)
        scaled = covariances / deviation[:, None] / deviation
        parts = scaled.view(scaled.real.dtype)
        return np.clip(parts, -1, 1, out=parts).view(scaled.dtype)
