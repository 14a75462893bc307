"""Elementwise functions of sparse arrays that map zero to zero.

They act on the stored values. The result has the format of the operand and shares its indices; it is canonical, because
duplicates of the operand are summed first, in new arrays.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from xarrayops._core.backends.find import SCALARS
from xarrayops._ops.sparse import operands
from xarrayops._ops.sparse.operands import Prepared
from xarrayops.plugin.sparse import Container

if TYPE_CHECKING:
    from xarrayops._core.backends.sparse_backend import SparseBackend


def _of_any(verb: str, s: Container) -> tuple[SparseBackend, tuple[Container]]:
    """The backend of a function of one container, and its arguments."""
    return operands.require_container(verb, "s", s), (s,)


def _of_numbers(verb: str, s: Container) -> tuple[SparseBackend, tuple[Container]]:
    """The same, for a function that does not support booleans."""
    sparse = operands.require_container(verb, "s", s)
    operands.require_numbers(verb, sparse, s)
    return sparse, (s,)


@operands.sparse_verb("Container")
def abs(s: Container, /) -> Prepared:
    """The absolute values of a sparse array; the real dtype for complex values.

    Notes
    -----
    Law of all elementwise functions: ``to_dense(abs(s)) == xarrayops.abs(to_dense(s))``, with the same dtype. The
    result shares the indices of a canonical s: copy it before you call a method of the library that changes indices in
    place.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.sparse.to_dense(xo.sparse.abs(xo.sparse.from_dense(np.asarray([[0.0, -2.0]]))))
    array([[0., 2.]])
    """
    return _of_numbers("abs", s)


@operands.sparse_verb("Container")
def sign(s: Container, /) -> Prepared:
    """The signs of the values of a sparse array: -1, 0 or 1; z / abs(z) for complex values."""
    return _of_numbers("sign", s)


@operands.sparse_verb("Container")
def negative(s: Container, /) -> Prepared:
    """The negated values of a sparse array."""
    return _of_numbers("negative", s)


@operands.sparse_verb("Container")
def square(s: Container, /) -> Prepared:
    """The squares of the values of a sparse array."""
    return _of_numbers("square", s)


@operands.sparse_verb("Container")
def sqrt(s: Container, /) -> Prepared:
    """The square roots of the values of a sparse array; NaN for negative real values.

    Integers and booleans give the dtype that `xarrayops.sqrt` gives for dense arrays. If containers cannot hold it
    (SciPy's hold no float16), it is the default floating-point dtype. This holds for all functions with floating-point
    results.
    """
    return _of_any("sqrt", s)


@operands.sparse_verb("Container")
def expm1(s: Container, /) -> Prepared:
    """``exp(x) - 1`` for the values x of a sparse array."""
    return _of_any("expm1", s)


@operands.sparse_verb("Container")
def log1p(s: Container, /) -> Prepared:
    """``log(1 + x)`` for the values x of a sparse array.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.sparse.to_dense(xo.sparse.log1p(xo.sparse.from_dense(np.asarray([[0, 1]]))))
    array([[0.        , 0.69314718]])
    """
    return _of_any("log1p", s)


@operands.sparse_verb("Container")
def sin(s: Container, /) -> Prepared:
    """The sines of the values of a sparse array."""
    return _of_any("sin", s)


@operands.sparse_verb("Container")
def tan(s: Container, /) -> Prepared:
    """The tangents of the values of a sparse array."""
    return _of_any("tan", s)


@operands.sparse_verb("Container")
def tanh(s: Container, /) -> Prepared:
    """The hyperbolic tangents of the values of a sparse array."""
    return _of_any("tanh", s)


@operands.sparse_verb("Container")
def power(s: Container, exponent: float, /) -> Prepared:
    """The values of a sparse array raised to a positive number.

    Raises
    ------
    ValueError
        The exponent is not a finite number above 0: zeros would not stay zeros.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.sparse.to_dense(xo.sparse.power(xo.sparse.from_dense(np.asarray([[0, 3]])), 2))
    array([[0, 9]])
    """
    sparse, _ = _of_numbers("power", s)
    if type(exponent) not in (int, float) or not 0 < exponent < math.inf:
        raise ValueError(
            f"xo.sparse.power: the exponent is {exponent!r}, not a finite number above 0. "
            "Instead: xo.pow(xo.sparse.to_dense(s), exponent)"
        )
    return sparse, (s, exponent)


@operands.sparse_verb("Container")
def maximum(a: Container, b: Container | float, /) -> Prepared:
    """The elementwise maximum of two sparse matrices of the same shape, or of a and 0.

    Parameters
    ----------
    a : container
        Of any format; the result has this format.
    b : container or 0
        Of the shape of a, or the number 0: then the result has the entries of a, and a may have any number of axes.

    Notes
    -----
    Law: ``to_dense(maximum(a, b)) == xarrayops.maximum(to_dense(a), to_dense(b))``. NaN gives NaN. Values that become 0
    may stay stored.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> s = xo.sparse.from_dense(np.asarray([[0, -2, 3]]))
    >>> xo.sparse.to_dense(xo.sparse.maximum(s, 0))
    array([[0, 0, 3]])
    """
    number = type(b) in SCALARS
    sparse = operands.common_sparse_backend("maximum", {"a": a, "b": b}, numbers=number)
    if number:
        operands.require_container("maximum", "a", a)
        if type(b) not in (int, float) or b != 0:
            dense = "xo.maximum(xo.sparse.to_dense(a), b)"
            raise ValueError(f"xo.sparse.maximum: b is {b!r}; the result is sparse for 0 only. Instead: {dense}")
    else:
        operands.require_matrices("maximum", a=a, b=b)
        operands.require_same_shape("maximum", a, b)
    operands.require_numbers("maximum", sparse, a, b)
    operands.require_order("maximum", sparse, a, b)
    return sparse, (a, b)
