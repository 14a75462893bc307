"""Modes: settings that change what functions do, such as a default dtype. They cost nothing while none is active.

A mode is active in one thread or task. The process counts the active modes. While there are any, dispatch uses other
tables, whose functions look up the modes of their own thread.

Blocks of measured choice change only the functions that they name. While no mode is active, these use tables of their
own, so that other functions cost nothing more in such a block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from threading import RLock
from typing import Any

PLAIN, IN_CHOICES, IN_MODES = STATES = range(3)
"""The states of a function: unchanged, named by an open block of measured choice, and any while a mode is active."""
EVERY = ""
"""The name that stands for all functions."""
_count = 0
_changing = RLock()
_blocks: Counter[str] = Counter()
_named: dict[str, None] = {}
"""The functions that open blocks of measured choice name. torch.compile can trace neither a Counter nor a set."""
_bindings: list[tuple[dict[str, Any], str, str, tuple[Any, ...]]] = []
"""The global variables that depend on the state of a function: module, name, function, and the object of each state."""


def active() -> bool:
    """Whether a mode is active in any thread."""
    return _count > 0


def state_of(function: str) -> int:
    """The state of a function, in all threads."""
    if _count > 0:
        return IN_MODES
    return IN_CHOICES if function in _named or EVERY in _named else PLAIN


def bind(module: dict[str, Any], name: str, function: str, objects: tuple[Any, ...]) -> None:
    """Let a global variable hold the object of the state of a function. Reading it costs nothing more."""
    with _changing:
        _bindings.append((module, name, function, objects))
        module[name] = objects[state_of(function)]


def begin(functions: Iterable[str] | None = None) -> None:
    """Count one more mode, or one more block of measured choice for some functions."""
    _change(1, functions)


def end(functions: Iterable[str] | None = None) -> None:
    """Count one mode fewer, or one block of measured choice fewer."""
    _change(-1, functions)


def _change(by: int, functions: Iterable[str] | None) -> None:
    global _count, _named
    with _changing:
        before = active(), _named
        if functions is None:
            _count += by
        else:
            _blocks.update(dict.fromkeys(functions, by))
            _named = dict.fromkeys(+_blocks)
        if (active(), _named) != before:
            for module, name, function, objects in _bindings:
                module[name] = objects[state_of(function)]
