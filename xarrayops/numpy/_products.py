"""Products of vectors, matrices and arrays, and diagonals."""

from __future__ import annotations

from itertools import accumulate
from operator import index
from typing import TYPE_CHECKING, Any

import xarrayops as xo
from xarrayops.numpy import _axes, _operands as ops, _promotion, _results
from xarrayops.numpy._dtypes import named


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """The sums of the products along the last axis of a and the second to last of b, by `xarrayops.tensordot`."""
    x, y = _promotion.together(a, b)
    if x.ndim == 0 or y.ndim == 0:
        return _results.written("dot", xo.multiply(x, y), out)
    if x.ndim <= 2 and y.ndim <= 2:
        return _results.written("dot", xo.matmul(x, y), out)
    return _results.written("dot", xo.tensordot(x, y, axes=((x.ndim - 1,), (max(y.ndim - 2, 0),))), out)


def inner(a: Any, b: Any, /) -> Any:
    """The sums of the products along the last axes, by `xarrayops.tensordot`."""
    x, y = _promotion.together(a, b)
    if x.ndim == 0 or y.ndim == 0:
        return xo.multiply(x, y)
    if x.shape[-1] != y.shape[-1]:
        raise ValueError(f"shapes {tuple(x.shape)} and {tuple(y.shape)} not aligned")
    return ops.scalar(xo.tensordot(x, y, axes=((x.ndim - 1,), (y.ndim - 1,))))


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """The products of all pairs of elements, by `xarrayops.multiply`."""
    x, y = _promotion.together(a, b)
    return _results.written("outer", xo.multiply(_axes.raveled(x)[:, None], _axes.raveled(y)[None, :]), out)


def vdot(a: Any, b: Any, /) -> Any:
    """The sum of the products of the conjugated elements of a with the elements of b, by `xarrayops.vecdot`."""
    x, y = map(_axes.raveled, _promotion.together(a, b))
    if tuple(x.shape) != tuple(y.shape):
        raise ValueError("vdot needs arrays of the same size")
    return xo.vecdot(x, y)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """The sums of the products along pairs of axes, by `xarrayops.tensordot`."""
    x, y = _promotion.together(a, b)
    if not _axes.is_several(axes):
        return xo.tensordot(x, y, axes=index(axes))
    places = [_axes.integers(each) for each in axes]
    if len(places[0]) != len(places[1]):
        raise ValueError("shape-mismatch for sum")
    places = [tuple(_axes.one_axis(i, z.ndim) for i in each) for z, each in zip((x, y), places, strict=True)]
    if any(x.shape[i] != y.shape[j] for i, j in zip(*places, strict=True)):
        raise ValueError("shape-mismatch for sum")
    return xo.tensordot(x, y, axes=(places[0], places[1]))


def kron(a: Any, b: Any) -> Any:
    """The Kronecker product, by `xarrayops.kron`."""
    return xo.kron(*_promotion.together(a, b))


def einsum(*operands: Any, out: Any = None, optimize: Any = False, **kwargs: Any) -> Any:
    """Sums of products in Einstein notation, by `xarrayops.einsum`, which chooses the order of the products."""
    _results.refuse("einsum", "cast the operands or the result with astype", dtype="dtype" in kwargs)
    _results.refuse("einsum", "leave it out", **{name: name not in ("dtype", "order", "casting") for name in kwargs})
    if not operands:
        raise ValueError(
            "must specify the einstein sum subscripts string and at least one operand, or at least one "
            "operand and its corresponding subscripts list"
        )
    if not isinstance(operands[0], str):
        operands = _with_letters(operands)
    subscripts, *values = operands
    return _results.written("einsum", xo.einsum(subscripts, *_promotion.together(*values)), out)


