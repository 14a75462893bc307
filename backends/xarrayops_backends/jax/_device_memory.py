"""The memory of accelerators as XLA's allocator counts it, and the switches that decide on precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp


def free_bytes(device: Any, /) -> int | None:
    """What is left of the part that XLA may take, as if nobody else used the device."""
    known = device.memory_stats() or {}
    if not {"bytes_limit", "bytes_in_use"} <= known.keys():
        return None
    return int(known["bytes_limit"] - known["bytes_in_use"])


def peak_bytes(device: Any, call: Callable[[], Any], /) -> int | None:
    """XLA's peak is that of the whole process, and nothing resets it: what earlier calls took is taken again before."""
    known = device.memory_stats() or {}
    if not {"peak_bytes_in_use", "bytes_in_use"} <= known.keys():
        return None
    hidden = known["peak_bytes_in_use"] - known["bytes_in_use"]
    ballast = jax.block_until_ready(jnp.zeros(-(-hidden // 4), dtype=jnp.float32, device=device))  # type: ignore[no-untyped-call]
    before = device.memory_stats()["bytes_in_use"]
    call()
    peak = device.memory_stats()["peak_bytes_in_use"]
    del ballast
    return int(peak - before)


def precision_switches() -> dict[str, str]:
    """What products ask for by default, and whether there are 64 bits."""
    names = ("jax_default_matmul_precision", "jax_enable_x64")
    return {name: str(getattr(jax.config, name)) for name in names}
