"""What only a run can show: counts by line, and findings from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xarrayops.plugin.arrays import Record
from xarrayops.port.findings import ALL, Finding
from xarrayops.port.source import Source
from xarrayops.port.trace.record import Trace

_MANY = 10
"""The minimum of numbers read from arrays in one line: fewer cost less than a transfer."""


class LineOfRun(Record):
    """What a line did: operations with their bytes, numbers read from arrays, calls of other packages."""

    line: int
    operations: int
    bytes: int
    numbers: int
    views_written: int
    duplicates: int
    data_dependent: int
    foreign_calls: int
    foreign_bytes: int


def by_line(trace: Trace) -> tuple[LineOfRun, ...]:
    """The counts of a run, by line."""
    operations: dict[int, tuple[int, int]] = {}
    for operation, count in trace.operations.items():
        known, nbytes = operations.get(operation.line, (0, 0))
        operations[operation.line] = known + count, nbytes + count * operation.bytes
    lines = {*operations, *trace.numbers, *trace.foreign}
    return tuple(
        LineOfRun(
            *(line, *operations.get(line, (0, 0)), trace.numbers[line], trace.views_written[line]),
            *(trace.duplicates[line], trace.data_dependent[line], *trace.foreign.get(line, (0, 0))),
        )
        for line in sorted(lines)
    )


def of_trace(source: Source, trace: Trace, known: Sequence[Finding]) -> Iterator[Finding]:
    """Findings that only a run can show, for lines that have no such finding from the source."""
    found = {(finding.line, finding.kind) for finding in known if finding.certain}
    for line, count in trace.duplicates.items():
        what = (
            f"an index names an element twice ({count} assignments of the run): the library decides which value remains"
        )
        yield _finding(source, line, "index", what, "np.add.at for sums, or indices that are unique", ALL)
    for line in trace.views_written:
        if not {(line, "view"), (line, "in place")} & found:
            what = "the run changes an array through a view of a part of it: on JAX and Dask views are copies"
            yield _finding(source, line, "view", what, "xo.at on the array itself", ("jax", "dask"))
    for line in trace.foreign:
        if (line, "foreign call") not in found and line:
            what = "another package uses NumPy arrays here"
            yield _finding(source, line, "foreign call", what, "xo.convert for its arguments and its results", ALL)
    for line, count in trace.numbers.items():
        if count >= _MANY and (line, "scalar") not in found and line:
            what = (
                f"the run reads {count} numbers from arrays here: each one waits for the device, and computes on Dask"
            )
            yield _finding(source, line, "scalar", what, "keep them as arrays, or read them all at once", ALL)


def _finding(source: Source, line: int, kind: str, what: str, instead: str, backends: tuple[str, ...]) -> Finding:
    text = source.lines[line - 1]
    column = len(text) - len(text.lstrip()) + 1
    return Finding(line, column, line, len(text) + 1, kind, what, instead, backends)
