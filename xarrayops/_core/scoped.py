"""Values that are set inside a ``with`` block, for this thread or task only."""

from __future__ import annotations

from contextvars import ContextVar
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class ContextStack(Generic[T]):
    """The open ``with`` blocks of one kind in this thread or task, the innermost last.

    The open blocks of all threads are counted as well, because torch.compile cannot trace a ContextVar: while none is
    open, the variable is not read.
    """

    def __init__(self, name: str) -> None:
        self._entered: ContextVar[tuple[T, ...]] = ContextVar(name, default=())
        self._open = 0
        self._counting = Lock()

    def enter(self, value: T) -> None:
        """Open a block."""
        self._entered.set((*self._entered.get(), value))
        self._count(1)

    def leave(self) -> None:
        """Close the innermost block."""
        self._count(-1)
        self._entered.set(self._entered.get()[:-1])

    def innermost(self, otherwise: T) -> T:
        """The value of the innermost block."""
        blocks = self._entered.get() if self._open else ()
        return blocks[-1] if blocks else otherwise

    def _count(self, change: int) -> None:
        with self._counting:  # `+=` alone is not atomic
            self._open += change
