"""The two roofs of a device, found by running on it: how fast it copies, and how fast it multiplies matrices."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops import _machine
from xarrayops.bench.timing import timed

_LONG_ENOUGH_S = 0.01
_PROBE_S = 0.2
_COPY_BYTES = (64 << 20, 512 << 20)  # first and largest; beyond the caches of most machines
_ORDER = (1024, 8192)  # first and largest


def probe(backend: str, device: str, kind: str, dtype: str) -> dict[str, float]:
    """The best rates that this library reached on a device: "memory" in B/s and "compute" in FLOP/s.

    ``x + 1`` reads and writes each byte once; on the host, plain copies on all cores are tried too, into memory that is
    mapped already. The product is of square matrices, doubled in order until a call takes 10 ms.
    """
    rates = {"memory": _copy_rate(backend, device, dtype), "compute": _product_rate(backend, device, dtype)}
    if kind == "cpu":
        rates["memory"] = max(rates["memory"], host_copy_rate())
    return rates


def _copy_rate(backend: str, device: str, dtype: str) -> float:
    nbytes, largest = _COPY_BYTES
    while True:
        x = _ones(nbytes // np.dtype(dtype).itemsize, backend, device, dtype)
        seconds = _best(partial(_seconds, xo.add, x, 1.0))
        if seconds >= _LONG_ENOUGH_S or nbytes >= largest:
            return 2.0 * nbytes / seconds
        nbytes *= 2


def _product_rate(backend: str, device: str, dtype: str) -> float:
    n, largest = _ORDER
    while True:
        x = _ones((n, n), backend, device, dtype)
        seconds = _best(partial(_seconds, xo.matmul, x, x))
        if seconds >= _LONG_ENOUGH_S or n >= largest:
            return 2.0 * n**3 / seconds
        n *= 2


def host_copy_rate() -> float:
    """Bytes read and written per second by `numpy.copyto` in one thread per core."""
    threads = _machine.facts().get("usable_cpus") or 1
    source = np.ones(_COPY_BYTES[0], dtype=np.uint8)
    target = np.zeros_like(source)
    pairs = list(zip(np.array_split(target, threads), np.array_split(source, threads), strict=True))
    with ThreadPoolExecutor(threads) as pool:

        def copy() -> float:
            start = perf_counter()
            list(pool.map(lambda pair: np.copyto(*pair), pairs))
            return perf_counter() - start

        return 2.0 * source.nbytes / _best(copy)


def _ones(shape: Any, backend: str, device: str, dtype: str) -> Any:
    """From NumPy's memory: a lazy array of ones would be made anew in every call."""
    return xo.convert(np.ones(shape, dtype=dtype), backend, device=device)


def _seconds(function: Callable[..., Any], *arguments: Any) -> float:
    return timed(function, arguments)[0]


def _best(seconds_of_call: Callable[[], float]) -> float:
    """The shortest of some calls: a roof is what the device can do, not what it usually does."""
    seconds_of_call()
    best, start = seconds_of_call(), perf_counter()
    while perf_counter() - start < _PROBE_S:
        best = min(best, seconds_of_call())
    return best
