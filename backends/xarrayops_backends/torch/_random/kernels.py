"""Random numbers on a device of CUDA or HIP, by one kernel."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence

import torch

from xarrayops.plugin import Array, constant_while_tracing
from xarrayops.plugin.device_random import KEYS, NAME, THREADS, arguments, grid, source
from xarrayops.plugin.random import Draw
from xarrayops_backends.torch._dtypes import as_dtype
from xarrayops_backends.torch._random import runtime_compiler


@constant_while_tracing
def refusal(kind: str, dtype: str, device: torch.device) -> str | None:
    """Why the kernel of a draw cannot run on a device; None if it can, or if tensors there have no values."""
    return runtime_compiler.refusal(source(kind, dtype), NAME, device)


def drawn(draw: Draw, words: Sequence[int], key: Array | None, shape: Sequence[int], device: torch.device) -> Array:
    """A draw for the two words of a key, or for each of several keys (..., 2)."""
    first = () if key is None else key.shape[:-1]
    out = torch.empty((*first, *shape), dtype=as_dtype(draw.dtype), device=device)
    _fill(out, draw, words, key, None, math.prod(shape))
    return out


def keys(key: Array, counters: Array) -> Array:
    """A key for each counter. For several keys, (..., 2), the first axes of the counters are theirs."""
    out = torch.empty((*counters.shape, 2), dtype=torch.uint32, device=counters.device)
    size = math.prod(counters.shape[key.ndim - 1 :])
    _fill(out, KEYS, (0, 0), key, counters.to(torch.int64).contiguous(), size)
    return out


def _fill(out: Array, draw: Draw, words: Sequence[int], key: Array | None, counters: Array | None, size: int) -> None:
    if not out.numel():
        return
    keys = None if key is None else key.to(out.device).contiguous()
    count = 1 if keys is None else keys.numel() // 2
    addresses = (0 if x is None else x.data_ptr() for x in (out, keys, counters))
    numbers = arguments(draw, words, count, size)
    runtime_compiler.kernel(source(draw.kind, draw.dtype), NAME, out.device)(
        grid(count, size),
        (THREADS, 1, 1),
        [
            *map(ctypes.c_void_p, addresses),
            *(ctypes.c_double(x) if isinstance(x, float) else ctypes.c_longlong(x) for x in numbers),
        ],
    )
