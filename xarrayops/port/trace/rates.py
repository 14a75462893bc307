"""The time of each kind of operation on a library: measured here, or from results of the benchmark elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy

from xarrayops._protocol.records import Record
from xarrayops.bench.results import Results
from xarrayops.port.source import PortError
from xarrayops.port.trace import record

Points = tuple[tuple[float, float], ...]
"""Pairs of a size and the seconds that an operation of that size takes, by increasing size."""
_LENGTHS = (16, 4096, 1 << 18, 1 << 21)
_ORDERS = (8, 64, 512)
_TIMEOUT_S = 120
_TRIALS = 5
_ALIVE = 4
"""Results that exist at the same time, as in programs: the memory of the last one is not in the caches."""


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
        The time to take a number out of an array that is there already.
    transfer_rate : float or None
        Bytes per second from NumPy to the device; None where nothing is copied or where it is unknown.
    """

    backend: str
    device: str
    points: dict[tuple[str, bool], Points]
    number_s: float
    transfer_rate: float | None

    def seconds(self, kind: str, by_function: bool, size: float) -> float:
        """The time of an operation: between measured sizes on a line, beyond them in proportion."""
        points = self.points.get((kind, by_function)) or self.points[kind, not by_function]
        low = points[0]
        if size <= low[0] or len(points) == 1:
            return low[1]
        for high in points[1:]:
            if size <= high[0]:
                return low[1] + (high[1] - low[1]) * (size - low[0]) / (high[0] - low[0])
            low = high
        return low[1] * size / low[0]

    def smallest(self, kind: str, by_function: bool) -> float:
        """The time of the smallest operation, which is its launch."""
        return self.seconds(kind, by_function, 0.0)


def measured(backends: Sequence[str]) -> Iterator[Rates]:
    """The rates of libraries on this machine, each measured in its own process; those that are missing are left out."""
    for backend in backends:
        command = [sys.executable, "-m", "xarrayops.port.trace.rates", backend]
        try:
            found = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True).stdout
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            continue
        yield _read(json.loads(found.splitlines()[-1]))


def of_results(folder: Path) -> tuple[Rates, ...]:
    """The rates in a folder of results of ``python -m xarrayops.bench``, which another machine may have measured.

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
    found = tuple(_of_launches(results))
    if not found:
        raise PortError(f"{folder} has no measured rooflines. Instead: run python -m xarrayops.bench --all again")
    return found


def _of_launches(results: Results) -> Iterator[Rates]:
    """Rates from the smallest call of each library, and from the rooflines of its device."""
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
        points = {
            (each, by_function): computed if each in (record.PRODUCT, record.LINALG) else moved
            for each in record.KINDS
            for by_function in (False, True)
        }
        points[record.VIEW, False] = points[record.VIEW, True] = ((0.0, launch_s),)
        yield Rates(backend, device, points, launch_s, _transfer_rate(results, place))


def _transfer_rate(results: Results, place: str) -> float | None:
    rows = (row for row in results.rows if row.workload == "convert from NumPy" and row.place == place and row.measured)
    return next((row.nbytes / row.median_s for row in rows if row.nbytes and row.median_s), None)


def measure(backend: str) -> dict[str, Any]:
    """Measure a library on its default device: the times of each kind of operation by size, as plain data.

    Functions are those of `xarrayops.numpy`, and for NumPy its own: the program itself before a port.
    """
    import xarrayops as xo

    np = numpy if backend == "numpy" else import_module("xarrayops.numpy")
    from xarrayops.bench.measure.timing import calls_per_reading, timed

    if backend == "jax":
        import_module("jax").config.update("jax_enable_x64", True)

    def seconds(function: Callable[..., Any], *arguments: Any) -> float:
        alive: deque[Any] = deque(maxlen=_ALIVE)

        def called(*arguments: Any) -> Any:
            result = function(*arguments)
            alive.append(result)
            return result

        called(*arguments)
        calls = calls_per_reading(called, arguments)
        return min(timed(called, arguments, calls)[0] for _ in range(_TRIALS))

    def moved(x: Any) -> Any:
        return xo.convert(x, backend)

    points: dict[tuple[str, bool], list[tuple[float, float]]] = {}
    for length in _LENGTHS:
        host = numpy.linspace(0.5, 1.5, length)
        x, y = moved(host), moved(host[::-1].copy())
        permutation = numpy.random.default_rng(0).permutation(length)
        index, shuffled = moved(permutation), moved(host[permutation])
        for kind, by_function, bytes_per_element, function, *arguments in (
            (record.ELEMENTWISE, False, 24, lambda x, y: x + y, x, y),
            (record.ELEMENTWISE, True, 24, np.add, x, y),
            (record.MATH, False, 16, lambda x: x**2, x),
            (record.MATH, True, 16, np.exp, x),
            (record.TRIGONOMETRY, True, 16, np.sin, x),
            (record.REDUCTION, False, 8, lambda x: x.sum(), x),
            (record.REDUCTION, True, 8, np.sum, x),
            (record.VIEW, False, 16, lambda x: x[1:-1], x),
            (record.VIEW, True, 16, lambda x: np.reshape(x, (-1, 2)), x),
            (record.GATHER, False, 24, lambda x, i: x[i], x, index),
            (record.GATHER, True, 32, lambda x, y: np.concatenate([x, y]), x, y),
            (record.ASSIGNMENT, False, 16, _assignment(backend), x, y),
            (record.CREATION, True, 8, lambda n: np.zeros(n), length),
            (record.SORT, True, 16, np.sort, shuffled),
        ):
            with xo.use(backend):
                time = seconds(function, *arguments)
            points.setdefault((kind, by_function), []).append((float(bytes_per_element * length), time))
    for order in _ORDERS:
        a = moved(numpy.eye(order) + 1.0 / order)
        for kind, function, flops in (
            (record.PRODUCT, lambda a: a @ a, 2 * order**3),
            (record.LINALG, lambda a: np.linalg.solve(a, a), order**3),
        ):
            points.setdefault((kind, False), []).append((float(flops), seconds(function, a)))
    one = moved(numpy.ones(()))
    large = numpy.ones(_LENGTHS[-1])
    copied = seconds(lambda x: xo.convert(x, backend, copy=True), large) if backend != "numpy" else None
    device = str(xo.device(one))
    return {
        "backend": backend,
        "device": device,
        "points": [[kind, by_function, found] for (kind, by_function), found in points.items()],
        "number_s": seconds(lambda x: float(x) * one, one) - seconds(lambda x: x * one, one),
        "transfer_rate": None if copied is None or device.startswith("cpu") else large.nbytes / copied,
    }


def _assignment(backend: str) -> Callable[[Any, Any], Any]:
    """The assignment of most elements: a new array where arrays cannot change."""
    import xarrayops as xo

    def replaced(x: Any, y: Any) -> Any:
        return xo.at(x)[1:-1].set(y[1:-1])

    def changed(x: Any, y: Any) -> Any:
        x[1:-1] = y[1:-1]
        return x

    return replaced if backend in ("jax", "dask") else changed


def _read(data: dict[str, Any]) -> Rates:
    points = {(kind, by_function): tuple(map(tuple, found)) for kind, by_function, found in data["points"]}
    number_s = max(data["number_s"], 0.0)
    return Rates(data["backend"], data["device"], points, number_s, data["transfer_rate"])


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
