"""How cubed arrays are split into chunks."""

from __future__ import annotations

from typing import Any

import cubed
import numpy as np
from cubed.core.ops import is_storage_array as _is_storage_array

from xarrayops.plugin import Array
from xarrayops.plugin.sharding import Sharding, Spec, of_chunks as _of_chunks, pieces as _pieces
from xarrayops_backends.cubed import _blocks
from xarrayops_backends.numpy._stores import Store as _Store


def sharding_of(x: Array, /) -> Sharding:
    """The chunks."""
    return _of_chunks("cubed", x)


def shard(x: Any, spec: Spec | None, mesh: Any, /) -> Array:
    """The array in chunks of one length along each axis; the last may be shorter. A file is not read."""
    counts = _pieces(spec, sharding_of(mesh).mesh if isinstance(mesh, cubed.Array) else mesh, len(x.shape))
    chunks = tuple(max(1, -(-extent // count)) for extent, count in zip(x.shape, counts, strict=True))
    if isinstance(x, cubed.Array):
        return x.rechunk(chunks)
    if type(x) is np.ndarray:  # later changes of x do not change the result
        x = np.array(x, dtype=x.dtype.newbyteorder("="), copy=True)
    elif not _is_storage_array(x):
        x = _Store(x)
    _blocks.refuse_others([x.dtype])
    return cubed.from_array(x, chunks=chunks, spec=getattr(mesh, "spec", None))
