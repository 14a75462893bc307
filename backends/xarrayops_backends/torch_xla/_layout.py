"""Layout: XLA chooses the memory layout."""

from __future__ import annotations

from xarrayops.plugin import Array, Gap, unsupported

NO_STRIDES = Gap("XLA tensors have no strides", "xo.relayout, which permutes the axes")
as_strided = unsupported(NO_STRIDES.why, instead="xo.take(xo.reshape(x, (-1,)), indices), a copy")
pin_memory = unsupported("XLA tensors are in device memory", instead='xo.pin_memory(xo.to_device(x, "cpu"))')


def contiguous(x: Array, /) -> Array:
    """Return x: XLA does not expose any other layout."""
    return x
