"""Steps written with the standard: host kernels call them with NumPy, generic functions with any namespace."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from xarrayops.plugin.arrays import Array
from xarrayops.plugin.sparse import Parts


def selected(xp: ModuleType, indices: Array, extent: int, wide: Any, *, traced: bool = False) -> Array:
    """The non-negative positions, of the dtype ``wide``, that an array of indices or a mask selects from an axis.

    Raises an IndexError that names the first index out of range, unless the indices are traced.
    """
    if xp.isdtype(indices.dtype, "bool"):
        return xp.astype(xp.nonzero(indices)[0], wide, copy=False)
    # Before the addition of the extent, which could wrap in a narrow dtype; `wide` holds every position.
    outside = xp.logical_or(xp.less(indices, -extent), xp.greater_equal(indices, extent))
    # The values of traced indices are not known: as in the library's own take, out of range is undefined there.
    if not traced and xp.any(outside):
        k = int(xp.argmax(xp.astype(outside, wide)))
        raise IndexError(f"indices[{k}] is {int(indices[k])}, but the axis has {extent} items")
    position = xp.astype(indices, wide, copy=False)
    return xp.where(position < 0, position + extent, position)


def scaled(xp: ModuleType, p: Parts, rows: Array | None, columns: Array | None) -> Array:
    """The values of parts without padding, times the factors of their rows and columns."""
    data = p.data
    for axis, factors in enumerate((rows, columns)):
        if factors is not None:
            data = xp.multiply(data, _at_entries(xp, p, factors, axis))
    return data


def repeated(xp: ModuleType, p: Parts, x: Array) -> Array:
    """Each item of x (lines, ...) repeated for each entry of its line, which is a column for csc, else a row."""
    return xp.repeat(x, p.indptr[1:] - p.indptr[:-1], axis=0)


def _at_entries(xp: ModuleType, p: Parts, factors: Array, axis: int) -> Array:
    """The factor of the row (axis 0) or column of each entry; for bsr with shape (blocks, r, 1) or (blocks, 1, c)."""
    if p.format == "coo":
        return xp.take(factors, p.coords[axis], axis=0)
    in_blocks = factors if p.block is None else xp.reshape(factors, (-1, p.block[axis]))
    along = axis == (1 if p.format == "csc" else 0)
    each = repeated(xp, p, in_blocks) if along else xp.take(in_blocks, p.indices, axis=0)
    return each if p.block is None else xp.expand_dims(each, axis=2 - axis)
