"""Layout: XLA chooses it."""

from __future__ import annotations

from xarrayops.plugin import Array, Gap, unsupported

NO_STRIDES = Gap("XLA tensors have no strides", "xo.relayout, which changes the order of the axes themselves")
as_strided = unsupported(NO_STRIDES.why, instead="xo.take(xo.reshape(x, (-1,)), indices), a copy")
pin_memory = unsupported("XLA tensors lie on their device", instead='xo.pin_memory(xo.to_device(x, "cpu"))')


def contiguous(x: Array, /) -> Array:
    """x itself: XLA shows no other layout."""
    return x
