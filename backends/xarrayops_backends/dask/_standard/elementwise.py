"""Elementwise functions whose NumPy kernels do not follow the standard."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops_backends.dask._blocks import da
from xarrayops_backends.numpy import _standard as _numpy


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """Clip each chunk with the NumPy backend's clip, so that both backends treat bounds in the same way."""
    if min is None and max is None:
        return x.copy()
    given = [bound for bound in (min, max) if bound is not None]
    kernel = partial(_clipped, has_min=min is not None)
    return da.core.elemwise(kernel, x, *given, dtype=x.dtype)


def _clipped(x: Any, *bounds: Any, has_min: bool) -> Any:
    return _numpy.clip(x, *bounds) if has_min else _numpy.clip(x, None, *bounds)


def floor_divide(x1: Any, x2: Any, /) -> Array:
    """Divide each chunk with the NumPy backend's floor_divide, which has the standard's values for infinities."""
    return da.core.elemwise(_numpy.floor_divide, x1, x2)


def expm1(x: Array, /) -> Array:
    """NumPy's complex expm1 gives NaN for infinities."""
    return da.map_blocks(_complex_expm1, x, dtype=x.dtype, meta=x._meta) if x.dtype.kind == "c" else da.expm1(x)


def _complex_expm1(x: Any) -> Any:
    """Real and imaginary parts computed separately, with the special values of C99 G.6.3.1.

    exp(-inf) is 0 at any angle, and the real part for +inf is infinite if the angle is not finite.
    """
    a, b = x.real, x.imag
    with np.errstate(invalid="ignore", over="ignore"):
        grown = np.expm1(a)
        # Adding 0 makes a negative zero positive, as the standard requires.
        real = np.where(b == 0, grown + 0.0, grown * np.cos(b) - 2 * np.sin(b / 2) ** 2)
        imag = np.where(b == 0, b, np.exp(a) * np.sin(b))
    endless = ~np.isfinite(b)
    real = np.where(endless & np.isinf(a), np.where(a < 0, -1, np.inf), real)
    imag = np.where(endless & (a == -np.inf), 0, imag)
    result = np.empty_like(x)
    result.real, result.imag = real, imag
    return result
