"""Stores: arrays in files, whose elements are read when a task needs them."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops_backends.dask._blocks import da
from xarrayops_backends.numpy._stores import Store


def from_store(source: Any, chunks: Any = "auto") -> Array:
    """A task graph that reads a store. Nothing is read here: the graph has a name of its own, and no first elements."""
    store = Store(source)
    return da.from_array(store, chunks=chunks, name=False, meta=np.empty((0,) * store.ndim, store.dtype))


def from_copy(a: Any, chunks: Any = "auto") -> Array:
    """A task graph over a private copy in native byte order: later changes of ``a`` do not change the result."""
    return da.from_array(np.array(a, dtype=a.dtype.newbyteorder("="), copy=True), chunks=chunks)
