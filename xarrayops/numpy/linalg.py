"""NumPy's module linalg for the arrays of every library."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod
from operator import index
from typing import Any, Literal, NamedTuple

import xarrayops as xo
from xarrayops.errors import Unsupported
from xarrayops.numpy import _axes, _operands as ops, _promotion, _results
from xarrayops.numpy._dtypes import named
from xarrayops.numpy._products import dot, outer as _outer, tensordot as _tensordot


class EigResult(NamedTuple):
    """Eigenvalues and eigenvectors."""

    eigenvalues: Any
    eigenvectors: Any


def _matrices(a: Any) -> Any:
    """The argument as an array of floating-point numbers."""
    return _promotion.inexact(ops.array(a))


def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """The Cholesky factor, by `xarrayops.linalg.cholesky`."""
    return xo.linalg.cholesky(_matrices(a), upper=upper)


def cond(x: Any, p: Any = None) -> Any:
    """The condition number, by `xarrayops.linalg.cond`."""
    a = _matrices(x)
    if not _axes.size_of(a):
        from numpy.linalg import LinAlgError

        raise LinAlgError("cond is not defined on empty arrays")
    return xo.linalg.cond(a, p=p)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The cross products of vectors of three elements, by `xarrayops.linalg.cross`."""
    (x, y), axis = _promotion.together(x1, x2), index(axis)
    if x.shape[axis] != 3 or y.shape[axis] != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{x.shape[axis]} and {y.shape[axis]} dimensional instead."
        )
    return xo.linalg.cross(x, y, axis=axis)


def det(a: Any) -> Any:
    """The determinant, by `xarrayops.linalg.det`."""
    return xo.linalg.det(_matrices(a))


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """The diagonals of the last two axes, by `xarrayops.linalg.diagonal`."""
    return xo.linalg.diagonal(ops.array(x), offset=index(offset))


def eig(a: Any) -> Any:
    """Eigenvalues and eigenvectors, by `xarrayops.linalg.eig`; real if all values are known to be real."""
    x = _matrices(a)
    values, vectors = xo.linalg.eig(x)
    return EigResult(xo.real(values), xo.real(vectors)) if _are_real(x, values) else EigResult(values, vectors)


def eigvals(a: Any) -> Any:
    """Eigenvalues, by `xarrayops.linalg.eigvals`; real if all values are known to be real."""
    x = _matrices(a)
    found = xo.linalg.eigvals(x)
    return xo.real(found) if _are_real(x, found) else found


def _are_real(x: Any, eigenvalues: Any) -> bool:
    """Whether a real matrix has only real eigenvalues; the values are read."""
    if _promotion.is_complex(x) or not _promotion.is_complex(eigenvalues) or xo.is_lazy(x):
        return False
    return bool(xo.all(xo.imag(eigenvalues) == 0))


def _hermitian(a: Any, UPLO: str) -> Any:
    """The Hermitian matrices given by the triangle of UPLO."""
    x = _matrices(a)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        from numpy.linalg import LinAlgError

        raise LinAlgError(f"the last two dimensions of the array must be square, but its shape is {tuple(x.shape)}")
    if UPLO.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    half, strict = (xo.tril(x), xo.tril(x, k=-1)) if UPLO.upper() == "L" else (xo.triu(x), xo.triu(x, k=1))
    return half + xo.conj(xo.matrix_transpose(strict))


def eigh(a: Any, UPLO: str = "L") -> Any:
    """Eigenvalues and eigenvectors of Hermitian matrices, from one triangle, by `xarrayops.linalg.eigh`."""
    return xo.linalg.eigh(_hermitian(a, UPLO))


def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """Eigenvalues of Hermitian matrices, from one triangle, by `xarrayops.linalg.eigvalsh`."""
    return xo.linalg.eigvalsh(_hermitian(a, UPLO))


def inv(a: Any) -> Any:
    """The inverse, by `xarrayops.linalg.inv`."""
    return xo.linalg.inv(_matrices(a))


def lstsq(a: Any, b: Any, rcond: float | None = None) -> Any:
    """The least-squares solution, by `xarrayops.linalg.lstsq`, with NumPy's form of the residuals."""
    x, y = _promotion.floats(a, b)
    rounding = float(xo.finfo("float64" if _promotion.is_integer(x) else x.dtype).eps) / 2
    rtol = rounding if rcond == -1 else rcond
    solution, sums, rank, values = xo.linalg.lstsq(x, y, rtol=rtol)
    if xo.is_lazy(rank):
        return solution, sums, rank, values
    rows, columns = x.shape
    kept = int(rank) == columns and rows > columns
    sums = xo.reshape(sums, (-1,)) if kept else xo.zeros((0,), dtype=sums.dtype, like=sums)
    return solution, sums, int(rank), values


