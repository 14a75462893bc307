"""Layout: each chunk has its own; the array has none."""

from __future__ import annotations

from xarrayops.plugin import Array, Gap, backends, unsupported

NO_STRIDES = Gap("a Dask array has no strides, its chunks have", "x.map_blocks(f) with f for a chunk")
as_strided = unsupported(NO_STRIDES.why, instead="dask.array.lib.stride_tricks.sliding_window_view, or xo.compute(x)")
pin_memory = unsupported("the chunks of a Dask array are not made yet", instead="x.map_blocks(xo.pin_memory)")


def contiguous(x: Array, /) -> Array:
    """Each chunk by the library that it is of, when it is computed."""
    return x.map_blocks(_contiguous_chunk, dtype=x.dtype, meta=x._meta)


def _contiguous_chunk(chunk: Array) -> Array:
    return backends.backend_of(chunk).functions["contiguous"](chunk)
