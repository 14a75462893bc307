"""FlexAttention, compiled once, for a softcap with or without a band. No other kernel of PyTorch supports a softcap.

The limits and the cap are tensors on the device, so that new values need no recompilation. The block mask is computed
from the band, because PyTorch's create_block_mask creates the whole matrix. Not yet tested on a GPU.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import torch

from xarrayops.plugin import Array, Attention, Call, has_one_offset
from xarrayops.plugin.generic import is_full
from xarrayops_backends.torch import _tracing
from xarrayops_backends.torch._attention import alignment, conditions

if TYPE_CHECKING:
    from torch.nn.attention.flex_attention import BlockMask

# Queries and keys of a block of the mask.
BLOCK = 128
# With fewer scores the blocks of queries are faster than a second of compilation.
LEAST = 1 << 22
DTYPES = frozenset((torch.float16, torch.bfloat16, torch.float32))


def refusal(call: Call) -> str | None:
    """Why FlexAttention cannot or should not serve the call."""
    (a,) = call.args
    if not a.q.is_cuda:
        return "it serves CUDA"
    if a.softcap is None:
        return "without a softcap other kernels serve the call"
    if a.q.dtype not in DTYPES:
        return "it serves float16, bfloat16 and float32"
    if a.mask is not None or a.bias is not None or conditions.has_lengths(a) or not has_one_offset(a):
        return "it supports only bands, not masks or biases"
    if any(size not in (16, 32, 64, 128, 256) for size in (a.q.shape[3], a.v.shape[3])):
        return "it serves heads whose sizes are powers of 2 from 16 to 256"
    if a.return_lse or conditions.requires_grad(a) or _tracing.is_traced():
        return "it is compiled without logsumexp and gradients, and cannot run inside another compiled function"
    if a.q.shape[0] * a.q.shape[1] * a.q.shape[2] * a.k.shape[2] < LEAST:
        return f"fewer than {LEAST} scores are not worth its compilation"
    if not _sees_something(a):
        return "some queries see no keys"
    return conditions.refusal(a, has_softcap=True) or conditions.too_old(a.q.device)


def attention(a: Attention, /) -> tuple[Array, None]:
    """Attention for calls that `refusal` accepts."""
    a = alignment.all_aligned(a)
    assert a.softcap is not None, "refusal accepts only calls with a softcap"
    # torch.tensor would copy from the host, and wait for the device.
    cap = torch.full((), a.softcap, dtype=torch.float32, device=a.q.device)

    def capped(score: Array, b: Array, h: Array, i: Array, j: Array) -> Array:
        return cap * torch.tanh(score / cap)

    with _tracing.unrounded(a.q):
        out = compiled()(
            *(a.q, a.k, a.v),
            score_mod=capped,
            block_mask=None if is_full(a, (0, a.q.shape[2]), (0, a.k.shape[2])) else block_mask(a),
            scale=a.scale,
            enable_gqa=a.q.shape[1] != a.k.shape[1],
        )
    return out, None


attention.copies = alignment.copies  # type: ignore[attr-defined]


@cache
def compiled() -> Any:
    """One compiled function for all shapes. At the recompilation limit it raises: an eager run stores all scores."""
    from torch.nn.attention.flex_attention import flex_attention  # slow

    return torch.compile(flex_attention, dynamic=True, fullgraph=True)


def block_mask(a: Attention) -> BlockMask:
    """The block mask of the band: which blocks of keys each block of queries sees in part, and which in full."""
    from torch.nn.attention.flex_attention import BlockMask

    queries, keys, device = a.q.shape[2], a.k.shape[2], a.q.device
    # No limit is a distance that no pair reaches: one program serves bands with and without it.
    left = queries + keys + abs(a.offset) if a.left is None else a.left
    right = queries + keys + abs(a.offset) if a.right is None else a.right
    low, high = (torch.full((), n, dtype=torch.int64, device=device) for n in (a.offset - left, a.offset + right))

    def seen(b: Array, h: Array, i: Array, j: Array) -> Array:
        return (j - i >= low) & (j - i <= high)

    columns = -(-keys // BLOCK)
    first = torch.arange(-(-queries // BLOCK), device=device)[:, None] * BLOCK
    last = (first + BLOCK - 1).clamp(max=queries - 1)
    begin = torch.arange(columns, device=device) * BLOCK
    end = (begin + BLOCK - 1).clamp(max=keys - 1)
    # j - i of a block lies between begin - last and end - first. It meets the band if the intervals overlap, and is
    # inside if it contains both ends.
    touched = (end - first >= low) & (begin - last <= high)
    whole = (begin - last >= low) & (end - first <= high)
    (partly, parts), (fully, wholes) = _listed(touched & ~whole), _listed(whole)
    return BlockMask.from_kv_blocks(
        partly, parts, fully, wholes, BLOCK_SIZE=BLOCK, mask_mod=seen, seq_lengths=(queries, keys)
    )


def _listed(chosen: Array) -> tuple[Array, Array]:
    """The number of chosen blocks of each row, and the indices of blocks, chosen ones first."""
    # Stable, so that the chosen blocks stay in the order of their keys.
    places = torch.argsort(chosen.to(torch.int8), dim=1, descending=True, stable=True)
    return chosen.sum(1, dtype=torch.int32)[None, None], places.to(torch.int32)[None, None]


def _sees_something(a: Attention) -> bool:
    """Whether each query sees a key: the first query needs enough reach to the right, and the last one to the left."""
    ahead = a.right is None or a.offset + a.right >= 0
    return ahead and (a.left is None or a.q.shape[2] - 1 + a.offset - a.left <= a.k.shape[2] - 1)
