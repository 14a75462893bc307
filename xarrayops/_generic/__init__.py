"""The generic functions: written on the array API standard alone, for libraries without their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

from xarrayops.plugin.arrays import unsupported

NAMESPACES = "xarrayops.namespaces."
"""The beginning of the names of namespaces."""


def library(xp: ModuleType) -> str:
    """The name of the library whose functions a namespace has."""
    return xp.__name__.removeprefix(NAMESPACES)


def declared(why: str, *, instead: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a hook that the standard alone cannot serve: the decorated function has its signature and its docstring.

    Calls raise `Unsupported` with the reason and what to do instead, as those of `unsupported`.
    """
    return lambda function: wraps(function)(unsupported(why, instead=instead))
