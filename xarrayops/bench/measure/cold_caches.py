"""Caches filled with other data, so that the next call finds its inputs cold."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops._system import machine

LEAST, MOST = 16 << 20, 256 << 20  # bytes; more would take longer than what is measured


def fill(backend: str, device: str, kind: str) -> None:
    """Read and write twice as much memory of the device as its largest cache holds, or `MOST`, whichever is less.

    On the host each CPU does its part, and at least twice what the cache next to the largest holds, which is its own.
    """
    if kind == "cpu":
        cpus = machine.usable_cpus()
        parts = np.array_split(_host(), len(cpus))
        with ThreadPoolExecutor(len(cpus)) as pool:
            list(pool.map(_rewrite, cpus, parts))
    else:
        xo.synchronize(xo.add(_on_device(backend, device), 1.0))


def _rewrite(cpu: int, part: Any) -> None:
    with suppress(AttributeError, OSError):  # not every system can, or lets a program do so
        os.sched_setaffinity(0, {cpu})  # of this thread alone
    np.add(part, 1, out=part)


@cache
def _host() -> Any:
    *own, largest = sorted(machine.cache_bytes()) or [LEAST]
    whole = min(max(2 * largest, LEAST), MOST)
    return np.zeros(max(whole, 2 * max(own, default=0) * len(machine.usable_cpus())), dtype=np.uint8)


@cache
def _on_device(backend: str, device: str) -> Any:
    """Half of the bytes, because the result is as large and written too."""
    return xo.convert(np.zeros(MOST // 8, dtype="float32"), backend, device=device)
