# Long: the sparse companion of one library, with a function for each verb.
"""CuPy's sparse matrices: the companion of the CuPy backend.

All work stays on the device. cuSPARSE computes products; all else uses CuPy's sorts, scans and gathers, which accept
every dtype and both index widths. Operands are never modified, while the containers' own methods sort indices and sum
duplicates in place (``_matmul_dispatch`` and ``multiply`` in cupyx/scipy/sparse/_csr.py).
"""

from __future__ import annotations

from typing import Any

import cupy
import cupyx.scipy.sparse
import numpy as np

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Call, KnownBad
from xarrayops.plugin.candidates import always
from xarrayops.plugin.host import index_dtype
from xarrayops.plugin.sparse import Compaction, Container, Parts
from xarrayops_backends.cupy._devices import versions as versions

# The rows, the columns and the values of the entries of a matrix.
_Entries = tuple[Array, Array, Array]

FORMATS = ("coo", "csr", "csc")
_CLASSES: dict[str, Any] = {format: getattr(cupyx.scipy.sparse, f"{format}_matrix") for format in FORMATS}
_DTYPES = ("bool", "float32", "float64", "complex64", "complex128")
_MOST_COLUMNS = 65535 * 16
# The number of elements, of operands or of products, that are gathered at a time.
_AT_ONCE = 1 << 23


def holds(x: Any, /) -> bool:
    """The sparse containers of cupyx, in supported and in other formats."""
    return bool(cupyx.scipy.sparse.issparse(x))


def parts(s: Container, /) -> Parts:
    """The attributes of the container; the two coordinate arrays of coo are stacked, which copies them."""
    p = seen(s)
    return p._replace(coords=cupy.stack(p.coords)) if p.format == "coo" else p


def seen(s: Container, /) -> Parts:
    """The same, without a copy of the coordinate arrays of coo.

    The flags of a csr or csc container are those that it has cached. Computing them would wait for the device.
    """
    if s.format == "coo":
        # An array of one axis has row indices too, all 0.
        coords = (s.row, s.col)[-len(s.shape) :]
        return Parts("coo", s.shape, s.data, coords=coords, unique=s.has_canonical_format or None)
    if s.format not in FORMATS:
        raise Unsupported(f"a {type(s).__name__} is not one of {', '.join(FORMATS)}. Instead: s.tocsr()")
    # The cached attributes: the properties would run a kernel and wait for it.
    known = vars(s)
    canonical, in_order = known.get("_has_canonical_format"), known.get("_has_sorted_indices")
    return Parts(s.format, s.shape, s.data, s.indices, s.indptr, sorted=canonical or in_order, unique=canonical or None)


def wrap(p: Parts, /) -> Container:
    """A container over the given arrays, created empty and then filled.

    With arrays, the constructors wait for the device, and narrow int64 indices if the values allow it.
    """
    if len(p.shape) != 2:
        raise Unsupported(f"CuPy's sparse matrices have two axes, not {len(p.shape)}. Instead: xo.sparse.to_dense(s)")
    container = _CLASSES[p.format](tuple(p.shape), dtype=p.data.dtype)
    container.data = p.data
    if p.format == "coo":
        container.row, container.col = p.coords
        container.has_canonical_format = bool(p.sorted and p.unique)
        return container
    container.indices, container.indptr = p.indices, p.indptr
    if p.sorted is not None:
        container.has_sorted_indices = p.sorted
    if p.sorted is not None and p.unique is not None:
        container.has_canonical_format = p.sorted and p.unique
    return container


def dtype_refusal(dtype: str, /) -> str | None:
    """CuPy has no containers of dtypes that cuSPARSE lacks."""
    if dtype in _DTYPES:
        return None
    return f"CuPy's sparse matrices hold {', '.join(_DTYPES)}, not {dtype}. Instead: xo.astype(x, xo.float32)"


def _from_dense(x: Array, request: Compaction, /) -> Container:
    if x.ndim != 2:
        raise Unsupported(
            f"CuPy's sparse matrices have two axes, not {x.ndim}. Instead: xo.reshape(x, (rows, columns))"
        )
    mask = _kept(x, request.where)
    if request.format == "csc":
        # In the order of the columns, so that no sort is needed.
        columns, rows = cupy.nonzero(mask.T)
    else:
        rows, columns = cupy.nonzero(mask)
    if request.nnz_max is not None and rows.size > request.nnz_max:
        raise ValueError(f"x has {rows.size} entries to keep, more than nnz_max={request.nnz_max}")
    return _built(request.format, x.shape, (rows, columns, x[rows, columns]), request.index_dtype)


