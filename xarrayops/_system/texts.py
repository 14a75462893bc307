"""Texts for people."""

from __future__ import annotations

from math import ceil


def counted(number: int, noun: str) -> str:
    """A number with its noun: ``1 line``, ``40 000 lines``."""
    return f"{number:,} {noun}".replace(",", " ") + ("" if number == 1 else "s")


def amount(nbytes: float, *, up: bool = False) -> str:
    """A number of bytes for people: ``131 kB``. With ``up`` it is not less than the number."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if nbytes >= size:
            digits = 0 if nbytes >= 100 * size else 1
            step = size / 10**digits
            rounded = ceil(nbytes / step) / 10**digits if up else nbytes / size
            return f"{rounded:.{digits}f} {unit}"
    return f"{nbytes:.0f} bytes"
