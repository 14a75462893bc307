"""Versions, laziness and computation. The devices are NumPy's."""

from __future__ import annotations

import math
from importlib import metadata
from typing import Any

import dask.base
import numpy as np

from xarrayops.plugin import Array
from xarrayops_backends.dask._blocks import da

_persist: Any = dask.base.persist
"""Typed as Any: Dask does not annotate it."""


def versions() -> dict[str, str]:
    """The versions of Dask and of NumPy, which computes the chunks."""
    return {"dask": metadata.version("dask"), "numpy": np.__version__}


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


def synchronize(*arrays: Array) -> None:
    """Do nothing: no work runs in the background."""
