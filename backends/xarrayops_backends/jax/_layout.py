"""Layout: XLA chooses the memory layout, and presents every array in C order."""

from __future__ import annotations

import jax

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Gap, unsupported

NO_STRIDES = Gap("JAX arrays have no strides", "xo.relayout, which permutes the axes")
as_strided = unsupported(NO_STRIDES.why, instead="xo.take(xo.reshape(x, (-1,)), indices), a copy")


def contiguous(x: Array, /) -> Array:
    """Return x: a JAX array is always presented as contiguous."""
    return x


def pin_memory(x: Array, /) -> Array:
    """Move x to XLA's pinned host memory of its GPU or TPU."""
    if isinstance(x, jax.core.Tracer):
        raise Unsupported("x is a tracer. Instead: pin outside jax.jit, grad or vmap")
    (device, *_) = x.devices()
    if device.platform == "cpu":
        raise Unsupported("JAX pins memory for a GPU or TPU only, and x is on the CPU. Instead: use x as it is")
    return jax.device_put(x, x.sharding.with_memory_kind("pinned_host"))