def _kept(x: Array, where: Any) -> Array:
    if where is None:
        return x != 0
    if hasattr(where, "dtype"):
        return where
    return x > 0 if where == "relu" else cupy.abs(x) > where


def _to_dense(s: Container, /) -> Array:
    rows, columns, data = _entries(s)
    dense = cupy.zeros((1, *s.shape)[-2:], data.dtype)
    # An assignment, because the entries have no duplicates: it needs no atomics.
    dense[rows, columns] = data
    return dense.reshape(s.shape)


def _convert(s: Container, format: str, block: Any = None, /) -> Container:
    rows, columns, data = _entries(s, format)
    return _built(format, s.shape, (rows, columns, data.copy() if data is s.data else data), copy=True)


def _transpose(s: Container, /) -> Container:
    turned = _turned(s)
    return _convert(turned, "coo") if s.format == "coo" else turned


def _add(a: Container, b: Container, /) -> Container:
    both = [cupy.concatenate(pair) for pair in zip(_entries(a), _entries(b), strict=True)]
    return _built(a.format, a.shape, _merged(a.format, *both))


def _multiply(a: Container, b: Container | Array | float, /) -> Container:
    rows, columns, data = _entries(a)
    if not holds(b):
        factor = cupy.broadcast_to(b, a.shape)[rows, columns] if hasattr(b, "shape") else b
        return _built(a.format, a.shape, (rows, columns, data * factor), copy=True)
    # Neither operand has duplicates: of two entries at the same coordinates, one is of a and the next one of b.
    rows, columns, data = map(cupy.concatenate, zip((rows, columns, data), _entries(b, a.format), strict=True))
    order = _order(a.format, rows, columns)
    rows, columns, data = rows[order], columns[order], data[order]
    shared = cupy.flatnonzero((rows[1:] == rows[:-1]) & (columns[1:] == columns[:-1]))
    return _built(a.format, a.shape, (rows[shared], columns[shared], data[shared] * data[shared + 1]))


def _sum(s: Container, axis: int | None, /) -> Array:
    rows, columns, data = _entries(s)
    if axis is None:
        return cupy.sum(data)
    along, count = (columns, s.shape[1]) if axis == 0 else (rows, s.shape[0])
    return _sums(along, data, count).astype(cupy.int64 if data.dtype.kind == "b" else data.dtype)


