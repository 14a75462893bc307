"""Where the rows of queries, keys and values begin: fused kernels load 16 bytes at a time.

No check of PyTorch protects flash attention or cuDNN, and a misaligned load ends the CUDA context of the process. What
does not begin at a multiple of 16 bytes is copied once, which costs far less than the blocks that would serve instead.
"""

from __future__ import annotations

import torch
from torch.compiler import is_dynamo_compiling

from xarrayops.plugin import Array, Attention, Call
from xarrayops_backends.torch import _attention_modes as modes

BYTES = 16
"""Of one load."""


def is_aligned(x: Array) -> bool:
    """Whether each row of a (B, H, L, D) array begins at a multiple of 16 bytes, its values next to each other."""
    size, steps = x.itemsize, x.stride()
    outer = [step for n, step in zip(x.shape[:3], steps[:3], strict=True) if n > 1]
    return steps[3] == 1 and all(step * size % BYTES == 0 for step in outer) and _begins_aligned(x, outer)


def _begins_aligned(x: Array, steps: list[int]) -> bool:
    """Whether the first value is at a multiple of 16 bytes.

    Where there is no address, the place in the storage decides, for allocators begin at 256 bytes. Dynamo does not say
    that either; there, rows without a gap begin where all rows do, and others may be a part of each head: then False.
    """
    if is_dynamo_compiling():
        return not steps or x.shape[3] in steps
    return (x.data_ptr() if modes.has_address(x) else x.storage_offset() * x.itemsize) % BYTES == 0


def aligned(x: Array) -> Array:
    """x itself where it is aligned, else a copy in C order."""
    return x if is_aligned(x) else torch.clone(x, memory_format=torch.contiguous_format)


def all_aligned(a: Attention) -> Attention:
    """The call with queries, keys and values that are aligned."""
    return a._replace(q=aligned(a.q), k=aligned(a.k), v=aligned(a.v))


def copies(call: Call) -> tuple[str, ...]:
    """What `all_aligned` copies, for `explain`."""
    (a,) = call.args
    found = ((name, getattr(a, name)) for name in ("q", "k", "v"))
    return tuple(
        f"copies {name}, {x.numel() * x.itemsize} bytes: its rows do not begin at multiples of {BYTES} bytes"
        for name, x in found
        if not is_aligned(x)
    )
