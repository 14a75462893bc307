"""Modes: settings that change what functions do, such as a default dtype. Calls cost nothing more while none is active.

A mode is active in one thread or task. The process counts the active modes; dispatch uses other tables while there are
any, whose functions look up the modes of their own thread.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock

_count = 0
_changing = RLock()
on_change: list[Callable[[], None]] = []
"""Functions to call when the first mode begins and when the last one ends."""


def active() -> bool:
    """Whether a mode is active in any thread."""
    return _count > 0


def begin() -> None:
    """Count one more mode."""
    _change(1)


def end() -> None:
    """Count one mode less."""
    _change(-1)


def _change(by: int) -> None:
    global _count
    with _changing:
        before, _count = active(), _count + by
        if active() is not before:
            for notify in on_change:
                notify()
