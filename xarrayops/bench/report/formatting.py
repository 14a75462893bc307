"""Numbers, shapes and units as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def shapes_text(shapes: Sequence[Sequence[int]]) -> str:
    """Shapes as text.

    >>> shapes_text([[3, 4], [4, 5]])
    '3x4, 4x5'
    """
    return ", ".join("x".join(map(str, shape)) for shape in shapes)


def seconds_text(seconds: float | None) -> str:
    """A duration with three significant digits.

    >>> seconds_text(0.01234), seconds_text(2.5e-6), seconds_text(None)
    ('12.3 ms', '2.50 us', '')
    """
    return "" if seconds is None else _scaled(seconds, {"s": 1.0, "ms": 1e-3, "us": 1e-6})


def _scaled(value: float, units: Mapping[str, float]) -> str:
    """A value in the first of these units that it reaches, else in the last one, with three significant digits.

    Trailing zeros are included; values of four digits and more are integers.
    """
    unit = next((unit for unit, size in units.items() if value >= size), list(units)[-1])
    number = value / units[unit]
    return f"{f'{number:#.3g}'.rstrip('.') if number < 999.5 else f'{number:.0f}'} {unit}"


def rate_text(rate: float | None, unit: str) -> str:
    """A rate with a decimal prefix.

    >>> rate_text(6.12e10, "FLOP/s"), rate_text(4.2e12, "B/s")
    ('61.2 GFLOP/s', '4.20 TB/s')
    """
    return "" if rate is None else f"{_scaled(rate, {'T': 1e12, 'G': 1e9, 'M': 1e6, 'k': 1e3})}{unit}"


def bytes_text(nbytes: int | None) -> str:
    """A size with a binary prefix.

    >>> bytes_text(50331648), bytes_text(0), bytes_text(None)
    ('48.0 MiB', '0', '')
    """
    if not nbytes:
        return "" if nbytes is None else "0"
    return _scaled(nbytes, {"GiB": 2**30, "MiB": 2**20, "KiB": 2**10})
