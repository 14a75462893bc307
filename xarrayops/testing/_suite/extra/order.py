"""Partial and lexicographic order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from xarrayops.testing._suite.samples import COMPLEX, REAL, sample, shuffled, unordered_parts
from xarrayops.testing._suite.table import call, row

CUBE = shuffled("float64", (2, 3, 4))
HOLES = np.asarray([2.0, np.nan, -1.0, 5.0, np.inf])
EACH = [*(shuffled(d, (3, 4)) for d in REAL), *(sample(d, (3, 4)) for d in COMPLEX)]
PARTS = unordered_parts("complex64")


def _topk(x: Any, k: int, *, axis: int = -1, largest: bool = True) -> tuple[Any, Any]:
    order = np.argsort(x, axis=axis)
    order = np.flip(order, axis=axis) if largest else order
    order = np.take(order, np.arange(k), axis=axis)
    return np.take_along_axis(x, order, axis=axis), order


def _is_partition(x: Any, kth: Any, got: Any, axis: int | None = -1) -> Iterator[tuple[Any, Any]]:
    """Each chosen element is in its place, with the same elements on either side as in a sorted array."""
    x, axis = (np.reshape(x, (-1,)), 0) if axis is None else (x, axis)
    want, got = (np.moveaxis(a, axis, -1) for a in (np.sort(x, axis=axis), got))
    for k in kth if isinstance(kth, tuple) else (kth,):
        k %= want.shape[-1]
        yield got[..., k], want[..., k]
        yield np.sort(got[..., :k], axis=-1), want[..., :k]
        yield np.sort(got[..., k:], axis=-1), want[..., k:]


def _is_argpartition(x: Any, kth: Any, got: Any, axis: int | None = -1) -> Iterator[tuple[Any, Any]]:
    flat = np.reshape(x, (-1,)) if axis is None else x
    return _is_partition(x, kth, np.take_along_axis(flat, got, axis=0 if axis is None else axis), axis)


PARTITIONS = (call(CUBE, 1), call(CUBE, (0, 2), axis=1), call(CUBE, 5, axis=None), call(HOLES, -2), call(PARTS, 20))
ROWS = [
    row("partition", None, *PARTITIONS, *(call(x, 1, axis=0) for x in EACH), law=_is_partition, dtype="first"),
    row("argpartition", None, *PARTITIONS, *(call(x, 1) for x in EACH), law=_is_argpartition, dtype="indexing"),
    row(
        "topk",
        _topk,
        call(CUBE, 2),
        call(CUBE, 2, axis=0, largest=False),
        call(HOLES, 3),
        call(HOLES, 3, largest=False),
        call(CUBE, 0),
        call(CUBE, 3, axis=1),
        *(call(x, 2) for x in EACH),
        dtype=("first", "indexing"),
    ),
    row(
        "lexsort",
        np.lexsort,
        call([sample("int64", (9,)), sample("float64", (9,))]),
        call([sample("int64", (3, 9)), sample("int64", (3, 9), seed=1), sample("bool", (3, 9))]),
        call([sample("int64", (9, 2)), sample("int64", (9, 2), seed=1, high=0)], axis=0),
        call([sample("float64", (0,))]),
        call([sample("int64", (40,)), unordered_parts("complex64")]),
        dtype="indexing",
    ),
]
