"""Whether sparse parts are sound, on the standard alone: for arrays on a device, which are not copied to be checked."""

from __future__ import annotations

from functools import reduce
from operator import and_
from types import ModuleType

from xarrayops._protocol.sparse import Parts
from xarrayops._protocol.types import Array


def is_sound(xp: ModuleType, p: Parts, *, canonical: bool, pads: bool = False) -> Array:
    """Whether the indices of parts are legal, as an array () of a boolean, whose value is not waited for.

    Ranks, dtypes, lengths and extents of the parts must have been checked. Whatever the values of the indices are,
    nothing is read out of bounds.

    Parameters
    ----------
    xp : module
        The namespace of the arrays.
    p : Parts
        Of any format.
    canonical : bool
        Whether disorder and duplicates are wrong.
    pads : bool
        Whether entries that only fill the parts up are legal. Where such an entry comes before others the answer may be
        False although nothing is wrong; it is never True wrongly.
    """
    sound = _coo_is_sound if p.format == "coo" else _compressed_is_sound
    return sound(xp, p, canonical=canonical, pads=pads)


def _compressed_is_sound(xp: ModuleType, p: Parts, *, canonical: bool, pads: bool) -> Array:
    indptr, indices, count = p.indptr, p.indices, p.indices.shape[0]
    across = 0 if p.format == "csc" else 1
    extent = p.shape[across] // (p.block[across] if p.block else 1)
    starts, ends, last = indptr[:-1], indptr[1:], indptr[-1]
    inside = (indices >= 0) & (indices < extent)
    if pads:
        padding = xp.cumulative_sum(xp.ones_like(indices), dtype=indices.dtype) > last  # arange needs a device
        inside = inside | padding
    sound = (indptr[0] == 0) & ((last <= count) if pads else (last == count)) & xp.all(ends >= starts) & xp.all(inside)
    if not canonical or count < 2:
        return sound
    falls = indices[1:] <= indices[:-1]
    if pads:
        falls = falls & ~padding[1:]
    # An index may fall where a line with entries begins behind another. By pointers that are right such lines begin at
    # places of their own, so that there are as many of these falls as of all.
    begins = (starts > 0) & (starts < ends)
    allowed = begins & xp.take(falls, xp.clip(starts, 1, count - 1) - 1)
    return sound & (xp.sum(falls) == xp.sum(allowed))


def _coo_is_sound(xp: ModuleType, p: Parts, *, canonical: bool, pads: bool) -> Array:
    rows = [p.coords[axis] for axis in range(len(p.shape))]
    inside = reduce(and_, ((row >= 0) & (row < extent) for row, extent in zip(rows, p.shape, strict=True)))
    if pads:
        padding = reduce(and_, (row >= extent for row, extent in zip(rows, p.shape, strict=True)))
        inside = inside | padding
    if not canonical:
        return xp.all(inside)
    *outer, inner = rows
    rises = inner[1:] > inner[:-1]
    for row in reversed(outer):
        rises = (row[1:] > row[:-1]) | ((row[1:] == row[:-1]) & rises)
    if pads:
        rises = padding[1:] | (rises & ~padding[:-1])
    return xp.all(inside) & xp.all(rises)
