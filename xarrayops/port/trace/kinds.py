"""The kind of an operation of NumPy, and its arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from xarrayops.port.source.numpy_results import REDUCTIONS, VIEWS
from xarrayops.port.source.value import words
from xarrayops.port.trace.record import (
    ASSIGNMENT,
    CREATION,
    ELEMENTWISE,
    GATHER,
    LINALG,
    MATH,
    PRODUCT,
    REDUCTION,
    SORT,
    TRIGONOMETRY,
    VIEW,
)

_MATH = words(
    "exp exp2 expm1 log log2 log10 log1p sinh cosh tanh arcsinh arccosh "
    "arctanh power float_power hypot cbrt logaddexp logaddexp2 remainder fmod divmod"
)
_TRIGONOMETRY = words("sin cos tan arcsin arccos arctan arctan2 sinc unwrap angle")
_PRODUCTS = words("matmul dot vdot inner outer tensordot einsum kron multi_dot vecdot matvec vecmat linalg.multi_dot")
_SORTS = words("sort argsort lexsort partition argpartition unique searchsorted median percentile quantile digitize")
_WRITES = words("put copyto putmask place fill_diagonal put_along_axis fill at")
_CREATIONS = words(
    "zeros ones empty full eye identity arange linspace zeros_like ones_like empty_like full_like array tri"
)


def kind_of_ufunc(ufunc: np.ufunc) -> str:
    """The kind of a function of elements."""
    if ufunc.signature is not None:
        return PRODUCT
    if ufunc.__name__ in _TRIGONOMETRY:
        return TRIGONOMETRY
    return MATH if ufunc.__name__ in _MATH else ELEMENTWISE


def kind_of(function: Any, name: str, operands: Sequence[Any], results: Sequence[Any]) -> str:
    """The kind of another function of NumPy, or of a method."""
    module = getattr(function, "__module__", "") or ""
    if name in _PRODUCTS:
        return PRODUCT
    if "linalg" in module or "fft" in module:
        return LINALG
    if name in _SORTS:
        return SORT
    if name in _WRITES:
        return ASSIGNMENT
    if name in REDUCTIONS or name.startswith(("cum", "nan")):
        return REDUCTION
    if name in _CREATIONS:
        return CREATION
    if name in VIEWS or name in ("broadcast_arrays", "split", "array_split"):
        is_view = all(any(np.may_share_memory(result, x) for x in operands) for result in results)
        return VIEW if is_view else GATHER
    return GATHER if operands else CREATION


def flops_of(name: str, operands: Sequence[Any], results: Sequence[Any]) -> int:
    """The additions and multiplications of a matrix product or decomposition; 0 for all else."""
    shapes = [x.shape for x in operands if x.ndim]
    if name in _PRODUCTS and len(shapes) >= 2 and results:
        if name in ("outer", "kron"):
            return int(results[0].size)
        if name in ("einsum", "tensordot", "multi_dot"):
            return round(2 * (prod(shapes[0]) * prod(shapes[1]) * max(results[0].size, 1)) ** 0.5)
        return 2 * int(results[0].size) * int(shapes[0][-1])
    if name in ("solve", "inv", "det", "cholesky", "svd", "eig", "eigh", "eigvals", "eigvalsh", "qr", "pinv", "lstsq"):
        factor = 10 if name in ("svd", "eig", "eigh", "eigvals", "eigvalsh", "pinv", "lstsq") else 1
        return factor * prod(shapes[0]) * shapes[0][-1] if shapes else 0
    return 0
