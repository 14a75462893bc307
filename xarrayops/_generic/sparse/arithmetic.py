"""Casts, differences, quotients and means of sparse matrices. Operands are canonical."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from xarrayops._generic.sparse.functions import elementwise, positions
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.sparse import Container

if TYPE_CHECKING:
    from xarrayops._host.sparse.library import SparseLibrary


def astype(library: SparseLibrary, s: Container, dtype: Any, /) -> Container:
    """Cast the values."""
    return library.with_values(s, library.backend.functions["astype"](library.values(s), dtype))


def subtract(library: SparseLibrary, a: Container, b: Container, /) -> Container:
    """Add the negated values, in the promoted dtype: unsigned numbers wrap to the same difference there."""
    xp = library.backend.namespace
    dtype = library.backend.functions["result_type"](library.values(a).dtype, library.values(b).dtype)
    minus = xp.negative(xp.astype(library.values(b), dtype, copy=False))
    return library.functions["add"](a, library.with_values(b, minus))


def divide(library: SparseLibrary, s: Container, b: Any, /) -> Container:
    """Divide the values by a number, or by the elements of a dense array at their positions."""
    return elementwise("divide", library, s, _elements_at(library, s, b) if hasattr(b, "shape") else b)


def _elements_at(library: SparseLibrary, s: Container, b: Array) -> Array:
    """The elements at the positions of the entries, of an array that broadcasts to the shape of s."""
    xp, p, shape = library.backend.namespace, library.seen(s), (1, 1, *b.shape)[-2:]
    if 0 in b.shape:  # all entries are padding
        return xp.ones_like(library.values(s), dtype=b.dtype)
    wide = library.backend.native_dtype(library.integer_dtype())
    row, column = (xp.astype(x, wide, copy=False) for x in positions(library, p))
    # A product with 0 along an axis of length 1. Padding is out of bounds.
    place = row * (shape[1] if shape[0] > 1 else 0) + column * (1 if shape[1] > 1 else 0)
    place = xp.clip(place, 0, max(math.prod(shape) - 1, 0))
    found = xp.take(xp.reshape(b, (-1,)), xp.reshape(place, (-1,)))
    return xp.reshape(found, tuple(library.values(s).shape))


def mean(library: SparseLibrary, s: Container, axis: int | None, /) -> Array:
    """The sum divided by the number of elements, stored or not; half types are summed in float32."""
    xp, functions, data = library.backend.namespace, library.backend.functions, library.values(s)
    if xp.isdtype(data.dtype, ("bool", "integral")):
        data = xp.astype(data, functions["default_floating_dtype"]())
    result = data.dtype
    if functions["dtype_name"](result) in ("float16", "bfloat16"):
        data = xp.astype(data, library.backend.native_dtype("float32"))
    total = library.functions["sum"](library.with_values(s, data), axis)
    count = math.prod(s.shape) if axis is None else s.shape[axis]
    found = xp.divide(total, count) if count else xp.full_like(total, math.nan)
    return xp.astype(found, result, copy=False)
