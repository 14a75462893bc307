"""Products and linear algebra: half precision, 8-bit integers, BLAS, and complex eigenvalues."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.host import products
from xarrayops.plugin.products import multiplications
from xarrayops_backends.numpy._guard import require_numbers as _require_numbers

matmul_int32 = products.matmul_int32
_BLAS = frozenset("fdFDgG")
"""The codes of the dtypes that NumPy multiplies with BLAS, or sums in their own precision."""
_BYTES = frozenset("bB")
_SMALL = 1 << 13
"""The number of multiplications up to which NumPy's loop for 8-bit integers is faster than BLAS and two casts."""


def einsum(subscripts: str, /, *operands: Array) -> Array:
    """NumPy's einsum, with an optimized order of contractions; half precision is widened for BLAS."""
    narrow = _narrow(*operands)
    if narrow is None:
        return np.einsum(subscripts, *operands, optimize=len(operands) > 2)
    wide = (np.astype(x, np.float32) for x in operands)
    return np.einsum(subscripts, *wide, optimize=True).astype(narrow)


def matmul(x1: Array, x2: Array, /) -> Array:
    """Two float matrices use ``dot``, whose overhead before BLAS is half that of the generalised ufunc.

    Products of 8-bit integers wrap, as do those of int32 that are narrowed.
    """
    if x1.dtype.char in _BLAS and x2.dtype.char in _BLAS:
        return x1.dot(x2) if x1.ndim == 2 == x2.ndim else np.matmul(x1, x2)
    _require_numbers("matmul", x1.dtype)
    _require_numbers("matmul", x2.dtype)
    if x1.dtype.char in _BYTES and x2.dtype.char in _BYTES:
        is_small = multiplications(x1, x2) <= _SMALL
        return np.matmul(x1, x2) if is_small else matmul_int32(x1, x2).astype(np.result_type(x1, x2))
    narrow = _narrow(x1, x2)
    return np.matmul(x1, x2) if narrow is None else products.matmul(x1, x2, narrow)


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """NumPy's function; half precision is widened for BLAS."""
    narrow = _narrow(x1, x2)
    return np.vecdot(x1, x2, axis=axis) if narrow is None else products.vecdot(x1, x2, narrow, axis)  # type: ignore[call-overload]


def tensordot(x1: Array, x2: Array, /, *, axes: Any = 2) -> Array:
    """NumPy's function; half precision is widened for BLAS."""
    narrow = _narrow(x1, x2)
    return np.tensordot(x1, x2, axes=axes) if narrow is None else products.tensordot(x1, x2, narrow, axes)


def _narrow(*operands: Array) -> np.dtype[Any] | None:
    """The dtype of the result if it is narrower than float32, else None."""
    if all(x.dtype.char in _BLAS for x in operands):
        return None
    dtype = np.result_type(*operands)
    return dtype if dtype.kind in "fV" and dtype.itemsize < 4 else None


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
