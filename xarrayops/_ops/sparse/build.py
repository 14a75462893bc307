"""Conversion of dense arrays and of parts to sparse containers, and back."""

from __future__ import annotations

import operator
from math import prod
from typing import TYPE_CHECKING, Any

from xarrayops._ops.sparse import operands
from xarrayops._ops.sparse.operands import Prepared
from xarrayops.errors import InvalidSparse, Unsupported
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.sparse import FORMATS, Compaction, Container, Parts, names_of_arrays

if TYPE_CHECKING:
    from xarrayops._core.backends.sparse_backend import SparseBackend

LARGEST_THRESHOLD = 2**64
"""The largest integer that is accepted as a threshold."""
MAX_ENTRIES = 2**31 - 1
"""The largest ``nnz_max`` that is accepted for any x, even a smaller one."""
Where = Array | float | str | None


@operands.sparse_verb("Container")
def from_dense(
    x: Array,
    format: str = "csr",
    *,
    where: Where = None,
    index_dtype: Any = None,
    block: tuple[int, int] | None = None,
    nnz_max: int | None = None,
) -> Prepared:
    """Convert the entries of a dense array to a sparse container of its library.

    In host memory x is read about once and the result is written once. No temporary array has the size of x.

    Parameters
    ----------
    x : array
        A matrix (rows, columns). For "coo" any number of axes that the library's containers support.
    format : {"csr", "csc", "coo", "bsr"}
        If the library lacks the format, `Unsupported` lists the supported formats.
    where : None, "relu", float or bool array
        The entries to keep. None: nonzero entries (-0.0 is zero, NaN is not). "relu": positive entries, as the
        activation keeps them (NaN is dropped). A number t: entries with ``abs(x) > t``. An array of x's shape: entries
        where it is True, including zeros.
    index_dtype : "int32" or "int64", optional
        Default: the narrowest that holds the extents and the number of entries, and that the library's format has.
    block : (int, int), optional
        Only for "bsr", and required there: the extents of a block. They must divide those of x.
    nnz_max : int, optional
        The maximum number of entries (for bsr, of blocks). JAX always allocates this many, so that it can trace the
        call. ``jax.jit`` requires it; under ``jax.jit`` and ``jax.grad`` further entries are dropped.
        Elsewhere more entries are an error.

    Returns
    -------
    container
        Of SciPy, PyTorch, CuPy or JAX, with the dtype of x. Canonical: sorted and without duplicates.

    Raises
    ------
    Unsupported
        The library has no sparse containers, or lacks the format, the dtype or the index dtype.
    ValueError
        The shape of x, ``block``, ``where`` or ``nnz_max`` is invalid.

    Notes
    -----
    Laws: ``to_dense(from_dense(x)) == x``; ``to_dense(from_dense(x, where="relu")) == maximum(x, 0)`` without NaN.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> x = np.asarray([[0.0, -2.0], [3.0, 0.0]])
    >>> xo.sparse.to_dense(xo.sparse.from_dense(x, where="relu"))
    array([[0., 0.],
           [3., 0.]])
    """
    if isinstance(where, float):  # also a NumPy float64
        where = float(where)
    masks = {"where": where} if hasattr(where, "dtype") else {}
    sparse = operands.common_sparse_backend("from_dense", {"x": x, **masks})
    if sparse.holds(x):
        raise TypeError(f"xo.sparse.from_dense: x is sparse ({sparse.shown(x)}). Instead: xo.sparse.convert(x, format)")
    operands.require_format("from_dense", format, sparse)
    name = sparse.backend.functions["dtype_name"](x.dtype) or str(x.dtype)
    refused = sparse.dtype_refusal(name)
    if refused is not None:
        raise Unsupported(f"xo.sparse.from_dense({sparse.shown(x)}): {refused}")
    try:
        _check_extents(x, format, block)
        if where is not None:
            _check_where(x, where, name, sparse)
        nnz_max = None if nnz_max is None else operands.count("nnz_max", nnz_max)
        if nnz_max is not None and nnz_max > max(MAX_ENTRIES, prod(x.shape)):
            raise ValueError(f"nnz_max={nnz_max} is more than the number of elements of x")
        index = None if index_dtype is None else _index_name(index_dtype, format, sparse)
    except ValueError as error:
        raise ValueError(f"xo.sparse.from_dense({sparse.shown(x)}): {error}") from None
    if not getattr(x.dtype, "isnative", True):  # NumPy's arrays may have the byte order of a file
        x = x.astype(x.dtype.newbyteorder("="))
    checked = None if block is None else (operator.index(block[0]), operator.index(block[1]))
    return sparse, (x, Compaction(format, where, index, checked, nnz_max))


