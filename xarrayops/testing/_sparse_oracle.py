"""Sparse matrices by their definition: entries at places, taken one after the other. No kernel of ours is used here."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xarrayops.plugin.sparse import Parts

Host = NDArray[Any]
Place = tuple[int, ...]
Places = dict[Place, Any]
"""The value at each place, as a number of Python: reals in double precision, integers exact."""


class Entries(NamedTuple):
    """A sparse array as the tests describe it: entries in any order, a place as often as it is given."""

    shape: tuple[int, ...]
    coords: Host
    """Of shape (ndim, nnz)."""
    data: Host

    @property
    def places(self) -> Places:
        """The values of duplicates are added up, of booleans or-ed; zeros stay."""
        found: Places = {}
        for place, value in zip(self.listed, self.data.tolist(), strict=True):
            found[place] = plus(found[place], value) if place in found else value
        return found

    @property
    def listed(self) -> list[Place]:
        """The places, in the order of the entries."""
        return list(zip(*self.coords.tolist(), strict=True))

    def dense(self) -> Host:
        """The array, in its own dtype."""
        out = np.zeros(self.shape, self.data.dtype)
        for place, value in self.places.items():
            out[place] = value
        return out


def plus(x: Any, y: Any) -> Any:
    """The sum, of booleans the or."""
    return x or y if isinstance(x, bool) else x + y


def times(x: Any, y: Any) -> Any:
    """The product, of booleans the and."""
    return x and y if isinstance(x, bool) else x * y


def entries_of(p: Parts) -> Entries:
    """The entries of parts in NumPy arrays, as they are stored; those of a block are as many."""
    if p.format == "coo":
        return Entries(p.shape, np.asarray(p.coords, dtype="int64"), np.asarray(p.data))
    indptr, across, data = (np.asarray(x) for x in (p.indptr, p.indices, p.data))
    along = np.repeat(np.arange(indptr.size - 1), np.diff(indptr.astype("int64")))
    across = across.astype("int64")
    if p.block is not None:
        rows, columns = p.block
        inner = np.indices((rows, columns)).reshape(2, -1)
        along = (along[:, None] * rows + inner[0]).ravel()
        across = (across[:, None] * columns + inner[1]).ravel()
        data = data.reshape(-1)
    return Entries(p.shape, np.stack((across, along) if p.format == "csc" else (along, across)), data)


def is_canonical(p: Parts) -> bool:
    """Whether the entries of parts in NumPy arrays are in order, and none is at the place of another."""
    places = entries_of(p._replace(data=np.zeros(len(p.data)), block=None)).listed  # of blocks: their places
    order = [place[::-1] for place in places] if p.format == "csc" else places
    return all(before < after for before, after in pairwise(order))


def parts_of(e: Entries, format: str, index: str, block: tuple[int, int] | None) -> Parts:
    """The parts of a format, in NumPy arrays: entries in the order given, duplicates too; of bsr each fills a block."""
    if format == "coo":
        return Parts("coo", e.shape, e.data, coords=e.coords.astype(index))
    along, across = e.coords[::-1] if format == "csc" else e.coords
    extent, data = e.shape[1 if format == "csc" else 0], e.data
    if block is not None:
        rows, columns = block
        data = np.zeros((len(e.data), rows, columns), e.data.dtype)
        data[np.arange(len(e.data)), along % rows, across % columns] = e.data
        along, across, extent = along // rows, across // columns, extent // rows
    order = np.argsort(along, kind="stable")
    indptr = np.concatenate(([0], np.cumsum(np.bincount(along, minlength=extent)))).astype(index)
    return Parts(format, e.shape, data[order], across[order].astype(index), indptr, block=block)


def same(e: Entries) -> Places:
    """The matrix itself."""
    return e.places


def transposed(e: Entries) -> Places:
    """Rows and columns in turn."""
    return {place[::-1]: value for place, value in e.places.items()}


def added(a: Entries, b: Entries) -> Places:
    """Where either has an entry."""
    x, y = a.places, b.places
    return {p: plus(x[p], y[p]) if p in x and p in y else x.get(p, y.get(p)) for p in (x | y)}


def multiplied(a: Entries, b: Entries) -> Places:
    """Where both have entries."""
    x, y = a.places, b.places
    return {p: times(x[p], y[p]) for p in x.keys() & y.keys()}


def scaled(a: Entries, b: Any) -> Places:
    """Times what a dense array holds there, or a number."""
    dense = np.broadcast_to(np.asarray(b), a.shape)
    return {p: times(value, dense[p].item()) for p, value in a.places.items()}


def scaled_from_left(b: Any, a: Entries) -> Places:
    """The factors in turn."""
    return scaled(a, b)


def product(a: Entries, b: Entries) -> Places:
    """Of two sparse matrices: each entry of a with the row of b that it meets."""
    rows: dict[int, list[tuple[int, Any]]] = {}
    for (row, column), value in b.places.items():
        rows.setdefault(row, []).append((column, value))
    found: Places = {}
    for (row, inner), left in a.places.items():
        for column, right in rows.get(inner, ()):
            term, place = times(left, right), (row, column)
            found[place] = plus(found[place], term) if place in found else term
    return found


def times_dense(a: Entries, b: Host) -> Host:
    """Each entry with the row of b, or the item, that it meets."""
    b = widened(b)
    out = np.zeros((a.shape[0], *b.shape[1:]), b.dtype)
    for (row, inner), value in a.places.items():
        out[row] = out[row] + value * b[inner]
    return out


def dense_times(a: Host, b: Entries) -> Host:
    """The same from the other side."""
    return times_dense(Entries(b.shape[::-1], b.coords[::-1], b.data), a.T).T


def sampled(a: Host, b: Host, pattern: Entries) -> Places:
    """One product of a row and a column for each place."""
    a, b = widened(a), widened(b)
    return {(row, column): np.dot(a[row], b[:, column]).item() for row, column in pattern.places}


def total(e: Entries, axis: int | None) -> Host:
    """The sum over an axis or of all; true counts as one."""
    wide = widened(e.data).dtype
    shape = () if axis is None else (e.shape[1 - axis % 2],)
    out = np.zeros(shape, "int64" if wide.kind == "b" else wide)
    for place, value in e.places.items():
        out[() if axis is None else place[1 - axis % 2]] += value
    return out


def widened(a: Host) -> Host:
    """In the widest dtype of its kind."""
    return a.astype({"b": "bool", "f": "float64", "c": "complex128"}.get(a.dtype.kind, "int64"))
