"""What each line did in a run: operations with their sizes, numbers read from arrays, calls of other packages."""

from __future__ import annotations

import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import repeat
from time import perf_counter
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from xarrayops._system.hooks import hooked
from xarrayops.bench.report.tables import CONTENTION
from xarrayops.plugin.arrays import Record
from xarrayops.plugin.nested import leaves
from xarrayops.port.trace.operations import BLOCK, ELEMENT, REDUCTION, SEARCH, VIEW

_CALIBRATION = 500


OF_INDICES = (VIEW, BLOCK, ELEMENT)
"""The kinds of operations without arithmetic and without a copy."""


class Operation(Record):
    """Operations that are alike: the line, the kind, the bytes and the arithmetic of each, and how they were called.

    ``dtype`` is "float32" for numbers of single precision or less, otherwise "float64"; ``name`` is NumPy's.
    ``elements`` is the size of the largest array, of a search the number of results, and ``rows`` the number of rows
    that a reduction reads one by one. ``by_function`` is True for ``np.add(x, y)`` and False for ``x + y``. ``bytes``
    are read and written; ``whole`` is the size of a view, or of the array of which elements are assigned: some
    libraries copy it. Numbers are rounded to two binary digits, so that there are few different operations.
    """

    line: int
    kind: str
    bytes: int
    flops: int
    whole: int
    by_function: bool
    name: str = ""
    dtype: str = "float64"
    elements: int = 0
    rows: int = 0


