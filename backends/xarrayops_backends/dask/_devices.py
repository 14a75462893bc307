"""Versions, laziness and computation. The devices are those of NumPy."""

from __future__ import annotations

from importlib import metadata

import numpy as np

from xarrayops.plugin import Array
from xarrayops_backends.dask._blocks import da


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


def synchronize(*arrays: Array) -> None:
    """Do nothing: no work runs in the background."""
