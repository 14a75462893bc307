"""Texts for people."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A number with its noun: ``1 line``, ``40 000 lines``."""
    return f"{number:,} {noun}".replace(",", " ") + ("" if number == 1 else "s")
