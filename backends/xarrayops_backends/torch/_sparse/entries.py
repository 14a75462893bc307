"""The entries of a sparse tensor as a vector of flat indices and a vector of values, in PyTorch's own functions.

These functions work on any device and are differentiable with respect to the values, to any order. The flat index of an
element is its index in C order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch

from xarrayops.plugin import Array
from xarrayops.plugin.host import index_dtype
from xarrayops.plugin.sparse import Parts

_SUMMED_AS = {torch.bool: torch.int64, torch.float16: torch.float32, torch.bfloat16: torch.float32}


class Entries(NamedTuple):
    """The flat indices (n,) as int64 and the values (n,) of the entries of an array, in any order."""

    flat: Array
    values: Array
    shape: tuple[int, ...]


def of_parts(p: Parts) -> Entries:
    """All stored elements of the parts; for bsr all elements of the stored blocks."""
    if p.format == "coo":
        assert p.coords is not None
        steps = [math.prod(p.shape[axis + 1 :]) for axis in range(len(p.shape))]
        # In int64: a flat index exceeds int32 for matrices whose extents fit it. `wrap` refuses shapes beyond int64.
        flat = sum(axis.to(torch.int64) * step for axis, step in zip(p.coords, steps, strict=True))
        return Entries(flat, p.data, p.shape)
    lines, across = lines_of(p), p.indices.to(torch.int64)
    rows, columns = (across, lines) if p.format == "csc" else (lines, across)
    if p.block is None:
        return Entries(rows * p.shape[1] + columns, p.data, p.shape)
    height, width = p.block
    rows = rows[:, None, None] * height + torch.arange(height, device=rows.device)[:, None]
    columns = columns[:, None, None] * width + torch.arange(width, device=rows.device)
    return Entries((rows * p.shape[1] + columns).reshape(-1), p.data.reshape(-1), p.shape)


def lines_of(p: Parts) -> Array:
    """The compressed index of each entry or block: its row, or its column for csc."""
    assert p.indptr is not None
    # output_size spares a wait for the device to learn the sum of the lengths.
    lines = torch.arange(p.indptr.shape[0] - 1, device=p.indptr.device)
    return torch.repeat_interleave(lines, p.indptr.diff(), output_size=p.data.shape[0])


def is_canonical(p: Parts) -> bool:
    """Whether compressed entries are sorted and without duplicates; checks all entries if the flags do not say so."""
    if p.sorted and p.unique:
        return True
    assert p.indices is not None
    lines = lines_of(p)
    return bool(((p.indices[1:] > p.indices[:-1]) | (lines[1:] > lines[:-1])).all())


def canonical(e: Entries) -> Entries:
    """The entries in canonical format: sorted, with duplicates summed."""
    # Sorted, with the place of each entry among the distinct indices. torch.unique has no gradient, and needs none:
    # only the values do.
    flat, inverse = torch.unique(e.flat, return_inverse=True)
    return Entries(flat, summed(e.values, inverse, flat.shape[0]), e.shape)


def summed(values: Array, flat: Array, size: int) -> Array:
    """A vector of length ``size`` with the sum of the values at each index; bools are combined by logical or."""
    wide = _SUMMED_AS.get(values.dtype, values.dtype)
    # Out of place, so that autograd follows; its gradient is a gather, which has a gradient again.
    sums = torch.zeros(size, dtype=wide, device=values.device).index_add(0, flat, values.to(wide))
    return sums.to(values.dtype)


def dense(e: Entries) -> Array:
    """The dense array."""
    return summed(e.values, e.flat, math.prod(e.shape)).reshape(e.shape)


def split(flat: Array, columns: int) -> tuple[Array, Array]:
    """The rows and columns of flat indices in a matrix with this number of columns."""
    # A matrix without columns has no flat indices; the divisor must not be 0 all the same.
    extent = max(1, columns)
    return flat // extent, flat % extent


def transposed(e: Entries) -> Entries:
    """The entries of the transpose of a matrix."""
    rows, columns = split(e.flat, e.shape[1])
    return Entries(columns * e.shape[0] + rows, e.values, e.shape[::-1])


def found(e: Entries, flat: Array) -> tuple[Array, Array]:
    """Whether canonical entries contain each flat index, and the position of each that they contain."""
    if not e.flat.shape[0]:
        return torch.zeros_like(flat, dtype=torch.bool), torch.zeros_like(flat)
    # An index beyond the last entry gives the length, which `e.flat[at]` must not read.
    at = torch.searchsorted(e.flat, flat).clamp_(max=e.flat.shape[0] - 1)
    return e.flat[at] == flat, at


def values_at(e: Entries, flat: Array) -> Array:
    """The values of canonical entries at the given flat indices; zero for indices without an entry."""
    has, at = found(e, flat)
    return e.values.new_zeros(flat.shape).index_put((has,), e.values[at[has]])


def to_parts(e: Entries, format: str, block: tuple[int, int] | None = None, *, known: bool = False) -> Parts:
    """Canonical parts in the given format, with the narrowest index dtype; ``known``: the entries are canonical."""
    # Sorted by row already: no sort, which is most of the time of a conversion.
    if known and format == "csr":
        return compressed("csr", e.shape, e.values, *split(e.flat, e.shape[1]), e.shape[0])
    if format == "coo":
        e = e if known else canonical(e)
        coords = torch.stack(torch.unravel_index(e.flat, e.shape))
        return Parts("coo", e.shape, e.values, coords=coords, sorted=True, unique=True)
    shape = e.shape
    if format == "csc":
        e = transposed(e)
    height, width = block or (1, 1)
    rows, columns = split(e.flat, e.shape[1])
    extent, across = e.shape[0] // height, e.shape[1] // width
    # The number of the block of each entry, in C order of the grid. For csr and csc a block is one element, so
    # duplicates fall into one place and are summed.
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
    """Compressed parts of sorted entries, from their ``lines`` (``extent`` in all) and the indices ``across`` them."""
    dtype = getattr(torch, index or index_dtype(*shape, data.shape[0]).name)
    indptr = torch.zeros(extent + 1, dtype=dtype, device=data.device)
    # Pointers are the running sum of the number of entries of each line.
    torch.cumsum(torch.bincount(lines, minlength=extent), 0, dtype=dtype, out=indptr[1:])
    return Parts(format, shape, data, across.to(dtype), indptr, block=block, sorted=True, unique=True)
