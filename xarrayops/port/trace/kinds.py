"""The kind of an operation of NumPy, and its arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from xarrayops.port.source.numpy_results import REDUCTIONS, VIEWS
from xarrayops.port.source.value import words
from xarrayops.port.trace import operations

_PRODUCTS = words(
    "matmul dot vdot inner tensordot einsum multi_dot vecdot matvec vecmat convolve correlate cov corrcoef"
)
_BY_NAME = {
    name: kind
    for kind, names in {
        operations.ELEMENTWISE: "clip round around fix isclose allclose array_equal nan_to_num outer kron diff "
        "gradient ediff1d trapezoid cross heaviside",
        operations.MATH: "exp exp2 expm1 log log2 log10 log1p sinh cosh tanh arcsinh arccosh arctanh hypot cbrt "
        "logaddexp logaddexp2 i0",
        operations.POWER: "power float_power",
        operations.TRIGONOMETRY: "sin cos tan arcsin arccos arctan arctan2 sinc unwrap angle",
        operations.REMAINDER: "remainder fmod divmod floor_divide",
        operations.SELECTION: "choose select",
        operations.FILL: "copyto putmask",
        operations.DEVIATION: "std var nanstd nanvar",
        operations.EXTREME: "argmax argmin nanargmax nanargmin",
        operations.SCAN: "cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod",
        operations.REDUCTION: "norm trace",
        operations.COPY: "copy astype flatten",
        operations.MASKED: "nonzero argwhere flatnonzero compress extract",
        operations.JOIN: "concatenate concat stack vstack hstack dstack column_stack block append insert delete tile "
        "repeat pad roll fftshift ifftshift tril triu resize meshgrid",
        operations.SCATTER: "put place put_along_axis at",
        operations.ASSIGNMENT: "fill_diagonal fill",
        operations.CREATION: "zeros ones empty full eye identity arange linspace logspace geomspace zeros_like "
        "ones_like empty_like full_like array tri indices fftfreq rfftfreq",
        operations.SORT: "sort argsort lexsort partition argpartition unique median percentile quantile nanmedian "
        "nanpercentile nanquantile intersect1d union1d setdiff1d setxor1d",
        operations.SEARCH: "searchsorted digitize interp isin in1d",
        operations.COUNT: "bincount",
        operations.HISTOGRAM: "histogram histogram2d histogramdd",
        operations.EIGEN: "eigh eigvalsh eig eigvals",
        operations.SINGULAR: "svd svdvals pinv lstsq matrix_rank cond",
        operations.LINALG: "solve inv det slogdet cholesky qr matrix_power tensorsolve tensorinv",
    }.items()
    for name in words(names)
}
"""The kinds of functions and methods, by name. Elementwise functions that are not listed are `ELEMENTWISE`."""
GENERATORS = (np.random.Generator, np.random.RandomState)


def kind_of_ufunc(ufunc: np.ufunc, operands: Sequence[Any], count: int) -> str:
    """The kind of an elementwise function or a product; operands that are not arrays count as numbers."""
    if ufunc.signature is not None:
        return _product(ufunc.__name__, operands)
    kind = _BY_NAME.get(ufunc.__name__, operations.ELEMENTWISE)
    if any(x.dtype.kind == "c" for x in operands):
        kind = operations.MATH if ufunc.__name__ == "absolute" else kind
        return operations.COMPLEX if kind == operations.ELEMENTWISE else kind
    if kind == operations.ELEMENTWISE and not any(x.ndim for x in operands):
        return operations.OF_ELEMENTS
    return operations.WITH_NUMBER if kind == operations.ELEMENTWISE and count > len(operands) else kind


def kind_of(function: Any, name: str, operands: Sequence[Any], results: Sequence[Any]) -> str:
    """The kind of another function of NumPy, or of a method."""
    if isinstance(getattr(function, "__self__", None), GENERATORS):
        return operations.RANDOM
    ufunc = getattr(np, name, None)
    if isinstance(ufunc, np.ufunc):  # one of our functions with this name
        return kind_of_ufunc(ufunc, operands, ufunc.nin)
    if name in _PRODUCTS:
        return _product(name, operands)
    if name == "where":
        return operations.SELECTION if len(operands) > 1 else operations.MASKED
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name in REDUCTIONS or name.startswith("nan"):
        return operations.REDUCTION
    if name in VIEWS or name in ("broadcast_arrays", "split", "array_split"):
        is_view = all(any(np.may_share_memory(result, x) for x in operands) for result in results)
        return operations.VIEW if is_view else operations.COPY
    if hasattr(np.fft, name):
        return operations.FFT
    return operations.GATHER if operands else operations.CREATION


def _product(name: str, operands: Sequence[Any]) -> str:
    """Depends on the smaller of the first operand's rows and the second's columns: 1 or 2, a few, or more."""
    shapes = [x.shape for x in operands]
    if any(len(shape) == 1 for shape in shapes):
        return operations.VECTOR_PRODUCT
    if name not in ("matmul", "dot") or any(len(shape) != 2 for shape in shapes):
        return operations.PRODUCT
    lines = min(shapes[0][0], shapes[1][1])
    few = operations.THIN_PRODUCT if lines <= 2 * operations.FEW else operations.PRODUCT
    return operations.VECTOR_PRODUCT if lines <= 2 else few


def flops_of(name: str, operands: Sequence[Any], results: Sequence[Any]) -> int:
    """The additions and multiplications of a matrix product or decomposition; 0 for other kinds."""
    shapes = [x.shape for x in operands if x.ndim]
    if name in ("cov", "corrcoef") and results:
        return 2 * int(operands[0].size) * int(results[0].size ** 0.5)
    if name in _PRODUCTS and len(shapes) >= 2 and results:
        if name in ("einsum", "tensordot", "multi_dot"):
            return round(2 * (prod(shapes[0]) * prod(shapes[1]) * max(results[0].size, 1)) ** 0.5)
        return 2 * int(results[0].size) * int(shapes[0][-1])
    if _BY_NAME.get(name) in operations.BY_ARITHMETIC and shapes:
        return prod(shapes[0]) * shapes[0][-1]
    return 0