class Inside:
    """Sums the time in ``with inside:`` blocks; nested blocks count once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0
        self._start = 0.0

    def __enter__(self) -> None:
        if not self._depth:
            self._start = perf_counter()
        self._depth += 1

    def __exit__(self, *error: object) -> None:
        self._depth -= 1
        if not self._depth:
            self.seconds += perf_counter() - self._start


class Trace:
    """The counts of one run.

    Attributes
    ----------
    operations : Counter of Operation
    numbers : Counter of int
        By line: numbers read from arrays, as in ``float(x)`` and ``if x.any()``.
    views_written : Counter of int
        By line: assignments to a view of a part of another array.
    duplicates : Counter of int
        By line: assignments with an index that names an element several times.
    data_dependent : Counter of int
        By line: results whose shape depends on values.
    foreign : dict of int to (calls, bytes)
        By line: calls of other packages with arrays, and the bytes of these arrays and of the results.
    line_s, line_foreign_s : dict of int to float
        By line: the time in NumPy, and in other packages.
    operation_s, foreign_s, python_s : float
        The time in NumPy, in other packages, and in the Python code of the program.
    plain_s : float or None
        The shortest time of the call without counting; None if it raised when it was called again.
    counts : bool
        Whether calls are counted.
    reached : set of int
        The lines of the program that ran, also while it was loaded.
    argument_bytes, result_bytes : int
        The sizes of the arguments and results of the call.
    others : float
        The share of the CPUs that other programs used during the run; 0 where unknown.
    """

    def __init__(self, path: str, lines_before: Mapping[str, int] | None = None) -> None:
        self.path = path
        self.lines_before = lines_before or {path: 0}
        """The files whose lines count, with the number of lines before each: all files together have one numbering."""
        self.inside = Inside()
        """The code of the trace itself; its time does not count."""
        self._overheads_s = dict.fromkeys(("view", "number", "other"), 0.0)
        self._by_function = False
        self.augmented_items: frozenset[int] = frozenset()
        """The lines of ``x[i] += v``, which writes the temporary view ``x[i]`` before it assigns it."""
        self.modules: list[ModuleType] = []
        """The other modules of the program, which also count."""
        self.counts = True
        self.reached: set[int] = set()
        self.others = 0.0
        self.clear()

    def clear(self) -> None:
        """Begin again."""
        self.operations: Counter[Operation] = Counter()
        self.numbers: Counter[int] = Counter()
        self.views_written: Counter[int] = Counter()
        self.duplicates: Counter[int] = Counter()
        self.data_dependent: Counter[int] = Counter()
        self.foreign: dict[int, tuple[int, int]] = {}
        self.line_s: defaultdict[int, float] = defaultdict(float)
        self.line_foreign_s: defaultdict[int, float] = defaultdict(float)
        self.plain_s: float | None = None
        self.operation_s = self.python_s = self.foreign_s = 0.0
        self.argument_bytes = self.result_bytes = 0

    def timed(self, plain_s: float) -> None:
        """Note the time of the call without counting. The Python code of the program takes no more than the rest."""
        self.plain_s = plain_s
        self.python_s = min(self.python_s, max(plain_s - self.operation_s - self.foreign_s, 0.0))

    @property
    def notes(self) -> tuple[str, ...]:
        """What makes the times of NumPy longer than they are."""
        what = f"other programs used {self.others:.0%} of the CPUs during the run"
        advice = "the times of NumPy may be too long. Instead: run it again on an idle machine"
        return (f"{what}: {advice}",) if self.others > CONTENTION else ()

    @property
    def calls(self) -> int:
        """The number of operations."""
        return self.operations.total()

    def line(self) -> int:
        """The line of the program that runs now."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename not in self.lines_before:
            frame = frame.f_back
        return 0 if frame is None else self.lines_before[frame.f_code.co_filename] + frame.f_lineno

    def add(
        self,
        kind: str,
        operands: list[Any],
        results: list[Any],
        seconds: float,
        *,
        flops: int = 0,
        whole: int = 0,
        name: str = "",
    ) -> None:
        """Count an operation, with the time that it took on NumPy."""
        self.operation_s += seconds
        moved = 0 if kind in OF_INDICES else nbytes_in([operands, results])
        whole = nbytes_in(results) if kind in OF_INDICES else whole
        counted = results if kind == SEARCH and results else (*operands, *results)
        largest = max((each.size for each in counted), default=0)
        rows = _rows(operands[0]) if kind == REDUCTION and operands and any(each.ndim for each in results) else 0
        nbytes, flops, whole, largest, rows = (_rounded(number) for number in (moved, flops, whole, largest, rows))
        line, dtype = self.line(), _precision([*results, *operands])
        self.line_s[line] += seconds
        self.operations[Operation(line, kind, nbytes, flops, whole, self._by_function, name, dtype, largest, rows)] += 1

    def add_foreign(self, arrays: list[Any], seconds: float) -> None:
        """Count the time of a call of another package, and the call if it takes or gives arrays."""
        self.foreign_s += seconds
        line = self.line()
        self.line_foreign_s[line] += seconds
        if arrays:
            calls, known = self.foreign.get(line, (0, 0))
            self.foreign[line] = calls + 1, known + nbytes_in(arrays)

    @contextmanager
    def following(self) -> Iterator[None]:
        """Note the lines that run, in all threads that start meanwhile."""
        with hooked(self._called, module=threading), hooked(self._called):
            yield

    def _called(self, frame: FrameType, event: str, value: object) -> Any:
        return self._ran if frame.f_code.co_filename == self.path else None

    def _ran(self, frame: FrameType, event: str, value: object) -> Any:
        self.reached.add(frame.f_lineno)
        return self._ran

    @contextmanager
    def of_function(self) -> Iterator[None]:
        """A NumPy function that the program calls by name, not an operator."""
        previous, self._by_function = self._by_function, True
        try:
            yield
        finally:
            self._by_function = previous

    @contextmanager
    def running(self) -> Iterator[None]:
        """The run of the program."""
        before, start = self.inside.seconds, perf_counter()
        try:
            yield
        finally:
            elapsed = perf_counter() - start - (self.inside.seconds - before)
            views = sum(count for operation, count in self.operations.items() if operation.kind in OF_INDICES)
            counts = {"view": views, "number": self.numbers.total(), "other": self.calls - views}
            self.python_s += max(elapsed - sum(counts[kind] * s for kind, s in self._overheads_s.items()), 0.0)

    def calibrate(self, operations: Mapping[str, Callable[[], Any]]) -> None:
        """Measure the overhead of the trace on a view, a number and other operations that `inside` does not include."""
        self._overheads_s = dict.fromkeys(operations, 0.0)
        found = {}
        for kind, operation in operations.items():
            self.clear()
            with self.running():
                for _ in repeat(None, _CALIBRATION):
                    operation()
            found[kind] = self.python_s / _CALIBRATION
        self._overheads_s = found
        self.clear()


def _rows(array: np.ndarray[Any, Any]) -> int:
    """How often NumPy begins anew in a reduction: its innermost loop is over the axis with the smallest step."""
    extents = [(abs(step), n) for step, n in zip(array.strides, array.shape, strict=True) if n > 1]
    return array.size // min(extents)[1] if extents else 0


def _precision(arrays: list[Any]) -> str:
    """The dtype whose peak limits an operation: that of its first floating-point array."""
    found = next((each.dtype for each in arrays if each.dtype.kind in "fc"), None)
    return "float32" if found is not None and found.name in ("float16", "float32", "complex64") else "float64"


def _rounded(number: int) -> int:
    """The number rounded to two binary digits."""
    shift = max(int(number).bit_length() - 2, 0)
    return int(number) >> shift << shift


def arrays_in(value: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays in arguments or results, also in sequences and dictionaries."""
    return [leaf for leaf in leaves(value) if isinstance(leaf, np.ndarray)]


def nbytes_in(value: Any) -> int:
    """The size of the arrays in arguments or results."""
    return sum(array.nbytes for array in arrays_in(value))


def timed_call(function: Callable[..., Any], *args: Any, **options: Any) -> tuple[Any, float]:
    """The result of a call, and the seconds that it took."""
    start = perf_counter()
    result = function(*args, **options)
    return result, perf_counter() - start
