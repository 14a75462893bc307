"""Tall matrices: chunks of whole rows, whose factorisations a tree merges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.generic import common, linalg as _generic
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import da


def as_tall(x: Array) -> Array | None:
    """x in chunks of whole rows, each with at least as many rows as columns; None unless there are two of these."""
    if x.ndim != 2 or x.dtype.kind not in "fc" or math.isnan(x.size) or not x.shape[1]:
        return None
    x = _blocks.without_empty_chunks(x)
    (rows, columns), lengths = x.shape, x.chunks[0]
    if x.numblocks[1] > 1 or min(lengths) < columns:
        count = rows // max(math.prod(map(max, x.chunks)) // columns, columns)
        lengths = tuple(rows // count + (i < rows % count) for i in range(count)) if count else ()
    return x.rechunk((lengths, -1)) if len(lengths) > 1 else None


def triangle(tall: Array) -> Array:
    """R of the QR factorisation of a tall matrix, by a tree."""
    n = tall.shape[1]
    return da.reduction(tall, _r, _r, axis=0, keepdims=True, output_size=n, dtype=tall.dtype, meta=tall._meta)


def _r(x: Any, axis: Any, keepdims: bool) -> Any:
    return np.linalg.qr(x, mode="r")


def least_squares(x1: Array, x2: Array, /, *, rtol: float | None = None) -> tuple[Array, Array, Array, Array]:
    """Of a tall matrix, the solution for R of both sides: the norms of all differences are the same."""
    _generic.require_equations(x1, x2)
    xp = backend_by_name("dask").namespace
    x1, x2 = common.alike(xp, *(common.floating(xp, x) for x in (x1, x2)))
    both = da.concatenate([x1, x2 if x2.ndim > 1 else x2[:, None]], axis=1)
    tall = as_tall(both if x1.numblocks[1] > 1 else both.rechunk({1: -1}))  # the rows stay in their chunks
    if tall is None:
        return _generic.lstsq(xp, x1, x2, rtol=rtol)
    r, n = triangle(tall), x1.shape[1]
    limit = float(np.finfo(x1.dtype).eps) * max(x1.shape) if rtol is None else rtol
    solution, *rest = _generic.lstsq(xp, r[:, :n], r[:, n:], rtol=limit)
    return solution if x2.ndim > 1 else solution[:, 0], *rest
