"""Parts of the order of an array."""

from __future__ import annotations

import numpy as np

from xarrayops.plugin import Array, generic
from xarrayops.plugin.host import NUMBERS
from xarrayops_backends.numpy._guard import require_numbers

argpartition, lexsort, partition = np.argpartition, np.lexsort, np.partition


def topk(x: Array, /, k: int, *, axis: int = -1, largest: bool = True) -> tuple[Array, Array]:
    """np.argpartition, and a sort of the k elements; NaN, the greatest, is last in the order of both."""
    if x.dtype.kind not in NUMBERS:
        require_numbers("topk", x)
    axis = generic.order.require_count(x, k, axis)
    n, start = x.shape[axis], (slice(None),) * axis
    if 0 < k < n:
        parted = np.argpartition(x, n - k if largest else k - 1, axis)
        chosen = parted[(*start, slice(n - k, None) if largest else slice(k))]
        order = np.take_along_axis(chosen, np.argsort(np.take_along_axis(x, chosen, axis), axis), axis)
    else:
        order = np.argsort(x, axis)[(*start, slice(k))]
    order = np.ascontiguousarray(order[(*start, slice(None, None, -1))]) if largest else order
    return np.take_along_axis(x, order, axis), order
