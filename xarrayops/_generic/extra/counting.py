"""Counts and segments: reductions over the elements with the same integer."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

from xarrayops._generic.extra import common
from xarrayops.errors import CrossingError, Unsupported
from xarrayops.plugin.arrays import Array


def bincount(
    xp: ModuleType, x: Array, /, weights: Any = None, *, minlength: int = 0, length: int | None = None
) -> Array:
    """Sum ones, or the weights, by index."""
    require_counts(xp, x, weights, minlength, length)
    if length is None:
        x, length = with_length(xp, x, minlength)
    if weights is None:
        dtype = xp.__array_namespace_info__().default_dtypes(device=common.device_of(x))["integral"]
        ones = xp.ones_like(x, dtype=dtype)
    else:
        ones = common.floating(xp, weights)
    return xp.segment_sum(ones, common.astype(xp, x, common.index_dtype(xp, x)), length)


def require_counts(xp: ModuleType, x: Array, weights: Any, minlength: int, length: int | None) -> None:
    """Raise for arguments that are invalid on every library."""
    common.require_vector("x", x)
    if not xp.isdtype(x.dtype, ("bool", "integral")):
        raise TypeError(f"x must have an integer dtype, but it is {x.dtype}")
    common.counted("minlength", minlength)
    if length is not None:
        common.counted("length", length)
    if weights is not None and tuple(getattr(weights, "shape", ())) != tuple(x.shape):
        raise ValueError(f"weights must have the shape {tuple(x.shape)} of x")


def with_length(xp: ModuleType, x: Array, minlength: int) -> tuple[Array, int]:
    """x without negative values, and the number of bins up to its maximum."""
    if not x.shape[0]:
        return x, minlength
    if known(xp.min(xp.astype(x, common.index_dtype(xp, x))), "length") < 0:
        raise ValueError("x has negative values")
    return x, max(int(xp.max(xp.astype(x, common.index_dtype(xp, x)))) + 1, minlength)


def known(value: Array, option: str) -> int:
    """An integer that determines a length; raises for traced arrays, which have no values."""
    try:
        return int(value)
    except CrossingError:
        raise
    except (TypeError, RuntimeError) as error:  # the errors of JAX tracers and of fake tensors
        raise length_unknown(option) from error


def length_unknown(option: str) -> Unsupported:
    """The error for a length that depends on values while a function is traced."""
    why = "the length of the result depends on values, which are unknown while a function is traced or compiled"
    return Unsupported(f"without {option}= {why}. Instead: give {option}=")


def segment_sum(xp: ModuleType, x: Array, /, segment_ids: Array, num_segments: int | None = None) -> Array:
    """Sums by index, in double precision: the elements of a segment are added one after the other."""
    count = segments(xp, x, segment_ids, num_segments)
    x = counted_booleans(xp, x)
    return common.astype(xp, reduced(xp, "add", 0, common.doubled(xp, x), segment_ids, count), x.dtype)


def counted_booleans(xp: ModuleType, x: Array) -> Array:
    """x, or booleans as the integers 0 and 1."""
    return xp.astype(x, common.index_dtype(xp, x)) if xp.isdtype(x.dtype, "bool") else x


def segment_mean(xp: ModuleType, x: Array, /, segment_ids: Array, num_segments: int | None = None) -> Array:
    """The sum of each segment, divided by the number of its elements."""
    count = segments(xp, x, segment_ids, num_segments)
    x = common.floating(xp, x)
    ones = xp.ones_like(segment_ids, dtype=common.index_dtype(xp, segment_ids))
    total = xp.segment_sum(common.doubled(xp, x), segment_ids, count)
    sizes = xp.astype(xp.segment_sum(ones, segment_ids, count), total.dtype)
    sizes = xp.where(xp.equal(sizes, 0), xp.full_like(sizes, math.nan), sizes)  # 0 / 0 would warn
    return common.astype(xp, total / xp.reshape(sizes, (count, *(1,) * (x.ndim - 1))), x.dtype)


def segment_max(xp: ModuleType, x: Array, /, segment_ids: Array, num_segments: int | None = None) -> Array:
    """Maxima by index, starting at the least value of the dtype."""
    count = segments(xp, x, segment_ids, num_segments)
    return reduced(xp, "max", limit_of(xp, x, is_least=True), x, segment_ids, count)


def segment_min(xp: ModuleType, x: Array, /, segment_ids: Array, num_segments: int | None = None) -> Array:
    """Minima by index, starting at the greatest value of the dtype."""
    count = segments(xp, x, segment_ids, num_segments)
    return reduced(xp, "min", limit_of(xp, x, is_least=False), x, segment_ids, count)


def limit_of(xp: ModuleType, x: Array, *, is_least: bool) -> Any:
    """The least or the greatest value of the dtype of x."""
    common.require_real(xp, x)
    if xp.isdtype(x.dtype, "bool"):
        return not is_least
    if xp.isdtype(x.dtype, "integral"):
        limits = xp.iinfo(x.dtype)
        return int(limits.min) if is_least else int(limits.max)
    return -math.inf if is_least else math.inf


def segments(xp: ModuleType, x: Array, segment_ids: Array, num_segments: int | None) -> int:
    """The number of segments; raises for arguments that are invalid on every library."""
    if not xp.isdtype(segment_ids.dtype, "integral"):
        raise TypeError(f"segment_ids must have an integer dtype, but it is {segment_ids.dtype}")
    if not x.ndim or tuple(segment_ids.shape) != tuple(x.shape[:1]):
        shapes = f"{tuple(segment_ids.shape)}, and the shape of x is {tuple(x.shape)}"
        raise ValueError(f"segment_ids must have one id for each element of the first axis of x; its shape is {shapes}")
    if num_segments is None:
        if not segment_ids.shape[0]:
            return 0
        greatest = known(xp.max(xp.astype(segment_ids, common.index_dtype(xp, segment_ids))), "num_segments")
        return max(greatest + 1, 0)
    return common.counted("num_segments", num_segments)


def reduced(xp: ModuleType, operation: str, start: Any, x: Array, ids: Array, count: int) -> Array:
    """Combine elements by index. Elements with an index out of range go to an extra element, which is dropped."""
    ids = common.astype(xp, ids, common.index_dtype(xp, ids))
    ids = xp.where((ids < 0) | (ids >= count), xp.full_like(ids, count), ids)
    start = bool(start) if xp.isdtype(x.dtype, "bool") else start
    result = xp.full((count + 1, *x.shape[1:]), start, dtype=x.dtype, device=common.device_of(x))
    if ids.shape[0]:
        result = getattr(xp.at(result)[ids], operation)(x, copy=None)
    return result[:count, ...]
