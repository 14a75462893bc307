"""Products and linear algebra: the dtypes of ml_dtypes, BLAS, and complex eigenvalues."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.dtypes import NUMBERS
from xarrayops_backends.numpy._guard import require_numbers


def einsum(subscripts: str, /, *operands: Array) -> Array:
    """NumPy's einsum, with an optimized order of contractions."""
    if any(x.dtype.kind == "V" for x in operands):  # which NumPy's einsum rejects
        wide = (np.astype(x, np.float32) if x.dtype.kind == "V" else x for x in operands)
        return np.einsum(subscripts, *wide, optimize=len(operands) > 2).astype(np.result_type(*operands))
    return np.einsum(subscripts, *operands, optimize=len(operands) > 2)


def matmul(x1: Array, x2: Array, /) -> Array:
    """Two float matrices use ``dot``, whose overhead before BLAS is half that of the generalised ufunc."""
    kind = x1.dtype.kind
    if kind not in NUMBERS or x2.dtype.kind not in NUMBERS:
        require_numbers("matmul", x1.dtype)
        require_numbers("matmul", x2.dtype)
    return x1.dot(x2) if kind in "fc" and x1.ndim == 2 == x2.ndim else _narrowed(np.matmul(x1, x2), x1, x2)


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """NumPy's function, with the result in the dtype of the operands."""
    return _narrowed(np.vecdot(x1, x2, axis=axis), x1, x2)  # type: ignore[call-overload]


def _narrowed(product: Array, x1: Array, x2: Array) -> Array:
    """NumPy computes products of ml_dtypes dtypes in float32 and returns float32."""
    return product.astype(np.result_type(x1, x2)) if "V" in (x1.dtype.kind, x2.dtype.kind) else product


class _Eig(NamedTuple):
    eigenvalues: Array
    eigenvectors: Array


def linalg_eig(x: Array, /) -> tuple[Array, Array]:
    """NumPy returns real numbers if all eigenvalues are real; the standard requires complex ones."""
    values, vectors = np.linalg.eig(x)
    complex_ = np.result_type(x.dtype, np.complex64)
    return _Eig(values.astype(complex_, copy=False), vectors.astype(complex_, copy=False))


def linalg_eigvals(x: Array, /) -> Array:
    """As for eig."""
    return np.linalg.eigvals(x).astype(np.result_type(x.dtype, np.complex64), copy=False)
