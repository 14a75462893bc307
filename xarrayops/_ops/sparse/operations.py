"""Operations on sparse matrices beside the product, which `xo.matmul` takes."""

from __future__ import annotations

from typing import Any

from xarrayops._core.registry import SCALARS
from xarrayops._ops.sparse.operands import require_alike, require_container, require_matrix, served, serving_sparse
from xarrayops._protocol.sparse import Container
from xarrayops._protocol.types import Array


@served
def transpose(s: Container, /) -> Container:
    """The transpose of a sparse matrix.

    A csr matrix gives csc, and csc gives csr, over the same arrays, whose entries stay as they are; where the library
    lacks the other format, and for coo and bsr, they are put in order in new arrays.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.sparse.transpose(xo.sparse.from_dense(np.ones((2, 3)))).shape
    (3, 2)
    """
    sparse = require_container("transpose", "s", s)
    require_matrix("transpose", "s", s)
    return sparse, (s,)


@served
def add(a: Container, b: Container, /) -> Container:
    """The sum of two sparse matrices of one shape, in the format of a.

    Raises
    ------
    TypeError
        An operand is dense: then the sum is, too, so add ``to_dense`` of the other.
    MixedBackends
        The operands are of several libraries.

    Notes
    -----
    Law: ``to_dense(add(a, b)) == to_dense(a) + to_dense(b)``. What cancels may stay as a stored zero.
    """
    sparse = serving_sparse("add", {"a": a, "b": b})
    for name, x in (("a", a), ("b", b)):
        require_container("add", name, x)
        require_matrix("add", name, x)
    require_alike("add", a, b)
    return sparse, (a, b)


@served
def multiply(a: Any, b: Any, /) -> Container:
    """The product, element by element, of a sparse matrix and another of its shape, a dense array or a number.

    Either may stand first; at least one is sparse.

    Only the entries of the sparse matrix are multiplied: where it has none the result has none, even if the other holds
    NaN or an infinity there. The result has the format of the first sparse operand.

    Notes
    -----
    Law: ``to_dense(multiply(a, b)) == to_dense(a) * b`` where b is finite; a dense b is broadcast to the shape of a.
    """
    sparse = serving_sparse("multiply", {"a": a, "b": b}, numbers=True)
    if not sparse.holds(a):
        a, b = b, a
    require_container("multiply", "a", a)
    require_matrix("multiply", "a", a)
    if sparse.holds(b):
        require_alike("multiply", a, b)
    elif type(b) not in SCALARS:
        shape = tuple(b.shape)
        beside = zip(reversed(shape), reversed(tuple(a.shape)), strict=False)
        if len(shape) > 2 or any(extent not in (1, whole) for extent, whole in beside):
            raise ValueError(f"xo.sparse.multiply: shape {shape} cannot be broadcast to {tuple(a.shape)}")
        b = sparse.backend.functions["asarray"](b)  # NumPy's scalars have no memory
    return sparse, (a, b)


@served
def sum(s: Container, /, *, axis: int | None = None) -> Array:
    """The sum over an axis of a sparse matrix, or of all its entries: a dense array of its library.

    The dtype is that of the library's own sum: small integers and booleans are summed in a wide one.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.sparse.sum(xo.sparse.from_dense(np.eye(3)), axis=0)
    array([1., 1., 1.])
    """
    sparse = require_container("sum", "s", s)
    require_matrix("sum", "s", s)
    if axis is not None and (type(axis) is not int or not -2 <= axis < 2):
        raise ValueError(f"xo.sparse.sum: no axis {axis!r} in a matrix. Instead: 0, 1 or None")
    return sparse, (s, None if axis is None else axis % 2)


@served
def sddmm(a: Array, b: Array, pattern: Container, /) -> Container:
    """The elements of the product of two dense matrices at the places of a sparse one: sampled dense-dense product.

    Parameters
    ----------
    a, b : arrays (m, k) and (k, n)
        Of one library.
    pattern : container (m, n)
        Its places count, its values do not; all places of a block of bsr do.

    Returns
    -------
    container
        In the format of the pattern, canonical, in the dtype of ``a @ b``. The product itself is never stored.

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
    sparse = serving_sparse("sddmm", {"a": a, "b": b, "pattern": pattern})
    require_container("sddmm", "pattern", pattern)
    require_matrix("sddmm", "pattern", pattern)
    for name, x in (("a", a), ("b", b)):
        require_matrix("sddmm", name, x)
        if sparse.holds(x):
            raise TypeError(f"xo.sparse.sddmm: {name} is sparse. Instead: xo.sparse.to_dense({name})")
    if (a.shape[0], b.shape[1]) != tuple(pattern.shape) or a.shape[1] != b.shape[0]:
        shapes = f"{tuple(a.shape)}, {tuple(b.shape)} and {tuple(pattern.shape)}"
        raise ValueError(f"xo.sparse.sddmm: the shapes {shapes} are not (m, k), (k, n) and (m, n)")
    return sparse, (a, b, pattern)
