"""Functions of sparse matrices, written once with functions of the standard and other verbs of a library.

They serve every device, traced arrays and gradients. Operands are canonical. The number of entries of a result depends
on values only where another verb determines it. To find where the entries of a result come from, the entries of the
operands are numbered, and another verb is called with the numbers as values. The values are then gathered, which
keeps their dtype and their gradients. The numbers are of float64, exact up to 2**53, because some libraries cannot
multiply integers; of int32 if the library has no 64-bit dtypes, whose arrays then have fewer than 2**30 entries.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from xarrayops._host.sparse.compressed import index_dtype
from xarrayops._host.sparse.standard import repeated, scaled, selected
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.sparse import Container, Parts

if TYPE_CHECKING:
    from xarrayops._host.sparse.library import SparseLibrary

# The dtypes in which a sum of squares would overflow or lose too much.
_NARROW = ("float16", "bfloat16", "float32")


def elementwise(name: str, library: SparseLibrary, s: Container, /, *others: Any) -> Container:
    """Apply a function of the namespace to the stored values, with the same indices.

    If containers of the library cannot hold the dtype of the result, as NumPy's float16 for small integers, the values
    are cast to the default floating-point dtype first.
    """
    functions, function = library.backend.functions, getattr(library.backend.namespace, name)
    data = library.values(s)
    # First with the dtype that the function itself returns: only the result shows whether a container can hold it.
    made = function(data, *others)
    if library.dtype_refusal(functions["dtype_name"](made.dtype)) is not None:
        made = function(functions["astype"](data, functions["default_floating_dtype"]()), *others)
    return library.with_values(s, made)


def maximum(library: SparseLibrary, a: Container, b: Container | float, /) -> Container:
    """The larger values: at the positions of both operands, or of the stored values and 0."""
    if not library.holds(b):
        return elementwise("maximum", library, a, 0)
    # The pattern of a + b, with the number of the entry of each operand: no value takes part, so NaN and infinity
    # cannot.
    unions = _unions(library, a, b)
    values = (_picked(library, library.values(x), union) for x, union in zip((a, b), unions, strict=True))
    return library.with_values(unions[0], library.backend.namespace.maximum(*values))


def scale(library: SparseLibrary, s: Container, rows: Array | None, columns: Array | None, /) -> Container:
    """Multiply the values by the factors of their rows and columns; not for libraries with padding."""
    return library.with_values(s, scaled(library.backend.namespace, library.seen(s), rows, columns))


def take(library: SparseLibrary, s: Container, indices: Array, axis: int, /) -> Container:
    """Multiply a selection matrix by the numbers of the entries, then take the values with these numbers."""
    if library.seen(s).format == "bsr":
        s = library.functions["convert"](s, "csr", None)
    xp, format, matmul = library.backend.namespace, library.seen(s).format, library.functions["matmul"]
    wide = library.backend.native_dtype(library.integer_dtype())
    traced = library.backend.functions["is_lazy"](indices)
    # Traced indices have no values to check, and a comparison in Python would fail.
    places = selected(xp, indices, s.shape[axis], wide, traced=traced)
    each, number = count_to(library, places.shape[0], wide, like=places), _numbered(library, s)
    # Selection matrix: one 1 in each row, so every sum of the product has at most one term, and numbers come through
    # exactly.
    ones = xp.ones_like(each, dtype=library.values(number).dtype)
    if axis:
        found = matmul(number, _coo(library, (s.shape[1], places.shape[0]), places, each, ones))
    else:
        found = matmul(_coo(library, (places.shape[0], s.shape[0]), each, places, ones), number)
    if library.seen(found).format != format:
        found = library.functions["convert"](found, format, None)
    return library.with_values(found, _picked(library, library.values(s), found))


def concat(library: SparseLibrary, axis: int, /, *containers: Container) -> Container:
    """Shift the coordinates of the entries of all operands, as coo, then convert to the format of the first."""
    xp, first = library.backend.namespace, library.seen(containers[0])
    extents = [x.shape[axis] for x in containers]
    shape = tuple(sum(extents) if k == axis else extent for k, extent in enumerate(first.shape))
    wide = library.backend.native_dtype(library.integer_dtype())
    coords: tuple[list[Array], list[Array]] = [], []
    start = 0
    for x, extent in zip(containers, extents, strict=True):
        for k, position in enumerate(xp.broadcast_arrays(*positions(library, library.seen(x)))):
            flat = xp.astype(xp.reshape(position, (-1,)), wide)
            moved = flat + start if k == axis else flat
            # Padding is what lies beyond the extents. Shifted by `start` it could land inside the result, so it moves
            # to the end.
            coords[k].append(xp.where(flat < x.shape[k], moved, shape[k]) if library.pads else moved)
        start += extent
    data = xp.concat([xp.reshape(library.values(x), (-1,)) for x in containers])
    joined = _coo(library, shape, xp.concat(coords[0]), xp.concat(coords[1]), data)
    return library.functions["convert"](joined, "csr" if first.format == "bsr" else first.format, None)


def count(library: SparseLibrary, s: Container, axis: int | None, /) -> Array:
    """The sum of a mask."""
    # A stored 0 does not count, and the sum ignores padding.
    nonzero = library.backend.namespace.not_equal(library.values(s), 0)
    return library.functions["sum"](library.with_values(s, nonzero), axis)


def norm(library: SparseLibrary, s: Container, axis: int | None, /) -> Array:
    """The root of the sum of squares; where the sum is 0, the gradient is 0."""
    xp, functions, data = library.backend.namespace, library.backend.functions, library.values(s)
    if xp.isdtype(data.dtype, ("bool", "integral")):
        data = xp.astype(data, functions["default_floating_dtype"]())
    # Real numbers are squared as they are: abs would only add a kink to the gradient.
    size = xp.abs(data) if xp.isdtype(data.dtype, "complex floating") else data
    result = size.dtype
    is_narrow = functions["dtype_name"](result) in _NARROW
    is_single = is_narrow and functions["import_refusal"]("float64") is not None
    if is_narrow:
        size = xp.astype(size, library.backend.native_dtype("float32" if is_single else "float64"))

    def root_of_squares(size: Array) -> Array:
        total = library.functions["sum"](library.with_values(s, xp.multiply(size, size)), axis)
        # The derivative of the root is infinite at 0, and infinity times 0 is NaN: the root is taken of 1 there.
        is_zero = xp.equal(total, 0)
        root = xp.sqrt(xp.where(is_zero, xp.ones_like(total), total))
        return xp.where(is_zero, xp.zeros_like(root), root)

    root = root_of_squares(size)
    if is_single:  # the squares may overflow, and those of smaller numbers may vanish
        root_of_less = root_of_squares(xp.multiply(size, 2.0**-80))
        root = xp.where(xp.isfinite(root), root, xp.multiply(root_of_less, 2.0**80))
    return xp.astype(root, result, copy=False)


def diagonal(library: SparseLibrary, s: Container, /) -> Array:
    """The row sums of the matrix with zeros off the diagonal."""
    xp, data = library.backend.namespace, library.values(s)
    row, column = positions(library, library.seen(s))
    # where instead of a product with the mask, which would turn infinity off the diagonal into NaN.
    inside = xp.where(xp.equal(row, column), data, xp.zeros_like(data))
    total = library.functions["sum"](library.with_values(s, inside), 1)
    return xp.astype(total[: min(s.shape)], data.dtype, copy=False)


def positions(library: SparseLibrary, p: Parts) -> tuple[Array, Array]:
    """The row and the column of each entry; for bsr with shapes (blocks, r, 1) and (blocks, 1, c).

    Padding entries get numbers that are not less than the extents.
    """
    if p.format == "coo":
        return p.coords[0], p.coords[1]
    xp, line = library.backend.namespace, lines(library, p)
    row, column = (p.indices, line) if p.format == "csc" else (line, p.indices)
    if p.block is None:
        return row, column
    height, width = (count_to(library, extent, p.indices.dtype, like=p.indices) for extent in p.block)
    rows = xp.reshape(row, (-1, 1, 1)) * p.block[0] + xp.reshape(height, (1, -1, 1))
    return rows, xp.reshape(column, (-1, 1, 1)) * p.block[1] + xp.reshape(width, (1, 1, -1))


def lines(library: SparseLibrary, p: Parts) -> Array:
    """The row (for csc the column) of each entry or block; the number of rows (columns) for padding."""
    xp = library.backend.namespace
    if not library.pads:
        return repeated(xp, p, count_to(library, p.indptr.shape[0] - 1, p.indices.dtype, like=p.indices))
    # A search in the pointers, because repeat would need lengths that add up to the number of entries, padding
    # included.
    entry = count_to(library, p.indices.shape[0], p.indptr.dtype, like=p.indptr)
    return xp.astype(xp.searchsorted(p.indptr, entry, side="right") - 1, p.indices.dtype, copy=False)


def count_to(library: SparseLibrary, stop: int, dtype: Any, *, like: Array) -> Array:
    """The numbers from 0 up to ``stop``, on the device of an array."""
    functions = library.backend.functions
    return library.backend.namespace.arange(stop, dtype=dtype, device=functions["device"](like))


def _numbered(library: SparseLibrary, s: Container) -> Container:
    """The container with the number of each entry, from 1, as its value."""
    xp, data = library.backend.namespace, library.values(s)
    has_float64 = library.backend.functions["import_refusal"]("float64") is None
    dtype = library.backend.native_dtype("float64" if has_float64 else "int32")
    number = count_to(library, math.prod(data.shape), dtype, like=data) + 1
    return library.with_values(s, xp.reshape(number, tuple(data.shape)))


def _unions(library: SparseLibrary, a: Container, b: Container) -> tuple[Container, Container]:
    """At each position of a or b: the number of the entry of a, or 0, and the number of the entry of b, or 0.

    Twice the number is added to 1 for each entry of the other operand, so that no sum is 0, which a library may drop.
    """
    xp, add = library.backend.namespace, library.functions["add"]
    twice, one = [], []
    for x in (a, b):
        numbers = library.values(_numbered(library, x))
        twice.append(library.with_values(x, numbers * 2))
        one.append(library.with_values(x, xp.ones_like(numbers)))
    first, second = add(twice[0], one[1]), add(one[0], twice[1])
    halves = [library.with_values(union, library.values(union) // 2) for union in (first, second)]
    return halves[0], halves[1]


def _picked(library: SparseLibrary, data: Array, numbers: Container) -> Array:
    """The values with these numbers; 0 for the number 0, which padding has too."""
    xp, places = library.backend.namespace, library.values(numbers)
    wide = library.backend.native_dtype(library.integer_dtype())
    flat = xp.reshape(data, (-1,))
    # Number 0 finds this zero: a missing entry needs no mask, and its gradient falls on a constant.
    after_zero = xp.concat([xp.zeros((1,), dtype=data.dtype, device=library.backend.functions["device"](data)), flat])
    found = xp.take(after_zero, xp.astype(xp.reshape(places, (-1,)), wide))
    return xp.reshape(found, tuple(places.shape))


def _coo(library: SparseLibrary, shape: tuple[int, ...], row: Array, column: Array, data: Array) -> Container:
    """A coo matrix with entries in any order, without duplicates."""
    xp, narrowest = library.backend.namespace, index_dtype(*shape, data.shape[0])
    # The narrowest dtype that fits: any name if int32 is enough, else int64.
    name = next(name for name in library.index_dtypes("coo") if narrowest.name in ("int32", name))
    coords = xp.astype(xp.stack([row, column]), library.backend.native_dtype(name))
    return library.wrap(Parts("coo", shape, data, coords=coords))