def _sddmm(a: Array, b: Array, pattern: Container, /) -> Container:
    rows, columns, _ = _entries(pattern)
    data = cupy.empty(rows.size, cupy.result_type(a, b))
    step = max(1, _AT_ONCE // max(1, a.shape[1]))
    for start in range(0, rows.size, step):
        piece = slice(start, start + step)
        data[piece] = cupy.sum(a[rows[piece]] * b.T[columns[piece]], axis=1)
    return _built(pattern.format, pattern.shape, (rows, columns, data), copy=True)


def _matmul(a: Container | Array, b: Container | Array, /) -> Container | Array:
    # Sums of ones, which never cancel out: every sum that is not 0 is true.
    if a.dtype == b.dtype == bool:
        return _matmul(a.astype(cupy.float32), b.astype(cupy.float32)).astype(bool)
    if not holds(b):
        return _times_dense(a, b)
    if not holds(a):
        return _times_dense(_turned(b), a.T).T
    c = _product(_operand(a, "csr"), _operand(b, "csr"))
    return _built(a.format, c.shape, _entries(c, a.format))


def _times_dense(s: Container, dense: Array) -> Array:
    # cuSPARSE has no empty matrices.
    if not s.nnz or not dense.size:
        return cupy.zeros((s.shape[0], *dense.shape[1:]), cupy.result_type(s.dtype, dense.dtype))
    return _operand(s, "csr" if s.format == "coo" else s.format) @ dense


def _operand(s: Container, format: str) -> Container:
    """A canonical container, as cuSPARSE requires; CuPy would canonicalize any other one in place.

    Sorted entries are not copied.
    """
    if s.format == format and s.has_canonical_format:
        return s
    return _built(format, s.shape, _entries(s, format))


def _product(a: Container, b: Container) -> Container:
    """The product of two canonical csr matrices, with a check of its structure; if that fails, in two halves.

    If cuSPARSE lacks memory, it raises or returns a matrix without entries: https://github.com/cupy/cupy/issues/10033
    """
    shape = a.shape[0], b.shape[1]
    # Entry (i, j) of a meets every entry of row j of b. int64, because the sum exceeds the range of the indices.
    so_far = cupy.cumsum(cupy.diff(b.indptr)[a.indices], dtype=cupy.int64)
    ends = cupy.concatenate((cupy.zeros(1, cupy.int64), so_far))[a.indptr]
    products = int(ends[-1])
    if products:
        try:
            c = a @ b
        except (RuntimeError, MemoryError):
            # CuSparseError and OutOfMemoryError: smaller products may fit.
            pass
        else:
            # A row of the result has entries exactly if it has products: cuSPARSE keeps zeros that arise from
            # cancellation.
            if bool((c.indptr[-1] == c.nnz) & ((cupy.diff(c.indptr) > 0) == (cupy.diff(ends) > 0)).all()):
                return c
    if shape[0] <= 1 or products <= _AT_ONCE:
        return _built("csr", shape, _canonical("csr", *_expanded(a, b, so_far, products)))
    # Halves need half of the memory. The recursion ends at one row, or at few products, which are computed without
    # cuSPARSE.
    half = shape[0] // 2
    first, second = (_entries(_product(_rows_of(a, *rows), b)) for rows in ((0, half), (half, shape[0])))
    rows, columns, data = map(cupy.concatenate, zip(first, (second[0] + half, *second[1:]), strict=True))
    return _built("csr", shape, (rows, columns, data))


def _expanded(a: Container, b: Container, so_far: Array, products: int) -> _Entries:
    """All products of an entry of a and one of b, with coordinates; so_far counts them up to each entry of a."""
    rows, inner, data = _entries(a)
    number = cupy.arange(products)
    # Product n belongs to the first entry of a whose running count exceeds n; its place among the products of that
    # entry gives the entry of b.
    entry = cupy.searchsorted(so_far, number, side="right")
    other = b.indptr[inner + 1][entry] - so_far[entry] + number
    return rows[entry], b.indices[other], data[entry] * b.data[other]


def _rows_of(a: Container, start: int, stop: int) -> Container:
    """Some rows of a canonical csr matrix."""
    first, last = map(int, a.indptr[cupy.asarray((start, stop))].get())
    pointers = a.indptr[start : stop + 1] - a.indptr.dtype.type(first)
    shape = stop - start, a.shape[1]
    return wrap(Parts("csr", shape, a.data[first:last], a.indices[first:last], pointers, sorted=True, unique=True))


def _turned(s: Container) -> Container:
    """The transpose over the same arrays. The order of compressed formats stays known; coo becomes unsorted."""
    p = seen(s)
    if p.format == "coo":
        return wrap(p._replace(shape=p.shape[::-1], coords=p.coords[::-1]))
    return wrap(p._replace(shape=p.shape[::-1], format="csc" if p.format == "csr" else "csr"))


def _entries(s: Container, format: str = "") -> _Entries:
    """The entries in the canonical order of a format, by default that of the container."""
    format = format or s.format
    if s.format == "coo":
        return _canonical(format, s.row, s.col, s.data)
    entry = cupy.arange(s.data.size, dtype=s.indptr.dtype)
    outer = cupy.searchsorted(s.indptr, entry, side="right") - 1
    rows, columns = (s.indices, outer) if s.format == "csc" else (outer, s.indices)
    # CuPy computes this once for a container.
    if not s.has_canonical_format:
        return _canonical(format, rows, columns, s.data)
    if (s.format == "csc") == (format == "csc"):
        return rows, columns, s.data
    # A stable sort by one index is enough, because the other one is sorted already.
    order = cupy.argsort(columns if format == "csc" else rows)
    return rows[order], columns[order], s.data[order]


def _canonical(format: str, rows: Array, columns: Array, data: Array) -> _Entries:
    """Entries sorted for a format, with duplicates summed; the same arrays if already canonical."""
    major, minor = (columns, rows) if format == "csc" else (rows, columns)
    rises = (major[1:] > major[:-1]) | ((major[1:] == major[:-1]) & (minor[1:] > minor[:-1]))
    return (rows, columns, data) if bool(rises.all()) else _merged(format, rows, columns, data)


def _merged(format: str, rows: Array, columns: Array, data: Array) -> _Entries:
    """Entries in any order, sorted for a format, with duplicates summed."""
    order = _order(format, rows, columns)
    rows, columns, data = rows[order], columns[order], data[order]
    # An entry that differs from the one before begins a group. The first one always does, if there is one.
    later = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    first = cupy.concatenate((cupy.ones(min(data.size, 1), bool), later))
    places = cupy.flatnonzero(first)
    if places.size == data.size:
        return rows, columns, data
    summed = _sums(cupy.cumsum(first) - 1, data, places.size).astype(data.dtype)
    return rows[places], columns[places], summed


def _order(format: str, rows: Array, columns: Array) -> Array:
    """The permutation that sorts entries for a format: two stable radix sorts; CuPy's lexsort compares."""
    major, minor = (columns, rows) if format == "csc" else (rows, columns)
    # The least significant key first; the second sort is stable and keeps its order within equal keys.
    order = cupy.argsort(minor)
    return order[cupy.argsort(major[order])]


def _sums(groups: Array, data: Array, count: int) -> Array:
    """The sum of the values of each group: float64 or complex128, so that single precision loses nothing.

    By atomic additions, without a wait for the device; ``cupy.bincount`` waits for the minimum and the maximum.
    """
    sums = cupy.zeros(count, cupy.result_type(data.dtype, cupy.float64))
    # Atomic additions exist for real numbers only; real and imag are views of the sums.
    pairs = ((sums.real, data.real), (sums.imag, data.imag)) if data.dtype.kind == "c" else ((sums, data),)
    for total, values in pairs:
        cupy.add.at(total, groups, values.astype(cupy.float64))
    return sums


def _built(
    format: str, shape: tuple[int, ...], entries: _Entries, index: str | None = None, *, copy: bool = False
) -> Container:
    """The container of canonical entries, over their data.

    The default index dtype is the narrowest that fits. With ``copy`` all arrays are new, else they may be shared.
    """
    rows, columns, data = entries
    refused = dtype_refusal(data.dtype.name)
    if refused is not None:
        raise Unsupported(refused)
    narrowest = index_dtype(*shape, data.size)
    asked = narrowest if index is None else np.dtype(index)
    # NumPy orders dtypes by whether a cast is safe.
    if asked < narrowest:
        raise Unsupported(f"{index} indices cannot count the extents and entries. Instead: index_dtype='{narrowest}'")
    if format == "coo":
        coords = rows.astype(asked, copy=copy), columns.astype(asked, copy=copy)
        return wrap(Parts("coo", shape, data, coords=coords, sorted=True, unique=True))
    outer, inner, extent = (columns, rows, shape[1]) if format == "csc" else (rows, columns, shape[0])
    # Where each line begins among sorted indices; an empty line begins where the next one does.
    pointers = cupy.searchsorted(outer, cupy.arange(extent + 1, dtype=outer.dtype)).astype(asked, copy=False)
    return wrap(Parts(format, shape, data, inner.astype(asked, copy=copy), pointers, sorted=True, unique=True))


def _cusparse_refusal(call: Call) -> str | None:
    dtype = cupy.result_type(*(x.dtype for x in call.args)).name
    if dtype in _DTYPES:
        return None
    return f"CuPy multiplies {', '.join(_DTYPES)}, not {dtype}. Instead: s.astype('float32')"


def _sddmm_refusal(call: Call) -> str | None:
    a, b, _ = call.args
    return dtype_refusal(cupy.result_type(a, b).name)


def _has_too_many_columns(call: Call) -> bool:
    a, b = call.args
    return not (holds(a) and holds(b)) and (b.shape[1:] if holds(a) else a.shape[:-1]) > (_MOST_COLUMNS,)


FROM_DENSE_CANDIDATES = [("cupy", _from_dense, always)]
TO_DENSE_CANDIDATES = [("cupy", _to_dense, always)]
CONVERT_CANDIDATES = [("cupy", _convert, always)]
MATMUL_CANDIDATES = [("cusparse", _matmul, _cusparse_refusal)]
TRANSPOSE_CANDIDATES = [("cupy", _transpose, always)]
ADD_CANDIDATES = [("cupy", _add, always)]
MULTIPLY_CANDIDATES = [("cupy", _multiply, always)]
SUM_CANDIDATES = [("cupy", _sum, always)]
SDDMM_CANDIDATES = [("cupy", _sddmm, _sddmm_refusal)]
KNOWN_BAD = (
    KnownBad(
        "cupy",
        "<14.1",
        "cuda",
        f"cuSPARSE gives zeros if a dense operand has more than {_MOST_COLUMNS} columns",
        "https://github.com/cupy/cupy/issues/9850",
        kernel="cusparse",
        when=_has_too_many_columns,
    ),
)
