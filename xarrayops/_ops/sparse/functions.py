"""Functions of sparse matrices: casts, scaling, selection, concatenation, the greatest elements, the diagonal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xarrayops._core.backends.find import SCALARS
from xarrayops._ops.sparse import operands
from xarrayops._ops.sparse.operands import Prepared
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.sparse import Container


@operands.sparse_verb("Container")
def scale(s: Container, /, rows: Array | None = None, columns: Array | None = None) -> Prepared:
    """A sparse matrix with each row, each column or both multiplied by a factor: ``diag(rows) @ s @ diag(columns)``.

    Only the stored values are multiplied: a factor that is NaN or infinite does not change the zeros.

    Parameters
    ----------
    s : container (m, n)
        Of any format.
    rows : array (m,), optional
        The factors of the rows.
    columns : array (n,), optional
        The factors of the columns.

    Returns
    -------
    container
        In the format of s, canonical, of the promoted dtype. It shares the indices of a canonical s.

    Notes
    -----
    Law: ``to_dense(scale(s, r, c)) == r[:, None] * to_dense(s) * c`` for finite factors.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> s = xo.sparse.from_dense(np.ones((2, 2)))
    >>> xo.sparse.to_dense(xo.sparse.scale(s, rows=np.asarray([1.0, 2.0]), columns=np.asarray([1.0, 10.0])))
    array([[ 1., 10.],
           [ 2., 20.]])
    """
    given = {name: x for name, x in (("rows", rows), ("columns", columns)) if x is not None}
    for name, x in given.items():
        if type(x) in SCALARS or getattr(x, "shape", None) == ():
            why = f"{name} is one number, and must be an array of factors"
            raise TypeError(
                f"xo.sparse.scale: {why}. Instead: xo.sparse.multiply(s, {x if type(x) in SCALARS else name})"
            )
    sparse = operands.common_sparse_backend("scale", {"s": s, **given})
    operands.require_matrices("scale", s=s)
    if not given:
        raise ValueError("xo.sparse.scale takes rows=, columns= or both")
    for name, x in given.items():
        if sparse.holds(x):
            raise TypeError(f"xo.sparse.scale: {name} is sparse. Instead: a dense array with one axis")
        extent = s.shape[("rows", "columns").index(name)]
        if tuple(x.shape) != (extent,):
            raise ValueError(f"xo.sparse.scale: {name} has shape {tuple(x.shape)}, not ({extent},)")
    return sparse, (s, rows, columns)


@operands.sparse_verb("Container")
def take(s: Container, indices: Array, /, *, axis: int = 0) -> Prepared:
    """Rows (axis 0) or columns (axis 1) of a sparse matrix, in the order of the indices.

    Parameters
    ----------
    s : container (m, n)
        Of any format.
    indices : integer or boolean array
        Indices of one axis, which may be repeated and negative; or a mask of the length of the axis of s.
    axis : {0, 1}
        The axis of s. Also -1 and -2.

    Returns
    -------
    container
        In the format of s (csr if s is bsr), canonical, in new arrays.

    Raises
    ------
    IndexError
        An index is out of range; the message names the first. Traced indices are not checked.
    InvalidSparse
        s is invalid. For rows of csr and columns of csc in host memory only the selected ones are read and checked.
    Unsupported
        The indices are a traced mask.

    Notes
    -----
    Law: ``to_dense(take(s, i)) == to_dense(s)[i, :]``.

    Under ``jax.jit`` the result has room for every pair of an index and an entry; a mask cannot be traced.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> s = xo.sparse.from_dense(np.asarray([[1, 0], [0, 2]]))
    >>> xo.sparse.to_dense(xo.sparse.take(s, np.asarray([-1, 0, -1])))
    array([[0, 2],
           [1, 0],
           [0, 2]])
    """
    sparse = operands.common_sparse_backend("take", {"s": s, "indices": indices})
    operands.require_matrices("take", s=s)
    axis = operands.require_axis("take", axis)
    if sparse.holds(indices) or len(indices.shape) != 1:
        raise ValueError(f"xo.sparse.take: indices is {sparse.shown(indices)}, not a dense array with one axis")
    dtype = sparse.backend.functions["dtype_name"](indices.dtype) or str(indices.dtype)
    if dtype == "bool" and indices.shape[0] != s.shape[axis]:
        raise ValueError(
            f"xo.sparse.take: the mask has {indices.shape[0]} items, but axis {axis} of s has {s.shape[axis]}"
        )
    if dtype == "bool" and sparse.backend.functions["is_lazy"](indices):
        unknown = f"the number of {('rows', 'columns')[axis]} that a traced mask selects is not known"
        raise Unsupported(f"xo.sparse.take: {unknown}. Instead: an array of indices")
    if dtype != "bool" and "int" not in dtype:
        raise TypeError(f"xo.sparse.take: indices of dtype {dtype} are neither integers nor a mask")
    return sparse, (s, indices, axis)


@operands.sparse_verb("Container")
def concat(containers: Sequence[Container], /, *, axis: int = 0) -> Prepared:
    """Sparse matrices one below the other (axis 0) or side by side (axis 1).

    Parameters
    ----------
    containers : sequence of containers
        At least one; of one library, in any formats, with the same extent of the other axis.
    axis : {0, 1}
        The axis along which they are joined. Also -1 and -2.

    Returns
    -------
    container
        In the format of the first (csr if that is bsr), canonical, in new arrays, of the promoted dtype.

    Notes
    -----
    Law: ``to_dense(concat([a, b])) == xarrayops.concat([to_dense(a), to_dense(b)])``.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> s = xo.sparse.from_dense(np.eye(2))
    >>> xo.sparse.concat([s, s], axis=1).shape
    (2, 4)
    """
    if not isinstance(containers, list | tuple) or not containers:
        raise ValueError("xo.sparse.concat takes a list or tuple of at least one sparse matrix")
    named = {f"containers[{k}]": x for k, x in enumerate(containers)}
    sparse = operands.common_sparse_backend("concat", named)
    axis = operands.require_axis("concat", axis)
    for name, x in named.items():
        operands.require_matrices("concat", **{name: x})
        if x.shape[1 - axis] != containers[0].shape[1 - axis]:
            shapes = f"{tuple(containers[0].shape)} and {tuple(x.shape)}"
            raise ValueError(
                f"xo.sparse.concat: the shapes of containers[0] and {name}, {shapes}, differ in axis {1 - axis}"
            )
    return sparse, (axis, *containers)


@operands.sparse_verb("Container")
def astype(s: Container, dtype: Any, /) -> Prepared:
    """A sparse matrix with values of another dtype, which shares the indices of a canonical s.

    Raises
    ------
    Unsupported
        The library's containers cannot hold the dtype.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.sparse.astype(xo.sparse.from_dense(np.eye(2)), "float32").dtype
    dtype('float32')
    """
    sparse = operands.require_container("astype", "s", s)
    native = sparse.backend.native_dtype(dtype)
    refused = sparse.dtype_refusal(sparse.backend.functions["dtype_name"](native) or str(native))
    if refused is not None:
        raise Unsupported(f"xo.sparse.astype: {refused}")
    return sparse, (s, native)


@operands.sparse_verb("tuple[Array, Array]")
def topk(s: Container, k: int, /, *, axis: int = -1, largest: bool = True) -> Prepared:
    """The k greatest elements of each row (axis 1) or column (axis 0), in descending order, and their indices.

    Elements that are not stored count: they are 0. Of equal elements, the one with the lower index comes first. The
    memory grows with the stored elements and the result, not with the shape.

    Parameters
    ----------
    s : container (m, n)
        Of any format.
    k : int
        At most the length of the axis.
    axis : {-1, 0, 1}
        The axis of s. Also -2.
    largest : bool
        False gives the least elements, in ascending order.

    Returns
    -------
    values, indices : arrays (m, k); (k, n) for axis 0
        Dense; the indices have the library's index dtype.

    Raises
    ------
    ValueError
        k is negative or larger than the axis.

    Notes
    -----
    Law: as a stable sort of ``to_dense(s)``. NaN counts as the greatest.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.sparse.topk(xo.sparse.from_dense(np.asarray([[0, 7, 0, 9], [0, -1, 0, 0]])), 2)
    (array([[9, 7],
           [0, 0]]), array([[3, 1],
           [0, 2]]))
    """
    sparse = operands.require_matrices("topk", s=s)
    axis, number = operands.require_axis("topk", axis), operands.count("xo.sparse.topk: k", k)
    operands.require_order("topk", sparse, s)
    if number > s.shape[axis]:
        raise ValueError(f"xo.sparse.topk: k is {number}, but axis {axis} of s has {s.shape[axis]} elements")
    return sparse, (s, number, axis, bool(largest))


@operands.sparse_verb("Array")
def diagonal(s: Container, /) -> Prepared:
    """The diagonal of a sparse matrix (m, n) as a dense array (min(m, n),) of its dtype.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.sparse.diagonal(xo.sparse.from_dense(np.asarray([[1, 2, 0], [0, 0, 4]])))
    array([1, 0])
    """
    return operands.require_matrices("diagonal", s=s), (s,)
