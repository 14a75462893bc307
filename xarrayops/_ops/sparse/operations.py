"""Operations on sparse matrices, except the product, which is `xo.matmul`."""

from __future__ import annotations

from typing import Any

from xarrayops._ops.sparse import operands
from xarrayops._ops.sparse.operands import Prepared
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.sparse import Container


@operands.sparse_verb("Container")
def transpose(s: Container, /) -> Prepared:
    """The transpose of a sparse matrix.

    A csr matrix becomes csc and a csc matrix becomes csr, sharing the same arrays in the same order. If the library
    lacks the other format, and for coo and bsr, the result has new arrays, sorted and without duplicates.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.sparse.transpose(xo.sparse.from_dense(np.ones((2, 3)))).shape
    (3, 2)
    """
    return operands.require_matrices("transpose", s=s), (s,)


@operands.sparse_verb("Container")
def add(a: Container, b: Container, /) -> Prepared:
    """The sum of two sparse matrices of the same shape, in the format of a.

    Raises
    ------
    TypeError
        An operand is dense. The sum would be dense too: add ``to_dense`` of the other operand.
    MixedBackends
        The operands belong to several libraries.

    Notes
    -----
    Law: ``to_dense(add(a, b)) == to_dense(a) + to_dense(b)``. Entries that cancel may remain as stored zeros.
    """
    sparse = operands.common_sparse_backend("add", {"a": a, "b": b})
    operands.require_matrices("add", a=a, b=b)
    operands.require_same_shape("add", a, b)
    return sparse, (a, b)


@operands.sparse_verb("Container")
def subtract(a: Container, b: Container, /) -> Prepared:
    """The difference of two sparse matrices of the same shape, in the format of a.

    Raises
    ------
    TypeError
        An operand is dense, or has booleans.
    MixedBackends
        The operands belong to several libraries.

    Notes
    -----
    Law: ``to_dense(subtract(a, b)) == to_dense(a) - to_dense(b)``. Entries that cancel may remain as stored zeros.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> s = xo.sparse.from_dense(np.asarray([[0, 5], [7, 0]]))
    >>> xo.sparse.to_dense(xo.sparse.subtract(s, xo.sparse.transpose(s)))
    array([[ 0, -2],
           [ 2,  0]])
    """
    sparse = operands.common_sparse_backend("subtract", {"a": a, "b": b})
    operands.require_matrices("subtract", a=a, b=b)
    operands.require_same_shape("subtract", a, b)
    operands.require_numbers("subtract", sparse, a, b)
    return sparse, (a, b)


@operands.sparse_verb("Container")
def divide(s: Container, b: Any, /) -> Prepared:
    """The elementwise quotient of a sparse matrix and a number or a dense array.

    Only the stored elements are divided. The result has no other elements, even where b is 0 or NaN. Integers give the
    dtype that `xarrayops.divide` gives for dense arrays, as for `sqrt`.

    Notes
    -----
    Law: ``to_dense(divide(s, b)) == to_dense(s) / b`` where b is not 0 and not NaN; b is broadcast to the shape of s.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> s = xo.sparse.from_dense(np.asarray([[1.0, 3.0], [0.0, 2.0]]))
    >>> xo.sparse.to_dense(xo.sparse.divide(s, np.asarray([[4.0], [2.0]])))
    array([[0.25, 0.75],
           [0.  , 1.  ]])
    """
    sparse = operands.common_sparse_backend("divide", {"s": s, "b": b}, numbers=True)
    operands.require_matrices("divide", s=s)
    if sparse.holds(b):
        raise TypeError("xo.sparse.divide: b is sparse, and its zeros would divide. Instead: xo.sparse.to_dense(b)")
    return sparse, (s, operands.broadcast("divide", sparse, s, b))


@operands.sparse_verb("Container")
def multiply(a: Any, b: Any, /) -> Prepared:
    """The elementwise product of a sparse matrix and another one of the same shape, a dense array or a number.

    The operands may be in either order; at least one must be sparse.

    Only the stored elements of the sparse matrix are multiplied. The result has no other elements, even where the other
    operand is NaN or infinite. The result has the format of the first sparse operand.

    Notes
    -----
    Law: ``to_dense(multiply(a, b)) == to_dense(a) * b`` where b is finite; a dense b is broadcast to the shape of a.
    """
    sparse = operands.common_sparse_backend("multiply", {"a": a, "b": b}, numbers=True)
    if not sparse.holds(a):
        a, b = b, a
    operands.require_matrices("multiply", a=a)
    if sparse.holds(b):
        operands.require_same_shape("multiply", a, b)
    else:
        b = operands.broadcast("multiply", sparse, a, b)
    return sparse, (a, b)


@operands.sparse_verb("Container")
def sddmm(a: Array, b: Array, pattern: Container, /) -> Prepared:
    """Sampled dense-dense product: the elements of ``a @ b`` at the stored positions of a sparse matrix.

    Parameters
    ----------
    a, b : arrays (m, k) and (k, n)
        Dense matrices of one library.
    pattern : container (m, n)
        Only its stored positions are used, not its values. For bsr, every position of a stored block is used.

    Returns
    -------
    container
        In the format of the pattern, canonical, with the dtype of ``a @ b``. The full product is never stored.

    Notes
    -----
    Law: ``to_dense(sddmm(a, b, p)) == where(to_dense(p) != 0, a @ b, 0)`` for a pattern without stored zeros.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.sparse.to_dense(xo.sparse.sddmm(np.ones((2, 3)), np.ones((3, 2)), xo.sparse.from_dense(np.eye(2))))
    array([[3., 0.],
           [0., 3.]])
    """
    sparse = operands.common_sparse_backend("sddmm", {"a": a, "b": b, "pattern": pattern})
    operands.require_matrices("sddmm", pattern=pattern)
    for name, x in (("a", a), ("b", b)):
        operands.require_matrix("sddmm", name, x)
        if sparse.holds(x):
            raise TypeError(f"xo.sparse.sddmm: {name} is sparse. Instead: xo.sparse.to_dense({name})")
    if (a.shape[0], b.shape[1]) != tuple(pattern.shape) or a.shape[1] != b.shape[0]:
        shapes = f"{tuple(a.shape)}, {tuple(b.shape)} and {tuple(pattern.shape)}"
        raise ValueError(f"xo.sparse.sddmm: the shapes {shapes} are not (m, k), (k, n) and (m, n)")
    return sparse, (a, b, pattern)