def matmul(x1: Any, x2: Any, /) -> Any:
    """The products of matrices, by `xarrayops.matmul`."""
    return xo.matmul(*_promotion.together(x1, x2))


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """The norms of the matrices of the last two axes, by `xarrayops.linalg.matrix_norm`."""
    return xo.linalg.matrix_norm(_matrices(x), keepdims=keepdims, ord=ord)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """The norms of vectors, by `xarrayops.linalg.vector_norm`."""
    axis, ord = _axes.axis_or_axes(axis), _axes.plain_number(ord)
    return xo.linalg.vector_norm(_matrices(x), axis=axis, keepdims=keepdims, ord=ord)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The norm of vectors or matrices, by `xarrayops.linalg.norm`."""
    a = _matrices(x)
    axis = axis if axis is None else _axes.axes_of(a, axis)
    return xo.linalg.norm(a, ord=_axes.plain_number(ord), axis=axis, keepdims=keepdims)


def matrix_power(a: Any, n: int) -> Any:
    """The power of square matrices, by `xarrayops.linalg.matrix_power`."""
    x, n = ops.array(a), index(n)
    return xo.linalg.matrix_power(_promotion.floating(x) if n < 0 else x, n)


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """The rank of matrices: the number of singular values above a tolerance, by `xarrayops.linalg.svdvals`."""
    x = _matrices(A)
    if tol is not None and rtol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    if x.ndim < 2:
        return int(not bool(xo.all(x == 0)))
    if not _axes.size_of(x):
        return xo.zeros(tuple(x.shape[:-2]), dtype=int, like=x)[()]
    values = xo.abs(xo.linalg.eigvalsh(x)) if hermitian else xo.linalg.svdvals(x)
    if tol is None:
        relative = max(x.shape[-2:]) * xo.finfo(values.dtype).eps if rtol is None else ops.arrays(values, rtol)[1]
        limit = xo.max(values, axis=-1, keepdims=True) * (
            relative[..., None] if hasattr(relative, "ndim") else relative
        )
    else:
        limit = ops.arrays(values, tol)[1][..., None]
    return xo.count_nonzero(values > limit, axis=-1)


def matrix_transpose(x: Any, /) -> Any:
    """The matrices with rows and columns swapped, by `xarrayops.matrix_transpose`."""
    return xo.matrix_transpose(ops.array(x))


def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """The product of several matrices, from left to right, by `xarrayops.matmul`."""
    members = list(arrays)
    if len(members) < 2:
        raise ValueError("Expecting at least two arrays.")
    return _results.written("linalg.multi_dot", reduce(dot, _promotion.together(*members)), out)


def outer(x1: Any, x2: Any, /) -> Any:
    """The products of all pairs of elements of two vectors, by `xarrayops.multiply`."""
    x, y = ops.arrays(x1, x2)
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError(
            f"Input arrays must be one-dimensional, but they are x1.ndim={x.ndim!r} and x2.ndim={y.ndim!r}."
        )
    return _outer(x, y)


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """The pseudo-inverse, by `xarrayops.linalg.pinv`; ``rcond`` is another name of ``rtol``."""
    if rcond is not None and rtol is not None:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    x = _hermitian(a, "L") if hermitian else _matrices(a)
    limit = rcond if rtol is None else rtol
    return xo.linalg.pinv(x, rtol=1e-15 if limit is None else limit)


def qr(a: Any, mode: Literal["reduced", "complete", "r", "raw"] = "reduced") -> Any:
    """The QR factors, by `xarrayops.linalg.qr`; only the second one in mode "r"."""
    if mode not in ("reduced", "complete", "r"):
        raise (Unsupported if mode == "raw" else ValueError)(
            f"np.linalg.qr: the mode is {mode!r}. Instead: 'reduced', 'complete' or 'r'"
        )
    found = xo.linalg.qr(_matrices(a), mode="reduced" if mode == "r" else mode)
    return found.R if mode == "r" else found


def slogdet(a: Any) -> Any:
    """The sign and the logarithm of the absolute value of the determinant, by `xarrayops.linalg.slogdet`."""
    return xo.linalg.slogdet(_matrices(a))


def solve(a: Any, b: Any) -> Any:
    """The solution of linear equations, by `xarrayops.linalg.solve`."""
    return xo.linalg.solve(*_promotion.floats(a, b))


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """The singular value decomposition, by `xarrayops.linalg.svd`."""
    x = _hermitian(a, "L") if hermitian else _matrices(a)
    return xo.linalg.svd(x, full_matrices=full_matrices) if compute_uv else xo.linalg.svdvals(x)


def svdvals(x: Any, /) -> Any:
    """The singular values, by `xarrayops.linalg.svdvals`."""
    return xo.linalg.svdvals(_matrices(x))


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """The sums of the products along pairs of axes, by `xarrayops.tensordot`."""
    return _tensordot(x1, x2, axes)


def tensorinv(a: Any, ind: int = 2) -> Any:
    """The inverse of a linear map between arrays, by `xarrayops.linalg.inv`."""
    x, ind = _matrices(a), index(ind)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    size = prod(x.shape[ind:])
    return xo.reshape(xo.linalg.inv(xo.reshape(x, (-1, size))), (*x.shape[ind:], *x.shape[:ind]))


def tensorsolve(a: Any, b: Any, axes: Sequence[int] | None = None) -> Any:
    """The solution of linear equations between arrays, by `xarrayops.linalg.solve`."""
    x, y = _promotion.floats(a, b)
    if axes is not None:
        moved = _axes.axes_of(x, tuple(axes))
        x = xo.permute_dims(x, (*(i for i in range(x.ndim) if i not in moved), *moved))
    shape = tuple(x.shape[-(x.ndim - y.ndim) :])
    solved = xo.linalg.solve(xo.reshape(x, (_axes.size_of(y), prod(shape))), _axes.raveled(y))
    return xo.reshape(solved, shape)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The sums of the diagonals of the last two axes, by `xarrayops.linalg.trace`."""
    return xo.linalg.trace(ops.array(x), offset=index(offset), dtype=named(dtype))


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The products of vectors, the first one conjugated, by `xarrayops.vecdot`."""
    return xo.vecdot(*_promotion.together(x1, x2), axis=index(axis))


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    from xarrayops._core.numpy_names import missing

    raise missing(__name__, name)


__all__ = ops.public(globals(), hidden=("EigResult",))