def _with_letters(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Convert a call with lists of integers after each operand to one with a subscripts string."""
    values, lists = operands[0::2], operands[1::2]
    result = None
    if len(operands) % 2:
        values, result = values[:-1], operands[-1]

    def text(labels: Any) -> str:
        return "".join("..." if label is Ellipsis else chr(ord("A") + label + 6 * (label > 25)) for label in labels)

    subscripts = ",".join(map(text, lists)) + ("" if result is None else f"->{text(result)}")
    return (subscripts, *values)


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """The cross products of vectors of three elements, by `xarrayops.linalg.cross`."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = _promotion.together(a, b)
    x, y = xo.moveaxis(x, _axes.one_axis(axisa, x.ndim), -1), xo.moveaxis(y, _axes.one_axis(axisb, y.ndim), -1)
    if x.shape[-1] not in (2, 3) or y.shape[-1] not in (2, 3):
        raise ValueError("incompatible dimensions for cross product (dimension must be 2 or 3)")
    shape = tuple(xo.broadcast_shapes(x.shape[:-1], y.shape[:-1]))
    if x.shape[-1] == y.shape[-1] == 2:
        return xo.subtract(xo.multiply(x[..., 0], y[..., 1]), xo.multiply(x[..., 1], y[..., 0]))
    x, y = (xo.broadcast_to(_of_three(z), (*shape, 3)) for z in (x, y))
    result = xo.linalg.cross(x, y)
    return xo.moveaxis(result, -1, _axes.one_axis(axisc, result.ndim))


def _of_three(x: Any) -> Any:
    """Vectors of two elements, extended by a third element 0."""
    return x if x.shape[-1] == 3 else xo.concat([x, xo.zeros_like(x[..., :1])], axis=-1)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonals in the plane of two axes, by `xarrayops.linalg.diagonal`."""
    x = ops.array(a)
    if x.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    first, second = _axes.one_axis(axis1, x.ndim), _axes.one_axis(axis2, x.ndim)
    if first == second:
        raise ValueError("axis1 and axis2 cannot be the same")
    return xo.linalg.diagonal(xo.moveaxis(x, (first, second), (-2, -1)), offset=index(offset))


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    """The sums of the diagonals in the plane of two axes, by `xarrayops.sum`."""
    return _results.written("trace", xo.sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=named(dtype)), out)


def diag(v: Any, k: int = 0) -> Any:
    """The diagonal of a matrix, or the matrix with a diagonal, by `xarrayops.diag`."""
    return xo.diag(ops.array(v), index(k))


def diagflat(v: Any, k: int = 0) -> Any:
    """The matrix with the elements on a diagonal, by `xarrayops.diag`."""
    return xo.diag(_axes.raveled(ops.array(v)), index(k))


def _triangle(name: str, m: Any, k: int) -> Any:
    x = ops.array(m)
    x = xo.broadcast_to(x, (x.shape[0], x.shape[0])) if x.ndim == 1 else x
    return getattr(xo, name)(x, k=_axes.whole(k))


def tril(m: Any, k: int = 0) -> Any:
    """The lower triangle of matrices, with 0 elsewhere, by `xarrayops.tril`."""
    return _triangle("tril", m, k)


def triu(m: Any, k: int = 0) -> Any:
    """The upper triangle of matrices, with 0 elsewhere, by `xarrayops.triu`."""
    return _triangle("triu", m, k)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """The matrix of the powers of each element, in descending order by default, by `xarrayops.pow`."""
    v = ops.array(x)
    if v.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    columns = _axes.size_of(v) if N is None else index(N)
    v = _promotion.alike(*_promotion.together(v, [0]))[0] if _promotion.is_integer(v) else _promotion.doubles(v)[0]
    powers = list(accumulate([v] * (columns - 1), xo.multiply, initial=xo.ones_like(v)))
    if not columns:
        return xo.zeros((_axes.size_of(v), 0), dtype=v.dtype, like=v)
    return xo.stack(powers if increasing else powers[::-1], axis=1)


if not TYPE_CHECKING:
    __all__ = ops.public(globals())
