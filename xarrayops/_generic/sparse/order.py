"""The greatest elements of the rows of a sparse matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xarrayops._generic.sparse.functions import count_to, lines
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.sparse import Container

if TYPE_CHECKING:
    from xarrayops._host.sparse.library import SparseLibrary


def topk(library: SparseLibrary, s: Container, k: int, axis: int, largest: bool, /) -> tuple[Array, Array]:
    """Sort the stored elements and the first k elements of each row that are not stored, which are zero."""
    xp = library.backend.namespace
    if axis == 0:
        found = topk(library, library.functions["transpose"](s), k, 1, largest)
        return xp.matrix_transpose(found[0]), xp.matrix_transpose(found[1])
    if library.seen(s).format != "csr":
        s = library.functions["convert"](s, "csr", None)
    wide, data, m = library.backend.native_dtype(library.integer_dtype()), library.values(s), s.shape[0]
    if m * (s.shape[1] + 1) > xp.iinfo(wide).max:
        raise Unsupported(
            f"a matrix of {m} x {s.shape[1]} needs places beyond {wide}. Instead: topk of parts of the rows, from "
            f"xo.sparse.take(s, rows, axis=0), or 64-bit types if the library can switch them on"
        )
    if not m or not k:
        return xp.reshape(data[:0], (m, k)), xp.reshape(count_to(library, 0, wide, like=data), (m, k))
    row, column = _coordinates(library, s, k)
    zeros = xp.zeros((m * k,), dtype=data.dtype, device=library.backend.functions["device"](data))
    values = xp.concat([data, zeros])
    # Stable sorts, from the last to the first key in priority: of equal elements the first column comes first.
    order = xp.argsort(column, stable=True)
    keys = xp.astype(values, xp.uint8) if xp.isdtype(data.dtype, "bool") else values
    order = xp.take(order, xp.argsort(xp.take(keys, order), descending=largest, stable=True))
    order = xp.take(order, xp.argsort(xp.take(row, order), stable=True))
    # Each row has at least k elements.
    first = xp.searchsorted(xp.take(row, order), count_to(library, m, wide, like=data))
    place = xp.reshape(first, (-1, 1)) + count_to(library, k, wide, like=data)
    chosen = xp.take(order, xp.reshape(place, (-1,)))
    return xp.reshape(xp.take(values, chosen), (m, k)), xp.reshape(xp.take(column, chosen), (m, k))


def _coordinates(library: SparseLibrary, s: Container, k: int) -> tuple[Array, Array]:
    """The row and the column of each stored element, then of the first k others of each row.

    Where a row has fewer, and for padding, the row is beyond the last one.
    """
    xp, p, (m, n) = library.backend.namespace, library.seen(s), s.shape
    wide = library.backend.native_dtype(library.integer_dtype())
    row, column, start = (xp.astype(x, wide, copy=False) for x in (lines(library, p), p.indices, p.indptr[:-1]))
    rows, ranks = (count_to(library, stop, wide, like=p.indices) for stop in (m, k))
    number = count_to(library, column.shape[0], wide, like=p.indices)
    # Before a stored element with the column c are c elements, of which its rank in the row are stored. So the number
    # of others before it does not fall along a row, and the column of the other with the rank j is j plus the number
    # of stored elements with at most j others before them.
    others = column - (number - xp.take(start, xp.clip(row, 0, m - 1)))
    asked = xp.reshape(rows, (-1, 1)) * (n + 1) + ranks
    stored = xp.searchsorted(row * (n + 1) + others, xp.reshape(asked, (-1,)), side="right")
    missing = ranks + xp.reshape(xp.astype(stored, wide, copy=False), (m, k)) - xp.reshape(start, (-1, 1))
    inside = xp.where(missing < n, xp.reshape(rows, (-1, 1)), m)
    return xp.concat([row, xp.reshape(inside, (-1,))]), xp.concat([column, xp.reshape(missing, (-1,))])
