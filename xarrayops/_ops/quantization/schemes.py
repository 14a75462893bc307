"""Compute the scale, the zero and the values from the range of an array, for each quantisation scheme.

The records are named tuples, which JAX and PyTorch treat as pytrees.
Every result has the same bits on every library. No product is added to anything, because some compilers fuse the two;
divisors are opaque to compilers that would multiply by reciprocals instead; and no scale is so small that products of
two are subnormal.
"""

from __future__ import annotations

from typing import Any

from xarrayops import standard as xp
from xarrayops._core.backends.registry import Backend
from xarrayops.plugin.arrays import Array, Record


class Quantized(Record):
    """An array of 8-bit integers that represents the real numbers ``(values - zero) * scale``.

    A named tuple: functions under ``jax.jit``, ``jax.vmap`` and ``torch.compile`` may take and return it.

    Attributes
    ----------
    values : array
        int8 or uint8, in the shape of the quantised array.
    scale : array
        float32 or float64. It broadcasts to the shape of the values: shape () for one scale; for several, as many axes
        as the values, with extent 1 along the axes that share a scale.
    zero : array or None
        The value that represents 0, in the dtype of the values and the shape of the scale. None in the symmetric
        scheme, where 0 represents 0.
    """

    values: Array
    scale: Array
    zero: Array | None = None


class Calibration(Record):
    """The scale and the zero with which `xarrayops.quantize` quantises arrays whose range was measured before.

    Attributes
    ----------
    scale : array
        As in `Quantized`.
    zero : array or None
        As in `Quantized`; its dtype is that of the values. None stands for the symmetric scheme, in int8.
    """

    scale: Array
    zero: Any = None


LIMITS = {"int8": (-128, 127), "uint8": (0, 255)}
"""The least and the greatest value of each dtype of quantised values."""
SYMMETRIC_LIMIT = 127
"""The greatest magnitude of values in the symmetric scheme: without -128, -x has the negated values of x."""
LEAST_SCALE = {"float32": 2.0**-62, "float64": 2.0**-510}
"""The least scale, by its dtype.

The product of two scales is then a normal number, and so is each of its multiples. Some libraries flush subnormal
numbers to zero and others do not.
"""
Range = tuple[Array | None, Array]
"""The least number, 0 or below, and the greatest, 0 or above. The first is None if the range is symmetric."""


def range_of(x: Array, kept: tuple[int, ...] | None, scheme: str) -> Range:
    """The range of x, for each index along the kept axes, which keep their positions; one range if they are None."""
    others = None if kept is None else tuple(axis for axis in range(x.ndim) if axis not in kept)
    if scheme == "symmetric":
        return None, _largest(xp.abs(x), others)
    return xp.negative(_largest(xp.negative(x), others)), _largest(x, others)


def _largest(x: Array, axes: tuple[int, ...] | None) -> Array:
    """The largest element along the axes, at least 0; NaN if there is a NaN, 0 for empty input."""
    extents = x.shape if axes is None else [x.shape[axis] for axis in axes]
    if 0 in extents:
        shape = () if axes is None else tuple(1 if axis in axes else n for axis, n in enumerate(x.shape))
        return xp.zeros(shape, dtype=x.dtype, like=x)
    if axes == ():
        return xp.maximum(x, 0.0)
    return xp.maximum(xp.max(x, axis=axes, keepdims=axes is not None), 0.0)


def scale_and_zero(backend: Backend, limits: Range, dtype: str) -> tuple[Array, Array | None]:
    """The scale and the zero for a range. The scale is NaN if the range is not finite."""
    least, greatest = limits
    low, high = LIMITS[dtype]
    if least is None:
        scale = xp.multiply(greatest, 1.0 / SYMMETRIC_LIMIT)
    else:
        scale = xp.multiply(xp.subtract(greatest, least), 1.0 / (high - low))
    name = str(backend.functions["dtype_name"](scale.dtype))
    scale = xp.maximum(scale, LEAST_SCALE[name])
    scale = xp.where(xp.isfinite(scale), scale, float("nan"))
    if least is None:
        return scale, None
    ratio = _divided(backend, least, scale)  # 0 or below
    steps = xp.where(xp.isnan(ratio), 0.0, xp.round(ratio))
    return scale, xp.astype(xp.clip(xp.subtract(float(low), steps), float(low), float(high)), dtype)


def values_of(backend: Backend, x: Array, scale: Array, zero: Array | None) -> tuple[Array, Array]:
    """The values of x, and a mask of elements without a value, where x or the scale is NaN. These get the value of 0.

    Elements out of range get the nearest value.
    """
    ratio = _divided(backend, x, scale)
    has_none = xp.isnan(ratio)
    steps = xp.where(has_none, 0.0, xp.round(ratio))
    if zero is None:
        return xp.astype(xp.clip(steps, float(-SYMMETRIC_LIMIT), float(SYMMETRIC_LIMIT)), "int8"), has_none
    dtype = str(backend.functions["dtype_name"](zero.dtype))
    low, high = LIMITS[dtype]
    shifted = xp.add(steps, xp.astype(zero, steps.dtype))
    return xp.astype(xp.clip(shifted, float(low), float(high)), dtype), has_none


def _divided(backend: Backend, x: Array, scale: Array) -> Array:
    """x / scale: a true division, on every library and under its compiler."""
    functions = backend.functions
    quotient: Array = functions["quotient"](x, functions["opaque"](scale, x.shape))
    return quotient


def with_nan_where(has_none: Array, scale: Array) -> Array:
    """The scale; NaN for channels with an element that has no value, because 8-bit integers cannot hold NaN."""
    if not scale.ndim:
        return xp.where(xp.any(has_none), float("nan"), scale)
    extents = (1,) * (has_none.ndim - scale.ndim) + tuple(scale.shape)
    shared = tuple(axis for axis, extent in enumerate(extents) if extent == 1)
    if shared:
        has_none = xp.any(has_none, axis=shared, keepdims=True)
    return xp.where(has_none, float("nan"), scale)
