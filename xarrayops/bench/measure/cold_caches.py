"""Fills the caches with other data, so that the next call reads its inputs from memory."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops._system import machine

MIN_BYTES, MAX_BYTES = 16 << 20, 256 << 20  # more would take longer than the measurement


def fill(backend: str, device: str, kind: str) -> None:
    """Read and write memory of twice the size of the device's largest cache, at most `MAX_BYTES`.

    On the host each CPU writes a part of it, at least twice the size of its own second-largest cache.
    """
    if kind == "cpu":
        cpus = machine.usable_cpus()
        parts = np.array_split(_host(), len(cpus))
        with ThreadPoolExecutor(len(cpus)) as pool:
            list(pool.map(_rewrite, cpus, parts))
    else:
        xo.synchronize(xo.add(_on_device(backend, device), 1.0))


def _rewrite(cpu: int, part: Any) -> None:
    with suppress(AttributeError, OSError):  # not supported or not permitted on every system
        os.sched_setaffinity(0, {cpu})  # of this thread only
    np.add(part, 1, out=part)


@cache
def _host() -> Any:
    *own, largest = sorted(machine.cache_bytes()) or [MIN_BYTES]
    whole = min(max(2 * largest, MIN_BYTES), MAX_BYTES)
    return np.zeros(max(whole, 2 * max(own, default=0) * len(machine.usable_cpus())), dtype=np.uint8)


@cache
def _on_device(backend: str, device: str) -> Any:
    """Half of the bytes: the result that is written is as large."""
    return xo.convert(np.zeros(MAX_BYTES // 8, dtype="float32"), backend, device=device)
