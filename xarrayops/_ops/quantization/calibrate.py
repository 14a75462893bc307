"""calibrate: the scale and the zero of activations, from samples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

from xarrayops import standard as xp
from xarrayops._ops.quantization.operands import as_floating, backend_of, checked_scheme, kept_axes
from xarrayops._ops.quantization.schemes import Calibration, Range, range_of, scale_and_zero
from xarrayops.plugin.arrays import Array


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
        backend = backend_of("calibrate", named)
        name = checked_scheme("calibrate", backend, scheme, dtype)
        kept = kept_axes("calibrate", backend, x, axis)
        x = as_floating("calibrate", backend, x)
        if percentile is None:
            ranges = [reduce(_joined, (*ranges, range_of(x, kept, scheme)))]
        else:
            parts.append(_in_rows(x, kept))
            shape = () if kept is None else tuple(n if axis in kept else 1 for axis, n in enumerate(x.shape))
    if parts:
        ranges = [_central(xp.concat(parts, axis=-1), shape, scheme, _checked_percentile(percentile))]
    if not ranges:
        raise ValueError("xo.calibrate: there are no samples")
    return Calibration(*scale_and_zero(backend, ranges[0], name))


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
        return range_of(xp.reshape(x, (*shape, 0)), tuple(range(len(shape))), scheme)
    left_out = (100 - percentile) / 100 * count
    has_nan = xp.any(xp.isnan(x), axis=-1)

    def element(ordered: Array, i: int) -> Array:
        return xp.reshape(xp.where(has_nan, float("nan"), ordered[..., i]), shape)

    if scheme == "symmetric":
        return None, element(xp.sort(xp.abs(x), axis=-1), max(0, count - 1 - round(left_out)))
    ordered, i = xp.sort(x, axis=-1), min(round(left_out / 2), (count - 1) // 2)
    return xp.minimum(element(ordered, i), 0.0), xp.maximum(element(ordered, count - 1 - i), 0.0)


def _checked_percentile(percentile: Any) -> float:
    if not 0 < percentile <= 100:
        raise ValueError(f"xo.calibrate: percentile must be above 0 and up to 100, not {percentile!r}")
    return float(percentile)
