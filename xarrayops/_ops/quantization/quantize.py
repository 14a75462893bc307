"""quantize, dequantize and calibrate: convert real numbers to 8-bit integers and back, with scales from samples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

from xarrayops import standard as xp
from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch.errors import explaining_arrays
from xarrayops._ops.creation import asarray
from xarrayops._ops.quantization import operands, schemes
from xarrayops._ops.quantization.schemes import Calibration, Quantized, Range
from xarrayops._ops.sharding.inspection import sharding_of
from xarrayops.plugin.arrays import Array


@explaining_arrays("quantize")
def quantize(
    x: Array,
    /,
    *,
    axis: int | Sequence[int] | None = None,
    scheme: str = "symmetric",
    dtype: Any = "int8",
    calibration: Calibration | None = None,
) -> Quantized:
    """Quantise an array to 8-bit integers and a scale.

    Parameters
    ----------
    x : array
        float16, bfloat16, float32 or float64, of any shape, on any device.
    axis : int or sequence of int, optional
        The axes along which there are several scales, one for each index: the channels. For weights of shape
        (inputs, outputs) as the second operand of `qmatmul` it is -1. By default the whole array has one scale.
    scheme : {"symmetric", "asymmetric"}
        symmetric: the values are from -127 to 127, and 0 represents 0. asymmetric: a range that need not be centred at
        0, such as that of activations after ReLU, is mapped to all values of the dtype. It always contains 0, which one
        value, the zero, represents exactly.
    dtype : {"int8", "uint8"}
        The dtype of the values; uint8 in the asymmetric scheme only.
    calibration : Calibration, optional
        The scale and the zero, measured before by `calibrate`, instead of those for the range of x. It replaces the
        other options, which must then be omitted.

    Returns
    -------
    Quantized
        New arrays of the library and on the device of x. The scale is float64 if x is, and otherwise float32.

    Raises
    ------
    Unsupported
        x is not floating point, or the scheme does not have that dtype.
    ValueError
        The scheme or the axis is invalid.
    TypeError
        Options are given together with a calibration.

    Notes
    -----
    The values are ``clip(round(x / scale) + zero)``: one true division, rounded to the nearest integer, ties to even.
    The scale is the largest magnitude times 1/127, or the length of the range times 1/255. Values, scale and zero have
    the same bits on every library, and under ``jax.jit``, ``torch.compile`` on CPUs and on Dask.

    Laws: with ``y = dequantize(quantize(x))``, ``abs(y - x) <= scale * (0.5 + 2**-14)``; the small term is for the
    rounding of scale, quotient and product. With a calibration this holds for all x in its range; other x, also
    infinities, get the nearest end of the range. Where x is 0, y is 0. In the symmetric scheme, ``quantize(-x).values``
    is ``-quantize(x).values``.

    - Integers cannot represent NaN. A channel with a NaN gets the scale NaN, so that all results computed from it are
      NaN. Without a calibration, the same holds for a channel with an infinity, or with a range beyond the greatest
      number.
    - An empty channel, or one of zeros, has values that represent 0.
    - The scale is at least 2**-62 (float64: 2**-510), so that products of two scales are normal numbers on libraries
      that flush subnormal ones to zero. Magnitudes far below that become 0.
    - The gradient is zero: rounding is a step function.

    The scheme is that of B. Jacob et al., "Quantization and training of neural networks for efficient
    integer-arithmetic-only inference", CVPR 2018.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> q = xo.quantize(np.asarray([-1.0, 0.0, 0.5, 1.27]))
    >>> q.values, float(q.scale)
    (array([-100,    0,   50,  127], dtype=int8), 0.01)
    >>> xo.dequantize(q)
    array([-1.  ,  0.  ,  0.5 ,  1.27])
    """
    if calibration is None:
        backend = find.one_of("quantize", {"x": x})
        name = operands.checked_scheme("quantize", backend, scheme, dtype)
        return quantized(backend, x, operands.kept_axes("quantize", backend, x, axis), scheme, name)
    if axis is not None or scheme != "symmetric" or dtype != "int8":
        raise TypeError("xo.quantize: calibration= replaces axis=, scheme= and dtype=. Instead: omit them")
    backend = operands.checked_calibration(x, calibration)
    x, (scale, zero) = operands.as_floating("quantize", backend, x), calibration
    values, has_none = schemes.values_of(backend, x, scale, zero)
    return Quantized(values, schemes.with_nan_where(has_none, scale), zero)


def quantized(backend: Backend, x: Array, kept: tuple[int, ...] | None, scheme: str, dtype: str) -> Quantized:
    """x, quantised with the scales for its range."""
    x = operands.as_floating("quantize", backend, x)
    if scheme == "symmetric" and kept is not None and kept == tuple(range(x.ndim - 1)):
        found = backend.functions["quantized_rows"](x)
        if found is not None:
            return Quantized(*found)
    scale, zero = schemes.scale_and_zero(backend, schemes.range_of(x, kept, scheme), dtype)
    values, _ = schemes.values_of(backend, x, scale, zero)
    return Quantized(values, scale, zero)


def dequantize(q: Quantized, /) -> Array:
    """The real numbers that a quantised array represents: ``(values - zero) * scale``.

    Parameters
    ----------
    q : Quantized
        Of any library.

    Returns
    -------
    array
        A new array in the shape of the values and the dtype of the scale. The difference is exact, and the product is
        rounded once, so the result has the same bits on every library.

    Raises
    ------
    TypeError
        q is not Quantized.
    ValueError
        The parts of q do not fit each other.

    Notes
    -----
    Law: ``abs(dequantize(quantize(x)) - x) <= scale * (0.5 + 2**-14)``.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.dequantize(xo.Quantized(np.asarray([3, 5], np.int8), np.asarray(0.5), np.asarray(1, np.int8)))
    array([1., 2.])
    """
    operands.checked_quantized("dequantize", "q", q)
    numbers = xp.astype(q.values, q.scale.dtype)
    if q.zero is not None:
        numbers = xp.subtract(numbers, xp.astype(q.zero, q.scale.dtype))
    return xp.multiply(numbers, q.scale)


def calibrate(
    samples: Array | Sequence[Array] | Iterator[Array],
    /,
    *,
    axis: int | Sequence[int] | None = None,
    scheme: str = "symmetric",
    dtype: Any = "int8",
    percentile: float | None = None,
) -> Calibration:
    """The scale and the zero for arrays like these samples.

    With a calibration, `quantize` does not compute the range of each array, and each element gets the same value
    whatever the rest of its array is.

    Parameters
    ----------
    samples : array, or list, tuple or iterator of arrays
        Floating point, of one library and with the same number of axes; several are batches.
    axis, scheme, dtype
        As in `quantize`. Along the axes with several scales, all batches have the same extent.
    percentile : float, optional
        The percentage of the samples that the range contains, above 0 and up to 100. The rest, rounded to a whole
        number of samples, is excluded: the largest magnitudes in the symmetric scheme, half of it at each end of the
        range in the asymmetric one. All samples are then in memory at once. By default the range contains all samples,
        and an iterator is read batch by batch.

    Returns
    -------
    Calibration

    Raises
    ------
    Unsupported
        The samples are not floating point, or the scheme does not have that dtype.
    ValueError
        There are no samples, the scheme or the axis is invalid, or the percentile is not above 0 and up to 100.

    Notes
    -----
    Laws: ``quantize(x, calibration=calibrate(x))`` equals ``quantize(x)``, with any options given to both functions but
    the percentile. The calibration of several batches equals that of their concatenation. A percentile selects elements
    of the samples and interpolates nothing, so the result has the same bits on every library. A NaN among the samples
    makes the scale NaN; an infinity does so if the range contains it.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> samples = [np.asarray([0.0, 12.75]), np.asarray([3.0, 25.5])]
    >>> scale, zero = xo.calibrate(samples, scheme="asymmetric")
    >>> float(scale), int(zero)
    (0.1, -128)
    """
    batches = iter(samples if isinstance(samples, (list, tuple, Iterator)) else (samples,))
    ranges: list[Range] = []
    parts: list[Array] = []
    named: dict[str, Array] = {}
    for i, x in enumerate(batches):
        named["samples" if x is samples else f"samples[{min(i, 1)}]"] = x  # the first and this one
        backend = operands.backend_of("calibrate", named)
        name = operands.checked_scheme("calibrate", backend, scheme, dtype)
        kept = operands.kept_axes("calibrate", backend, x, axis)
        x = operands.as_floating("calibrate", backend, x)
        if percentile is None:
            ranges = [reduce(_joined, (*ranges, schemes.range_of(x, kept, scheme)))]
        else:
            parts.append(_in_rows(x, kept))
            shape = () if kept is None else tuple(n if axis in kept else 1 for axis, n in enumerate(x.shape))
    if parts:
        ranges = [_central(xp.concat(parts, axis=-1), shape, scheme, _checked_percentile(percentile))]
    if not ranges:
        raise ValueError("xo.calibrate: there are no samples")
    return Calibration(*schemes.scale_and_zero(backend, ranges[0], name))


def _joined(first: Range, second: Range) -> Range:
    """The range that contains both."""
    least = None if first[0] is None or second[0] is None else xp.minimum(first[0], second[0])
    return least, xp.maximum(first[1], second[1])


def _in_rows(x: Array, kept: tuple[int, ...] | None) -> Array:
    """x with the kept axes first, and all others merged into one."""
    front = kept or ()
    others = tuple(axis for axis in range(x.ndim) if axis not in front)
    extents = [x.shape[axis] for axis in front]
    return xp.reshape(xp.permute_dims(x, (*front, *others)), (*extents, math.prod([x.shape[axis] for axis in others])))


def _central(x: Array, shape: tuple[int, ...], scheme: str, percentile: float) -> Range:
    """The range of each row without its outermost elements, in the given shape."""
    count = x.shape[-1]
    if not count:
        return schemes.range_of(xp.reshape(x, (*shape, 0)), tuple(range(len(shape))), scheme)
    left_out = (100 - percentile) / 100 * count
    has_nan = xp.any(xp.isnan(x), axis=-1)

    def element(ordered: Array, i: int) -> Array:
        split = sharding_of(ordered)  # None where a compiler decides
        if split is None or split.engine is None:
            found = ordered[..., i]
        else:  # JAX takes no index of a split axis
            found = xp.take(ordered, asarray([i], like=x), axis=-1)[..., 0]
        return xp.reshape(xp.where(has_nan, float("nan"), found), shape)

    if scheme == "symmetric":
        return None, element(xp.sort(xp.abs(x), axis=-1), max(0, count - 1 - round(left_out)))
    ordered, i = xp.sort(x, axis=-1), min(round(left_out / 2), (count - 1) // 2)
    return xp.minimum(element(ordered, i), 0.0), xp.maximum(element(ordered, count - 1 - i), 0.0)


def _checked_percentile(percentile: Any) -> float:
    if not 0 < percentile <= 100:
        raise ValueError(f"xo.calibrate: percentile must be above 0 and up to 100, not {percentile!r}")
    return float(percentile)
