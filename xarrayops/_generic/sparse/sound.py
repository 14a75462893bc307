"""Whether sparse parts are valid: arrays on an accelerator are checked there, without a copy."""

from __future__ import annotations

from functools import reduce
from operator import and_
from types import ModuleType

from xarrayops.plugin.arrays import Array
from xarrayops.plugin.sparse import Parts


def is_sound(xp: ModuleType, p: Parts, *, canonical: bool, pads: bool = False) -> Array:
    """Whether the indices of parts are valid, as a boolean array of shape (), without synchronisation.

    The ranks, dtypes, lengths and extents of the parts must have been checked before. Nothing is read out of bounds,
    whatever the values of the indices are.

    Parameters
    ----------
    xp : module
        The namespace of the arrays.
    p : Parts
        Of any format.
    canonical : bool
        Whether unsorted indices and duplicates are invalid.
    pads : bool
        Whether padding entries are valid. If padding precedes other entries, the answer may be False for valid parts;
        it is never True for invalid parts.
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
        # The number of each entry, from 1. arange would need the device, which tracers do not have.
        padding = xp.cumulative_sum(xp.ones_like(indices), dtype=indices.dtype) > last
        inside = inside | padding
    # Arrays of one boolean, combined by &: Python's `and` would wait for each of them.
    sound = (indptr[0] == 0) & ((last <= count) if pads else (last == count)) & xp.all(ends >= starts) & xp.all(inside)
    # Shapes are known without a wait. No pair of entries means that nothing can be out of order.
    if not canonical or count < 2:
        return sound
    falls = indices[1:] <= indices[:-1]
    if pads:
        falls = falls & ~padding[1:]
    # An index may be no larger than the previous one only where a line with entries begins. With valid pointers such
    # lines begin at different positions, so the indices are sorted if all falls are allowed ones.
    begins = (starts > 0) & (starts < ends)
    # clip keeps the take within bounds for pointers that are not valid; then `sound` is False already. A wrong count of
    # allowed falls cannot make it True.
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
    # Lexicographic order, from the last axis outwards.
    rises = inner[1:] > inner[:-1]
    for row in reversed(outer):
        rises = (row[1:] > row[:-1]) | ((row[1:] == row[:-1]) & rises)
    if pads:
        # Padding comes last: anything may precede it, only padding may follow it.
        rises = padding[1:] | (rises & ~padding[:-1])
    return xp.all(inside) & xp.all(rises)
