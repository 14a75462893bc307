"""From dense arrays and from parts to sparse containers, and back."""

from __future__ import annotations

import operator
from math import prod
from typing import TYPE_CHECKING, Any

from xarrayops._ops.sparse.operands import (
    count,
    require_block,
    require_container,
    require_format,
    served,
    serving_sparse,
)
from xarrayops._protocol.sparse import FORMATS, Compaction, Container, Parts, names_of_arrays
from xarrayops._protocol.types import Array
from xarrayops.errors import InvalidSparse, Unsupported

if TYPE_CHECKING:
    from xarrayops._core.sparse_backend import SparseBackend

LARGEST = 2**64
"""Whole numbers beyond are no threshold."""
MOST = 2**31 - 1
"""Entries for which any x may ask for room."""
Where = Array | float | str | None


@served
def from_dense(
    x: Array,
    format: str = "csr",
    *,
    where: Where = None,
    index_dtype: Any = None,
    block: tuple[int, int] | None = None,
    nnz_max: int | None = None,
) -> Container:
    """The entries of a dense array as a sparse container of its library.

    In host memory x is read about once and the result written once: nothing of the size of x lies between.

    Parameters
    ----------
    x : array
        A matrix (rows, columns); for "coo" of any number of axes, where the library's containers have them.
    format : {"csr", "csc", "coo", "bsr"}
        What the library has of these; `Unsupported` names them.
    where : None, "relu", float or bool array
        The entries to keep: None those that are not zero (-0.0 is zero, NaN is not); "relu" those above zero, so that
        the result is that of the activation (NaN is dropped); a number t those with ``abs(x) > t``; an array of x's
        shape those where it is True, zeros too.
    index_dtype : "int32" or "int64", optional
        Default: the narrowest that extents and entries fit into and that the library's format has.
    block : (int, int), optional
        Of "bsr", which needs it: the extents of a block, which divide those of x.
    nnz_max : int, optional
        The most entries. JAX makes room for so many, whatever x holds, and so can trace the call: under ``jax.jit`` it
        must be given, and under it and ``jax.grad`` what goes beyond is lost. Elsewhere more entries (of bsr, blocks)
        are an error.

    Returns
    -------
    container
        Of SciPy, PyTorch, CuPy or JAX, with the values' dtype: canonical, that is sorted and without duplicates.

    Raises
    ------
    Unsupported
        The library has no such containers, format, dtype or width of indices.
    ValueError
        Extents, block, ``where`` or ``nnz_max`` do not fit x.

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
    if isinstance(where, float):  # NumPy's are, too
        where = float(where)
    masks = {"where": where} if hasattr(where, "dtype") else {}
    sparse = serving_sparse("from_dense", {"x": x, **masks})
    if sparse.holds(x):
        raise TypeError(f"xo.sparse.from_dense: x is sparse ({sparse.shown(x)}). Instead: xo.sparse.convert(x, format)")
    require_format("from_dense", format, sparse)
    name = sparse.backend.functions["dtype_name"](x.dtype) or str(x.dtype)
    refused = sparse.dtype_refusal(name)
    if refused is not None:
        raise Unsupported(f"xo.sparse.from_dense({sparse.shown(x)}): {refused}")
    try:
        _check_extents(x, format, block)
        _check_where(x, where, name, sparse)
        nnz_max = None if nnz_max is None else count("nnz_max", nnz_max)
        if nnz_max is not None and nnz_max > max(MOST, prod(x.shape)):
            raise ValueError(f"nnz_max={nnz_max} is more than x has elements")
        index = _index_name(index_dtype, format, sparse)
    except ValueError as error:
        raise ValueError(f"xo.sparse.from_dense({sparse.shown(x)}): {error}") from None
    checked = None if block is None else (operator.index(block[0]), operator.index(block[1]))
    return sparse, (x, Compaction(format, where, index, checked, nnz_max))


def _check_extents(x: Array, format: str, block: Any) -> None:
    shape = tuple(x.shape)
    if format == "coo" and not shape:
        raise ValueError("x has no axis. Instead: xo.reshape(x, (1,))")
    if format != "coo" and len(shape) != 2:
        raise ValueError(f"the format {format} is of matrices, with two axes. Instead: 'coo'")
    if (format == "bsr") != (block is not None):
        raise ValueError("block=(rows, columns) belongs to the format bsr, which needs it")
    if block is not None:
        require_block(block, shape)


def _check_where(x: Array, where: Any, dtype: str, sparse: SparseBackend) -> None:
    if hasattr(where, "dtype"):
        name = sparse.backend.functions["dtype_name"](where.dtype)
        if name != "bool" or tuple(where.shape) != tuple(x.shape):
            raise ValueError(f"a mask is of booleans and of the shape of x, not {name} {tuple(where.shape)}")
    elif isinstance(where, str):
        if where != "relu":
            raise ValueError(f"no condition {where!r}. Instead: 'relu', a number, a mask or None")
        if dtype.startswith("complex"):
            raise ValueError("complex numbers are not above or below zero. Instead: a number t, for abs(x) > t")
    elif where is not None and (isinstance(where, bool) or not isinstance(where, int | float) or where != where):
        raise ValueError(f"where={where!r} is no condition. Instead: 'relu', a number, a mask or None")
    elif isinstance(where, int) and abs(where) > LARGEST:
        raise ValueError(f"where={where!r} is beyond all numbers of any dtype")


def _index_name(index_dtype: Any, format: str, sparse: SparseBackend) -> str | None:
    if index_dtype is None:
        return None
    backend = sparse.backend
    name = backend.functions["dtype_name"](backend.native_dtype(index_dtype))
    if name not in sparse.index_dtypes(format):
        has = " or ".join(sparse.index_dtypes(format))
        raise ValueError(f"indices of {format} in {backend.name} are {has}, not {index_dtype}")
    return name


@served
def to_dense(s: Container, /) -> Array:
    """The dense array that a sparse container stands for, in its library; the values of duplicates are summed.

    Raises
    ------
    InvalidSparse
        An index leads out of the matrix; the message names the first.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, xarrayops as xo
    >>> xo.sparse.to_dense(scipy.sparse.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(1, 2)))
    array([[0., 3.]])
    """
    return require_container("to_dense", "s", s), (s,)


def parts(s: Container, /) -> Parts:
    """The arrays of which a sparse container consists: native, not copied and not checked.

    Returns
    -------
    Parts
        ``format``, ``shape``, ``data``, then ``indptr`` and ``indices``, or ``coords`` (ndim, nnz), ``block`` of bsr,
        and what the container knows of its order: ``sorted``, ``unique`` (None where it does not). What fills a
        container of JAX up to ``nnz_max`` is among them, with indices beyond the extents. To write into them
        changes the container. CuPy's coo, and SciPy's unless it was made here, keeps an array for each axis, and
        JAX's lies the other way round: then ``coords`` is a copy.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.sparse.parts(xo.sparse.from_dense(np.eye(3))).indptr
    array([0, 1, 2, 3], dtype=int32)
    """
    return require_container("parts", "s", s).parts(s)


def from_parts(
    format: str, *arrays: Array, shape: tuple[int, ...], check: bool = True, canonicalize: bool = False
) -> Container:
    """A sparse container over arrays, which it goes on using: they are not copied.

    Parameters
    ----------
    format : {"csr", "csc", "bsr", "coo"}
        What the arrays mean.
    *arrays : arrays
        ``indptr, indices, data`` for csr, csc and bsr, whose data has the shape (blocks, rows, columns); ``coords,
        data`` with coords of shape (ndim, nnz) for coo.
    shape : tuple of int
        Of the array that the container stands for.
    check : bool
        Look at every index. On a device that is done there, with one wait for the answer; the indices are copied to
        the host only if something is wrong, to name the place. False trusts, as it must where indices are traced by
        JAX.
    canonicalize : bool
        Sort the entries and sum up duplicates, into new arrays, rather than refuse them.

    Raises
    ------
    InvalidSparse
        The first offending place: a pointer that falls, an index out of range, lengths that disagree, a duplicate,
        disorder, or a wrong dtype or rank.

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
        raise ValueError(f"xo.sparse.from_parts: no format {format!r}. Instead: one of {', '.join(FORMATS)}")
    names = names_of_arrays(format)
    if len(arrays) != len(names):
        raise TypeError(f'xo.sparse.from_parts("{format}") takes {", ".join(names)}, not {len(arrays)} arrays')
    given = dict(zip(names, arrays, strict=True))
    sparse = serving_sparse("from_parts", given)
    require_format("from_parts", format, sparse)
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
            way_out = ". Instead: canonicalize=True" if in_bounds else ""
            raise InvalidSparse(f'xo.sparse.from_parts("{format}"): {fault}{way_out}')
        known = None if canonicalize else True
        p = p._replace(sorted=known, unique=known)
    container = sparse.wrap(p)
    return sparse.call("convert", container, format, block) if canonicalize else container


