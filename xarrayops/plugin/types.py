"""The types of hooks and operations, and the declaration of what a library cannot do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from xarrayops.errors import Unsupported
from xarrayops.plugin.records import Record

Array = Any
"""An array of any library. Arrays stay native and have no common class."""
ArrayT = TypeVar("ArrayT")
"""The class of the arrays of one call: a function returns arrays of the class of its arguments."""
Scalar = bool | int | float | complex
"""Python scalars, which combine with arrays of every library. All are listed, so that none is inferred as an array."""


class Gap(Record):
    """Something that a library cannot do: the reason, and what to do instead."""

    why: str
    instead: str

    def __str__(self) -> str:
        return f"{self.why}. Instead: {self.instead}"


class FloatLimits(Record):
    """The result of ``finfo``. The standard requires Python floats and a native dtype; few libraries return those."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


def unsupported(why: str, *, instead: str) -> Callable[..., NoReturn]:
    """Declare in a backend module that the library cannot do something.

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
