"""The time of each kind of operation on a library: measured here, or read from benchmark results."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy

from xarrayops.bench.results import Results
from xarrayops.plugin.arrays import Record
from xarrayops.port.source import PortError
from xarrayops.port.trace import kept, operations

Points = tuple[tuple[float, float], ...]
"""Pairs of a size and the seconds that an operation of that size takes, by increasing size."""
_TIMEOUT_S = 300
_MEASURE = """import json, sys
from xarrayops.port.trace.operations import measure_operations
print(json.dumps(measure_operations(sys.argv[1], kinds=sys.argv[2:])))"""
"""The program of a process that measures a library."""


class Rates(Record):
    """The time of operations on a device of a library.

    Attributes
    ----------
    backend, device : str
        The library, and the name of the device.
    points : dict
        By the kind of operation, and whether it is called as a function of `xarrayops.numpy`: times by size. Sizes are
        bytes, of products and decompositions additions and multiplications.
    number_s : float
        The time to convert an element of an existing array to a Python number.
    transfer_rate : float or None
        Bytes per second from NumPy to the device; None if nothing is copied or the rate is unknown.
    is_coarse : bool
        Whether only the smallest call and the roofline were measured, so that all kinds have the same times.
    measured : str
        The day on which this machine was measured; empty for results of the benchmark.
    """

    backend: str
    device: str
    points: dict[tuple[str, bool], Points]
    number_s: float
    transfer_rate: float | None
    is_coarse: bool = False
    measured: str = ""

    def seconds(self, kind: str, by_function: bool, size: float) -> float:
        """The time of an operation: interpolated between measured sizes, proportional beyond them.

        For a kind that was measured as a function only, operators and methods take less by their arithmetic.
        """
        if (kind, by_function) in self.points:
            return _at(self.points[kind, by_function], size)
        if (kind, not by_function) not in self.points:  # the library does not have it
            return self.seconds(operations.ELEMENTWISE, by_function, size)
        seconds = _at(self.points[kind, not by_function], size)
        operator, function = (self.points.get((operations.ELEMENTWISE, each)) for each in (False, True))
        if operator is None or function is None:
            return seconds
        more = function[0][1] - operator[0][1]
        return max(seconds + (more if by_function else -more), operator[0][1])

    def smallest(self, kind: str, by_function: bool) -> float:
        """The time of the smallest operation, which is its launch."""
        return self.seconds(kind, by_function, 0.0)


def _at(points: Points, size: float) -> float:
    """The time at a size."""
    sizes, seconds = zip(*points, strict=True)
    if size > sizes[-1] and len(points) > 1:
        return float(seconds[-1] * size / sizes[-1])
    return float(numpy.interp(size, sizes, seconds))


def measured(
    backends: Sequence[str], kinds: Iterable[str], *, anew: bool = False
) -> tuple[tuple[Rates, ...], dict[str, str]]:
    """The rates of libraries on this machine, each measured in its own process, and why other libraries have none.

    Only these kinds of operations are measured, and kept for later runs: those that are kept are measured again with
    ``anew`` only. Progress is printed to stderr, because it takes a while.
    """
    found, missing, today, kinds = [], {}, date.today(), [*kinds]
    for backend in backends:
        path = kept.path_of(backend)
        data = None if anew else kept.read(path, today)
        lacking = [kind for kind in kinds if data is None or kind not in data["kinds"]]
        if data is None or lacking:
            print(f"measuring {backend} ...", file=sys.stderr)
            new = _measured(backend, lacking)
            if isinstance(new, str):
                missing[backend] = new
                continue
            data = kept.write(path, new, lacking, data, today)
        found.append(_read(backend, data))
    return tuple(found), missing


def _measured(backend: str, kinds: Sequence[str]) -> dict[str, Any] | str:
    """What a process measures of a library, or why it fails."""
    command = [sys.executable, "-c", _MEASURE, backend, *kinds]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"its measurement took more than {_TIMEOUT_S} s"
    return _reason(ended.stderr) if ended.returncode else dict(json.loads(ended.stdout.splitlines()[-1]))


def _reason(errors: str) -> str:
    """The last error line of a process, without the name of our exception class."""
    last = (errors.strip().splitlines() or ["its measurement failed"])[-1]
    return last.partition(": ")[2] if last.startswith("xarrayops.errors.") else last


def of_results(folder: Path, backends: Sequence[str]) -> tuple[tuple[Rates, ...], dict[str, str]]:
    """The rates in a folder of results of ``python -m xarrayops.bench --all``, and why other libraries have none.

    Another machine may have measured them. If a run did not measure the kinds of operations, the rates come from the
    smallest call and the roofline, and are marked as coarse.

    Raises
    ------
    PortError
        The folder has no such results.
    """
    try:
        results = Results.read(folder)
    except ValueError as error:
        raise PortError(
            f"{error}. Instead: run python -m xarrayops.bench --all --out {folder} on that machine"
        ) from None
    measured_there = (_read(each["backend"], each) for each in results.environment.get("operations", ()))
    known = {(each.backend, each.device): each for each in measured_there}
    coarse = (each for each in _of_launches(results) if (each.backend, each.device) not in known)
    each_of = (*known.values(), *coarse)
    found = tuple(each for backend in backends for each in each_of if each.backend == backend)
    if not found:
        raise PortError(f"{folder} has no measured rooflines. Instead: run python -m xarrayops.bench --all again")
    missing = set(backends) - {each.backend for each in found}
    return found, {backend: f"{folder} has no results of it" for backend in backends if backend in missing}


def _of_launches(results: Results) -> Iterator[Rates]:
    """Rates from the smallest call of each library and the rooflines of its device."""
    for place, launch_s in results.environment.get("launch_s", {}).items():
        backend, _, device = place.partition(" ")
        index = device.rpartition(":")[2] if device.rpartition(":")[2].isdigit() else "0"
        kind = "cpu" if device.startswith("cpu") else f"{device.partition(':')[0]}:{index}"
        roof = next((r for r in results.environment["roofs"] if r["device"] == kind and "compute" in r), None)
        if roof is None:
            continue
        by_bytes = tuple(
            (float(n), launch_s + int(n) / rate)
            for n, rate in sorted(roof["memory_by_bytes"].items(), key=lambda p: int(p[0]))
        )
        moved: Points = ((0.0, launch_s), *by_bytes)
        computed: Points = ((0.0, launch_s), (roof["compute"], launch_s + 1.0))
        points = {(each, False): computed if each in operations.BY_ARITHMETIC else moved for each in operations.KINDS}
        points[operations.VIEW, False] = points[operations.ELEMENT, False] = ((0.0, launch_s),)
        transfers = (row for row in results.rows if row.workload == "convert from NumPy" and row.place == place)
        known = ((row.nbytes, row.median_s) for row in transfers if row.measured)
        transfer_rate = next((nbytes / seconds for nbytes, seconds in known if nbytes and seconds), None)
        yield Rates(backend, device, points, launch_s, transfer_rate, is_coarse=True)


def _read(backend: str, data: dict[str, Any]) -> Rates:
    """The rates from the result of `xarrayops.port.trace.operations.measure_operations`."""
    points = {(kind, by_function): tuple(map(tuple, found)) for kind, by_function, found in data["operations"]}
    known = data["device"], points, data["number_s"], data["transfer_rate"]
    return Rates(backend, *known, measured=data.get("measured", ""))
