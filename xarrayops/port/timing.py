"""The time of a port and of its original in alternation, where the time of the port goes, and what to change first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from copy import deepcopy
from io import StringIO
from pathlib import Path
from statistics import median
from time import perf_counter
from types import FrameType
from typing import Any

import xarrayops as xo
from xarrayops._system.hooks import hooked
from xarrayops._system.texts import counted
from xarrayops.plugin.arrays import Record
from xarrayops.plugin.nested import fill
from xarrayops.port.trace.forecast import shown

Found = tuple[dict[int, float], Counter[int]]
"""The seconds and the runs of each line."""
_ROUNDS, _MOST_S = 7, 5.0
_LINES = 5
_LOOP, _MUCH = 50, 0.3
"""A line that runs at least so often, and takes at least this share of the time, is a loop that matters."""


class Line(Record):
    """What a line of the port took: its share of the time, and how often it ran."""

    line: int
    share: float
    runs: int
    text: str

    def __str__(self) -> str:
        return f"  line {self.line}: {self.share:.0%}, {counted(self.runs, 'run')}: {self.text}"


class Timing(Record):
    """The times of a port on a library, and of its original on NumPy.

    Attributes
    ----------
    library, function : str
    original_s, port_s : float
        The medians of runs in alternation.
    lines : tuple of Line
        The lines of the port with the most time.
    crossings : tuple of (str, int, int)
        What `xarrayops.profile` counts: the kind, the line, and how often.
    """

    library: str
    function: str
    original_s: float
    port_s: float
    lines: tuple[Line, ...]
    crossings: tuple[tuple[str, int, int], ...]

    @property
    def change(self) -> str:
        """The one change that would matter most."""
        if self.crossings:
            kind, line, times = max(self.crossings, key=lambda each: each[2])
            what = "Python waits for a value of the array" if kind == "wait" else "the array crosses to the host"
            return f"{what} at line {line} ({times} times): keep it as an array of its library"
        loop = next((each for each in self.lines if each.runs >= _LOOP and each.share >= _MUCH), None)
        if loop is not None:
            return f"line {loop.line} runs {loop.runs} times in a loop: one operation on the whole array, or xo.scan"
        return f"wrap {self.function} in xo.jit: no loop and no transfer takes most of the time"

    def __str__(self) -> str:
        ratio = self.original_s / self.port_s
        compared = f"{ratio:.2g} times as fast" if ratio >= 1 else f"{1 / ratio:.2g} times the time"
        first = f"{self.library}: {shown(self.port_s)}, the original on NumPy {shown(self.original_s)}: {compared}"
        lines = map(str, self.lines)
        return "\n".join([first, *lines, f"  change first: {self.change}"])


def side_by_side(
    original: Callable[..., Any],
    port: Callable[..., Any],
    args: Sequence[Any],
    keywords: dict[str, Any],
    *,
    path: Path,
    library: str,
) -> Timing:
    """Time the original on NumPy and the port on a library in alternation, and then the lines of the port."""

    def of_original() -> float:
        given, options = deepcopy((args, keywords))
        return _seconds(lambda: original(*given, **options))

    def prepared() -> Callable[[], Any]:
        given, options = fill((args, keywords), _converter(library))
        return lambda: port(*given, **options)

    with redirect_stdout(StringIO()), xo.use(library):
        of_original(), _seconds(prepared())
        pairs, start = [(of_original(), _seconds(prepared()))], perf_counter()
        while len(pairs) < _ROUNDS and perf_counter() - start < _MOST_S:
            pairs.append((of_original(), _seconds(prepared())))
        call = prepared()
        with xo.profile(show=False) as found:
            call()
        spent, runs = min((_by_line(prepared(), str(path.resolve())) for _ in range(3)), key=_total)
    text = path.read_text(encoding="utf-8").splitlines()
    total = _total((spent, runs)) or 1.0
    most = sorted(spent, key=lambda line: -spent[line])[:_LINES]
    lines = tuple(Line(each, spent[each] / total, runs[each], text[each - 1].strip()) for each in most)
    crossings = tuple((each.kind, each.line, each.times) for each in found.crossings)
    original_s, port_s = (median(each) for each in zip(*pairs, strict=True))
    return Timing(library, port.__qualname__, original_s, port_s, lines, crossings)


def _converter(library: str) -> Callable[[Any], Any]:
    """Copies an argument, arrays to the library."""
    return lambda x: xo.convert(x, library, copy=True) if hasattr(x, "__array_interface__") else deepcopy(x)


def _seconds(call: Callable[[], Any]) -> float:
    """The time of a call until its arrays are there."""
    start = perf_counter()
    arrays: list[Any] = []
    fill(call(), lambda x: arrays.append(x) if hasattr(x, "__array_namespace__") else None)
    xo.synchronize(*arrays)
    return perf_counter() - start


def _total(found: Found) -> float:
    return sum(found[0].values())


def _by_line(call: Callable[[], Any], path: str) -> Found:
    """The seconds and the runs of each line of a file, without the lines of the file that it calls."""
    spent: defaultdict[int, float] = defaultdict(float)
    runs: Counter[int] = Counter()
    now, last = 0, perf_counter()

    def switch(line: int) -> None:
        nonlocal now, last
        moment = perf_counter()
        spent[now] += moment - last
        now, last = line, perf_counter()

    def called(frame: FrameType, event: str, value: object) -> Any:
        return ran if frame.f_code.co_filename == path else None

    def ran(frame: FrameType, event: str, value: object) -> Any:
        if event == "line":
            switch(frame.f_lineno)
            runs[now] += 1
        elif event == "return":
            before = frame.f_back
            switch(before.f_lineno if before is not None and before.f_code.co_filename == path else 0)
        return ran

    with hooked(called):
        _seconds(call)
    spent.pop(0, None)
    return spent, runs
