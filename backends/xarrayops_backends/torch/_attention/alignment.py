"""The alignment of queries, keys and values: fused kernels load 16 bytes at a time.

PyTorch does not check the alignment for flash attention and cuDNN, and a misaligned load destroys the CUDA context of
the process. Arrays that are not aligned to 16 bytes are copied once, which is far cheaper than the blocks.
"""

from __future__ import annotations

import torch
from torch.compiler import is_dynamo_compiling

from xarrayops.plugin import Array, Attention, Call
from xarrayops_backends.torch import _tracing

# Of one load.
BYTES = 16


def is_aligned(x: Array) -> bool:
    """Whether each row of a (B, H, L, D) array is contiguous and aligned to 16 bytes."""
    size, steps = x.itemsize, x.stride()
    # Strides of axes of extent 1 are never used, and PyTorch may set them to anything.
    outer = [step for n, step in zip(x.shape[:3], steps[:3], strict=True) if n > 1]
    return steps[3] == 1 and all(step * size % BYTES == 0 for step in outer) and _begins_aligned(x, outer)


def _begins_aligned(x: Array, steps: list[int]) -> bool:
    """Whether the first value is aligned to 16 bytes.

    Without an address the offset in the storage decides, as allocators align to 256 bytes. Dynamo does not give the
    offset either; then contiguous arrays count as aligned, and others do not, as they may be slices of each head.
    """
    if is_dynamo_compiling():
        return not steps or x.shape[3] in steps
    return (x.data_ptr() if _tracing.has_address(x) else x.storage_offset() * x.itemsize) % BYTES == 0


def aligned(x: Array) -> Array:
    """x itself if it is aligned, else a copy in C order."""
    return x if is_aligned(x) else torch.clone(x, memory_format=torch.contiguous_format)


def all_aligned(a: Attention) -> Attention:
    """The call with aligned queries, keys and values."""
    return a._replace(q=aligned(a.q), k=aligned(a.k), v=aligned(a.v))


def copies(call: Call) -> tuple[str, ...]:
    """The copies that `all_aligned` makes, for `explain`."""
    (a,) = call.args
    found = ((name, getattr(a, name)) for name in ("q", "k", "v"))
    return tuple(
        f"copies {name}, {x.numel() * x.itemsize} bytes: its rows are not aligned to {BYTES} bytes"
        for name, x in found
        if not is_aligned(x)
    )
