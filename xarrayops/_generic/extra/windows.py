"""Windows and scales: functions of a number of values."""

from __future__ import annotations

import math
from collections.abc import Callable
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


def _window(
    xp: ModuleType, n: int, formula: Callable[[Array], Array], periodic: bool, dtype: Any, device: Any
) -> Array:
    """The values of a formula from -1 to 1, the ends of a symmetric window; a window of one value is 1."""
    if common.whole("n", n) <= 1:
        return _rounded(xp, xp.ones((max(n, 0),), device=device), dtype)
    last = n if periodic else n - 1
    place = _places(xp, -float(last), float(last), last + 1, device)[:n] / last  # of integers: exactly symmetric
    return _rounded(xp, formula(place), dtype)


def _cosines(xp: ModuleType, *factors: float) -> Callable[[Array], Array]:
    """A sum of cosines of multiples of the angle."""
    return lambda place: sum((a * xp.cos((k + 1) * math.pi * place) for k, a in enumerate(factors[1:])), factors[0])


def hanning(xp: ModuleType, n: int, /, *, periodic: bool = False, dtype: Any = None, device: Any = None) -> Array:
    """One cosine."""
    return _window(xp, n, _cosines(xp, 0.5, 0.5), periodic, dtype, device)


def hamming(xp: ModuleType, n: int, /, *, periodic: bool = False, dtype: Any = None, device: Any = None) -> Array:
    """One cosine."""
    return _window(xp, n, _cosines(xp, 0.54, 0.46), periodic, dtype, device)


def blackman(xp: ModuleType, n: int, /, *, periodic: bool = False, dtype: Any = None, device: Any = None) -> Array:
    """Two cosines."""
    return _window(xp, n, _cosines(xp, 0.42, 0.5, 0.08), periodic, dtype, device)


def bartlett(xp: ModuleType, n: int, /, *, periodic: bool = False, dtype: Any = None, device: Any = None) -> Array:
    """The distance from the middle."""
    return _window(xp, n, lambda place: 1.0 - xp.abs(place), periodic, dtype, device)


def kaiser(
    xp: ModuleType, n: int, beta: float, /, *, periodic: bool = False, dtype: Any = None, device: Any = None
) -> Array:
    """The Bessel function I0 of the distance from the middle."""
    quarter, greatest = (beta / 2) ** 2, abs(beta)
    highest = float(_bessel(quarter, greatest))

    def formula(place: Array) -> Array:
        return _bessel(quarter * (1.0 - place * place), greatest) / highest

    return _window(xp, n, formula, periodic, dtype, device)


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
