"""The measured roofline of a device: its rates of copying memory and of multiplying matrices.

No rate is reported for an unchecked answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import xarrayops as xo
from xarrayops._system import machine
from xarrayops.bench.measure.answers import WrongAnswer
from xarrayops.bench.measure.timing import calls_per_reading, timed
from xarrayops.bench.place import Place
from xarrayops.bench.workload import epsilon, native_dtype

_LONG_ENOUGH_S = 0.01
_MEASURE_S = 0.08
_COPY_BYTES = (1 << 20, 4 << 20, 16 << 20, 64 << 20)
_LARGEST_COPY = 512 << 20  # larger than the caches of most devices
_ORDER = (256, 8192)  # smallest and largest
_STREAMS: tuple[tuple[Callable[[Any], Any], float], ...] = (
    (lambda x: xo.add(x, 1.0), 2.0),
    (lambda x: xo.at(x)[...].max(0.0, copy=None), 1.0),
)
"""Functions that read and write each byte once, each with its result for ones; the second works in place if it can."""


class Roofline(NamedTuple):
    """The limits of a device: operations per second, and bytes per second by the number of bytes moved.

    Small amounts of data stay in caches, so several sizes have their own rates.
    """

    compute: float
    memory: dict[int, float]

    def memory_rate(self, nbytes: float) -> float:
        """The rate for a task that moves this many bytes: the best among the next smaller size and all larger ones.

        Larger sizes count because small ones may be limited by the launch.
        """
        floor = max((size for size in self.memory if size <= nbytes), default=min(self.memory))
        return max(rate for size, rate in self.memory.items() if size >= floor)

    @classmethod
    def best(cls, reached: Iterable[Roofline]) -> Roofline:
        """The best rates of several libraries on a device, or of several measurements."""
        reached = list(reached)
        compute = max((each.compute for each in reached), default=0.0)
        sizes = {nbytes for each in reached for nbytes in each.memory}
        return cls(compute, {nbytes: max(each.memory.get(nbytes, 0.0) for each in reached) for nbytes in sizes})

    @property
    def known(self) -> bool:
        """Whether both kinds of rate were measured."""
        return bool(self.compute and self.memory)

    @classmethod
    def of(cls, rates: Mapping[str, Any]) -> Roofline:
        """The result of `measure_roofline`. JSON turns the byte counts into strings; here they are integers again."""
        return cls(rates.get("compute", 0.0), {int(n): rate for n, rate in rates.get("memory", {}).items()})


RooflineKey = tuple[str, int, str]
"""A kind of device, its index, and a dtype."""


def device_name(kind: str, index: int) -> str:
    """The name of a device, independent of the library: JAX calls the CPU "cpu:0", torch calls a ROCm GPU "cuda:0"."""
    return kind if kind in ("", "cpu") else f"{kind}:{index}"


class MeasuredRooflines:
    """The rates that `measure_roofline` found, by device, dtype and library."""

    def __init__(self) -> None:
        self._rooflines: dict[RooflineKey, dict[str, Roofline]] = {}
        self._failures: dict[RooflineKey, dict[str, str]] = {}

    def knows(self, key: RooflineKey, backend: str) -> bool:
        """Whether the library has answered."""
        return backend in self._rooflines.get(key, {})

    def add(self, key: RooflineKey, backend: str, answer: Mapping[str, Any]) -> None:
        """Add an answer of a library. Of repeated measurements, the best counts."""
        known = self._rooflines.setdefault(key, {})
        known[backend] = Roofline.best((known.get(backend, Roofline.of({})), Roofline.of(answer)))
        if answer["status"] != "ok":
            self._failures.setdefault(key, {})[backend] = f"{answer['status']}: {answer['reason']}"

    def best(self, key: RooflineKey) -> Roofline | None:
        """The best rates of all libraries; None unless both kinds of rate are known."""
        best = Roofline.best(self._rooflines.get(key, {}).values())
        return best if best.known else None

    def described(self, devices: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """For the reports: the best rates, the libraries that reached them, and the rated memory bandwidth.

        Libraries whose measurement failed are under "failed", each with the reason.
        """
        attributes: dict[tuple[str, int], dict[str, Any]] = {}
        for device in devices:
            attributes.setdefault((device["kind"], device["index"]), {}).update(device["attributes"])
        found = []
        for key, by in self._rooflines.items():
            kind, index, dtype = key
            known: dict[str, Any] = {"device": device_name(kind, index), "dtype": dtype}
            if (rated := rated_memory(attributes.get((kind, index), {}))) is not None:
                known["memory_rated"] = rated
            if key in self._failures:
                known["failed"] = self._failures[key]
            best = Roofline.best(by.values())
            if best.known:
                largest = max(best.memory)
                known |= {
                    "memory": best.memory[largest],
                    "memory_by": max(by, key=lambda name: by[name].memory.get(largest, 0.0)),
                    "memory_by_bytes": {str(nbytes): rate for nbytes, rate in sorted(best.memory.items())},
                    "compute": best.compute,
                    "compute_by": max(by, key=lambda name: by[name].compute),
                }
            found.append(known)
        return found


def rated_memory(attributes: Mapping[str, Any]) -> float | None:
    """The rated memory bandwidth of a device in bytes per second: two transfers per line and clock cycle."""
    clock, bits = attributes.get("memory_clock_hz"), attributes.get("memory_bus_bits")
    return 2.0 * clock * bits / 8 if clock and bits else None


def measure_roofline(place: Place, dtype: str) -> dict[str, Any]:
    """The best rates of this library on a device: "memory" in B/s by bytes moved, and "compute" in FLOP/s.

    The memory rate comes from ``x + 1``, which reads and writes each byte once, from ``max(x, 0)`` in place, which
    needs half the cache, and on the host also from plain copies on all cores into mapped memory. The compute rate comes
    from products of square matrices, whose order doubles until a call takes 10 ms. Rates with a wrong answer are left
    out.
    """
    rates: dict[str, Any] = {"memory": {}}
    with suppress(WrongAnswer):
        rates["compute"] = product_rate(place, dtype)
    copies: list[Callable[[int], float]] = [partial(stream_rate, *stream, place, dtype) for stream in _STREAMS]
    if place.kind == "cpu":
        copies.append(host_copy_rate)
    for nbytes in _COPY_BYTES if place.kind == "cpu" else (*_COPY_BYTES, _LARGEST_COPY):
        for rate in copies:
            with suppress(WrongAnswer):
                rates["memory"][nbytes] = max(rate(nbytes), rates["memory"].get(nbytes, 0.0))
    return rates


def stream_rate(function: Callable[[Any], Any], result: float, place: Place, dtype: str, nbytes: int) -> float:
    """Bytes moved per second by a function of ones with this result: half are read, half are written."""
    x = _filled(nbytes // 2 // native_dtype(dtype).itemsize, 1.0, place, dtype)
    seconds, results = _best(_reading(function, x))
    _require(results, result, 0.0)
    return nbytes / seconds


def _reading(function: Callable[..., Any], *arguments: Any) -> Callable[[], tuple[float, tuple[Any, ...]]]:
    """A function that times calls in the same way as the calls of cells."""
    calls = 1 if xo.is_lazy(arguments[0]) else calls_per_reading(function, arguments)
    return partial(timed, function, arguments, calls)


def product_rate(place: Place, dtype: str) -> float:
    """Operations per second of a product in the full precision of the dtype.

    One matrix is filled with 1, the other with 1 plus an offset that half the bits of the dtype cannot represent. Their
    sums are exact, so an answer without the offset was computed in TF32 or less.
    """
    offset = 2.0 ** -(round(-math.log2(epsilon(dtype))) // 2)
    n, largest = _ORDER
    best = 0.0
    while True:
        matrices = [_filled((n, n), value, place, dtype) for value in (1.0, 1.0 + offset)]
        seconds, product = _best(_reading(xo.matmul, *matrices))
        _require(product, n * (1.0 + offset), n * offset / 4)
        best = max(best, 2.0 * n**3 / seconds)
        if seconds >= _LONG_ENOUGH_S or n >= largest:
            return best
        n *= 2


def host_copy_rate(nbytes: int) -> float:
    """Bytes moved per second by `numpy.copyto` in one thread per core: half are read, half are written."""
    threads = len(machine.usable_cpus())
    source = np.ones(nbytes // 2, dtype=np.uint8)
    target = np.zeros_like(source)
    pairs = list(zip(np.array_split(target, threads), np.array_split(source, threads), strict=True))
    with ThreadPoolExecutor(threads) as pool:

        def copy() -> tuple[float, tuple[Any, ...]]:
            start = perf_counter()
            list(pool.map(lambda pair: np.copyto(*pair), pairs))
            return perf_counter() - start, (target,)

        seconds, copied = _best(copy)
    _require(copied, 1.0, 0.0)
    return nbytes / seconds


def _filled(shape: Any, value: float, place: Place, dtype: str) -> Any:
    """A constant array, converted from NumPy: a lazy array would be filled again in every call."""
    return xo.convert(np.full(shape, value, dtype=native_dtype(dtype)), place.backend, device=place.device)


def _require(results: tuple[Any, ...], value: float, tolerance: float) -> None:
    """Raise `WrongAnswer` unless every entry has this value; NaN fails."""
    got = xo.convert(results[0], "numpy")
    if not value - tolerance <= float(got.min()) <= float(got.max()) <= value + tolerance:
        raise WrongAnswer(f"entries from {got.min()} to {got.max()} instead of {value}")


def _best(call: Callable[[], tuple[float, tuple[Any, ...]]]) -> tuple[float, tuple[Any, ...]]:
    """The shortest of several calls, and the last results. A roofline is the best case, not the typical one."""
    call()
    best, results = call()
    start = perf_counter()
    while perf_counter() - start < _MEASURE_S:
        results = ()
        seconds, results = call()
        best = min(best, seconds)
    return best, results
