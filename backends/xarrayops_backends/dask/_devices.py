"""Versions, laziness, computation, and the ways in which Dask runs a function. The devices are NumPy's."""

from __future__ import annotations

import math
from importlib import metadata
from typing import Any

import dask.base
import numpy as np

from xarrayops.plugin import Array, RunMode
from xarrayops_backends.dask._blocks import da

_persist: Any = dask.base.persist
"""Typed as Any: Dask does not annotate it."""


def versions() -> dict[str, str]:
    """The versions of Dask and of NumPy, which computes the chunks."""
    return {"dask": metadata.version("dask"), "numpy": np.__version__}


class _Device(str):
    """The CPU, with the chunks of an array, in which random numbers next to it are drawn."""

    chunks: tuple[tuple[int, ...], ...] = ()


def device(x: Array, /) -> str:
    """The CPU, with the chunks of x."""
    found = _Device("cpu")
    found.chunks = x.chunks
    return found


def is_lazy(x: Array, /) -> bool:
    """Always True: even an array that was created from a NumPy array is a task graph."""
    return True


def compute(*arrays: Array) -> tuple[Array, ...]:
    """The values as arrays of the chunks' library. One run of the scheduler computes shared tasks once."""
    values = da.compute(*arrays)
    return tuple(np.asarray(v) if isinstance(v, np.generic) else v for v in values)


def persist(*arrays: Array) -> tuple[Array, ...]:
    """The chunks in memory. Sizes that depended on values are read from them."""
    found = _persist(*arrays)
    for x in found:
        if any(math.isnan(extent) for extent in x.shape):
            x.compute_chunk_sizes()
    return tuple(found)


def run_modes() -> tuple[RunMode, ...]:
    """On arrays of several chunks."""
    return (RunMode("chunks", place=_in_chunks),)


def _in_chunks(x: Array) -> Array:
    """The array with two chunks along each axis, of different sizes where the size is odd."""
    return x.rechunk(tuple(max(1, -(-extent // 2)) for extent in x.shape))
