"""Versions, and when values are computed. Devices are those of NumPy."""

from __future__ import annotations

from importlib import metadata

import numpy as np

from xarrayops.plugin import Array
from xarrayops_backends.dask._blocks import da


def versions() -> dict[str, str]:
    """Dask's version, and NumPy's, which does the work."""
    return {"dask": metadata.version("dask"), "numpy": np.__version__}


def is_lazy(x: Array, /) -> bool:
    """Always: even an array made of NumPy's memory is a task graph."""
    return True


def compute(*arrays: Array) -> tuple[Array, ...]:
    """The arrays as their chunks' library has them, by one run of the scheduler, which shares what they share."""
    values = da.compute(*arrays)
    return tuple(np.asarray(v) if isinstance(v, np.generic) else v for v in values)


def synchronize(*arrays: Array) -> None:
    """Nothing runs behind the caller's back."""