def _check_extents(x: Array, format: str, block: Any) -> None:
    shape = tuple(x.shape)
    if format == "coo" and not shape:
        raise ValueError("x has no axes. Instead: xo.reshape(x, (1,))")
    if format != "coo" and len(shape) != 2:
        raise ValueError(f"the format {format} needs a matrix, but x has {len(shape)} axes. Instead: 'coo'")
    if (format == "bsr") != (block is not None):
        raise ValueError("block=(rows, columns) is required for the format bsr, and only allowed there")
    if block is not None:
        operands.require_block(block, shape)


def _check_where(x: Array, where: Any, dtype: str, sparse: SparseBackend) -> None:
    if hasattr(where, "dtype"):
        name = sparse.backend.functions["dtype_name"](where.dtype)
        if name != "bool" or tuple(where.shape) != tuple(x.shape):
            raise ValueError(f"a mask must be boolean and have the shape of x, not {name} {tuple(where.shape)}")
    elif isinstance(where, str):
        if where != "relu":
            raise ValueError(f"where={where!r} is not a valid condition. Instead: 'relu', a number, a mask or None")
        if dtype.startswith("complex"):
            raise ValueError(
                "complex numbers have no order, so 'relu' is undefined. Instead: a number t, for abs(x) > t"
            )
    elif isinstance(where, bool) or not isinstance(where, int | float) or where != where:
        raise ValueError(f"where={where!r} is not a valid condition. Instead: 'relu', a number, a mask or None")
    elif isinstance(where, int) and abs(where) > LARGEST_THRESHOLD:
        raise ValueError(f"where={where!r} is beyond the range of every dtype. Instead: a smaller number")


def _index_name(index_dtype: Any, format: str, sparse: SparseBackend) -> str:
    """The name of an index dtype; raises if the library lacks it in containers of that format."""
    backend = sparse.backend
    name = backend.functions["dtype_name"](backend.native_dtype(index_dtype))
    if name not in sparse.index_dtypes(format):
        has = " or ".join(sparse.index_dtypes(format))
        raise ValueError(f"{backend.name} has {has} indices for {format}, not {index_dtype}")
    return name


@operands.sparse_verb("Array")
def to_dense(s: Container, /) -> Prepared:
    """The values of a sparse container as a dense array of its library; duplicates are summed.

    Raises
    ------
    InvalidSparse
        An index is out of bounds; the message names the first one.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, xarrayops as xo
    >>> xo.sparse.to_dense(scipy.sparse.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(1, 2)))
    array([[0., 3.]])
    """
    return operands.require_container("to_dense", "s", s), (s,)


def parts(s: Container, /) -> Parts:
    """The arrays of a sparse container: native, not copied and not checked.

    Returns
    -------
    Parts
        ``format``, ``shape``, ``data``, then ``indptr`` and ``indices``, or ``coords`` (ndim, nnz); ``block`` of bsr;
        ``sorted`` and ``unique``, which are None if the container does not record them. The padding of a JAX
        container up to ``nnz_max`` is included, with indices beyond the extents. Writing to the arrays changes the
        container. Exception: ``coords`` is a copy if the container stores one array per axis (CuPy, and SciPy unless
        xarrayops made the container) or the transpose (JAX).

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.sparse.parts(xo.sparse.from_dense(np.eye(3))).indptr
    array([0, 1, 2, 3], dtype=int32)
    """
    return operands.require_container("parts", "s", s).parts(s)


