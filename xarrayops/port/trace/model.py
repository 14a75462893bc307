"""A model of the time of a run on a device that nobody measured, from published figures.

An operation takes the launches of its kernels, and then the longer of its memory traffic and its arithmetic. The
figures of the devices, with their sources, are in devices.json; the number of kernels of each function, as compilers
counted them, and the factor of the ranges are in model.json, which ``benchmarks/port_model.py`` writes. The factor is
the error of the same model for NumPy on a CPU, where the time was measured.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import numpy

from xarrayops._core.numpy_names.renamed import RENAMED
from xarrayops.plugin.arrays import Record
from xarrayops.port.source.value import words
from xarrayops.port.trace import operations
from xarrayops.port.trace.forecast import shown
from xarrayops.port.trace.rates import Rates
from xarrayops.port.trace.record import OF_INDICES, Operation, Trace

_LEAST_SHARE = 0.01
STAYS = "stays"
REACHED, REACHED_HERE = 0.6, 0.75
"""The share of a published and of a measured bandwidth or peak that operations reach."""
LAUNCH_S, WAIT_S = 5e-6, 20e-6
"""A kernel launch and a value that Python waits for. Sources: https://developer.nvidia.com/blog/cuda-graphs/ and
https://developer.nvidia.com/blog/understanding-the-visualization-of-overhead-and-latency-in-nsight-systems/. The same
is assumed for AMD."""
_OF_MATH = 1.25
_PER_BYTE = {
    operations.MATH: _OF_MATH,
    operations.TRIGONOMETRY: 12.0,
    operations.POWER: 3.6,
    operations.REMAINDER: 8.0,
    operations.HISTOGRAM: 17.0,
    operations.RANDOM: 7.0,
    operations.SCAN: 5.0,
    operations.DEVIATION: 2.0,
    operations.COUNT: 2.0,
    **dict.fromkeys((operations.MASKED, operations.FILL, operations.PLACE), 3.0),
    **dict.fromkeys((operations.GATHER, operations.SCATTER, operations.SELECTION), 1.0),
}
"""The arithmetic for each byte, so that NumPy's time on one CPU is about right; `_LESS` for each counted operation."""
_PER_ELEMENT = {
    **dict.fromkeys(("logaddexp", "logaddexp2", "hypot", "floor_divide"), 400.0),
    **dict.fromkeys(("nonzero", "argwhere"), 80.0),
    **dict.fromkeys(("maximum", "minimum", "fmax", "fmin"), 8.0),
}
_PER_COMPARISON = {operations.SORT: 48.0, operations.SEARCH: 150.0, operations.FFT: 30.0}
"""The arithmetic for each element of functions without vector instructions, and for n log2(n) elements."""
_SUM, _ROW = 4.0, 500.0
"""The arithmetic for each element of a reduction on a CPU, and for the begin of each row."""
_COMPOSED = words(
    "allclose average corrcoef cov cross fftn geomspace gradient ifftn irfftn isclose kron linspace logspace median "
    "meshgrid nanmedian nanpercentile nanquantile pad percentile quantile rfftn roll unique"
)
"""Functions that NumPy writes in Python; one takes as long as `_CALLS` of the smallest calls."""
_CALLS = 20
_LESS = {operations.LINALG: 12.0, operations.EIGEN: 50.0, operations.SINGULAR: 60.0, "eig": 150.0, "eigvals": 150.0}
_STEPS = {operations.LINALG: 0.2, operations.EIGEN: 10.0, operations.SINGULAR: 10.0}
"""The kernels for each row of a decomposition, whose steps follow each other: no device hides their launches."""
_PASSES = {operations.GATHER: 3.0, operations.SCATTER: 2.0}
"""How often irregular access reads the memory."""


