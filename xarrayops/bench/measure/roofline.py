"""The two roofs of a device, found by running on it: how fast it copies, and how fast it multiplies matrices.

No rate without a checked answer.
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
from xarrayops.bench.measure.oracle import WrongAnswer
from xarrayops.bench.measure.timing import calls_per_reading, timed
from xarrayops.bench.place import Place
from xarrayops.bench.workload import epsilon, native_dtype

_LONG_ENOUGH_S = 0.01
_PROBE_S = 0.08
_COPY_BYTES = (1 << 20, 4 << 20, 16 << 20, 64 << 20)
_LARGEST_COPY = 512 << 20  # beyond the caches of most devices
_ORDER = (256, 8192)  # first and largest


class Roofs(NamedTuple):
    """What a device allows: operations per second, and bytes per second by how many bytes are moved.

    What is moved in small pieces stays in caches, so several sizes have rates of their own.
    """

    compute: float
    memory: dict[int, float]

    def memory_rate(self, nbytes: float) -> float:
        """For a task that moves so many bytes: the best of the largest probe that is no larger and of the larger ones.

        Small probes may be held up by the launch, so that larger ones show the better rate.
        """
        floor = max((size for size in self.memory if size <= nbytes), default=min(self.memory))
        return max(rate for size, rate in self.memory.items() if size >= floor)

    @classmethod
    def best(cls, reached: Iterable[Roofs]) -> Roofs:
        """The best that libraries reached on a device, or one library in several probes."""
        reached = list(reached)
        compute = max((each.compute for each in reached), default=0.0)
        sizes = {nbytes for each in reached for nbytes in each.memory}
        return cls(compute, {nbytes: max(each.memory.get(nbytes, 0.0) for each in reached) for nbytes in sizes})

    @property
    def known(self) -> bool:
        """Whether there are rates of both kinds."""
        return bool(self.compute and self.memory)

    @classmethod
    def of(cls, rates: Mapping[str, Any]) -> Roofs:
        """What `probe` found, if anything; the bytes are numbers again, where JSON made them names."""
        return cls(rates.get("compute", 0.0), {int(n): rate for n, rate in rates.get("memory", {}).items()})


def rated_memory(attributes: Mapping[str, Any]) -> float | None:
    """Bytes per second that a device's memory is built for: two transfers on each wire in each cycle of its clock."""
    clock, bits = attributes.get("memory_clock_hz"), attributes.get("memory_bus_bits")
    return 2.0 * clock * bits / 8 if clock and bits else None


def probe(place: Place, dtype: str) -> dict[str, Any]:
    """The best rates that this library reached on a device: "memory" in B/s by bytes moved and "compute" in FLOP/s.

    ``x + 1`` reads and writes each byte once, and so does ``max(x, 0)`` in place, of which caches hold twice as much;
    on the host, plain copies on all cores are tried too, into memory that is mapped already. The product is of square
    matrices, doubled in order until a call takes 10 ms. A rate whose answer is wrong is left out.
    """
    rates: dict[str, Any] = {"memory": {}}
    with suppress(WrongAnswer):
        rates["compute"] = product_rate(place, dtype)
    probes: list[Callable[[int], float]] = [partial(sum_rate, place, dtype), partial(update_rate, place, dtype)]
    if place.kind == "cpu":
        probes.append(host_copy_rate)
    for nbytes in _COPY_BYTES if place.kind == "cpu" else (*_COPY_BYTES, _LARGEST_COPY):
        for rate in probes:
            with suppress(WrongAnswer):
                rates["memory"][nbytes] = max(rate(nbytes), rates["memory"].get(nbytes, 0.0))
    return rates


def sum_rate(place: Place, dtype: str, nbytes: int) -> float:
    """Bytes moved per second by ``x + 1``: half of them read, half written."""
    x = _filled(nbytes // 2 // native_dtype(dtype).itemsize, 1.0, place, dtype)
    seconds, raised = _best(_reading(xo.add, x, 1.0))
    _demand(raised, 2.0, 0.0)
    return nbytes / seconds


def update_rate(place: Place, dtype: str, nbytes: int) -> float:
    """The same by ``max(x, 0)`` in place, where the library can."""
    x = _filled(nbytes // 2 // native_dtype(dtype).itemsize, 1.0, place, dtype)
    seconds, held = _best(_reading(lambda x: xo.at(x)[...].max(0.0), x))
    _demand(held, 1.0, 0.0)
    return nbytes / seconds


def _reading(function: Callable[..., Any], *arguments: Any) -> Callable[[], tuple[float, tuple[Any, ...]]]:
    """Times a call as the calls of cells are timed."""
    calls = 1 if xo.is_lazy(arguments[0]) else calls_per_reading(function, arguments)
    return partial(timed, function, arguments, calls)


def product_rate(place: Place, dtype: str) -> float:
    """Operations per second of a product in the full precision of the dtype.

    One matrix is all ones. The entries of the other are a little more than one, by so little that half the bits of the
    dtype lose it, and their sums are exact: an answer without it was computed in TF32 or less.
    """
    little = 2.0 ** -(round(-math.log2(epsilon(dtype))) // 2)
    n, largest = _ORDER
    best = 0.0
    while True:
        matrices = [_filled((n, n), value, place, dtype) for value in (1.0, 1.0 + little)]
        seconds, product = _best(_reading(xo.matmul, *matrices))
        _demand(product, n * (1.0 + little), n * little / 4)
        best = max(best, 2.0 * n**3 / seconds)
        if seconds >= _LONG_ENOUGH_S or n >= largest:
            return best
        n *= 2


def host_copy_rate(nbytes: int) -> float:
    """Bytes moved per second by `numpy.copyto` in one thread per core: half of them read, half written."""
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
    _demand(copied, 1.0, 0.0)
    return nbytes / seconds


def _filled(shape: Any, value: float, place: Place, dtype: str) -> Any:
    """From NumPy's memory: a lazy array of one value would be made anew in every call."""
    return xo.convert(np.full(shape, value, dtype=native_dtype(dtype)), place.backend, device=place.device)


def _demand(results: tuple[Any, ...], value: float, tolerance: float) -> None:
    """Raise `WrongAnswer` unless every entry has this value; a NaN has not."""
    got = xo.convert(results[0], "numpy")
    if not value - tolerance <= float(got.min()) <= float(got.max()) <= value + tolerance:
        raise WrongAnswer(f"entries from {got.min()} to {got.max()} instead of {value}")


def _best(call: Callable[[], tuple[float, tuple[Any, ...]]]) -> tuple[float, tuple[Any, ...]]:
    """The shortest of some calls, and the last results: a roof is what the device can do, not what it usually does."""
    call()
    best, results = call()
    start = perf_counter()
    while perf_counter() - start < _PROBE_S:
        results = ()
        seconds, results = call()
        best = min(best, seconds)
    return best, results
