"""Arrays, and what a library cannot do: the terms of hooks and operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, TypeVar

from xarrayops.errors import Unsupported

Array = Any
"""An array of any library. Arrays stay native, so no class describes them all."""
ArrayT = TypeVar("ArrayT")
"""The class of the arrays of one call: what a function takes, it gives."""
Scalar = bool | int | float | complex
"""Python's numbers, which belong to any library. Each is named, so that no type checker takes one for an array."""


class Gap(NamedTuple):
    """Something that a library cannot do: the reason, and what to do instead."""

    why: str
    instead: str

    def __str__(self) -> str:
        return f"{self.why}. Instead: {self.instead}"


class FloatLimits(NamedTuple):
    """What ``finfo`` answers: the standard wants Python's numbers and a native dtype, which few libraries give."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


def unsupported(why: str, *, instead: str) -> Callable[..., NoReturn]:
    """Declare in a backend file that the library cannot do something.

    >>> eigh = unsupported("Dask has no eigh", instead="xo.compute(x) and use NumPy")
    >>> eigh.gap.why
    'Dask has no eigh'
    """
    gap = Gap(why, instead)

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise Unsupported(str(gap))

    refuse.gap = gap  # type: ignore[attr-defined]
    return refuse


def gap_of(function: Any) -> Gap | None:
    """The gap that a function declares, or None."""
    return getattr(function, "gap", None)
