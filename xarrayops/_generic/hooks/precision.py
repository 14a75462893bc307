"""The generic hooks of precision."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any

from xarrayops.plugin.arrays import Array


def rounded(xp: ModuleType, x: Array, dtype: Any, /) -> Array:
    """A cast: the standard has no compiler that skips one."""
    return xp.astype(x, dtype, copy=False)


def product_precision(xp: ModuleType, products: str, /, *arrays: Array) -> AbstractContextManager[Any]:
    """The standard multiplies float32 as IEEE float32, and TF32 need not be used where it is allowed."""
    return nullcontext()


def register_state(xp: ModuleType, cls: type, data: tuple[str, ...], constants: tuple[str, ...], /) -> None:
    """The standard has no transformations that need to know the class."""