def _require_concrete(sparse: SparseBackend, p: Parts) -> None:
    """Raise where indices are traced; values may be."""
    is_lazy = sparse.backend.functions["is_lazy"]
    traced = [name for name, x in p.single_arrays.items() if name != "data" and is_lazy(x)]
    if traced:
        raise Unsupported(f"xo.sparse: {', '.join(traced)} are traced, and cannot be checked. Instead: check=False")


def _extents(shape: Any) -> tuple[int, ...]:
    try:
        return tuple(map(operator.index, shape))
    except TypeError:
        raise InvalidSparse(f"xo.sparse.from_parts: shape is {shape!r}, not a tuple of whole numbers") from None


def validate(s: Container, /, *, canonical: bool = False) -> None:
    """Look at every index of a sparse container.

    On a device that is done there, with one wait for the answer; the indices are copied to the host only if something
    is wrong, to name the place.

    Parameters
    ----------
    s : container
        Of any format and library.
    canonical : bool
        Refuse disorder and duplicates, too, which are legal in native containers.

    Raises
    ------
    InvalidSparse
        The first offending place, as `from_parts` names it.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.sparse.validate(xo.sparse.from_dense(np.eye(3)), canonical=True)
    """
    sparse = require_container("validate", "s", s)
    p = sparse.seen(s)
    _require_concrete(sparse, p)
    fault = sparse.parts_fault(p, canonical=canonical)
    if fault is not None:
        raise InvalidSparse(f"xo.sparse.validate({sparse.shown(s)}): {fault}")
