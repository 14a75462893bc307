"""The time that a run would take on each library, from its counts and from measured rates."""

from __future__ import annotations

from collections.abc import Iterable

from xarrayops._system.texts import counted
from xarrayops.plugin.arrays import Record
from xarrayops.port.trace import operations
from xarrayops.port.trace.rates import Rates
from xarrayops.port.trace.record import OF_INDICES, Operation, Trace

LAUNCH_BOUND, MEMORY_BOUND, PYTHON_BOUND, TRANSFER_BOUND, HOST_BOUND = (
    *("launch-bound", "bound by its operations", "bound by Python", "bound by transfers", "bound by other packages"),
)
_COPYING = ("jax", "dask")
"""The libraries that copy the whole array in an assignment to elements. The rates include copies of views."""
_ALWAYS = (operations.ELEMENTWISE, operations.VECTOR_PRODUCT, operations.GATHER, operations.ASSIGNMENT)
"""The kinds that are always measured: the times of other kinds are computed from theirs."""
_WRITES = (operations.ASSIGNMENT, operations.SCATTER, operations.FILL, operations.PLACE)


class Forecast(Record):
    """The time of a run on a device of a library, and its parts.

    Attributes
    ----------
    backend, device : str
    seconds : float
        The total time of a later run, without compilation.
    operations : int
        The number of operations.
    launch_s, work_s : float
        The time of the same number of smallest operations, and the rest of the time of the operations.
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
        work, launch = (shown(each / max(self.operations, 1)) for each in (self.work_s, self.launch_s))
        return (
            f"{shown(self.seconds)}, {self.bound}: {counted(self.operations, 'operation')} of {work} of work and "
            f"{launch} of launch each; Python {shown(self.python_s)}, waits {shown(self.waits_s)}, transfers "
            f"{shown(self.transfer_s)}, other packages {shown(self.foreign_s)}"
        )


def shown(seconds: float) -> str:
    """A time with its unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.2g} us"


def forecasts(trace: Trace, rates: Iterable[Rates], *, is_here: bool) -> tuple[Forecast, ...]:
    """The forecast for each of the rates. With ``is_here`` they are of this machine: the time on NumPy is measured."""
    return tuple(_forecast(trace, each, is_here=is_here) for each in rates)


def kinds_of(trace: Trace) -> list[str]:
    """The kinds of operations whose rates the forecast needs."""
    return [kind for kind in operations.KINDS if kind in {*_ALWAYS, *(each.kind for each in trace.operations)}]


def _forecast(trace: Trace, rates: Rates, *, is_here: bool) -> Forecast:
    """The forecast for one library. On this machine, the time on NumPy is measured."""
    total = launch_s = 0.0
    for operation, count in trace.operations.items():
        seconds = _seconds(operation, rates)
        total += count * seconds
        launch_s += count * min(seconds, rates.smallest(operation.kind, operation.by_function))
    others_s = trace.python_s + trace.foreign_s
    foreign_bytes = sum(nbytes for _, nbytes in trace.foreign.values())
    moved = trace.argument_bytes + trace.result_bytes + foreign_bytes
    transfer_s = moved / rates.transfer_rate if rates.transfer_rate and rates.backend != "numpy" else 0.0
    waits_s = trace.numbers.total() * rates.number_s
    if is_here and rates.backend == "numpy" and trace.plain_s is not None:
        share = max(trace.plain_s - others_s, 0.0) / ((total + waits_s) or 1.0)
        total, launch_s, waits_s = share * total, share * launch_s, share * waits_s
    seconds = total + others_s + transfer_s + waits_s
    return Forecast(
        *(rates.backend, rates.device, seconds, trace.calls, launch_s, total - launch_s),
        *(trace.python_s, trace.foreign_s, transfer_s, waits_s),
    )


def _seconds(operation: Operation, rates: Rates) -> float:
    """The time of one operation."""
    kind, by_function = operation.kind, operation.by_function
    seconds = rates.seconds(kind, by_function, size_of(operation))
    if kind == operations.PRODUCT:  # operands are packed before the arithmetic
        return seconds + _work(operations.VECTOR_PRODUCT, by_function, operation.bytes, rates)
    if kind == operations.MASKED:  # the mask is searched, and then elements are taken
        return seconds + _work(operations.GATHER, by_function, operation.bytes, rates)
    if kind in _WRITES and rates.backend in _COPYING:
        return max(seconds, rates.seconds(operations.ASSIGNMENT, False, 2 * operation.whole))
    return seconds


def _work(kind: str, by_function: bool, size: float, rates: Rates) -> float:
    """The time of an operation without its launch."""
    return rates.seconds(kind, by_function, size) - rates.smallest(kind, by_function)


def size_of(operation: Operation) -> float:
    """The size by which the rates are ordered, as in the samples of `xarrayops.port.trace.operations`."""
    if operation.kind in operations.BY_ARITHMETIC:
        return operation.flops
    if operation.kind in (operations.MASKED, operations.FILL, operations.PLACE):  # the whole mask is read
        return max(operation.whole, operation.bytes)
    return 2 * operation.whole if operation.kind in OF_INDICES else operation.bytes
