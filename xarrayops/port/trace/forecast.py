"""The time that a run would take on each library, from its counts and from measured rates."""

from __future__ import annotations

from collections.abc import Iterable

from xarrayops._protocol.records import Record
from xarrayops.port.trace import record
from xarrayops.port.trace.rates import Rates
from xarrayops.port.trace.record import Operation, Trace

LAUNCH_BOUND, MEMORY_BOUND, PYTHON_BOUND, TRANSFER_BOUND, HOST_BOUND = (
    *("launch-bound", "bound by its operations", "bound by Python", "bound by transfers", "bound by other packages"),
)
_LONG_S = 5e-6
"""Shorter operations are measured by the rates: the trace takes a part of their time."""
_COPYING = ("jax", "dask")
"""The libraries that copy the whole array where elements are assigned; that views are copied is in the rates."""


class Forecast(Record):
    """The time of a run on a device of a library, and its parts.

    Attributes
    ----------
    backend, device : str
    seconds : float
        The whole time, after the first run: without compilation.
    operations : int
        The number of operations.
    launch_s, work_s : float
        What the same number of the smallest operations takes, and the rest of the operations.
    python_s, foreign_s, transfer_s, waits_s : float
        Python of the program itself; functions of other packages; the arguments, results and arrays for other packages;
        numbers that are taken out of arrays.
    """

    backend: str
    device: str
    seconds: float
    operations: int
    launch_s: float
    work_s: float
    python_s: float
    foreign_s: float
    transfer_s: float
    waits_s: float

    @property
    def bound(self) -> str:
        """What takes most of the time."""
        parts = {
            LAUNCH_BOUND: self.launch_s + self.waits_s,
            MEMORY_BOUND: self.work_s,
            PYTHON_BOUND: self.python_s,
            TRANSFER_BOUND: self.transfer_s,
            HOST_BOUND: self.foreign_s,
        }
        return max(parts, key=lambda name: parts[name])

    def text(self) -> str:
        """The forecast in one line, such as ``launch-bound: 40 000 operations of 2 us of work``."""
        work = self.work_s / self.operations * 1e6 if self.operations else 0.0
        count = f"{self.operations:,}".replace(",", " ")
        launch = self.launch_s / self.operations * 1e6 if self.operations else 0.0
        return (
            f"{shown(self.seconds)}, {self.bound}: {count} operations of {work:.2g} us of work and {launch:.2g} us of "
            f"launch each; Python {shown(self.python_s)}, waits {shown(self.waits_s)}, transfers "
            f"{shown(self.transfer_s)}, other packages {shown(self.foreign_s)}"
        )


def shown(seconds: float) -> str:
    """A time with its unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.2g} us"


def forecasts(trace: Trace, rates: Iterable[Rates], *, is_here: bool) -> tuple[Forecast, ...]:
    """The forecast for each of the rates.

    ``is_here``: whether the rates are of this machine. If so, the operations of the run are a limit for NumPy.
    """
    return tuple(_forecast(trace, each, is_measured=is_here and each.backend == "numpy") for each in rates)


def _forecast(trace: Trace, rates: Rates, *, is_measured: bool) -> Forecast:
    """The forecast for one library. Where the run measured it, longer operations take the time that they took."""
    total = launch_s = 0.0
    for operation, count in trace.operations.items():
        seconds = rates.seconds(operation.kind, operation.by_function, _size(operation, rates.backend))
        if is_measured:
            shortest = trace.shortest_s[operation]
            seconds = shortest if shortest > _LONG_S else min(shortest, seconds)
        total += count * seconds
        launch_s += count * min(seconds, rates.smallest(operation.kind, operation.by_function))
    foreign_bytes = sum(nbytes for _, nbytes in trace.foreign.values())
    moved = trace.argument_bytes + trace.result_bytes + foreign_bytes
    transfer_s = moved / rates.transfer_rate if rates.transfer_rate and rates.backend != "numpy" else 0.0
    waits_s = trace.numbers.total() * rates.number_s
    seconds = total + trace.python_s + trace.foreign_s + transfer_s + waits_s
    return Forecast(
        *(rates.backend, rates.device, seconds, trace.calls, launch_s, total - launch_s),
        *(trace.python_s, trace.foreign_s, transfer_s, waits_s),
    )


def _size(operation: Operation, backend: str) -> float:
    """The size by which the rates are ordered: bytes, and additions and multiplications of products."""
    if operation.kind in (record.PRODUCT, record.LINALG):
        return operation.flops
    if operation.kind == record.VIEW or (operation.kind == record.ASSIGNMENT and backend in _COPYING):
        return max(operation.bytes, 2 * operation.whole)
    return operation.bytes
