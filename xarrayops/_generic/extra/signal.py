"""Interpolation, differences, integrals, convolution and polynomials."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, reduce
from itertools import islice
from types import ModuleType
from typing import Any

from xarrayops._generic.extra import common
from xarrayops._generic.extra.common import Axes
from xarrayops.plugin.arrays import Array

_MODES = ("full", "same", "valid")


def interp(
    xp: ModuleType,
    x: Any,
    points: Array,
    values: Array,
    /,
    *,
    left: Any = None,
    right: Any = None,
    period: float | None = None,
) -> Array:
    """The line through the neighbouring points, found by a search."""
    if points.ndim != 1 or tuple(points.shape) != tuple(values.shape) or not points.shape[0]:
        shapes = f"{tuple(points.shape)} and {tuple(values.shape)}"
        raise ValueError(f"xp and fp must be non-empty vectors of the same length; their shapes are {shapes}")
    points, values = common.floating(xp, points), common.floating(xp, values)
    x = common.floating(xp, common.as_array(xp, x, points))
    common.require_real(xp, x, points)
    points, x = common.alike(xp, points, x)
    if period is not None:
        x, points, values = _repeated(xp, x, points, values, period)
        left = right = None
    n = points.shape[0]
    first, last = values[0], values[-1]
    if n == 1:
        found = first + xp.zeros_like(x)
    else:
        high = xp.clip(xp.searchsorted(points, x, side="right"), 1, n - 1)
        (x0, y0), (x1, y1) = (_points(xp, points, values, place) for place in (high - 1, high))
        step = x1 - x0  # it may overflow
        weight = xp.where(xp.isfinite(step), (x - x0) / step, (x / 2 - x0 / 2) / (x1 / 2 - x0 / 2))
        weight = xp.where(xp.logical_and(x0 == -xp.inf, x1 < xp.inf), 1, weight)
        found = common.between(xp, y0, y1, weight)
        if_infinite = xp.where(y0 == y1, y0, common.between(xp, y1, y0, 1 - weight))  # as in NumPy, for infinite values
        found = xp.where(x == x0, y0, xp.where(xp.isnan(found), if_infinite, found))
    found = xp.where(x == points[-1], last, found)
    found = xp.where(x < points[0], first if left is None else common.as_array(xp, left, found), found)
    found = xp.where(x > points[-1], last if right is None else common.as_array(xp, right, found), found)
    return xp.where(xp.isnan(x), x, found)


def _points(xp: ModuleType, points: Array, values: Array, place: Array) -> tuple[Array, Array]:
    flat = xp.reshape(place, (-1,))
    x, y = (xp.reshape(xp.take(each, flat, axis=0), place.shape) for each in (points, values))
    return x, y


def _repeated(xp: ModuleType, x: Array, points: Array, values: Array, period: float) -> tuple[Array, Array, Array]:
    """The coordinates within one period, with one more point at each end."""
    if not period:
        raise ValueError("period must not be 0")
    period = abs(period)
    x, points = xp.remainder(x, period), xp.remainder(points, period)
    order = xp.argsort(points)
    points, values = xp.take(points, order, axis=0), xp.take(values, order, axis=0)
    points = xp.concat([points[-1:] - period, points, points[:1] + period])
    return x, points, xp.concat([values[-1:], values, values[:1]])


def trapezoid(xp: ModuleType, y: Array, x: Any = None, /, *, dx: float = 1.0, axis: int = -1) -> Array:
    """The sum of the means of neighbours times their distances."""
    axis = common.normal_axis(axis, y.ndim)
    if x is None:
        y = common.floating(xp, y)
    else:
        require_coordinates(y, x, axis)
        y, x = common.floating_beside(xp, y, x)
    lower, upper = common.part(y, axis, 0, -1), common.part(y, axis, 1, None)
    if x is None:
        return xp.sum(lower, axis=axis) * (dx / 2) + xp.sum(upper, axis=axis) * (dx / 2)
    step = xp.diff(x, axis=0 if x.ndim == 1 else axis)
    if x.ndim == 1:
        step = xp.reshape(step, (-1, *(1,) * (y.ndim - axis - 1)))
    return xp.sum(step * (lower + upper), axis=axis) / 2


def require_coordinates(y: Array, x: Array, axis: int) -> None:
    """Raise unless the coordinates of samples are a vector of the length of the axis, or have the shape of y."""
    if tuple(x.shape) not in ((y.shape[axis],), tuple(y.shape)):
        raise ValueError(f"x must be a vector of {y.shape[axis]}, or have the shape {tuple(y.shape)}, not {x.shape}")


def gradient(xp: ModuleType, x: Array, /, *spacing: Any, axis: Axes = None, edge_order: int = 1) -> Any:
    """Second-order differences inside, and differences of order ``edge_order`` at both ends."""
    axes = common.normal_axes(axis, x.ndim)
    if edge_order not in (1, 2):
        raise ValueError(f"edge_order={edge_order} is neither 1 nor 2")
    is_vector = bool(getattr(spacing[0], "ndim", 0)) if spacing else False
    if len(spacing) not in (0, 1, len(axes)) or (is_vector and len(spacing) < len(axes)):
        raise TypeError(f"spacing has {len(spacing)} values for {len(axes)} axes")
    steps = spacing * len(axes) if len(spacing) == 1 else spacing or (1.0,) * len(axes)
    x = common.floating(xp, x)
    found = [_along(xp, x, a, step, edge_order) for a, step in zip(axes, steps, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def _along(xp: ModuleType, x: Array, axis: int, step: Any, order: int) -> Array:
    n = x.shape[axis]
    if n <= order:
        raise ValueError(f"axis {axis} of length {n} is too short for edge_order={order}")

    at = partial(common.part, x, axis)
    if not getattr(step, "ndim", 0):
        inside = (at(2, None) - at(None, -2)) / (2.0 * step)
        if order == 1:  # the differences at both ends are one operation
            to_end = max(n - 2, 1)
            ends = (at(1, None, to_end) - at(None, -1, to_end)) / step
            first, last = common.part(ends, axis, None, 1), common.part(ends, axis, -1, None)
        else:
            first = (-1.5 * at(0, 1) + 2.0 * at(1, 2) - 0.5 * at(2, 3)) / step
            last = (0.5 * at(-3, -2) - 2.0 * at(-2, -1) + 1.5 * at(-1, None)) / step
        return xp.concat([first, inside, last], axis=axis)
    if step.ndim != 1 or step.shape[0] != n:
        raise ValueError(f"the coordinates along axis {axis} must be a vector of {n}, not {tuple(step.shape)}")
    d = xp.reshape(xp.diff(common.floating_beside(xp, x, step)[1]), (-1, *(1,) * (x.ndim - axis - 1)))

    gap = partial(common.part, d, 0)
    # Two divisions, because the products of two distances overflow.
    a, b = gap(None, -1), gap(1, None)
    inside = -b / (a + b) / a * at(None, -2) + (b - a) / a / b * at(1, -1) + a / (a + b) / b * at(2, None)
    if order == 1:
        first, last = (at(1, 2) - at(0, 1)) / gap(0, 1), (at(-1, None) - at(-2, -1)) / gap(-1, None)
        return xp.concat([first, inside, last], axis=axis)
    a, b = gap(0, 1), gap(1, 2)
    first = -(2.0 * a + b) / (a + b) / a * at(0, 1) + (a + b) / a / b * at(1, 2) - a / (a + b) / b * at(2, 3)
    a, b = gap(-2, -1), gap(-1, None)
    last = b / (a + b) / a * at(-3, -2) - (b + a) / a / b * at(-2, -1) + (2.0 * b + a) / (a + b) / b * at(-1, None)
    return xp.concat([first, inside, last], axis=axis)


def require_signals(x1: Array, x2: Array, mode: str) -> None:
    """Raise for arguments that are invalid on every library."""
    if mode not in _MODES:
        raise ValueError(f"mode={mode!r} is not one of {', '.join(_MODES)}")
    for name, x in (("x1", x1), ("x2", x2)):
        if x.ndim != 1 or not x.shape[0]:
            raise ValueError(f"{name} must be a non-empty vector, but its shape is {tuple(x.shape)}")


def convolve(xp: ModuleType, x1: Array, x2: Array, /, mode: str = "full") -> Array:
    """The sum of shifted copies of the longer vector, times the elements of the shorter one."""
    return convolved(partial(_full, xp), x1, x2, mode)


def correlate(xp: ModuleType, x1: Array, x2: Array, /, mode: str = "valid") -> Array:
    """The convolution with the reversed conjugate."""
    conjugate = xp.conj(x2) if xp.isdtype(x2.dtype, "complex floating") else x2
    return correlated(partial(_full, xp), x1, conjugate, mode, xp.flip)


def convolved(full: Callable[[Array, Array], Array], x1: Array, x2: Array, mode: str) -> Array:
    """The part that a mode keeps of the full convolution of the longer vector and the shorter one."""
    require_signals(x1, x2, mode)
    long, short = (x1, x2) if x1.shape[0] >= x2.shape[0] else (x2, x1)
    return _kept(full(long, short), long.shape[0], short.shape[0], mode, (short.shape[0] - 1) // 2)


def correlated(
    full: Callable[[Array, Array], Array], x1: Array, x2: Array, mode: str, flip: Callable[[Array], Array]
) -> Array:
    """Like `convolved`, with x2 reversed."""
    require_signals(x1, x2, mode)
    n, m, reverse = x1.shape[0], x2.shape[0], flip(x2)
    products = full(x1, reverse) if n >= m else full(reverse, x1)
    return _kept(products, max(n, m), min(n, m), mode, (m - 1) // 2 if n >= m else n - 1 - (n - 1) // 2)


def _kept(full: Array, long: int, short: int, mode: str, start: int) -> Array:
    """The part of a full convolution that a mode keeps; ``start`` is where "same" begins."""
    if mode == "full":
        return full
    return full[short - 1 : long] if mode == "valid" else full[start : start + long]


def _full(xp: ModuleType, long: Array, short: Array) -> Array:
    m = short.shape[0]
    long, short = common.alike(xp, long, short)
    fill = xp.zeros((m - 1,), dtype=long.dtype, device=common.device_of(long))
    shifted = (xp.concat([fill[:i], xp.multiply(long, short[i]), fill[i:]]) for i in range(m))
    # in blocks, because the error grows with the number of terms that are added one after the other
    blocks = iter(lambda: [*islice(shifted, math.isqrt(m))], [])
    return reduce(xp.add, (reduce(xp.add, block) for block in blocks))


def require_coefficients(p: Array) -> None:
    """Raise unless p is a vector."""
    if p.ndim != 1:
        raise ValueError(f"p must be a vector of coefficients, but its shape is {tuple(p.shape)}")


def polyval(xp: ModuleType, p: Array, x: Any, /) -> Array:
    """Horner's rule."""
    require_coefficients(p)
    x = common.as_array(xp, x, p)
    x, p = common.alike(xp, x, p)
    total = xp.zeros_like(x)
    for i in range(p.shape[0]):
        total = xp.add(xp.multiply(total, x), p[i])
    return total
