"""What a workload is: a function to time, its inputs, and the answer that it must give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xarrayops.plugin import Array

SIZES = ("toy", "default", "large")
"""toy: for tests of the benchmark itself; default: seconds on two cores; large: for accelerators and big machines."""

Shapes = tuple[tuple[int, ...], ...]


class MissingData(Exception):
    """The data of a workload are not here: the reason, and the command that brings them."""

    def __init__(self, reason: str, fix: str) -> None:
        super().__init__(reason)
        self.fix = fix


@dataclass(frozen=True)
class Case:
    """A workload at one dtype and size.

    Attributes
    ----------
    inputs : tuple of numpy.ndarray
        In the dtype that is measured. They are converted to each library before the clock starts.
    expected : tuple of numpy.ndarray
        The answer from these very inputs, computed in float64: one array per result.
    tolerance : float
        The largest error that passes, as a part of the largest magnitude in each result.
    operations : float
        Floating-point operations that the task needs.
    nbytes : float
        Bytes that the task must move at least: each input read once, each result written once.
    """

    inputs: tuple[Any, ...]
    expected: tuple[Any, ...]
    tolerance: float
    operations: float
    nbytes: float


@dataclass(frozen=True)
class Workload:
    """Something to time on every backend.

    Attributes
    ----------
    name : str
        As ``--workloads`` takes it.
    timed : str
        What lies between the two readings of the clock, for people.
    function : callable
        Takes the inputs, gives one array or a tuple of arrays; written with xarrayops alone.
    shapes : callable
        The shapes of the inputs at a size, without making them.
    prepare : callable
        ``prepare(dtype, size)`` makes the `Case`, the same one every time. Raises `MissingData`.
    unit : str
        What throughput counts: "FLOP/s" or "B/s".
    """

    name: str
    timed: str
    function: Callable[..., Array]
    shapes: Callable[[str], Shapes]
    prepare: Callable[[str, str], Case]
    unit: str
