"""PyTorch's kernels of attention on CUDA, each chosen by name.

PyTorch's public function takes the whole matrix of scores wherever none of them can serve, without a word. What they
can do stands in sdp_utils.cpp of its sources; where versions or GPUs differ, this is the least of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
from array_api_compat import torch as xp
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from xarrayops._generic_attention import is_full, without_padding
from xarrayops.plugin import Array, Attention, Call
from xarrayops_backends.torch import _attention_blocks as blocks, _attention_modes as modes

HALVES = frozenset((torch.float16, torch.bfloat16))
MASK = 1 << 24
"""Values of a mask that may be made for the whole call."""


def flash_refusal(call: Call) -> str | None:
    """Why flash attention cannot serve the call."""
    (a,) = call.args
    size = a.q.shape[3]
    if a.mask is not None or a.bias is not None or a.kv_lengths is not None or a.q_lengths is not None:
        return "it takes neither masks nor lengths"
    if a.q.dtype not in HALVES:
        return "it serves float16 and bfloat16"
    if size != a.v.shape[3] or size % 8 or size > (192 if modes.requires_grad(a) else 256):
        return "it serves heads of one size, a multiple of 8 and at most 256, or 192 for gradients"
    if _hides(a) and not _is_causal_from_below(a):
        return "of bands, it serves causality from the bottom right, where there are as many keys as queries or more"
    return _refusal(a) or _too_old(a, 8)


def cudnn_refusal(call: Call) -> str | None:
    """Why cuDNN's attention cannot serve the call, or had better not."""
    (a,) = call.args
    sizes = a.q.shape[3], a.v.shape[3]
    if not a.q.is_cuda:
        return "it serves CUDA"
    if a.q.dtype not in HALVES:
        return "it serves float16 and bfloat16"
    if any(size % 8 or size > 128 for size in sizes):
        return "it serves heads whose sizes are multiples of 8 and at most 128"
    if a.k.shape[2] == 1 or (a.q.shape[2] == 1 and modes.requires_grad(a)):
        return "it takes no single key, and no gradient of a single query"
    if torch.are_deterministic_algorithms_enabled():
        return "its gradients are not deterministic"
    if torch.version.hip or (torch.backends.cudnn.version() or 0) <= 91500:  # type: ignore[no-untyped-call]
        return "cuDNN up to 9.15.0 is wrong where 128 does not divide the length"
    return _masked_refusal(a) or _too_old(a, 9, 10)


def efficient_refusal(call: Call) -> str | None:
    """Why the memory-efficient kernel cannot serve the call."""
    (a,) = call.args
    if not a.q.is_cuda:
        return "it serves CUDA"
    if a.q.dtype not in HALVES and a.q.dtype is not torch.float32:
        return "it serves float16, bfloat16 and float32"
    aligned = 16 // a.q.itemsize
    if a.q.shape[3] % aligned or a.v.shape[3] % aligned:
        return f"it serves heads whose sizes are multiples of {aligned}"
    if any(step % aligned for x in (a.q, a.k, a.v) for step in (*x.stride()[:3], x.storage_offset())):
        return "it takes rows that begin at multiples of 16 bytes"
    return _masked_refusal(a) or _too_old(a, 8)


def flash(a: Attention, /) -> tuple[Array, Array]:
    """The kernel itself: unlike the public function, it is causal from the bottom right, and gives the logsumexp."""
    out, lse, *_ = torch._scaled_dot_product_flash_attention(a.q, a.k, a.v, 0.0, _hides(a), scale=a.scale)
    return out, lse


def masked(backend: SDPBackend, a: Attention, /) -> tuple[Array, None]:
    """The public function, held to one kernel, with all that hides keys in one mask."""
    a = without_padding(xp, a)
    causal = _hides(a) and a.mask is None and a.bias is None and a.kv_lengths is None and _is_causal_from_above(a)
    whole = (0, a.q.shape[2]), (0, a.k.shape[2])
    added = None if causal else blocks.added_to_scores(a, *whole, a.q.dtype)
    empty = None
    if added is not None:
        empty = (added == -math.inf).all(3, keepdim=True)
        added = torch.where(empty, 0.0, added)  # a query without keys sees all, and is lost below: no NaN, no gradient
    k, v, groups = a.k, a.v, a.q.shape[1] // a.k.shape[1]
    if groups > 1:  # not every version of every kernel knows heads that share keys
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
    with sdpa_kernel(backend), modes.unrounded(a.q):
        out = scaled_dot_product_attention(a.q, k, v, added, is_causal=causal, scale=a.scale)
    if a.q_lengths is not None:
        lost = torch.arange(a.q.shape[2], device=a.q.device).view(-1, 1) >= a.q_lengths.view(-1, 1, 1, 1)
        empty = lost if empty is None else empty | lost
    return out if empty is None else torch.where(empty, 0.0, out), None


cudnn: Callable[[Attention], tuple[Array, None]] = partial(masked, SDPBackend.CUDNN_ATTENTION)
efficient: Callable[[Attention], tuple[Array, None]] = partial(masked, SDPBackend.EFFICIENT_ATTENTION)


def _refusal(a: Attention) -> str | None:
    """What speaks against any of them."""
    if a.scale <= 0:
        return "it takes scales above 0: it multiplies the -inf of what is hidden by the scale"
    if a.q.stride(3) != 1 or a.k.stride(3) != 1 or a.v.stride(3) != 1:
        return "it takes heads whose values lie next to each other"
    return modes.refusal(a)


def _masked_refusal(a: Attention) -> str | None:
    """What speaks against those that take a mask."""
    if a.with_lse:
        return "PyTorch gives no logsumexp of it"
    if a.bias is not None and torch.promote_types(a.bias.dtype, a.q.dtype) != a.q.dtype:
        return f"it would round the bias, of {a.bias.dtype}, to {a.q.dtype}"
    if _mask_values(a) > MASK:
        return f"its mask would have more than {MASK} values"
    return _refusal(a)


def _mask_values(a: Attention) -> int:
    """How many values a mask has that says all that hides keys."""
    shapes = [x.shape for x in (a.mask, a.bias) if x is not None]
    if a.kv_lengths is not None:
        shapes.append((a.q.shape[0], 1, 1, a.k.shape[2]))
    if _hides(a) and (shapes or not _is_causal_from_above(a)):
        shapes.append((1 if a.has_one_offset else a.q.shape[0], 1, a.q.shape[2], a.k.shape[2]))
    return math.prod(max(extents) for extents in zip(*shapes, strict=True)) if shapes else 0


def _hides(a: Attention) -> bool:
    return a.has_band and not is_full(a, (0, a.q.shape[2]), (0, a.k.shape[2]))


def _is_causal_from_above(a: Attention) -> bool:
    return a.left is None and a.right == 0 and a.has_one_offset and a.offset == 0


def _is_causal_from_below(a: Attention) -> bool:
    """Rows without keys are left out, to which the kernel gives a logsumexp of +inf; so is AMD's, which is another."""
    more = a.k.shape[2] - a.q.shape[2]
    causal = a.left is None and a.right == 0 and a.has_one_offset and a.offset == more
    return causal and (more == 0 or (more > 0 and not torch.version.hip))


def _too_old(a: Attention, *majors: int) -> str | None:
    """Whether the GPU is not of one of these generations, or, of one alone, not of it or a later one."""
    if not torch.cuda.is_available():
        return "there is no GPU here"
    major = torch.cuda.get_device_capability(a.q.device)[0]
    if major in majors or (len(majors) == 1 and major > majors[0]):
        return None
    return f"it serves, or is the fastest on, compute capability {' and '.join(map(str, majors))}, not {major}"
