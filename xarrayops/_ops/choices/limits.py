"""The sizes below which no call is looked up: smaller arrays have the default in all open blocks.

A call compares the size of its first array with a limit before it reads anything else. Functions for which no open
block has a choice are not changed at all, and with one for another library they have an unchanged entry in its table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Lock

from xarrayops._core.dispatch import lookup
from xarrayops._core.modes import tables as modes

NEVER = sys.maxsize
"""The limit of a verb whose calls are not looked up."""
Least = Callable[[str, str], int]
"""Returns the least size for a verb and a library."""


class Limit:
    """The least size of the arrays of a verb and a library whose calls are looked up, in any block and thread."""

    __slots__ = ("is_unread", "size")

    def __init__(self) -> None:
        self.size = NEVER
        self.is_unread = False
        """Whether a table has a function that does not read it."""

    def leave_unread(self) -> bool:
        """Whether no call is looked up now, so that a function that does not read it may serve. This is noted."""
        with _changing:
            self.is_unread |= self.size == NEVER
            return self.size == NEVER


_limits: dict[tuple[str, str], Limit] = {}
_open: list[Least] = []
_changing = Lock()


def limit_of(verb: str, library: str) -> Limit:
    """The limit of a verb and a library, which the blocks that open and close change."""
    with _changing:
        key = verb, library
        if key not in _limits:
            _limits[key] = Limit()
            _update(key)
    return _limits[key]


def begin(verbs: tuple[str, ...], least: Least) -> None:
    """Let the functions of some verbs look up choices."""
    with _changing:
        _open.append(least)
        _update(*_limits)
        for (verb, _), limit in _limits.items():
            if limit.is_unread and limit.size != NEVER:
                limit.is_unread = False
                lookup.forget(verb, modes.IN_CHOICES)
    modes.begin(verbs)


def end(verbs: tuple[str, ...], least: Least) -> None:
    """End what `begin` began."""
    modes.end(verbs)
    with _changing:
        _open.remove(least)
        _update(*_limits)


def _update(*keys: tuple[str, str]) -> None:
    for key in keys:
        _limits[key].size = min((least(*key) for least in _open), default=NEVER)