class Machine(Record):
    """What the model knows of a device.

    Attributes
    ----------
    name, source : str
        The device, and where its figures were published.
    memory : tuple of (float, float)
        Pairs of a size and bytes per second.
    peaks : dict
        Additions and multiplications per second, by dtype; "products" for those of matrix products, and
        "elements" for those without vector instructions.
    launches : Rates or None
        Measured times of the smallest operations; None for `LAUNCH_S` times the number of kernels.
    wait_s, transfer : float
        The time of a value that Python waits for, and bytes per second from and to NumPy; 0 if nothing is copied.
    """

    name: str
    source: str
    memory: tuple[tuple[float, float], ...]
    peaks: dict[str, float]
    launches: Rates | None
    wait_s: float
    transfer: float

    @classmethod
    def published(cls, name: str) -> Machine:
        """A device of devices.json."""
        data = devices()[name]
        peaks = {dtype: data[dtype] for dtype in ("float32", "float64")}
        return cls(data["name"], data["source"], ((0.0, data["memory"]),), peaks, None, WAIT_S, data["transfer"])

    @classmethod
    def of_rates(cls, rates: Rates) -> Machine:
        """The CPU of this machine with NumPy: its measured bandwidth, peaks and smallest calls."""
        memory = tuple((size, size / s) for size, s in rates.points[operations.ELEMENTWISE, False][1:])
        of_math, product = (_fastest(rates, kind) for kind in (operations.MATH, operations.PRODUCT))
        peak = of_math * _OF_MATH
        peaks = {"float64": peak, "float32": 2 * peak, "products": product, "elements": peak}
        return cls(f"{rates.backend} {rates.device}", "measured", memory, peaks, rates, rates.number_s, 0.0)

    def seconds(self, operation: Operation) -> float:
        """The time of an operation."""
        if self.launches is None:
            reached, launch_s = REACHED, LAUNCH_S * kernels_of(operation)
        else:
            reached, launch_s = REACHED_HERE, self.launches.smallest(operation.kind, operation.by_function)
            if operation.name in _COMPOSED:
                launch_s = max(launch_s, _CALLS * self.launches.smallest(operations.ELEMENTWISE, True))
        if operation.kind in OF_INDICES:
            return launch_s
        size = max(operation.bytes, operation.whole if operation.kind in _OF_WHOLE else 0)
        sizes, bandwidths = zip(*self.memory, strict=True)
        memory_s = _PASSES.get(operation.kind, 1.0) * size / float(numpy.interp(size, sizes, bandwidths))
        peak, n = self.peaks[operation.dtype], operation.elements
        of_elements = self.peaks.get("elements", peak)
        work_s = _PER_BYTE.get(operation.kind, 0.1) * size / peak
        if operation.kind in _PER_COMPARISON:
            work_s = _PER_COMPARISON[operation.kind] * n * math.log2(max(n, 2)) / of_elements
        elif operation.name in _PER_ELEMENT:
            work_s = _PER_ELEMENT[operation.name] * n / of_elements
        elif operation.kind == operations.REDUCTION and self.launches is not None:
            work_s = (_SUM * n + _ROW * operation.rows) / of_elements
        if operation.kind in operations.BY_ARITHMETIC:
            of_products = self.peaks.get("products", self.peaks["float64"]) * peak / self.peaks["float64"]
            work_s = _LESS.get(operation.name, _LESS.get(operation.kind, 1.0)) * operation.flops / of_products
        return launch_s + max(memory_s, work_s) / reached


_OF_WHOLE = (operations.MASKED, operations.FILL, operations.PLACE)
"""The kinds that read a whole mask."""


def _fastest(rates: Rates, kind: str) -> float:
    """The largest rate of a kind at all sizes, without the smallest."""
    (points,) = (found for (each, _), found in rates.points.items() if each == kind)
    return max(size / seconds for size, seconds in points[1:])


@cache
def devices() -> dict[str, dict[str, Any]]:
    """The published figures by the name that ``--for`` takes."""
    return dict(json.loads(files(__package__).joinpath("devices.json").read_text(encoding="utf-8")))


@cache
def _counted() -> dict[str, Any]:
    return dict(json.loads(files(__package__).joinpath("model.json").read_text(encoding="utf-8")))


def factor() -> float:
    """By how much the ends of a range differ from the time of the model."""
    return float(_counted()["factor"])


def kernels_of(operation: Operation) -> int:
    """The number of kernels of an operation: as the compilers counted them, one, or those of each step."""
    counted: Mapping[str, int] = _counted()["kernels"]
    if operation.kind in _STEPS:
        return math.ceil(_STEPS[operation.kind] * operation.flops ** (1 / 3))
    return 0 if operation.kind in OF_INDICES else counted.get(RENAMED.get(operation.name, operation.name), 1)