def from_parts(
    format: str, *arrays: Array, shape: tuple[int, ...], check: bool = True, canonicalize: bool = False
) -> Container:
    """A sparse container made of arrays, which it uses without a copy.

    Parameters
    ----------
    format : {"csr", "csc", "bsr", "coo"}
        The format, which decides what the arrays are.
    *arrays : arrays
        ``indptr, indices, data`` for csr, csc and bsr; for bsr, data has the shape (blocks, rows, columns). ``coords,
        data`` for coo, with coords of shape (ndim, nnz).
    shape : tuple of int
        The shape of the matrix or array.
    check : bool
        Check every index. Arrays on an accelerator are checked there, with one synchronisation; only if one is invalid,
        the indices are copied to the host, to name the entry. False skips the check; indices that JAX traces need it.
    canonicalize : bool
        Sort the entries and sum duplicates, in new arrays. Otherwise unsorted entries and duplicates are an error.

    Raises
    ------
    InvalidSparse
        The message names the first invalid entry: a decreasing pointer, an index out of bounds, lengths that do not
        match, a duplicate, an unsorted entry, or a wrong dtype or number of axes.

    Notes
    -----
    Law: ``from_parts(p.format, *p.arrays.values(), shape=p.shape)`` with ``p = parts(s)`` equals s.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> s = xo.sparse.from_parts("csr", np.array([0, 1]), np.array([5]), np.array([1.0]), shape=(1, 3))
    Traceback (most recent call last):
    ...
    xarrayops.errors.InvalidSparse: xo.sparse.from_parts("csr"): indices[0], in row 0, is 5, but there are 3 columns
    """
    if format not in FORMATS:
        raise ValueError(f"xo.sparse.from_parts: unknown format {format!r}. Instead: one of {', '.join(FORMATS)}")
    names = names_of_arrays(format)
    if len(arrays) != len(names):
        raise TypeError(f'xo.sparse.from_parts("{format}") takes {", ".join(names)}, not {len(arrays)} arrays')
    given = dict(zip(names, arrays, strict=True))
    sparse = operands.common_sparse_backend("from_parts", given)
    operands.require_format("from_parts", format, sparse)
    data = given["data"]
    refused = sparse.dtype_refusal(sparse.backend.functions["dtype_name"](data.dtype) or str(data.dtype))
    if refused is not None:
        raise Unsupported(f"xo.sparse.from_parts({format!r}): {refused}")
    ranks = {"coo": ("coords", 2), "bsr": ("data", 3)}
    name, rank = ranks.get(format, ("data", 1))
    if len(given[name].shape) != rank:
        raise InvalidSparse(f'xo.sparse.from_parts("{format}"): {name} has {len(given[name].shape)} axes, not {rank}')
    block = tuple(data.shape[1:]) if format == "bsr" else None
    p = Parts(format, _extents(shape), block=block, **given)
    if check:
        _require_concrete(sparse, p)
        fault = sparse.parts_fault(p, canonical=not canonicalize)
        if fault is not None:
            in_bounds = not canonicalize and sparse.parts_fault(p, canonical=False) is None
            instead = ". Instead: canonicalize=True" if in_bounds else ""
            raise InvalidSparse(f'xo.sparse.from_parts("{format}"): {fault}{instead}')
        known = None if canonicalize else True
        p = p._replace(sorted=known, unique=known)
    container = sparse.wrap(p)
    return sparse.call("convert", container, format, block) if canonicalize else container


def _require_concrete(sparse: SparseBackend, p: Parts) -> None:
    """Raise if indices are traced. Traced values are allowed."""
    is_lazy = sparse.backend.functions["is_lazy"]
    traced = [name for name, x in p.single_arrays.items() if name != "data" and is_lazy(x)]
    if traced:
        raise Unsupported(f"xo.sparse: {', '.join(traced)} cannot be checked while traced. Instead: check=False")


def _extents(shape: Any) -> tuple[int, ...]:
    try:
        return tuple(map(operator.index, shape))
    except TypeError:
        raise InvalidSparse(f"xo.sparse.from_parts: shape is {shape!r}, not a tuple of integers") from None


def validate(s: Container, /, *, canonical: bool = False) -> None:
    """Check every index of a sparse container.

    Containers on an accelerator are checked there, with one synchronisation; only if an index is invalid, the indices
    are copied to the host, to name the entry.

    Parameters
    ----------
    s : container
        Of any format and library.
    canonical : bool
        Whether unsorted entries and duplicates are an error too. Native containers allow both.

    Raises
    ------
    InvalidSparse
        An index is invalid; the message names the first, as that of `from_parts`.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.sparse.validate(xo.sparse.from_dense(np.eye(3)), canonical=True)
    """
    sparse = operands.require_container("validate", "s", s)
    p = sparse.seen(s)
    _require_concrete(sparse, p)
    fault = sparse.parts_fault(p, canonical=canonical)
    if fault is not None:
        raise InvalidSparse(f"xo.sparse.validate({sparse.shown(s)}): {fault}")
