"""Sparse operations in PyTorch's own functions: on any device, with gradients, for dtypes that NumPy lacks too."""

from __future__ import annotations

import math
from typing import Any

import torch

from xarrayops.plugin import Array, Call
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.host import sparse as host
from xarrayops.plugin.sparse import Compaction, Container, Parts
from xarrayops_backends.torch._dtypes import _accumulator, result_type
from xarrayops_backends.torch._sparse import entries
from xarrayops_backends.torch._sparse.entries import Entries
from xarrayops_backends.torch._sparse.parts import differentiable, holds, parts, wrap
from xarrayops_backends.torch._standard import elementwise, statistics
from xarrayops_backends.torch._standard.wide import WIDE


def from_dense(x: Array, request: Compaction, /) -> Container:
    """The kept elements of x; the gradient flows to these elements only."""
    if request.format == "bsr":
        return wrap(_blocks(x, request))
    # The choice of elements has no gradient. Their values are gathered below, so that the gradient is a scatter to
    # these elements.
    p = _structure(x.detach(), request)
    if request.format == "coo":
        return wrap(p._replace(data=entries.gathered(x, tuple(p.coords))))
    lines, across = entries.lines_of(p), p.indices
    places = (across, lines) if request.format == "csc" else (lines, across)
    return wrap(p._replace(data=entries.gathered(x, places)))


def _structure(x: Array, request: Compaction) -> Parts:
    """Parts with the indices of the kept elements. The host kernels, which read x once, make them if they can."""
    library = backend_by_name("torch").sparse
    if host.refusal(library, "from_dense", Call((x, request), {})) is None:
        return parts(host.from_dense(library, x, request))._replace(sorted=True, unique=True)
    kept, shape = _kept(x, request.where), tuple(x.shape)
    axes = (kept.mT if request.format == "csc" else kept).nonzero().unbind(1)
    # A placeholder for the values, of the right length.
    number = axes[0]
    _limit(number.shape[0], request.nnz_max)
    if request.format == "coo":
        return Parts("coo", shape, number, coords=torch.stack(axes), sorted=True, unique=True)
    (lines, across), extent = axes, shape[1 if request.format == "csc" else 0]
    return entries.compressed(request.format, shape, number, lines, across, extent, None, request.index_dtype)


def _blocks(x: Array, request: Compaction) -> Parts:
    assert request.block is not None
    height, width = request.block
    grid = (x.shape[0] // height, height, x.shape[1] // width, width)
    kept = _kept(x.detach(), request.where).reshape(grid)
    rows, columns = kept.any(3).any(1).nonzero().unbind(1)
    _limit(rows.shape[0], request.nnz_max)
    # Elements that are not kept, in blocks that are, become 0. where, because NaN times 0 is NaN.
    tiles = entries.gathered(x.reshape(grid), (rows, slice(None), columns))
    data = elementwise.where(kept[rows, :, columns], tiles, tiles.new_zeros(()))
    return entries.compressed("bsr", tuple(x.shape), data, rows, columns, grid[0], request.block, request.index_dtype)


def _limit(count: int, most: int | None) -> None:
    if most is not None and count > most:
        raise ValueError(f"x has {count} entries to keep, more than nnz_max={most}")


def _kept(x: Array, where: Any) -> Array:
    """A boolean array: whether to keep each element."""
    if where is None:
        return x.ne(0)
    if isinstance(where, torch.Tensor):
        return where
    if where == "relu":
        return elementwise.greater(x, 0)
    if x.is_floating_point() or x.is_complex():
        return x.abs() > where
    limit = math.floor(max(min(where, 2.0**62), -(2.0**62)))
    wide = x.to(torch.int64)
    return (wide > limit) | (wide < (0 if x.dtype is torch.uint64 else -limit))


def to_dense(s: Container, /) -> Array:
    """PyTorch's to_dense, except with a gradient, which is wrong for unsorted entries, and for wide integers."""
    p = differentiable(s)
    return entries.dense(entries.of_parts(p)) if p.data.requires_grad or p.data.dtype in WIDE else s.to_dense()


def convert(s: Container, format: str, block: tuple[int, int] | None, /) -> Container:
    """Rebuild the entries in the new format, without a sort if they are known to be sorted by row."""
    p = differentiable(s)
    known = bool(p.sorted and p.unique) and p.format in ("coo", "csr")
    block = block or p.block if format == "bsr" else None
    return wrap(entries.to_parts(entries.of_parts(p), format, block, known=known))


def transpose(s: Container, /) -> Container:
    """Swap csr and csc without a copy; rebuild the entries for other formats."""
    p = differentiable(s)
    if p.block is None and p.format != "coo":
        return wrap(p._replace(format="csr" if p.format == "csc" else "csc", shape=p.shape[::-1]))
    block = None if p.block is None else p.block[::-1]
    return wrap(entries.to_parts(entries.transposed(entries.of_parts(p)), p.format, block))


def add(a: Container, b: Container, /) -> Container:
    """Concatenate the entries of both and sum duplicates."""
    first, second = differentiable(a), differentiable(b)
    dtype = result_type(first.data, second.data)
    (flat, values, shape), more = (entries.of_parts(p._replace(data=p.data.to(dtype))) for p in (first, second))
    both = Entries(torch.cat((flat, more.flat)), torch.cat((values, more.values)), shape)
    return wrap(entries.to_parts(both, first.format, first.block))


def multiply(a: Container, b: Container | Array | float, /) -> Container:
    """Multiply the entries of a by the elements of b; if b is sparse, only common entries remain."""
    p = differentiable(a)
    # Duplicates first: they are summed in their own dtype, booleans by or, before the product promotes them.
    e = entries.canonical(entries.of_parts(p))
    if not holds(b):
        factor = b
        if isinstance(b, torch.Tensor) and b.ndim:
            factor = entries.gathered(b.broadcast_to(e.shape), entries.split(e.flat, e.shape[1]))
        e = e._replace(values=elementwise.multiply(e.values, factor))
    else:
        other = entries.canonical(entries.of_parts(differentiable(b)))
        # A search in the sorted indices of b for each entry of a.
        has, at = entries.found(other, e.flat)
        common = elementwise.multiply(entries.gathered(e.values, has), entries.gathered(other.values, at[has]))
        e = Entries(e.flat[has], common, e.shape)
    return wrap(entries.to_parts(e, p.format, p.block))


def sum(s: Container, axis: int | None, /) -> Array:
    """The sum of the values by row or by column, or of all."""
    p = differentiable(s)
    e = entries.of_parts(p)
    # Duplicate booleans are one entry, which counts once. Other dtypes are summed anyway.
    e = entries.canonical(e) if e.values.dtype is torch.bool else e
    if axis is None:
        return statistics.sum(e.values)
    rows, columns = entries.split(e.flat, e.shape[1])
    dtype = _accumulator(e.values.dtype, None)[1]
    return entries.summed(e.values.to(dtype), columns if axis == 0 else rows, e.shape[1 - axis])
