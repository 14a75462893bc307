# Long: a function for each sparse verb.
"""The sparse verbs for every library with arrays in host memory: host kernels over NumPy views of the parts.

One function per verb of `xarrayops.plugin.sparse`; the `SparseLibrary` precedes its arguments.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from xarrayops._host import sums
from xarrayops._host.sparse import check, compact, elementwise, occupied, order, products, selection
from xarrayops._host.sparse.compressed import Compressed, index_dtype
from xarrayops._host.sparse.occupied import Lines, narrow
from xarrayops._host.sparse.standard import scaled, selected
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.candidates import Call
from xarrayops.plugin.sparse import Compaction, Container, Parts

if TYPE_CHECKING:
    from xarrayops._host.sparse.library import SparseLibrary

_Host = np.ndarray[Any, Any]
# The kinds of dtypes that the host kernels support.
_NUMBERS = "biufc"
BY_COLUMNS = "csc"


def refusal(library: SparseLibrary, verb: str, call: Call) -> str | None:
    """Why the host kernels cannot serve a call; None if they can."""
    if verb == "maximum" and not library.holds(call.args[1]):
        return "it takes two sparse matrices"
    if verb == "from_dense":
        operands = [x for x in (call.args[0], call.args[1].where) if hasattr(x, "dtype")]
    else:
        operands = [library.values(x) for x in call.args if hasattr(x, "dtype")]
    for x in operands:
        memory = library.backend.functions["memory"](x)
        # A tracer, or an array without host memory; this is known without waiting for values.
        if memory is None:
            return "the values have no memory address"
        if memory.device != "cpu":
            return f"the values are on {memory.device}:{memory.index}, not in host memory"
        if library.place_refusal is not None and (elsewhere := library.place_refusal(x)) is not None:
            return elsewhere
        if not _is_known(memory.dtype):
            return f"the host kernels do not support {memory.dtype}"
        reason = library.backend.functions["export_refusal"](x)
        if reason is not None:
            return str(reason)
    if verb not in ("matmul", "add", "multiply", "maximum", "scale", "concat"):
        return None
    return _promotion_refusal(library, [x for x in call.args if verb == "multiply" or hasattr(x, "dtype")])


def _promotion_refusal(library: SparseLibrary, operands: list[Any]) -> str | None:
    """The reason if NumPy promotes the operands to a different dtype than their library; else None."""
    functions = library.backend.functions
    values = [library.values(x) if hasattr(x, "dtype") else x for x in operands]
    known = [functions["dtype_name"](x.dtype) if hasattr(x, "dtype") else x for x in values]
    if all(x == known[0] for x in known):
        return None
    ours = np.result_type(*(np.dtype(x) if isinstance(x, str) else x for x in known)).name
    theirs = functions["dtype_name"](functions["result_type"](*values))
    return None if ours == theirs else f"NumPy promotes these operands to {ours}, not to {theirs}"


def _is_known(dtype: str) -> bool:
    try:
        return np.dtype(dtype).kind in _NUMBERS and np.dtype(dtype).isnative
    except TypeError:
        # bfloat16 and others, which NumPy knows only from ml_dtypes.
        return False


def from_dense(library: SparseLibrary, x: Array, request: Compaction, /) -> Container:
    """The entries of x that the request selects, in about one pass over x."""
    to_numpy = library.backend.functions["to_numpy"]
    a, where = to_numpy(x), request.where
    where = to_numpy(where) if hasattr(where, "shape") else where
    format = request.format
    requested = None if request.index_dtype is None else np.dtype(request.index_dtype)
    if format == "coo":
        coords, data = compact.coo(a, where, requested)
        p = Parts("coo", a.shape, data, coords=coords)
    elif format == "bsr":
        assert request.block is not None
        indptr, indices, data = compact.bsr(a, request.block, where, requested)
        p = Parts("bsr", a.shape, data, indices, indptr, block=request.block)
    else:
        transposed = format == BY_COLUMNS
        # csc of x is csr of its transpose: both are views, so the same loop reads along the columns.
        mask = where.T if transposed and isinstance(where, np.ndarray) else where
        c = compact.csr(a.T if transposed else a, mask, requested)
        p = Parts(format, a.shape, c.data, c.indices, c.indptr)
    nnz = p.data.shape[0]
    # After the conversion, which determines the number: a separate count would take another pass.
    if request.nnz_max is not None and nnz > request.nnz_max:
        raise ValueError(f"x has {nnz} entries to keep, more than nnz_max={request.nnz_max}")
    return _native(library, p, requested)


def to_dense(library: SparseLibrary, s: Container, /) -> Array:
    """The dense array; duplicates are summed."""
    p = library.on_host(library.seen(s))
    if len(p.shape) != 2:
        dense, (coords, data) = np.zeros(p.shape, p.data.dtype), _summed(p)
        dense[tuple(coords)] = data
        return library.native(dense)
    c = _compressed(p)
    if p.format != BY_COLUMNS:
        return library.native(order.to_dense(c))
    # Filled along the columns, in the order of the entries, then turned by one copy.
    return library.native(np.ascontiguousarray(order.to_dense(c).T))


def convert(library: SparseLibrary, s: Container, format: str, block: tuple[int, int] | None, /) -> Container:
    """The matrix in another format: csr and csc directly, other formats through csr."""
    p = library.on_host(library.seen(s))
    if len(p.shape) != 2:
        coords, data = _summed(p)
        return _native(library, p._replace(coords=coords, data=data))
    compressed = ("csr", BY_COLUMNS)
    if p.format in compressed and format in compressed:
        original = _compressed(p)
        c = order.canonical(original) if p.format == format else order.transposed(original)
        # A canonical operand is returned unchanged; the result must not share memory with it.
        c = _with_values(c, c.data.copy()) if c is original else c
        return _native(library, Parts(format, p.shape, c.data, c.indices, c.indptr))
    if format in ("csr", "bsr"):  # with pointers to all rows
        return _container(library, _by_rows(p), format, block or p.block)
    (p,), rows, columns = narrow(p)
    return _container(library, _by_rows(p), format, None, rows, columns)


def matmul(library: SparseLibrary, a: Container | Array, b: Container | Array, /) -> Container | Array:
    """The product; with a dense left operand, the transpose of the product of the transposed operands."""
    to_numpy = library.backend.functions["to_numpy"]
    if not library.holds(b):
        p = library.on_host(library.seen(a))
        product = products.spmm_transposed if p.format == BY_COLUMNS else products.spmm
        return library.native(product(_compressed(p), to_numpy(b)))
    right = library.on_host(library.seen(b))
    if not library.holds(a):
        product = products.spmm if right.format == BY_COLUMNS else products.spmm_transposed
        # a @ b == (b.T @ a.T).T, and b by columns has the same parts as b.T by rows: no sparse transpose is made.
        return library.native(np.ascontiguousarray(product(_compressed(right), to_numpy(a).T).T))
    left = library.on_host(library.seen(a))
    rows, columns = Lines(left.shape[0]), Lines(right.shape[1])
    if left.format == right.format == "coo":
        rows, columns = (occupied.lines(p.shape[axis], p.coords[axis]) for axis, p in enumerate((left, right)))
        inner = occupied.lines(left.shape[1], left.coords[1], right.coords[0])
        left, right = occupied.numbered(left, rows, inner), occupied.numbered(right, inner, columns)
    c = products.spgemm(_by_rows(left), _by_rows(right))
    return _container(library, c, "csr" if left.format == "bsr" else left.format, None, rows, columns)


def transpose(library: SparseLibrary, s: Container, /) -> Container:
    """The transpose: over the same arrays if the library has csr and csc, else in new arrays."""
    p = library.seen(s)
    other = {"csr": BY_COLUMNS, BY_COLUMNS: "csr"}.get(p.format)
    # With rows and columns swapped, the same three arrays are the other format.
    if other in library.formats:
        return library.wrap(p._replace(format=other, shape=p.shape[::-1]))
    block = None if p.block is None else (p.block[1], p.block[0])
    (p,), rows, columns = narrow(library.on_host(p), columns=p.format == "coo")
    return _container(library, order.transposed(_by_rows(p)), p.format, block, columns, rows)


def add(library: SparseLibrary, a: Container, b: Container, /) -> Container:
    """The sum of two containers."""
    return _elementwise(library, a, b, elementwise.add)


def multiply(library: SparseLibrary, a: Container, b: Container | Array | float, /) -> Container:
    """The elementwise product of a container and another container, a dense array or a number."""
    if library.holds(b):
        return _elementwise(library, a, b, elementwise.multiply)
    (p,), rows, columns = narrow(library.on_host(library.seen(a)))
    dense = library.backend.functions["to_numpy"](b) if hasattr(b, "shape") else np.asarray(b)
    c = _by_rows(p)
    if not dense.ndim:
        # A Python number must not widen the dtype, as a 0-d array may.
        data = np.multiply(c.data, b if not hasattr(b, "shape") else dense)
    else:
        data = elementwise.multiply_dense(c, dense, rows.own(order.rows_of(c)))
    return _container(library, _with_values(c, data), p.format, p.block, rows, columns)


def sum(library: SparseLibrary, s: Container, axis: int | None, /) -> Array:
    """The sum along an axis, or of all entries."""
    (p,), rows, _ = narrow(library.on_host(library.seen(s)))
    c = _compressed(p)
    # Small integers are summed in int64, but duplicates in their own dtype, where they may wrap: so they are summed
    # first.
    c = c if c.data.dtype == c.data[:0].sum().dtype else order.canonical(c)
    return library.native(_sums(p.format, c, axis, rows))


def count(library: SparseLibrary, s: Container, axis: int | None, /) -> Array:
    """The number of values that are not zero."""
    (p,), rows, _ = narrow(library.on_host(library.seen(s)))
    c = _compressed(p)
    counts = _sums(p.format, c._replace(data=c.data != 0), axis, rows)
    return library.native(counts.astype(library.integer_dtype(), copy=False))


def _sums(format: str, c: Compressed, axis: int | None, rows: Lines) -> _Host:
    """The sums of a matrix along an axis, or of all its values; it is compressed along its columns if it is csc."""
    if axis is None:
        with np.errstate(all="ignore"):
            return np.asarray(sums.sum(c.data))
    # csc is the csr of its transpose, which exchanges the axes.
    along_rows = (axis == 0) != (format == BY_COLUMNS)
    made = elementwise.sum_columns(c) if along_rows else elementwise.sum_rows(c)
    return rows.spread(made) if axis == 1 else made


def sddmm(library: SparseLibrary, a: Array, b: Array, pattern: Container, /) -> Container:
    """The elements of ``a @ b`` at the entries of the pattern."""
    to_numpy = library.backend.functions["to_numpy"]
    (p,), rows, columns = narrow(library.on_host(library.seen(pattern)))
    c = _by_rows(p)
    data = products.sddmm(rows.own(order.rows_of(c)), c.indices, to_numpy(a), to_numpy(b))
    return _container(library, _with_values(c, data), p.format, p.block, rows, columns)


def maximum(library: SparseLibrary, a: Container, b: Container, /) -> Container:
    """The larger values of two containers."""
    return _elementwise(library, a, b, elementwise.maximum)


def scale(library: SparseLibrary, s: Container, rows: Array | None, columns: Array | None, /) -> Container:
    """The values times factors, over the same indices."""
    p, to_numpy = library.on_host(library.seen(s)), library.backend.functions["to_numpy"]
    factors = (x if x is None else to_numpy(x) for x in (rows, columns))
    # No warnings, as in SciPy's loops.
    with np.errstate(all="ignore"):
        return library.with_values(s, library.native(scaled(np, p, *factors)))


def take(library: SparseLibrary, s: Container, indices: Array, axis: int, /) -> Container:
    """The selected rows or columns. Rows of csr and columns of csc are checked after they are copied, and no others."""
    p, chosen = library.on_host(library.seen(s)), library.backend.functions["to_numpy"](indices)
    places = selected(np, chosen, s.shape[axis], np.int64)
    by_columns = p.format == BY_COLUMNS
    is_lines = axis == int(by_columns)
    made = None
    # Other rows are not read. If a selected row is not canonical, the whole operand is checked and sorted below.
    if is_lines and p.format in ("csr", BY_COLUMNS) and check.form_fault(p) is None:
        with suppress(selection.NotCanonical):
            made = selection.take_lines(_compressed(p), places)
    lines = [Lines(extent) for extent in s.shape]
    if made is None:
        (p,), *lines = narrow(library.on_host(library.seen(library.canonical(s))), columns=True)
        c, places = _compressed(p), lines[axis].numbers(places)
        # The shapes of csc are exchanged: its lines are the columns of s.
        made = selection.take_lines(c, places) if is_lines else selection.take_across(c, places)
    lines[axis] = Lines(places.size)
    if by_columns:
        indices = lines[0].own(made.indices)
        return _native(library, Parts(BY_COLUMNS, (lines[0].extent, made.rows), made.data, indices, made.indptr))
    return _container(library, made, "csr" if p.format == "bsr" else p.format, None, *lines)


def concat(library: SparseLibrary, axis: int, /, *containers: Container) -> Container:
    """The matrices joined along an axis."""
    parts = [library.on_host(library.seen(s)) for s in containers]
    if all(p.format == "coo" for p in parts):
        (p,), rows, columns = narrow(selection.concat_coo(parts, axis))
        return _container(library, _compressed(p), "coo", None, rows, columns)
    made = selection.concat([_canonical_rows(p) for p in parts], axis)
    return _container(library, made, "csr" if parts[0].format == "bsr" else parts[0].format, None)


def diagonal(library: SparseLibrary, s: Container, /) -> Array:
    """The diagonal, which a transpose does not change."""
    p = library.on_host(library.seen(s))
    if p.format == "coo":
        return library.native(selection.diagonal_of_coo(p))
    return library.native(selection.diagonal(_compressed(p)))


def _with_values(c: Compressed, data: _Host) -> Compressed:
    """Other values at the same positions. The indices are copied, so that the result shares no memory with c."""
    return c._replace(indptr=c.indptr.copy(), indices=c.indices.copy(), data=data)


def _elementwise(library: SparseLibrary, a: Container, b: Container, function: Any) -> Container:
    given = [library.on_host(library.seen(s)) for s in ((a,) if b is a else (a, b))]
    narrowed, rows, columns = narrow(*given)
    # The caller makes the operands canonical: verbs pass containers through `library.canonical` first.
    matrices = [_canonical_rows(p) for p in narrowed]
    return _container(library, function(matrices[0], matrices[-1]), given[0].format, given[0].block, rows, columns)


def _summed(p: Parts) -> tuple[_Host, _Host]:
    """The sorted coordinates and values of coo with any number of axes; duplicates are summed."""
    # Any number of axes as one row of flat indices: one sort serves all.
    if math.prod(p.shape) > np.iinfo(np.int64).max:
        coords, places = np.unique(np.stack(tuple(p.coords)), axis=1, return_inverse=True)
        c = order.from_coo(np.zeros_like(places), places, p.data, 1, coords.shape[1])
        return coords, c.data
    places = np.ravel_multi_index(tuple(p.coords), p.shape)
    c = order.from_coo(np.zeros_like(places), places, p.data, 1, math.prod(p.shape))
    return np.stack(np.unravel_index(c.indices, p.shape)), c.data


def _compressed(p: Parts) -> Compressed:
    """A compressed matrix: along its columns for csc, else along its rows."""
    rows, columns = p.shape
    if p.format == "coo":
        row, column = p.coords
        return order.from_coo(row, column, p.data, rows, columns)
    if p.format == "bsr":
        return order.from_blocks(p.indptr, p.indices, p.data, rows, columns)
    extents = (columns, rows) if p.format == BY_COLUMNS else (rows, columns)
    return Compressed(p.indptr, p.indices, p.data, *extents)


def _by_rows(p: Parts) -> Compressed:
    """A canonical matrix compressed along its rows."""
    return order.canonical(_compressed(p)) if p.format == "csr" else _canonical_rows(p)


def _canonical_rows(p: Parts) -> Compressed:
    """The same, for canonical parts."""
    c = _compressed(p)
    return order.transposed(c) if p.format == BY_COLUMNS else c


def _container(
    library: SparseLibrary,
    c: Compressed,
    format: str,
    block: tuple[int, int] | None,
    rows: Lines | None = None,
    columns: Lines | None = None,
) -> Container:
    """A container of the library, in a format, from a canonical matrix compressed along its rows.

    Its lines get their own numbers: the columns of csr, the rows of csc, and both of coo may be fewer.
    """
    rows, columns = rows or Lines(c.rows), columns or Lines(c.columns)
    shape = rows.extent, columns.extent
    if format == "coo":
        coords = np.stack((rows.own(order.rows_of(c)), columns.own(c.indices)))
        p = Parts("coo", shape, c.data.copy(), coords=coords)
    elif format == "bsr":
        if block is None:
            raise ValueError("the format bsr requires block=(rows, columns)")
        indptr, indices, data = order.to_blocks(c, block)
        p = Parts("bsr", shape, data, indices, indptr, block=block)
    else:
        c = order.transposed(c) if format == BY_COLUMNS else c
        lines = rows if format == BY_COLUMNS else columns
        p = Parts(format, shape, c.data, lines.own(c.indices), c.indptr)
    return _native(library, p)


def _native(library: SparseLibrary, p: Parts, requested: np.dtype[Any] | None = None) -> Container:
    """The container over parts that have no other reference, with the narrowest index dtype that fits."""
    refused = library.dtype_refusal(p.data.dtype.name)
    if refused is not None:
        raise Unsupported(refused)
    narrowest = index_dtype(*p.shape, p.data.shape[0])
    # NumPy orders dtypes by whether a cast is safe, so int64 >= int32.
    fitting = [np.dtype(name) for name in library.index_dtypes(p.format) if np.dtype(name) >= narrowest]
    if not fitting or (requested is not None and requested not in fitting):
        raise Unsupported(f"{p.format} containers of this library have no {requested or narrowest} indices")
    index = requested or fitting[0]
    arrays = {
        # The parts have no other owner, so the library may take their memory without a copy.
        name: library.native(x if name == "data" else x.astype(index, copy=False))
        for name, x in p._asdict().items()
        if isinstance(x, np.ndarray)
    }
    return library.wrap(p._replace(**arrays, sorted=True, unique=True))
