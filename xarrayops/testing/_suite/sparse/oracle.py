"""Sparse matrices by their definition, entry by entry, without the kernels under test."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from xarrayops.plugin.sparse import Parts
from xarrayops.testing._suite.samples import Host as Host

Position = tuple[int, ...]
ValueAt = dict[Position, Any]
"""The value at each position, as a Python number."""


class Entries(NamedTuple):
    """A sparse array as coordinates and values: entries in any order, duplicates allowed."""

    shape: tuple[int, ...]
    coords: Host
    """Of shape (ndim, nnz)."""
    data: Host

    @property
    def value_at(self) -> ValueAt:
        """The value at each position. Duplicates are summed (booleans or-ed); explicit zeros are kept."""
        found: ValueAt = {}
        for position, value in zip(self.positions, self.data.tolist(), strict=True):
            found[position] = plus(found[position], value) if position in found else value
        return found

    @property
    def positions(self) -> list[Position]:
        """The position of each entry, in the order of the entries."""
        return list(zip(*self.coords.tolist(), strict=True))

    def dense(self) -> Host:
        """The dense array, of the same dtype."""
        out = np.zeros(self.shape, self.data.dtype)
        for position, value in self.value_at.items():
            out[position] = value
        return out


def plus(x: Any, y: Any) -> Any:
    """The sum; for booleans, the logical or."""
    return x or y if isinstance(x, bool) else x + y


def times(x: Any, y: Any) -> Any:
    """The product; for booleans, the logical and."""
    return x and y if isinstance(x, bool) else x * y


def entries_of(p: Parts) -> Entries:
    """The entries of parts in NumPy arrays, in stored order; each item of a block is an entry."""
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
    """Whether parts in NumPy arrays are in canonical format: sorted, without duplicates."""
    positions = entries_of(p._replace(data=np.zeros(len(p.data)), block=None)).positions  # for bsr, of whole blocks
    order = [position[::-1] for position in positions] if p.format == "csc" else positions
    return all(before < after for before, after in pairwise(order))


def canonical(e: Entries) -> Entries:
    """The same array in canonical format: sorted entries, duplicates summed."""
    value_at = e.value_at
    coords = np.asarray(sorted(value_at), dtype="int64").reshape(-1, len(e.shape)).T
    return Entries(e.shape, coords, np.asarray([value_at[position] for position in sorted(value_at)], e.data.dtype))


def parts_of(e: Entries, format: str, index: str, block: tuple[int, int] | None) -> Parts:
    """The parts of a format in NumPy arrays, with the entries in the given order; for bsr, each entry gets a block."""
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


def transposed(e: Entries) -> ValueAt:
    """The transpose."""
    return {position[::-1]: value for position, value in e.value_at.items()}


def added(a: Entries, b: Entries) -> ValueAt:
    """The sum, with an entry at each position of either operand."""
    x, y = a.value_at, b.value_at
    return {p: plus(x[p], y[p]) if p in x and p in y else x.get(p, y.get(p)) for p in (x | y)}


def subtracted(a: Entries, b: Entries) -> ValueAt:
    """The difference, with an entry at each position of either operand."""
    x, y = a.value_at, b.value_at
    return {p: x.get(p, 0) - y.get(p, 0) for p in (x | y)}


def multiplied(a: Entries, b: Entries) -> ValueAt:
    """The elementwise product, with an entry at each position of both operands."""
    x, y = a.value_at, b.value_at
    return {p: times(x[p], y[p]) for p in x.keys() & y.keys()}


def scaled(a: Entries, b: Any) -> ValueAt:
    """The elementwise product with a dense array or a number."""
    dense = np.broadcast_to(np.asarray(b), a.shape)
    return {p: times(value, dense[p].item()) for p, value in a.value_at.items()}


def divided(a: Entries, b: Any) -> ValueAt:
    """The elementwise quotient by a dense array or a number; True counts as 1."""
    dense = np.broadcast_to(np.asarray(b), a.shape)
    with np.errstate(all="ignore"):
        return {p: np.divide(value, dense[p].item()).item() for p, value in a.value_at.items()}


def product(a: Entries, b: Entries) -> ValueAt:
    """The matrix product of two sparse matrices."""
    rows: dict[int, list[tuple[int, Any]]] = {}
    for (row, column), value in b.value_at.items():
        rows.setdefault(row, []).append((column, value))
    found: ValueAt = {}
    for (row, inner), left in a.value_at.items():
        for column, right in rows.get(inner, ()):
            term, position = times(left, right), (row, column)
            found[position] = plus(found[position], term) if position in found else term
    return found


def times_dense(a: Entries, b: Host) -> Host:
    """The matrix product of a sparse matrix and a dense matrix or vector."""
    b = widened(b)
    out = np.zeros((a.shape[0], *b.shape[1:]), b.dtype)
    for (row, inner), value in a.value_at.items():
        out[row] = out[row] + value * b[inner]
    return out


def dense_times(a: Host, b: Entries) -> Host:
    """The matrix product of a dense matrix or vector and a sparse matrix."""
    return times_dense(Entries(b.shape[::-1], b.coords[::-1], b.data), a.T).T


def sampled(a: Host, b: Host, pattern: Entries) -> ValueAt:
    """The product of a row of a and a column of b at each position of the pattern."""
    a, b = widened(a), widened(b)
    return {(row, column): np.dot(a[row], b[:, column]).item() for row, column in pattern.value_at}


def total(e: Entries, axis: int | None) -> Host:
    """The sum over an axis, or over all entries if None; True counts as 1."""
    wide = widened(e.data).dtype
    shape = () if axis is None else (e.shape[1 - axis % 2],)
    out = np.zeros(shape, "int64" if wide.kind == "b" else wide)
    for position, value in e.value_at.items():
        out[() if axis is None else position[1 - axis % 2]] += value
    return out


def mean(e: Entries, axis: int | None) -> Host:
    """The sum divided by the number of elements; NaN for no elements."""
    count = e.shape[axis] if axis is not None else int(np.prod(e.shape))
    e = canonical(e)
    wide = e._replace(data=e.data + 0.0)
    return total(wide, axis) / count if count else total(wide, axis) * np.nan


def greatest(e: Entries, k: int) -> tuple[Host, Host]:
    """The k greatest elements of each row, and their columns; NaN is greater than all numbers."""
    x = widened(e.dense())
    x = x.astype("int64") if x.dtype.kind == "b" else x
    order = np.lexsort((-x, ~np.isnan(x)), axis=1)[:, : min(k, e.shape[1])]
    return np.take_along_axis(x, order, 1), order


def mapped(function: Callable[[Host], Host], e: Entries) -> ValueAt:
    """A function of each value; True counts as 1."""
    value_at = e.value_at
    values = widened(np.asarray(list(value_at.values()), e.data.dtype))
    values = function(values.astype("float64") if values.dtype.kind == "b" else values)
    return dict(zip(value_at, values.tolist(), strict=True))


def larger(a: Entries, b: Entries) -> ValueAt:
    """The larger value at each position of either operand; NaN if one is NaN."""
    x, y = a.value_at, b.value_at
    return {p: np.maximum(x.get(p, 0), y.get(p, 0)).item() for p in (x | y)}


def with_factors(e: Entries, rows: Host, columns: Host) -> ValueAt:
    """Each value times the factors of its row and of its column."""
    factors = {p: times(rows[p[0]].item(), columns[p[1]].item()) for p in e.value_at}
    return {p: times(value, factors[p]) for p, value in e.value_at.items()}


def selected(e: Entries, indices: Host, *, axis: int) -> ValueAt:
    """The rows or columns at the indices, or where a mask is true."""
    extent = e.shape[axis]
    places = np.flatnonzero(indices) if indices.dtype == bool else indices
    found: ValueAt = {}
    for k, place in enumerate(places.tolist()):
        for position, value in e.value_at.items():
            if position[axis] == place % extent:
                found[(k, position[1]) if axis == 0 else (position[0], k)] = value
    return found


def joined(a: Entries, b: Entries, *, axis: int) -> ValueAt:
    """The second matrix after the first along an axis."""
    start = (a.shape[0], 0) if axis == 0 else (0, a.shape[1])
    return a.value_at | {(i + start[0], j + start[1]): value for (i, j), value in b.value_at.items()}


def nonzeros(e: Entries, axis: int | None) -> Host:
    """The number of values that are not zero, along an axis or in all."""
    e = canonical(e)
    return total(e._replace(data=e.data != 0), axis)


def euclidean(e: Entries, axis: int | None) -> Host:
    """The root of the sum of squares, along an axis or of all values."""
    e = canonical(e)
    return np.sqrt(total(e._replace(data=np.abs(widened(e.data)).astype("float64") ** 2), axis))


def diagonal(e: Entries) -> Host:
    """The value at each position with equal row and column."""
    value_at = e.value_at
    return np.asarray([value_at.get((k, k), 0) for k in range(min(e.shape))], widened(e.data).dtype)


def widened(a: Host) -> Host:
    """The array in the widest dtype of its kind."""
    return a.astype({"b": "bool", "f": "float64", "c": "complex128"}.get(a.dtype.kind, "int64"))
