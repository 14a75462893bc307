"""The time that a run may take."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any


class Budget:
    """So many seconds, from when it is made."""

    def __init__(self, seconds: float) -> None:
        self._whole, self._start = seconds, monotonic()

    @property
    def seconds(self) -> float:
        """What was spent."""
        return monotonic() - self._start

    @property
    def seconds_left(self) -> float:
        """What is left; less than 0 once it is overdrawn."""
        return self._whole - self.seconds

    def within(self, ask: Callable[[float], dict[str, Any]], seconds: float) -> dict[str, Any]:
        """An answer in so many seconds and in what is left."""
        answer = ask(min(seconds, self.seconds_left))
        return self.spent() if answer["status"] == "timeout" and self.seconds_left <= 0 else answer

    def spent(self) -> dict[str, Any]:
        """What an answer that never came is called."""
        reason = f"the budget of {self._whole:.0f} s was spent before its turn"
        return {"status": "over-budget", "reason": reason, "fix": "A longer --budget, or the same again with --resume."}
