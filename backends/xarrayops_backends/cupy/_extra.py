"""CuPy's functions beyond the standard that mean the same and launch fewer kernels than the generic twins.

Other functions have another meaning in CuPy 14: quantile and percentile treat NaN as a number and lack eight methods;
histogram counts NaN in the first bin, unless CUB serves it; nanmax, nanmin, average and histogram make the host wait.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy

from xarrayops.plugin import Array, Call
from xarrayops.plugin.generic import common

_Axes = int | tuple[int, ...] | None


def _of_dtypes(codes: str) -> Callable[[Call], str | None]:
    """The capability test of a kernel for dtypes with these codes."""

    def refusal(call: Call, /) -> str | None:
        for x in call.args:
            if not isinstance(x, cupy.ndarray):
                return "a number would widen the result"
            if x.dtype.char not in codes:
                return f"it has no code for {x.dtype}"
        return None

    return refusal


_of_reals = _of_dtypes("efd")
_of_singles = _of_dtypes("fd")
_of_numbers = _of_dtypes("efdFD")


def _isclose(x1: Array, x2: Array, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    return cupy.isclose(x1, x2, rtol, atol, equal_nan)


def _nan_to_num(x: Array, /, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Array:
    return cupy.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


def _nansum(x: Array, /, *, axis: _Axes = None, dtype: Any = None, keepdims: bool = False) -> Array:
    return cupy.nansum(x, axis=common.checked_axes(axis, x.ndim), dtype=dtype, keepdims=keepdims)


def _summable(call: Call, /) -> str | None:
    """Of complex numbers CuPy keeps the part that is not NaN."""
    return "no axis is summed" if call.kwargs["axis"] in ((), []) else _of_reals(call)


def _interp(
    x: Array, xp: Array, fp: Array, /, *, left: Any = None, right: Any = None, period: float | None = None
) -> Array:
    """CuPy computes in double precision, for contiguous x only, and casts both limits to the dtype of the values."""
    flat = cupy.ascontiguousarray(x).reshape(-1)
    found = cupy.interp(flat, xp, fp.astype(cupy.float64, copy=False), left, right)
    return found.reshape(x.shape).astype(cupy.result_type(x, xp, fp), copy=False)


def _interpolable(call: Call, /) -> str | None:
    _, xp, fp = call.args
    if isinstance(xp, cupy.ndarray) and isinstance(fp, cupy.ndarray) and (xp.ndim != 1 or xp.shape != fp.shape):
        return "the points are not vectors of one length"
    if call.kwargs["period"] is not None:
        return "its remainder is inexact"
    if any(isinstance(call.kwargs[name], complex) for name in ("left", "right")):
        return "it casts complex limits to real numbers"
    return _of_singles(call) or (None if xp.size else "there are no points")


CBRT_CANDIDATES = [("cbrt", cupy.cbrt, _of_reals)]
INTERP_CANDIDATES = [("interp", _interp, _interpolable)]
ISCLOSE_CANDIDATES = [("isclose", _isclose, _of_singles)]
NAN_TO_NUM_CANDIDATES = [("nan_to_num", _nan_to_num, _of_numbers)]
NANSUM_CANDIDATES = [("nansum", _nansum, _summable)]
