"""When to run compiled code: at once, never, or when it pays off.

"pays" uses the ski rental algorithm (Karlin, Manasse, Rudolph and Sleator 1988): a function runs eagerly until that has
taken as long as its compilation is expected to take. For any number of calls, the total is then at most twice the
better of two choices: never compiling, and compiling at the first call. It is more if the expectation is wrong.
"""

from __future__ import annotations

from typing import Literal

When = Literal["now", "pays", "never"]
TIMED = 3
"""The number of compiled calls that are timed."""
PATIENCE = 16
"""The number of compiled calls that are timed if the first ones were not faster than eager calls."""


class Choice:
    """Whether the calls of one signature run compiled code, and the times that decide it.

    Parameters
    ----------
    when : str
        "now", "pays" or "never".
    expected : float
        The seconds that the compilation is expected to take.
    """

    def __init__(self, when: When, expected: float) -> None:
        self.when = when
        self.expected = expected
        self.eager_calls = 0
        self.eager_total = 0.0
        self.eager_s: float | None = None
        self.compilation_s: float | None = None
        self.compiled_calls = 0
        self.compiled_s: float | None = None

    @property
    def compiles(self) -> bool:
        """Whether the next call runs compiled code; the first such call compiles it."""
        if self.when != "pays":
            return self.when == "now"
        if self.compilation_s is None:
            return self.eager_total >= self.expected
        return not self.is_slower

    @property
    def is_slower(self) -> bool:
        """Whether compiled code was not faster in the calls that were timed."""
        return self.compiled_calls >= PATIENCE and not self._is_faster

    @property
    def may_compile(self) -> bool:
        """Whether later calls may run compiled code."""
        return self.compiles or (self.when == "pays" and self.compilation_s is None)

    def give_up(self) -> None:
        """Run all further calls eagerly."""
        self.when = "never"

    @property
    def is_timed(self) -> bool:
        """Whether the next compiled call should be timed."""
        return self.compiled_calls < (TIMED if self._is_faster else PATIENCE)

    @property
    def _is_faster(self) -> bool:
        """Whether a compiled call was faster than every eager one, or the comparison does not matter."""
        if self.when != "pays" or self.compiled_s is None or self.eager_s is None:
            return True
        return self.compiled_s < self.eager_s

    def ran_eagerly(self, seconds: float) -> None:
        """Count an eager call."""
        self.eager_calls += 1
        self.eager_total += seconds
        self.eager_s = seconds if self.eager_s is None else min(seconds, self.eager_s)

    def compiled(self, seconds: float) -> None:
        """Record the time of the compilation."""
        self.compilation_s = seconds

    def ran_compiled(self, seconds: float) -> None:
        """Count a compiled call that was timed."""
        self.compiled_calls += 1
        self.compiled_s = seconds if self.compiled_s is None else min(seconds, self.compiled_s)