class Modelled(Record):
    """The time of a part of a run on a device according to the model.

    Attributes
    ----------
    device, source : str
        The device, and where its figures were published.
    name : str
        The function of the program, or "the whole run" with its transfers.
    numpy_s : float
        The measured time on NumPy.
    low_s, high_s : float
        The range of the model.
    parts : dict
        The time of the model by what it is spent on.
    """

    device: str
    source: str
    name: str
    numpy_s: float
    low_s: float
    high_s: float
    parts: dict[str, float]

    @property
    def verdict(self) -> str:
        """Whether the part stays on NumPy, pays on the device, or neither can be said."""
        least, most = self.numpy_s / self.high_s, self.numpy_s / self.low_s
        if most <= 1:
            return STAYS
        between = f"{float(f'{least:.2g}'):g} to {float(f'{most:.2g}'):g} times"
        return f"pays by {between}" if least >= 1 else f"cannot be said: {between} as fast"

    def text(self) -> str:
        """The forecast in one line; it says that it is a model."""
        between = f"{shown(self.low_s)} to {shown(self.high_s)}"
        return f"{self.name}: {self.verdict}; model {between}, NumPy {shown(self.numpy_s)} measured here; {self.reason}"

    @property
    def reason(self) -> str:
        """What takes most of the time of the model, with its share."""
        most = max(self.parts, key=lambda name: self.parts[name])
        return f"{most}: {self.parts[most] / (sum(self.parts.values()) or 1.0):.0%} of the time"


def of_functions(trace: Trace, machine: Machine, functions: Mapping[str, Collection[int]]) -> tuple[Modelled, ...]:
    """The whole call, and each function that takes a part of its time, with the lines of each."""
    whole = modelled(trace, machine)
    parts = (modelled(trace, machine, name, lines) for name, lines in functions.items())
    least_s = _LEAST_SHARE * whole.numpy_s, _LEAST_SHARE * whole.low_s
    return whole, *(each for each in parts if each.numpy_s > least_s[0] or each.low_s > least_s[1])


def modelled(
    trace: Trace, machine: Machine, name: str = "the whole run", lines: Collection[int] | None = None
) -> Modelled:
    """The time of a run on a machine, or of the lines of a function in it, whose arrays are on the device already."""
    here = [(each, n) for each, n in trace.operations.items() if lines is None or each.line in lines]
    total = sum(machine.seconds(each) * n for each, n in here)
    smallest = (each._replace(bytes=0, flops=0, whole=0, elements=0, rows=0) for each, _ in here)
    launch_s = sum(machine.seconds(each) * n for each, (_, n) in zip(smallest, here, strict=True))
    numbers = sum(n for line, n in trace.numbers.items() if lines is None or line in lines)
    share = 1.0 if lines is None else sum(n for _, n in here) / (trace.calls or 1)
    foreign = [each for line, each in trace.foreign.items() if lines is None or line in lines]
    foreign_s = sum(s for line, s in trace.line_foreign_s.items() if lines is None or line in lines)
    nbytes = sum(each for _, each in foreign)
    nbytes += trace.argument_bytes + trace.result_bytes if lines is None else 0
    own_s = sum(s for line, s in trace.line_s.items() if lines is None or line in lines)
    python_s = share * trace.python_s
    counted_s = (trace.operation_s + trace.python_s + trace.foreign_s) or 1.0
    scale = 1.0 if trace.plain_s is None else trace.plain_s / counted_s
    numpy_s = scale * (own_s + python_s + foreign_s)
    parts = {
        "launches of kernels": launch_s,
        "memory and arithmetic": total - launch_s,
        "waits for values": numbers * machine.wait_s,
        "transfers": nbytes / machine.transfer if machine.transfer else 0.0,
        "Python of the program": min(scale, 1.0) * python_s,
        "other packages": min(scale, 1.0) * foreign_s,
    }
    seconds = max(sum(parts.values()), 1e-9)
    return Modelled(machine.name, machine.source, name, numpy_s, seconds / factor(), seconds * factor(), parts)
