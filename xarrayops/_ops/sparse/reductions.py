"""Reductions of sparse matrices: sums, means, counts and norms."""

from __future__ import annotations

from xarrayops._ops.sparse import operands
from xarrayops._ops.sparse.operands import Prepared
from xarrayops.plugin.sparse import Container


@operands.sparse_verb("Array")
def sum(s: Container, /, *, axis: int | None = None) -> Prepared:
    """The sum of a sparse matrix along an axis, or of all its entries, as a dense array of its library.

    The dtype is the same as for the library's own sum: small integers and booleans are summed in a wider dtype.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.sparse.sum(xo.sparse.from_dense(np.eye(3)), axis=0)
    array([1., 1., 1.])
    """
    return operands.reduction("sum", s, axis)


@operands.sparse_verb("Array")
def mean(s: Container, /, *, axis: int | None = None) -> Prepared:
    """The mean of each column (axis 0), each row (axis 1) or all elements, also those that are not stored.

    Returns
    -------
    array
        Dense, of the dtype of s; of the default floating-point dtype for integers and booleans. NaN for no elements.

    Notes
    -----
    Law: ``mean(s, axis=k) == xarrayops.mean(to_dense(s), axis=k)``.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.sparse.mean(xo.sparse.from_dense(np.asarray([[3.0, 0.0], [0.0, 1.0]])), axis=0)
    array([1.5, 0.5])
    """
    return operands.reduction("mean", s, axis)


@operands.sparse_verb("Array")
def count(s: Container, /, *, axis: int | None = None) -> Prepared:
    """The number of values that are not zero: of each column (axis 0), each row (axis 1) or the whole matrix.

    Stored zeros, and duplicates that cancel, are not counted. NaN is counted.

    Returns
    -------
    array
        Dense, of the library's default integer dtype: int64 (int32 on JAX while its 64-bit types are off).

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.sparse.count(xo.sparse.from_dense(np.asarray([[1, 0], [2, 3]])), axis=0)
    array([2, 1])
    """
    return operands.reduction("count", s, axis)


@operands.sparse_verb("Array")
def norm(s: Container, /, *, axis: int | None = None) -> Prepared:
    """The 2-norm of each column (axis 0) or each row (axis 1), or the Frobenius norm of a sparse matrix.

    Returns
    -------
    array
        Dense, of the real dtype of s; of the default floating-point dtype for integers and booleans.

    Notes
    -----
    Law: ``norm(s, axis=k) == linalg.vector_norm(to_dense(s), axis=k)``. Where a norm is 0, its gradient is 0.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.sparse.norm(xo.sparse.from_dense(np.asarray([[3.0, 4.0], [0.0, 0.0]])), axis=1)
    array([5., 0.])
    """
    return operands.reduction("norm", s, axis)
