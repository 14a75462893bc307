"""Layout: each chunk has its own memory layout; the Dask array itself has none."""

from __future__ import annotations

from xarrayops.plugin import Array, Gap, unsupported
from xarrayops.plugin.backends import backend_of
from xarrayops_backends.dask._blocks import require_numbers as _require_numbers

NO_STRIDES = Gap("a Dask array has no strides, but its chunks have", "x.map_blocks(f), where f takes one chunk")
as_strided = unsupported(NO_STRIDES.why, instead="xo.sliding_window_view, or xo.compute(x)")
pin_memory = unsupported("the chunks of a Dask array are not computed yet", instead="x.map_blocks(xo.pin_memory)")


def contiguous(x: Array, /) -> Array:
    """Make each chunk contiguous when it is computed, with the backend of the chunk's library."""
    _require_numbers("contiguous", x)
    return x.map_blocks(_contiguous_chunk, dtype=x.dtype, meta=x._meta)


def _contiguous_chunk(chunk: Array) -> Array:
    return backend_of(chunk).functions["contiguous"](chunk)
