"""How Dask arrays are split into chunks, and the memory that a task may use."""

from __future__ import annotations

import math
import sys
import time
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.sharding import (
    Sharding,
    Spec,
    host_memory as _host_memory,
    of_chunks as _of_chunks,
    pieces as _pieces,
)
from xarrayops_backends.dask._blocks import da, require_sizes as _require_sizes
from xarrayops_backends.dask._stores import from_copy as _from_copy, from_store as _from_store

_SECONDS = 5
"""How long the answer of a scheduler about its workers is used."""
_answers: WeakKeyDictionary[Any, tuple[float, list[float]]] = WeakKeyDictionary()
"""For each client, when its scheduler was asked, and the memory of the threads of its workers."""


def sharding_of(x: Array, /) -> Sharding:
    """The chunks."""
    return _of_chunks("dask", x)


def shard(x: Any, spec: Spec | None, mesh: Any, /) -> Array:
    """The array in as many chunks along each axis as the mesh says; for None in one chunk. A file is not read."""
    _require_sizes("shard", x)
    counts = _pieces(spec, sharding_of(mesh).mesh if isinstance(mesh, da.Array) else mesh, len(x.shape))
    chunks = tuple(_cut(extent, count) for extent, count in zip(x.shape, counts, strict=True))
    if isinstance(x, da.Array):
        return x.rechunk(chunks)
    return _from_copy(x, chunks) if type(x) is np.ndarray else _from_store(x, chunks)


def _cut(extent: int, count: int) -> tuple[int, ...]:
    """Chunks of equal lengths, up to 1."""
    count = max(1, min(extent, count))
    length, longer = divmod(extent, count)
    return (length + 1,) * longer + (length,) * (count - longer)


def task_limit(x: Array, /) -> int | None:
    """Half of a worker's memory for each of its threads; without a cluster half of the memory of this machine."""
    distributed: Any = sys.modules.get("distributed")
    try:
        memory = _memory_of_threads(distributed.default_client())
    except (AttributeError, ValueError):  # not imported, or no client
        memory = [_host_memory()]
    return int(0.5 * min(memory, default=0)) or None


def _memory_of_threads(client: Any) -> list[float]:
    """The memory of a thread of each worker, as the scheduler said some seconds ago at most."""
    asked, memory = _answers.get(client, (-math.inf, []))
    if time.monotonic() - asked > _SECONDS:
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        memory = [each["memory_limit"] / each["nthreads"] for each in workers]
        _answers[client] = time.monotonic(), memory
    return memory
