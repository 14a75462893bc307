"""The times of each signature of a compiled function: whether to run compiled code, and the report to users.

"pays" uses the ski rental algorithm (Karlin, Manasse, Rudolph and Sleator 1988): a function runs eagerly until that has
taken as long as its compilation is expected to take. For any number of calls, the total is then at most twice the
better of two choices: never compiling, and compiling at the first call. It is more if the expectation is wrong.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from math import ceil
from typing import Any, Literal

from xarrayops._ops.explanation import aligned
from xarrayops.plugin.arrays import Record

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
        self._eager_times: deque[float] = deque(maxlen=PATIENCE)
        self.compilation_s: float | None = None
        self.compiled_s: float | None = None
        self._compiled_times: deque[float] = deque(maxlen=PATIENCE)

    @property
    def timed_calls(self) -> int:
        """The number of compiled calls that were timed."""
        return len(self._compiled_times)

    @property
    def compiles(self) -> bool:
        """Whether the next call runs compiled code; the first such call compiles it."""
        if self.when != "pays":
            return self.when == "now"
        if self.compilation_s is None:
            return self.eager_total >= self.expected
        return self._is_faster or self.timed_calls < PATIENCE

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
        return self.timed_calls < (TIMED if self._is_faster else PATIENCE)

    @property
    def _is_faster(self) -> bool:
        """Whether compiled calls are faster than eager ones, or the comparison does not matter."""
        if self.when != "pays" or self.compiled_s is None or self.eager_s is None:
            return True
        return self.compiled_s < self.eager_s

    def ran_eagerly(self, seconds: float) -> None:
        """Count an eager call."""
        self.eager_calls += 1
        self.eager_total += seconds
        self.timed_eagerly(seconds)

    def timed_eagerly(self, seconds: float) -> None:
        """Record the time of a run that was not a call of the user."""
        self._eager_times.append(seconds)
        self.eager_s = _median(self._eager_times)

    def compiled(self, seconds: float) -> None:
        """Record the time of the compilation."""
        self.compilation_s = seconds

    def ran_compiled(self, seconds: float) -> None:
        """Count a compiled call that was timed."""
        self._compiled_times.append(seconds)
        self.compiled_s = _median(self._compiled_times)


def _median(times: Collection[float]) -> float:
    """The time in the middle. The shortest one would depend on the number of calls, which differs by far."""
    return sorted(times)[len(times) // 2]


class Entry(Record):
    """The measurements of one signature of a compiled function.

    Attributes
    ----------
    signature : str
        The arrays and the constants of the calls.
    engine : str
        The library that compiles; empty for eager calls.
    compilation_s : float or None
        The seconds that tracing and compiling took.
    eager_s, compiled_s : float or None
        The seconds of one call: the median of the latest timed calls, at most 16.
    eager_calls, compiled_calls : int
        The number of calls.
    reason : str
        Why it was compiled again, or why calls run eagerly.
    """

    signature: str
    engine: str
    compilation_s: float | None
    eager_s: float | None
    compiled_s: float | None
    eager_calls: int
    compiled_calls: int
    reason: str

    @property
    def pays_after(self) -> int | None:
        """The number of compiled calls after which the compilation has paid off; None if never or unknown."""
        if self.compilation_s is None or self.eager_s is None or self.compiled_s is None:
            return None
        saved = self.eager_s - self.compiled_s
        return ceil(self.compilation_s / saved) if saved > 0 else None

    @property
    def net_s(self) -> float | None:
        """The seconds saved so far, minus the compilation; None if unknown."""
        if self.compilation_s is None or self.eager_s is None or self.compiled_s is None:
            return None
        return self.compiled_calls * (self.eager_s - self.compiled_s) - self.compilation_s


class Ledger(Iterable[Entry]):
    """The entries of a compiled function, in the order in which its signatures were first seen.

    It shows the current state each time it is read. ``str()`` gives a table.
    """

    def __init__(self, entries: Callable[[], Iterable[Entry]]) -> None:
        self._entries = entries

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries())

    def __reduce__(self) -> tuple[Any, ...]:
        """The entries of now: those of a compiled function cannot be pickled."""
        return Ledger, (partial(tuple, tuple(self)),)

    def __len__(self) -> int:
        return len(list(self._entries()))

    def __getitem__(self, i: int) -> Entry:
        return list(self._entries())[i]

    def __str__(self) -> str:
        head = ("signature", "engine", "compilation", "eager", "compiled", "calls", "pays after", "net", "why")
        return "\n".join(aligned([head, *map(_row, self)]))

    __repr__ = __str__


def _row(entry: Entry) -> tuple[str, ...]:
    pays = "-" if entry.pays_after is None else f"{entry.pays_after} calls"
    net = "-" if entry.net_s is None else ("+" if entry.net_s >= 0 else "-") + duration(abs(entry.net_s))
    calls = f"{entry.eager_calls + entry.compiled_calls}"
    times = map(duration, (entry.compilation_s, entry.eager_s, entry.compiled_s))
    return (entry.signature, entry.engine or "-", *times, calls, pays, net, entry.reason or "-")


def duration(seconds: float | None) -> str:
    """Format a time with its unit."""
    if seconds is None:
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
