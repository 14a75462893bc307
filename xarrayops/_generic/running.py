"""The generic hooks about runs of functions: modes in compiled code, crossings, and ways to run a function."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any

from xarrayops._protocol.running import RunMode


def carry_mode(xp: ModuleType, name: str, key: str, /) -> AbstractContextManager[Any]:
    """The standard has no compiler."""
    return nullcontext()


def carries_mode(xp: ModuleType, name: str, key: str, /) -> bool:
    """The standard has no compiler."""
    return True


def crossings(xp: ModuleType, report: Callable[..., None], /) -> AbstractContextManager[Any]:
    """The standard does not tell of crossings."""
    return nullcontext()


def run_modes(xp: ModuleType) -> tuple[RunMode, ...]:
    """The standard has no compiler, and all arrays have values."""
    return (RunMode(),)
