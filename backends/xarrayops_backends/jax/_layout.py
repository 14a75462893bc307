"""Layout: XLA chooses it, and shows every array as if it lay in C order."""

from __future__ import annotations

import jax

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Gap, unsupported

NO_STRIDES = Gap("JAX arrays have no strides", "xo.relayout, which changes the order of the axes themselves")
as_strided = unsupported(NO_STRIDES.why, instead="xo.take(xo.reshape(x, (-1,)), indices), a copy")


def contiguous(x: Array, /) -> Array:
    """Always so."""
    return x


def pin_memory(x: Array, /) -> Array:
    """The memory kind that XLA has for it beside a GPU or TPU."""
    if isinstance(x, jax.core.Tracer):
        raise Unsupported("x is a tracer. Instead: pin outside jax.jit, grad or vmap")
    (device, *_) = x.devices()
    if device.platform == "cpu":
        raise Unsupported("JAX pins memory for a GPU or TPU, and x lies on the CPU. Instead: use x as it is")
    return jax.device_put(x, x.sharding.with_memory_kind("pinned_host"))
