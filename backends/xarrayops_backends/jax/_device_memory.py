"""Device memory as counted by XLA's allocator, and the settings that control precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp


def free_bytes(device: Any, /) -> int | None:
    """The free part of the memory that XLA may use; memory used by other processes is not considered."""
    known = device.memory_stats() or {}
    if not {"bytes_limit", "bytes_in_use"} <= known.keys():
        return None
    return int(known["bytes_limit"] - known["bytes_in_use"])


def peak_bytes(device: Any, call: Callable[[], Any], /) -> int | None:
    """The peak memory of a call.

    XLA counts one peak for the whole process, which cannot be reset. So memory is first allocated up to that peak.
    """
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
    """The default precision of products, and whether 64-bit types are enabled."""
    names = ("jax_default_matmul_precision", "jax_enable_x64")
    return {name: str(getattr(jax.config, name)) for name in names}
