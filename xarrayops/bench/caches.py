"""Caches filled with other data, so that the next call finds its inputs cold."""

from __future__ import annotations

import os
from functools import cache
from threading import Thread
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops import _machine

LEAST, MOST = 16 << 20, 256 << 20  # bytes; more would take longer than what is measured


def fill(backend: str, device: str, kind: str) -> None:
    """Read and write twice as much memory of the device as its largest cache holds, or `MOST`, whichever is less.

    On the host each CPU does its part: caches of its own are filled by itself alone.
    """
    if kind == "cpu":
        cpus = _machine.usable_cpus()
        parts = np.array_split(_host(), len(cpus))
        threads = [Thread(target=_rewrite, args=own) for own in zip(cpus, parts, strict=True)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    else:
        xo.synchronize(xo.add(_on_device(backend, device), 1.0))


def _rewrite(cpu: int, part: Any) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {cpu})  # of this thread alone
    np.add(part, 1, out=part)


@cache
def _host() -> Any:
    largest = max(_machine.cache_bytes(), default=LEAST)
    return np.zeros(min(max(2 * largest, LEAST), MOST), dtype=np.uint8)


@cache
def _on_device(backend: str, device: str) -> Any:
    """Half of the bytes, because the result is as large and written too."""
    return xo.convert(np.zeros(MOST // 8, dtype="float32"), backend, device=device)
