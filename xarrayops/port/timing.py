"""The time of a port and of its original in alternation, where the time of the port goes, and what to change first."""

from __future__ import annotations

import linecache
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from copy import deepcopy
from functools import cache
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
from xarrayops.port.source.modules import ModulePlace
from xarrayops.port.trace.forecast import shown

Place = tuple[str, int]
"""A file of the port, and a line in it."""
Found = tuple[dict[Place, float], Counter[Place]]
"""The seconds and the runs of each line."""
_ROUNDS, _MOST_S = 7, 5.0
_LINES = 5
_LOOP, _MUCH = 50, 0.3
"""Lines that run at least so often, and together take at least this share of the time, are a loop that matters."""


class Line(Record):
    """What a line of the port took: its share of the time, and how often it ran.

    ``file`` is another file of its program; empty for the port itself.
    """

    line: int
    share: float
    runs: int
    text: str
    file: str = ""

    @property
    def place(self) -> str:
        """The line, after the name of another file."""
        return f"{self.file}, line {self.line}" if self.file else f"line {self.line}"

    def __str__(self) -> str:
        return f"  {self.place}: {self.share:.0%}, {counted(self.runs, 'run')}: {self.text}"


class Timing(Record):
    """The times of a port on a library, and of its original on NumPy.

    Attributes
    ----------
    library, function : str
    original_s, port_s : float
        The medians of runs in alternation.
    lines : tuple of Line
        The lines of the port, and of the other files of its program, with the most time.
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
        loop = [each for each in self.lines if each.runs >= _LOOP]
        if sum(each.share for each in loop) >= _MUCH:
            first = loop[0]
            return f"{first.place} runs {first.runs} times in a loop: one operation on the whole array, or xo.scan"
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
        spent, runs = min((_by_line(prepared(), path) for _ in range(3)), key=_total)
    total, own = _total((spent, runs)) or 1.0, str(path.resolve())
    most = sorted(spent, key=lambda place: -spent[place])[:_LINES]
    texts = (linecache.getline(*each).strip() for each in most)
    files = ("" if file == own else Path(file).name for file, _ in most)
    lines = tuple(
        Line(each[1], spent[each] / total, runs[each], text, file)
        for each, text, file in zip(most, texts, files, strict=True)
    )
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


def _by_line(call: Callable[[], Any], path: Path) -> Found:
    """The seconds and the runs of each line of the modules of a program, without those of the lines that it calls."""
    spent: defaultdict[Place, float] = defaultdict(float)
    runs: Counter[Place] = Counter()
    outside = "", 0
    now, last = outside, perf_counter()

    file, has = str(path.resolve()), cache(ModulePlace.of(path).has)

    def is_inside(frame: FrameType) -> bool:
        return frame.f_code.co_filename == file or has(str(frame.f_globals.get("__name__")))

    def switch(frame: FrameType | None) -> None:
        nonlocal now, last
        moment = perf_counter()
        spent[now] += moment - last
        now = (frame.f_code.co_filename, frame.f_lineno) if frame is not None and is_inside(frame) else outside
        last = perf_counter()

    def called(frame: FrameType, event: str, value: object) -> Any:
        return ran if is_inside(frame) else None

    def ran(frame: FrameType, event: str, value: object) -> Any:
        if event == "line":
            switch(frame)
            runs[now] += 1
        elif event == "return":
            switch(frame.f_back)
        return ran

    with hooked(called):
        _seconds(call)
    spent.pop(outside, None)
    return spent, runs
