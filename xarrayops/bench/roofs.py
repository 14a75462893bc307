"""The two roofs of a device, found by running on it: how fast it copies, and how fast it multiplies matrices.

No rate without a checked answer.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops import _machine
from xarrayops.bench.oracle import WrongAnswer
from xarrayops.bench.timing import timed

_LONG_ENOUGH_S = 0.01
_PROBE_S = 0.2
_COPY_BYTES = (64 << 20, 512 << 20)  # first and largest; beyond the caches of most machines
_ORDER = (1024, 8192)  # first and largest


def probe(backend: str, device: str, kind: str, dtype: str) -> dict[str, float]:
    """The best rates that this library reached on a device: "memory" in B/s and "compute" in FLOP/s.

    ``x + 1`` reads and writes each byte once; on the host, plain copies on all cores are tried too, into memory that is
    mapped already. The product is of square matrices, doubled in order until a call takes 10 ms. A rate whose answer is
    wrong is left out.
    """
    probes: list[tuple[str, Callable[[], float]]] = [
        ("memory", partial(copy_rate, backend, device, dtype)),
        ("compute", partial(product_rate, backend, device, dtype)),
    ]
    if kind == "cpu":
        probes.append(("memory", host_copy_rate))
    rates: dict[str, float] = {}
    for roof, rate in probes:
        with suppress(WrongAnswer):
            rates[roof] = max(rate(), rates.get(roof, 0.0))
    return rates


def copy_rate(backend: str, device: str, dtype: str) -> float:
    """Bytes read and written per second by ``x + 1``."""
    nbytes, largest = _COPY_BYTES
    while True:
        x = _filled(nbytes // np.dtype(dtype).itemsize, 1.0, backend, device, dtype)
        seconds, copied = _best(partial(timed, xo.add, (x, 1.0)))
        if seconds >= _LONG_ENOUGH_S or nbytes >= largest:
            _demand(copied, 2.0, 0.0)
            return 2.0 * nbytes / seconds
        nbytes *= 2


def product_rate(backend: str, device: str, dtype: str) -> float:
    """Operations per second of a product in the full precision of the dtype.

    One matrix is all ones. The entries of the other are a little more than one, by so little that half the bits of the
    dtype lose it, and their sums are exact: an answer without it was computed in TF32 or less.
    """
    little = 2.0 ** -(np.finfo(dtype).nmant // 2)
    n, largest = _ORDER
    while True:
        matrices = [_filled((n, n), value, backend, device, dtype) for value in (1.0, 1.0 + little)]
        seconds, product = _best(partial(timed, xo.matmul, tuple(matrices)))
        if seconds >= _LONG_ENOUGH_S or n >= largest:
            _demand(product, n * (1.0 + little), n * little / 4)
            return 2.0 * n**3 / seconds
        n *= 2


def host_copy_rate() -> float:
    """Bytes read and written per second by `numpy.copyto` in one thread per core."""
    threads = _machine.facts().get("usable_cpus") or 1
    source = np.ones(_COPY_BYTES[0], dtype=np.uint8)
    target = np.zeros_like(source)
    pairs = list(zip(np.array_split(target, threads), np.array_split(source, threads), strict=True))
    with ThreadPoolExecutor(threads) as pool:

        def copy() -> tuple[float, tuple[Any, ...]]:
            start = perf_counter()
            list(pool.map(lambda pair: np.copyto(*pair), pairs))
            return perf_counter() - start, (target,)

        seconds, copied = _best(copy)
    _demand(copied, 1.0, 0.0)
    return 2.0 * source.nbytes / seconds


def _filled(shape: Any, value: float, backend: str, device: str, dtype: str) -> Any:
    """From NumPy's memory: a lazy array of one value would be made anew in every call."""
    return xo.convert(np.full(shape, value, dtype=dtype), backend, device=device)


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
