"""PyTorch's kernels of attention on CUDA that take a mask, each chosen by name: cuDNN's and the memory-efficient one.

PyTorch's public function takes the whole matrix of scores wherever none of them can serve, without a word. What they
can do is in sdp_utils.cpp of its sources; where versions or GPUs differ, this is the least of them. No GPU has run this
file yet.
"""

from __future__ import annotations

import math

import torch
from array_api_compat import torch as xp
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from xarrayops.plugin import Array, Attention, Call, has_band, has_one_offset
from xarrayops.plugin.attention import is_full, without_padding
from xarrayops_backends.torch import (
    _attention_alignment as alignment,
    _attention_blocks as blocks,
    _attention_flash as flash,
    _attention_modes as modes,
)

MASK = 1 << 24
"""Values of a mask that may be made for the whole call."""
FEW_QUERIES = 16
"""For fewer, cuDNN takes longer to plan (for each new length of a growing cache anew) than to compute."""


def cudnn_refusal(call: Call) -> str | None:
    """Why cuDNN's attention cannot serve the call, or had better not."""
    (a,) = call.args
    sizes = a.q.shape[3], a.v.shape[3]
    if not a.q.is_cuda:
        return "it serves CUDA"
    if a.q.dtype not in flash.HALVES:
        return "it serves float16 and bfloat16"
    if any(size % 8 or size > 128 for size in sizes):
        return "it serves heads whose sizes are multiples of 8 and at most 128"
    if a.k.shape[2] == 1 or (a.q.shape[2] == 1 and modes.requires_grad(a)):
        return "it takes no single key, and no gradient of a single query"
    if a.q.shape[2] < FEW_QUERIES and not modes.requires_grad(a):
        return f"it plans for each new number of keys anew, which fewer than {FEW_QUERIES} queries do not repay"
    if a.kv_lengths is not None and flash.flash_refusal(call) is None:
        return "it would copy keys and values for their lengths, and flash attention does not"
    if torch.are_deterministic_algorithms_enabled():
        return "its gradients are not deterministic"
    if torch.version.hip or modes.cudnn_version() <= 91500:
        return "cuDNN up to 9.15.0 is wrong where 128 does not divide the length"
    return _masked_refusal(a, "cudnn") or _too_old(a, 9, 10)


def efficient_refusal(call: Call) -> str | None:
    """Why the memory-efficient kernel cannot serve the call."""
    (a,) = call.args
    if not a.q.is_cuda:
        return "it serves CUDA"
    if a.q.dtype not in flash.HALVES and a.q.dtype is not torch.float32:
        return "it serves float16, bfloat16 and float32"
    aligned = 16 // a.q.itemsize
    if a.q.shape[3] % aligned or a.v.shape[3] % aligned:
        return f"it serves heads whose sizes are multiples of {aligned}"
    return _masked_refusal(a, "mem_efficient") or _too_old(a, 8)


def cudnn(a: Attention, /) -> tuple[Array, None]:
    """cuDNN's attention, which knows heads that share keys."""
    return masked(SDPBackend.CUDNN_ATTENTION, a, knows_groups=True)


def efficient(a: Attention, /) -> tuple[Array, None]:
    """The memory-efficient kernel, of which not every version knows heads that share keys."""
    return masked(SDPBackend.EFFICIENT_ATTENTION, a, knows_groups=False)


def masked(backend: SDPBackend, a: Attention, *, knows_groups: bool) -> tuple[Array, None]:
    """The public function, held to one kernel, with all that hides keys in one mask."""
    a = alignment.all_aligned(without_padding(xp, modes.on_one_device(a)))
    (batch, heads, queries, size), (shared, keys) = a.q.shape, a.k.shape[1:3]
    causal = _hides(a) and a.mask is None and a.bias is None and a.kv_lengths is None and _is_causal_from_above(a)
    added = None if causal else blocks.added_to_scores(a, (0, queries), (0, a.k.shape[2]), a.q.dtype)
    empty = None
    if added is not None:
        empty = (added == -math.inf).all(3, keepdim=True)
        added = torch.where(empty, 0.0, added)  # a query without keys sees all, and is lost below: no NaN, no gradient
        if added.shape[3] != keys:  # the kernels read the values of a row next to each other
            added = added.expand(*added.shape[:3], keys).contiguous()
    q, k, v = a.q, a.k, a.v
    if heads != shared and not knows_groups:
        if queries == 1 and not causal and (added is None or added.shape[1] == 1):
            q = q.reshape(batch, shared, -1, size)  # heads that share keys are as good as queries
        else:
            k, v = (x.repeat_interleave(heads // shared, 1) for x in (k, v))
    with sdpa_kernel(backend), modes.unrounded(q):
        grouped = q.shape[1] != k.shape[1]
        out = scaled_dot_product_attention(q, k, v, added, is_causal=causal, scale=a.scale, enable_gqa=grouped)
    out = out.reshape(batch, heads, queries, -1)
    if a.q_lengths is not None:
        lost = torch.arange(queries, device=q.device).view(-1, 1) >= a.q_lengths.view(-1, 1, 1, 1)
        empty = lost if empty is None else empty | lost
    return out if empty is None else torch.where(empty, 0.0, out), None


for _kernel in (cudnn, efficient):
    _kernel.copies = alignment.copies  # type: ignore[attr-defined]


def _masked_refusal(a: Attention, switch: str) -> str | None:
    """What speaks against those that take a mask."""
    if a.return_lse:
        return "PyTorch gives no logsumexp of it"
    if a.bias is not None and torch.promote_types(a.bias.dtype, a.q.dtype) != a.q.dtype:
        return f"it would round the bias, of {a.bias.dtype}, to {a.q.dtype}"
    if _mask_values(a) > MASK:
        return f"its mask would have more than {MASK} values"
    if a.scale <= 0:
        return "it takes scales above 0: it multiplies the -inf of what is hidden by the scale"
    if not modes.is_switched_on(switch):
        return f"torch.backends.cuda.enable_{switch}_sdp has switched it off"
    return modes.refusal(a)


def _mask_values(a: Attention) -> int:
    """How many values a mask has that says all that hides keys."""
    shapes = [(*x.shape[:3], a.k.shape[2]) for x in (a.mask, a.bias) if x is not None]
    if a.kv_lengths is not None:
        shapes.append((a.q.shape[0], 1, 1, a.k.shape[2]))
    if _hides(a) and (shapes or not _is_causal_from_above(a)):
        shapes.append((1 if has_one_offset(a) else a.q.shape[0], 1, a.q.shape[2], a.k.shape[2]))
    values = 1 if shapes else 0
    for extents in zip(*shapes, strict=True):  # PyTorch's compiler cannot trace math.prod of extents that are symbols
        values *= max(extents)
    return values


def _hides(a: Attention) -> bool:
    return has_band(a) and not is_full(a, (0, a.q.shape[2]), (0, a.k.shape[2]))


def _is_causal_from_above(a: Attention) -> bool:
    return a.left is None and a.right == 0 and has_one_offset(a) and a.offset == 0


def _too_old(a: Attention, *majors: int) -> str | None:
    """Whether the GPU is not of one of these generations, or, of one alone, not of it or a later one."""
    major = modes.generation(a.q.device)
    if major in majors or (len(majors) == 1 and major > majors[0]):
        return None
    return f"it serves, or is the fastest on, compute capability {' and '.join(map(str, majors))}, not {major}"
