"""The time limit of a run."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from xarrayops._system.process import failure


class Budget:
    """A number of seconds that starts when the object is created."""

    def __init__(self, seconds: float) -> None:
        self._total, self._start = seconds, monotonic()

    @property
    def seconds(self) -> float:
        """The seconds spent so far."""
        return monotonic() - self._start

    @property
    def seconds_left(self) -> float:
        """The seconds left; negative once the budget is exceeded."""
        return self._total - self.seconds

    def limited(self, ask: Callable[[float], dict[str, Any]], seconds: float) -> dict[str, Any]:
        """An answer within the given seconds and within the budget."""
        answer = ask(min(seconds, self.seconds_left))
        return self.exceeded() if answer["status"] == "timeout" and self.seconds_left <= 0 else answer

    def exceeded(self) -> dict[str, Any]:
        """The answer for a cell that the budget does not reach."""
        reason = f"the budget of {self._total:.0f} s was spent before this cell"
        return failure("over-budget", reason, "Use a longer --budget, or continue with --resume.")
