"""Generic functions, written only with the array API standard, for libraries that lack their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

from xarrayops.plugin.arrays import unsupported

NAMESPACES = "xarrayops.namespaces."
"""The prefix of the names of namespaces."""


def library(xp: ModuleType) -> str:
    """The name of the library of a namespace."""
    return xp.__name__.removeprefix(NAMESPACES)


def declared(why: str, *, instead: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a hook that the standard cannot implement: the decorated function has its signature and its docstring.

    Calls raise `Unsupported` with the reason and the alternative, like functions made by `unsupported`.
    """
    return lambda function: wraps(function)(unsupported(why, instead=instead))
