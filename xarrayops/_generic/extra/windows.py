"""Windows and scales: functions of a number of values."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

from xarrayops._generic.extra import common
from xarrayops.plugin.arrays import Array


def _places(xp: ModuleType, start: float, stop: float, n: int, device: Any, *, endpoint: bool = True) -> Array:
    """n values from start to stop, in float64 if the library has it, so that a float32 window is rounded once."""
    known = xp.__array_namespace_info__().dtypes(device=device, kind="real floating")
    return xp.linspace(start, stop, n, dtype=known.get("float64"), device=device, endpoint=endpoint)


def _rounded(xp: ModuleType, x: Array, dtype: Any) -> Array:
    return common.astype(xp, x, xp.asarray(0.0).dtype if dtype is None else dtype)


def _cosines(xp: ModuleType, n: int, factors: tuple[float, ...], dtype: Any, device: Any) -> Array:
    """A sum of cosines of multiples of the angle; a window of one value is 1."""
    if common.whole("n", n) <= 1:
        return _single(xp, n, dtype, device)
    angle = _places(xp, 1.0 - n, n - 1.0, n, device) * (math.pi / (n - 1))  # from -pi to pi: exactly symmetric
    total = factors[0] - factors[1] * xp.cos(angle)
    return _rounded(xp, total + factors[2] * xp.cos(2.0 * angle) if len(factors) > 2 else total, dtype)


def _single(xp: ModuleType, n: int, dtype: Any, device: Any) -> Array:
    return _rounded(xp, xp.ones((max(n, 0),), device=device), dtype)


def hanning(xp: ModuleType, n: int, /, *, dtype: Any = None, device: Any = None) -> Array:
    """One cosine."""
    return _cosines(xp, n, (0.5, -0.5), dtype, device)


def hamming(xp: ModuleType, n: int, /, *, dtype: Any = None, device: Any = None) -> Array:
    """One cosine."""
    return _cosines(xp, n, (0.54, -0.46), dtype, device)


def blackman(xp: ModuleType, n: int, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Two cosines."""
    return _cosines(xp, n, (0.42, -0.5, 0.08), dtype, device)


def bartlett(xp: ModuleType, n: int, /, *, dtype: Any = None, device: Any = None) -> Array:
    """The distance from the middle."""
    if common.whole("n", n) <= 1:
        return _single(xp, n, dtype, device)
    return _rounded(xp, 1.0 - xp.abs(_places(xp, -1.0, 1.0, n, device)), dtype)


def kaiser(xp: ModuleType, n: int, beta: float, /, *, dtype: Any = None, device: Any = None) -> Array:
    """The Bessel function I0 of the distance from the middle."""
    if common.whole("n", n) <= 1:
        return _single(xp, n, dtype, device)
    place = _places(xp, -1.0, 1.0, n, device)
    quarter = (beta / 2) ** 2 * (1.0 - place * place)
    return _rounded(xp, _bessel(quarter, abs(beta)) / float(_bessel((beta / 2) ** 2, abs(beta))), dtype)


def _bessel(quarter: Any, greatest: float) -> Any:
    """I0 of x, from ``(x / 2)**2``, by its series, whose terms are all positive."""
    terms = 30 + int(1.5 * greatest)
    total: Any = 1.0
    for k in range(terms, 0, -1):
        total = total * quarter / k**2 + 1.0
    return total


def logspace(
    xp: ModuleType,
    start: float,
    stop: float,
    /,
    num: int = 50,
    *,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: Any = None,
    device: Any = None,
) -> Array:
    """Powers of the base."""
    return _rounded(xp, xp.pow(base, _places(xp, start, stop, num, device, endpoint=endpoint)), dtype)


def geomspace(
    xp: ModuleType,
    start: float,
    stop: float,
    /,
    num: int = 50,
    *,
    endpoint: bool = True,
    dtype: Any = None,
    device: Any = None,
) -> Array:
    """Powers of 10 between the logarithms of both ends; the ends are exact."""
    require_ratio(start, stop)
    if num < 2:
        return _rounded(xp, _places(xp, start, stop, num, device), dtype)
    low, high = math.log10(abs(start)), math.log10(abs(stop))
    found = xp.pow(10.0, _places(xp, low, high, num, device, endpoint=endpoint))
    found = xp.negative(found) if start < 0 else found
    first = xp.full_like(found[:1], float(start))
    last = [xp.full_like(first, float(stop))] if endpoint else []
    return _rounded(xp, xp.concat([first, found[1 : num - len(last)], *last]), dtype)


def require_ratio(start: float, stop: float) -> None:
    """Raise unless one number is a positive multiple of the other."""
    if not start * stop > 0:
        raise ValueError(f"both ends must be positive, or both negative, not {start} and {stop}")
