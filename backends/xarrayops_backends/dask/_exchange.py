"""Exchange: a Dask array is a task graph and has no memory. Export computes the values; import copies them.

Mapped files are not copied: tasks read them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from xarrayops.plugin import Array, Gap, Memory
from xarrayops_backends.dask._blocks import (
    UNKNOWN_SIZES,
    refusal_of_chunks as _refusal_of_chunks,
    refusal_of_elements as _refusal_of_elements,
)
from xarrayops_backends.dask._stores import from_copy as _from_copy, from_store as _from_store


def refuse(x: Array, /) -> Gap | None:
    """Chunks of other libraries than NumPy and CuPy."""
    return _refusal_of_chunks(x)


def alias_refusal(memory: Memory, /, *, forced: bool) -> str | None:
    """Dask never aliases memory: a later write would change the result of the graph. Dask's from_array also copies.

    A file is read when the values are computed.
    """
    return None if memory.file else "a Dask array is a task graph, which must not depend on memory that may change"


def alias(x: Any, memory: Memory, host: Callable[[], Any], /) -> Array:
    """A task graph that reads the mapped file. Nothing is read here."""
    return _from_store(host())


def failure_cause(x: Array, error: Exception, /) -> Gap | None:
    """Masks, elements that are not numbers, and sizes that are not computed yet."""
    if math.isnan(x.size):
        return UNKNOWN_SIZES._replace(why=f"it has {UNKNOWN_SIZES.why}")
    return _refusal_of_elements(x)


def to_numpy(x: Array, /) -> Any:
    """The computed values; values on a GPU are copied to the host by their ``get`` method."""
    value = x.compute()
    return value.get() if hasattr(value, "get") else np.asarray(value)


def from_numpy(a: Any, device: Any, /) -> Array:
    """A task graph over a private copy in native byte order, in chunks that Dask chooses."""
    return _from_copy(a)
