"""Matrices without their empty lines: the cost of a verb depends on the entries, whatever the extents are.

A compressed matrix has a pointer for each row, which can be far more than entries. Such rows, and columns where they
matter too, are numbered anew before the matrix is compressed, and the result gets their own numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin.arrays import Record
from xarrayops.plugin.sparse import Parts

Array = np.ndarray[Any, Any]

# Lines for each entry up to which their pointers take less time than numbering them anew, and lines that do not matter.
FEW, SMALL = 4, 1 << 12


class Lines(Record):
    """The lines of one axis that have entries, in order; None if all lines are kept."""

    extent: int
    kept: Array | None = None

    @property
    def length(self) -> int:
        """The extent of the axis without its empty lines, except one at the end."""
        return self.extent if self.kept is None else self.kept.size + 1

    def numbers(self, lines: Array) -> Array:
        """The new numbers of lines. A line without entries gets the number of the last line, which is empty."""
        if self.kept is None:
            return lines
        found = self.kept.searchsorted(lines)
        is_kept = self.kept.searchsorted(lines, side="right") > found
        return np.where(is_kept, found, self.kept.size).astype(lines.dtype, copy=False)

    def own(self, numbers: Array) -> Array:
        """The lines with these new numbers."""
        return numbers if self.kept is None else self.kept.take(numbers)

    def spread(self, values: Array) -> Array:
        """Values of the lines that are kept as values of all lines; those of the others are 0."""
        if self.kept is None:
            return values
        whole = np.zeros(self.extent, values.dtype)
        whole[self.kept] = values[:-1]
        return whole


def lines(extent: int, *indices: Array) -> Lines:
    """The lines that any of the indices names, if the axis has far more."""
    if extent <= SMALL + FEW * sum(x.size for x in indices):
        return Lines(extent)
    return Lines(extent, np.unique(np.concatenate(indices)))


def numbered(p: Parts, rows: Lines, columns: Lines) -> Parts:
    """Parts with the new numbers of those lines for which they have no pointers."""
    p = p._replace(shape=(rows.length, columns.length))
    if p.format == "coo":
        return p._replace(coords=tuple(axis.numbers(x) for axis, x in zip((rows, columns), p.coords, strict=True)))
    return p._replace(indices=(rows if p.format == "csc" else columns).numbers(p.indices))


def narrow(*parts: Parts, columns: bool = False) -> tuple[tuple[Parts, ...], Lines, Lines]:
    """Matrices of one shape without the rows, and with ``columns`` the columns, that are empty in all of them.

    A format with pointers to the lines of an axis keeps them all: they take memory already.
    """
    made = []
    for axis, extent in enumerate(parts[0].shape):
        indices = [x for p in parts if (x := _indices(p, axis)) is not None]
        is_free = len(indices) == len(parts) and (axis == 0 or columns)
        made.append(lines(extent, *indices) if is_free else Lines(extent))
    if all(axis.kept is None for axis in made):
        return parts, made[0], made[1]
    return tuple(numbered(p, *made) for p in parts), made[0], made[1]


def _indices(p: Parts, axis: int) -> Array | None:
    """The line of each entry along an axis; None if the format has pointers to these lines."""
    if p.format == "coo":
        return p.coords[axis]
    return p.indices if p.format == ("csc", "csr")[axis] else None
