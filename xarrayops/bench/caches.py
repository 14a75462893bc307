"""Caches filled with other data, so that the next call finds its inputs cold."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops import _machine

_LEAST, _MOST = 16 << 20, 128 << 20  # bytes; more would take longer than what is measured


def fill(backend: str, device: str, kind: str) -> None:
    """Read and write more memory of the device than its caches hold, or `_MOST`, whichever is less."""
    if kind == "cpu":
        np.add(_host(), 1, out=_host())
    else:
        xo.synchronize(xo.add(_on_device(backend, device), 1.0))


@cache
def _host() -> Any:
    largest = max(_machine.cache_bytes(), default=_LEAST)
    return np.zeros(min(max(2 * largest, _LEAST), _MOST), dtype=np.uint8)


@cache
def _on_device(backend: str, device: str) -> Any:
    """Half of the bytes, because the result is as large and written too."""
    return xo.convert(np.zeros(_MOST // 8, dtype="float32"), backend, device=device)
