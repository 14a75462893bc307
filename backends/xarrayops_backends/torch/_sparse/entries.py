"""The entries of a sparse tensor as a vector of flat indices and a vector of values, in PyTorch's own functions.

These functions work on any device and are differentiable with respect to the values, to any order. The flat index of an
element is its index in C order.
"""

from __future__ import annotations

import math
import operator
from typing import NamedTuple

import torch

from xarrayops.plugin import Array
from xarrayops.plugin.host import index_dtype
from xarrayops.plugin.sparse import Parts
from xarrayops_backends.torch._standard.elementwise import multiply as _times
from xarrayops_backends.torch._standard.wide import _by_bits

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
    rows, columns = _places(p)
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


def dense_product(p: Parts, dense: Array) -> Array:
    """The product of a csr or csc matrix and a dense matrix, in memory for a row of ``dense`` for each entry."""
    rows, columns = _places(p)
    return summed(_times(p.data[:, None], gathered(dense, columns)), rows, p.shape[0])


def samples(p: Parts, a: Array, b: Array) -> Array:
    """The elements of ``a @ b`` at the entries of a csr or csc matrix, in memory for the terms of all of them."""
    rows, columns = _places(p)
    terms = _times(gathered(a, rows), gathered(b.mT, columns))
    owners = torch.arange(len(rows), device=rows.device).repeat_interleave(a.shape[1], output_size=terms.numel())
    return summed(terms.reshape(-1), owners, len(rows))


def product(a: Parts, b: Parts) -> Entries:
    """The entries of the product of two csr matrices: each entry of a times the row of b that its column names."""
    assert b.indptr is not None
    (rows, middle), starts = _places(a), b.indptr.to(torch.int64)
    lengths = starts.diff()[middle]
    owner = torch.repeat_interleave(lengths)
    place = torch.arange(len(owner), device=owner.device) - (lengths.cumsum(0) - lengths)[owner] + starts[middle][owner]
    columns = b.indices.to(torch.int64)[place]
    values = _times(gathered(a.data, owner), gathered(b.data, place))
    return Entries(rows[owner] * b.shape[1] + columns, values, (a.shape[0], b.shape[1]))


def _places(p: Parts) -> tuple[Array, Array]:
    """The row and the column of each entry of a csr or csc matrix."""
    lines, across = lines_of(p), p.indices.to(torch.int64)
    return (across, lines) if p.format == "csc" else (lines, across)


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
    """The sum of the values (n, …) at each index, as an array (size, …); bools are combined by logical or."""
    return _by_bits(_summed, values, flat, size)


def _summed(values: Array, flat: Array, size: int) -> Array:
    terms = values.to(_SUMMED_AS.get(values.dtype, values.dtype))
    # Out of place, so that autograd follows; its gradient is a gather, which has a gradient again.
    return terms.new_zeros((size, *terms.shape[1:])).index_add(0, flat, terms).to(values.dtype)


def gathered(values: Array, index: Array | tuple[Array, ...]) -> Array:
    """``values[index]``, which CUDA lacks for wide unsigned integers."""
    return _by_bits(operator.getitem, values, index)


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
    return e.values.new_zeros(flat.shape).index_put((has,), gathered(e.values, at[has]))


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
