"""What holds inside a ``with`` block, of this thread or task alone."""

from __future__ import annotations

from contextvars import ContextVar
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class ContextStack(Generic[T]):
    """The ``with`` blocks of one kind that a thread or task is in, the innermost last.

    They are counted over all threads as well, because torch.compile traces no ContextVar: where none is open, a program
    compiles.
    """

    def __init__(self, name: str) -> None:
        self._entered: ContextVar[tuple[T, ...]] = ContextVar(name, default=())
        self._open = 0
        self._counting = Lock()

    def enter(self, value: T) -> None:
        """Begin a block."""
        self._entered.set((*self._entered.get(), value))
        self._count(1)

    def leave(self) -> None:
        """End the innermost block."""
        self._count(-1)
        self._entered.set(self._entered.get()[:-1])

    def innermost(self, otherwise: T) -> T:
        """The value of the innermost block."""
        blocks = self._entered.get() if self._open else ()
        return blocks[-1] if blocks else otherwise

    def _count(self, change: int) -> None:
        with self._counting:  # `+=` alone loses a count where two threads meet
            self._open += change
