"""The entries of a sparse tensor as one vector of places and one of values, in PyTorch's own functions.

On any device, and differentiable by the values as often as is asked. A place is the index of an element in C order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch

from xarrayops.plugin import Array
from xarrayops.plugin.sparse import Parts, index_dtype

_SUMMED_AS = {torch.bool: torch.int64, torch.float16: torch.float32, torch.bfloat16: torch.float32}


class Entries(NamedTuple):
    """``places`` (n,) of int64 and ``values`` (n,), in any order, of an array of some shape."""

    places: Array
    values: Array
    shape: tuple[int, ...]


def of_parts(p: Parts) -> Entries:
    """Every item that parts hold; of bsr those of whole blocks."""
    if p.format == "coo":
        assert p.coords is not None
        steps = [math.prod(p.shape[axis + 1 :]) for axis in range(len(p.shape))]
        places = sum(axis.to(torch.int64) * step for axis, step in zip(p.coords, steps, strict=True))
        return Entries(places, p.data, p.shape)
    lines, across = lines_of(p), p.indices.to(torch.int64)
    rows, columns = (across, lines) if p.format == "csc" else (lines, across)
    if p.block is None:
        return Entries(rows * p.shape[1] + columns, p.data, p.shape)
    height, width = p.block
    rows = rows[:, None, None] * height + torch.arange(height, device=rows.device)[:, None]
    columns = columns[:, None, None] * width + torch.arange(width, device=rows.device)
    return Entries((rows * p.shape[1] + columns).reshape(-1), p.data.reshape(-1), p.shape)


def lines_of(p: Parts) -> Array:
    """The compressed index of each entry, or block: its row, or for csc its column."""
    assert p.indptr is not None
    lines = torch.arange(p.indptr.shape[0] - 1, device=p.indptr.device)
    return torch.repeat_interleave(lines, p.indptr.diff(), output_size=p.data.shape[0])


def is_canonical(p: Parts) -> bool:
    """Whether compressed entries are in order and without duplicates; looks at all where it is not known."""
    if p.sorted and p.unique:
        return True
    assert p.indices is not None
    lines = lines_of(p)
    return bool(((p.indices[1:] > p.indices[:-1]) | (lines[1:] > lines[:-1])).all())


def canonical(e: Entries) -> Entries:
    """In order, duplicates summed."""
    places, inverse = torch.unique(e.places, return_inverse=True)
    return Entries(places, summed(e.values, inverse, places.shape[0]), e.shape)


def summed(values: Array, places: Array, size: int) -> Array:
    """A vector of so many sums: those of the values with each place; of truth values, whether any is true."""
    wide = _SUMMED_AS.get(values.dtype, values.dtype)
    sums = torch.zeros(size, dtype=wide, device=values.device).index_add(0, places, values.to(wide))
    return sums.to(values.dtype)


def dense(e: Entries) -> Array:
    """The array of the shape."""
    return summed(e.values, e.places, math.prod(e.shape)).reshape(e.shape)


def split(places: Array, columns: int) -> tuple[Array, Array]:
    """The rows and columns of places in a matrix of so many columns."""
    extent = max(1, columns)  # of no columns there are no places
    return places // extent, places % extent


def transposed(e: Entries) -> Entries:
    """The entries of the transpose of a matrix."""
    rows, columns = split(e.places, e.shape[1])
    return Entries(columns * e.shape[0] + rows, e.values, e.shape[::-1])


def found(e: Entries, places: Array) -> tuple[Array, Array]:
    """Which of some places canonical entries have, and where."""
    if not e.places.shape[0]:
        return torch.zeros_like(places, dtype=torch.bool), torch.zeros_like(places)
    at = torch.searchsorted(e.places, places).clamp_(max=e.places.shape[0] - 1)
    return e.places[at] == places, at


def values_at(e: Entries, places: Array) -> Array:
    """The values of canonical entries at some places; zero where there are none."""
    has, at = found(e, places)
    return e.values.new_zeros(places.shape).index_put((has,), e.values[at[has]])


def to_parts(e: Entries, format: str, block: tuple[int, int] | None = None, *, known: bool = False) -> Parts:
    """Canonical parts of entries in a format, with indices as narrow as fits; ``known`` to be canonical, or not."""
    if known and format == "csr":
        return compressed("csr", e.shape, e.values, *split(e.places, e.shape[1]), e.shape[0])
    if format == "coo":
        e = e if known else canonical(e)
        coords = torch.stack(torch.unravel_index(e.places, e.shape))
        return Parts("coo", e.shape, e.values, coords=coords, sorted=True, unique=True)
    shape = e.shape
    if format == "csc":
        e = transposed(e)
    height, width = block or (1, 1)
    rows, columns = split(e.places, e.shape[1])
    extent, across = e.shape[0] // height, e.shape[1] // width
    blocks, inverse = torch.unique(rows // height * across + columns // width, return_inverse=True)
    within = (inverse * height + rows % height) * width + columns % width
    data = summed(e.values, within, blocks.shape[0] * height * width)
    data = data if block is None else data.reshape(-1, height, width)
    return compressed(format, shape, data, *split(blocks, across), extent, block)


def compressed(
    format: str,
    shape: tuple[int, ...],
    data: Array,
    lines: Array,
    across: Array,
    extent: int,
    block: tuple[int, int] | None = None,
    index: str | None = None,
) -> Parts:
    """Compressed parts of entries in order: their lines, of which there are ``extent``, and indices across."""
    dtype = getattr(torch, index or index_dtype(*shape, data.shape[0]).name)
    indptr = torch.zeros(extent + 1, dtype=dtype, device=data.device)
    torch.cumsum(torch.bincount(lines, minlength=extent), 0, dtype=dtype, out=indptr[1:])
    return Parts(format, shape, data, across.to(dtype), indptr, block=block, sorted=True, unique=True)
