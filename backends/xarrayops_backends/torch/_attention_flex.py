"""FlexAttention, compiled once, for what no other kernel of PyTorch has: a softcap, with or without a band.

The limits and the cap are tensors on the device, so that other numbers need no other program. Which blocks of keys a
block of queries sees is computed from the band: PyTorch's own function for that makes the whole matrix. No GPU has run
this file yet.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch.nn.attention.flex_attention import BlockMask, flex_attention

from xarrayops.plugin import Array, Attention, Call, has_one_offset
from xarrayops.plugin.attention import is_full
from xarrayops_backends.torch import _attention_alignment as alignment, _attention_modes as modes

BLOCK = 128
"""Queries, and keys, of a block of the mask."""
LEAST = 1 << 22
"""For fewer scores the blocks take less than a second's compilation is worth."""
DTYPES = frozenset((torch.float16, torch.bfloat16, torch.float32))


def refusal(call: Call) -> str | None:
    """Why FlexAttention cannot serve the call, or had better not."""
    (a,) = call.args
    if not a.q.is_cuda:
        return "it serves CUDA"
    if a.softcap is None:
        return "other kernels serve what has no softcap"
    if a.q.dtype not in DTYPES:
        return "it serves float16, bfloat16 and float32"
    if a.mask is not None or a.bias is not None or modes.has_lengths(a) or not has_one_offset(a):
        return "it is made for bands alone"
    if any(size not in (16, 32, 64, 128, 256) for size in (a.q.shape[3], a.v.shape[3])):
        return "it serves heads whose sizes are powers of 2 from 16 to 256"
    if a.return_lse or modes.requires_grad(a) or modes.is_traced():
        return "it is compiled for results alone, without logsumexp and gradients, and outside of other programs"
    if a.q.shape[0] * a.q.shape[1] * a.q.shape[2] * a.k.shape[2] < LEAST:
        return f"fewer than {LEAST} scores are not worth its compilation"
    if not _sees_something(a):
        return "some queries see no keys"
    return modes.refusal(a, has_softcap=True) or (
        "it needs compute capability 8 or later" if modes.generation(a.q.device) < 8 else None
    )


def attention(a: Attention, /) -> tuple[Array, None]:
    """Serve what `refusal` lets pass."""
    a = alignment.all_aligned(a)
    assert a.softcap is not None, "refusal lets nothing else pass"
    cap = torch.full((), a.softcap, dtype=torch.float32, device=a.q.device)  # torch.tensor would wait for the device

    def capped(score: Array, b: Array, h: Array, i: Array, j: Array) -> Array:
        return cap * torch.tanh(score / cap)

    with modes.unrounded(a.q):
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
    """One program for all shapes; where PyTorch makes no more programs it raises, and does not make all scores."""
    return torch.compile(flex_attention, dynamic=True, fullgraph=True)


def block_mask(a: Attention) -> BlockMask:
    """The band: of each block of queries, which blocks of keys it sees in part, and which as a whole."""
    queries, keys, device = a.q.shape[2], a.k.shape[2], a.q.device
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
    touched = (end - first >= low) & (begin - last <= high)
    whole = (begin - last >= low) & (end - first <= high)
    (partly, parts), (fully, wholes) = _listed(touched & ~whole), _listed(whole)
    return BlockMask.from_kv_blocks(
        partly, parts, fully, wholes, BLOCK_SIZE=BLOCK, mask_mod=seen, seq_lengths=(queries, keys)
    )


def _listed(chosen: Array) -> tuple[Array, Array]:
    """How many blocks of each row are chosen, and their places, those first."""
    places = torch.argsort(chosen.to(torch.int8), dim=1, descending=True, stable=True)
    return chosen.sum(1, dtype=torch.int32)[None, None], places.to(torch.int32)[None, None]


def _sees_something(a: Attention) -> bool:
    """Whether each query sees a key: the first one looks no less far ahead, and the last one no less far back."""
    ahead = a.right is None or a.offset + a.right >= 0
    return ahead and (a.left is None or a.q.shape[2] - 1 + a.offset - a.left <= a.k.shape[2] - 1)
