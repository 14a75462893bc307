"""Exchange: a Dask array is a task graph over chunks, not memory: what leaves is computed, what enters is copied."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array, Memory
from xarrayops_backends.dask._blocks import da


def memory(x: Array, /) -> Memory | None:
    """None: the chunks are made when they are computed."""
    return None


def alias_refusal(memory: Memory, /, *, forced: bool) -> str | None:
    """Chunks that someone else may write would change a graph that is computed later; Dask's from_array copies, too."""
    return "a Dask array is a task graph, which must not hang on memory that may change"


def to_numpy(x: Array, /) -> Any:
    """The computed values; chunks of another library are fetched by their own ``get``."""
    value = x.compute()
    return value.get() if hasattr(value, "get") else np.asarray(value)


def from_numpy(a: Any, device: Any, /) -> Array:
    """A graph over a private copy in native byte order, chunked as Dask likes."""
    return da.from_array(np.array(a, dtype=a.dtype.newbyteorder("="), copy=True), chunks="auto")
