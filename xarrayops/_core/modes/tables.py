"""Modes: settings that change what functions do, such as a default dtype. They cost nothing while none is active.

A mode is active in one thread or task. The process counts the active modes. While there are any, dispatch uses other
tables, whose functions look up the modes of their own thread.
"""

from __future__ import annotations

from threading import RLock
from typing import Any

_count = 0
_changing = RLock()
_bindings: list[tuple[dict[str, Any], str, Any, Any]] = []
"""The global variables that hold another object while a mode is active: module, name, and the two objects."""


def active() -> bool:
    """Whether a mode is active in any thread."""
    return _count > 0


def bind(module: dict[str, Any], name: str, plain: Any, in_modes: Any) -> None:
    """Let a global variable hold another object while a mode is active. Reading it costs nothing more."""
    with _changing:
        _bindings.append((module, name, plain, in_modes))
        module[name] = in_modes if active() else plain


def begin() -> None:
    """Count one more mode."""
    _change(1)


def end() -> None:
    """Count one mode fewer."""
    _change(-1)


def _change(by: int) -> None:
    global _count
    with _changing:
        before, _count = active(), _count + by
        if active() is not before:
            for module, name, plain, in_modes in _bindings:
                module[name] = in_modes if active() else plain
