"""PyTorch's attention kernels on CUDA that accept a mask, selected by name: cuDNN's and the memory-efficient one.

If none of them can serve, PyTorch's public function silently computes the whole matrix of scores. Their constraints are
in sdp_utils.cpp of PyTorch's sources; this file assumes the strictest of all versions and GPUs. Not yet tested on a
GPU.
"""

from __future__ import annotations

import math

import torch
from array_api_compat import torch as xp
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from xarrayops.plugin import Array, Attention, Call, has_band, has_one_offset
from xarrayops.plugin.generic import is_full, without_padding
from xarrayops_backends.torch import _tracing
from xarrayops_backends.torch._attention import alignment, blocks, conditions, flash

# The largest mask, in values, that may be created for the whole call.
MASK = 1 << 24
# With fewer queries cuDNN takes longer to plan (again for each length of a growing cache) than to compute.
FEW_QUERIES = 16


def cudnn_refusal(call: Call) -> str | None:
    """Why cuDNN's attention cannot or should not serve the call."""
    (a,) = call.args
    sizes = a.q.shape[3], a.v.shape[3]
    if not a.q.is_cuda:
        return "it serves CUDA"
    if a.q.dtype not in flash.HALVES:
        return "it serves float16 and bfloat16"
    if any(size % 8 or size > 128 for size in sizes):
        return "it serves heads whose sizes are multiples of 8 and at most 128"
    if a.k.shape[2] == 1 or (a.q.shape[2] == 1 and conditions.requires_grad(a)):
        return "it does not serve a single key, or the gradient of a single query"
    if a.q.shape[2] < FEW_QUERIES and not conditions.requires_grad(a):
        return f"it plans again for each number of keys, too slow for fewer than {FEW_QUERIES} queries"
    if a.kv_lengths is not None and flash.flash_refusal(call) is None:
        return "it would copy keys and values to apply their lengths; flash attention does not"
    if torch.are_deterministic_algorithms_enabled():
        return "its gradients are not deterministic"
    if torch.version.hip or conditions.cudnn_version() <= 91500:
        return "cuDNN up to 9.15.0 gives wrong values if the length is not a multiple of 128"
    if (major := conditions.generation(a.q.device)) not in (9, 10):
        return f"it serves, or is the fastest on, compute capability 9 and 10, not {major}"
    return _masked_refusal(a, "cudnn")


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
    return _masked_refusal(a, "mem_efficient") or conditions.too_old(a.q.device)


def cudnn(a: Attention, /) -> tuple[Array, None]:
    """cuDNN's attention, which supports heads that share keys."""
    return masked(SDPBackend.CUDNN_ATTENTION, a, knows_groups=True)


def efficient(a: Attention, /) -> tuple[Array, None]:
    """The memory-efficient kernel; some versions do not support heads that share keys."""
    return masked(SDPBackend.EFFICIENT_ATTENTION, a, knows_groups=False)


def masked(backend: SDPBackend, a: Attention, *, knows_groups: bool) -> tuple[Array, None]:
    """The public function, restricted to one kernel, with all masks combined into one."""
    a = alignment.all_aligned(without_padding(xp, conditions.on_one_device(a)))
    (batch, heads, queries, size), (shared, keys) = a.q.shape, a.k.shape[1:3]
    # The kernel's own causal mask needs no memory and skips hidden blocks.
    causal = _hides(a) and a.mask is None and a.bias is None and a.kv_lengths is None and _is_causal_from_above(a)
    added = None if causal else blocks.added_to_scores(a, (0, queries), (0, a.k.shape[2]), a.q.dtype)
    empty = None
    if added is not None:
        empty = (added == -math.inf).all(3, keepdim=True)
        # Rows of -inf alone would give NaN, in the result and in gradients. Their result is replaced below.
        added = torch.where(empty, 0.0, added)
        if added.shape[3] != keys:
            # A mask that broadcasts along keys has a stride of 0 there; the kernels require contiguous rows.
            added = added.expand(*added.shape[:3], keys).contiguous()
    q, k, v = a.q, a.k, a.v
    if heads != shared and not knows_groups:
        if queries == 1 and not causal and (added is None or added.shape[1] == 1):
            # Heads that share keys are stacked as queries: the keys are not repeated in memory.
            q = q.reshape(batch, shared, -1, size)
        else:
            k, v = (x.repeat_interleave(heads // shared, 1) for x in (k, v))
    # Restricted to one kernel: otherwise PyTorch may choose to compute the whole matrix of scores.
    with sdpa_kernel(backend), _tracing.unrounded(q):
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
    """Why kernels that accept a mask cannot serve the call."""
    if a.return_lse:
        return "PyTorch does not return its logsumexp"
    if a.bias is not None and torch.promote_types(a.bias.dtype, a.q.dtype) != a.q.dtype:
        return f"it would round the bias, of {a.bias.dtype}, to {a.q.dtype}"
    if _mask_values(a) > MASK:
        return f"its mask would have more than {MASK} values"
    if a.scale <= 0:
        return "the scale must be above 0: it multiplies the -inf of hidden keys by the scale"
    if not conditions.is_switched_on(switch):
        return f"torch.backends.cuda.enable_{switch}_sdp has switched it off"
    return conditions.refusal(a)


def _mask_values(a: Attention) -> int:
    """The number of values of the combined mask."""
    shapes = [(*x.shape[:3], a.k.shape[2]) for x in (a.mask, a.bias) if x is not None]
    if a.kv_lengths is not None:
        shapes.append((a.q.shape[0], 1, 1, a.k.shape[2]))
    if _hides(a) and (shapes or not _is_causal_from_above(a)):
        shapes.append((1 if has_one_offset(a) else a.q.shape[0], 1, a.q.shape[2], a.k.shape[2]))
    values = 1 if shapes else 0
    # torch.compile cannot trace math.prod of symbolic extents.
    for extents in zip(*shapes, strict=True):
        values *= max(extents)
    return values


def _hides(a: Attention) -> bool:
    return has_band(a) and not is_full(a, (0, a.q.shape[2]), (0, a.k.shape[2]))


def _is_causal_from_above(a: Attention) -> bool:
    return a.left is None and a.right == 0 and has_one_offset(a) and a.offset == 0
