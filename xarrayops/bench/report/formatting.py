"""Numbers, shapes and units as text."""

from __future__ import annotations

from collections.abc import Sequence


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
    if seconds is None:
        return ""
    unit, scale = next(((u, s) for u, s in (("s", 1.0), ("ms", 1e-3)) if seconds >= s), ("us", 1e-6))
    return f"{_digits(seconds / scale)} {unit}"


def _digits(value: float) -> str:
    """A value with three significant digits, trailing zeros included; larger values as integers."""
    return f"{value:#.3g}".rstrip(".") if value < 999.5 else f"{value:.0f}"


def rate_text(rate: float | None, unit: str) -> str:
    """A rate with a decimal prefix.

    >>> rate_text(6.12e10, "FLOP/s"), rate_text(4.2e12, "B/s")
    ('61.2 GFLOP/s', '4.20 TB/s')
    """
    if rate is None:
        return ""
    prefix, scale = next(((p, s) for p, s in (("T", 1e12), ("G", 1e9), ("M", 1e6)) if rate >= s), ("k", 1e3))
    return f"{_digits(rate / scale)} {prefix}{unit}"


def bytes_text(nbytes: int | None) -> str:
    """A size with a binary prefix.

    >>> bytes_text(50331648), bytes_text(0), bytes_text(None)
    ('48.0 MiB', '0', '')
    """
    if nbytes is None:
        return ""
    prefix, scale = next(((p, s) for p, s in (("GiB", 2**30), ("MiB", 2**20)) if nbytes >= s), ("KiB", 2**10))
    return f"{_digits(nbytes / scale)} {prefix}" if nbytes else "0"
