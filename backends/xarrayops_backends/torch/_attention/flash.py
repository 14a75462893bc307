"""PyTorch's own build of FlashAttention-2 on CUDA, through the operators below the public function.

Unlike the public function they accept windows, causal masks from the bottom right and lengths of keys, and return the
logsumexp. Their constraints are in flash_api.cpp of PyTorch's sources. Not yet tested on a GPU.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch

from xarrayops.plugin import Array, Attention, Call, has_band, has_one_offset
from xarrayops.plugin.generic import Span, is_full
from xarrayops_backends.torch._attention import alignment, blocks, conditions

HALVES = frozenset((torch.float16, torch.bfloat16))
_FORWARD = torch.ops.aten._flash_attention_forward.default._schema
# Whether the operator of this version of PyTorch accepts the number of valid keys of each row.
LENGTHS = any(argument.name == "seqused_k" for argument in _FORWARD.arguments)
# The most rows of keys that the kernel can index.
MANY = 1 << 31


class Band(NamedTuple):
    """A band in the kernel's convention: the last query is aligned with the last key."""

    keys: Span
    """The range of keys that any query may see."""
    left: int
    right: int
    """How many keys a query sees to each side; -1 for no limit."""


def hides(limits: Band) -> bool:
    """Whether either side has a limit."""
    return limits.left >= 0 or limits.right >= 0


def is_causal(limits: Band) -> bool:
    """Whether the kernel's ``is_causal`` expresses the band."""
    return limits.left < 0 and limits.right == 0


def windows(limits: Band) -> dict[str, int]:
    """The window arguments of the kernel, without ``is_causal``."""
    return {"window_size_left": limits.left, "window_size_right": -1 if is_causal(limits) else limits.right}


def flash_refusal(call: Call) -> str | None:
    """Why flash attention on CUDA cannot serve the call."""
    (a,) = call.args
    return (
        halves_refusal(a, 192 if conditions.requires_grad(a) else 256)
        or _band_refusal(a)
        or (lengths_refusal(a) if conditions.has_lengths(a) else None)
        or (None if conditions.is_switched_on("flash") else "torch.backends.cuda.enable_flash_sdp has switched it off")
        or conditions.refusal(a)
        or conditions.too_old(a.q.device)
    )


def halves_refusal(a: Attention, largest: int) -> str | None:
    """Why no flash attention can serve the call: masks, dtypes, head sizes."""
    size = a.q.shape[3]
    if a.mask is not None or a.bias is not None:
        return "it does not accept masks"
    if a.q.dtype not in HALVES:
        return "it serves float16 and bfloat16"
    if size != a.v.shape[3] or size % 8 or size > largest:
        return f"it serves heads of one size, a multiple of 8 and at most {largest}"
    if a.scale <= 0:
        return "the scale must be above 0: it multiplies the -inf of hidden keys by the scale"
    return None


def _band_refusal(a: Attention) -> str | None:
    found = band(a)
    if isinstance(found, str):
        return found
    if torch.version.hip and hides(found) and not (is_causal(found) and a.q.shape[2] == a.k.shape[2]):
        return "on AMD GPUs the only band that it serves is causal, with as many keys as queries"
    return None


def lengths_refusal(a: Attention) -> str | None:
    """Why the kernel cannot accept the lengths."""
    if a.q_lengths is not None:
        return "it does not accept lengths of queries"
    if not LENGTHS or torch.version.hip:
        return "this build of PyTorch does not accept lengths"
    if conditions.requires_grad(a):
        return "it has no gradient with lengths"
    if sequences(a) is None:
        return "the batch rows of keys and values are not evenly spaced"
    return None


def flash(a: Attention, /) -> tuple[Array, Array]:
    """Attention for calls that `flash_refusal` accepts."""
    a = alignment.all_aligned(a)
    limits = band(a)
    assert isinstance(limits, Band)  # the refusal has looked
    if a.kv_lengths is not None:
        out, lse = _by_lengths(a, limits, a.kv_lengths)
        return out, without_keys(lse)
    (begin, end), queries = limits.keys, a.q.shape[2]
    # Keys that no query sees are cut off, which also makes the last visible key the one that the kernel aligns to.
    k, v = a.k.narrow(2, begin, end - begin), a.v.narrow(2, begin, end - begin)
    out, lse, *_ = torch.ops.aten._flash_attention_forward(
        *(*(x.transpose(1, 2) for x in (a.q, k, v)), None, None),
        *(queries, end - begin, 0.0, is_causal(limits), False),
        scale=a.scale,
        **windows(limits),
    )
    out = out.transpose(1, 2)
    # Only then does the first query lie so far before the keys that it sees none.
    return out, without_keys(lse) if limits.right >= 0 and queries > end - begin + limits.right else lse


def without_keys(lse: Array) -> Array:
    """The logsumexp, -inf for queries without keys, where the kernel returns +inf."""
    return torch.where(lse == math.inf, -math.inf, lse)


def _by_lengths(a: Attention, limits: Band, lengths: Array) -> tuple[Array, Array]:
    """Keys with lengths, without a copy: the batch rows are sequences of one packed array with unused parts."""
    (batch, heads, queries, size), (shared, keys) = a.q.shape, a.k.shape[1:3]
    step = sequences(a)
    assert step is not None  # the refusal has looked
    device, rows = a.q.device, (batch - 1) * step + keys
    # No copy: one sequence of keys over all batch rows, of which each row uses a part. The last row ends with its last
    # key, so the view does not reach beyond the memory.
    k, v = (x.as_strided((rows, shared, size), (x.stride(2), x.stride(1), 1)) for x in (a.k, a.v))
    begins = torch.arange(batch + 1, dtype=torch.int32, device=device)
    out, lse, *_ = torch.ops.aten._flash_attention_forward(
        *(a.q.transpose(1, 2).reshape(batch * queries, heads, size), k, v, begins * queries, begins * step),
        *(queries, keys, 0.0, is_causal(limits), False),
        scale=a.scale,
        **windows(limits),
        seqused_k=lengths.to(device, torch.int32).clamp(0, keys),
    )
    return out.view(batch, queries, heads, size).transpose(1, 2), lse.view(heads, batch, queries).transpose(0, 1)


def sequences(a: Attention) -> int | None:
    """The distance between the first keys of two batch rows, counted in keys; None if it is not an integer.

    The kernel indexes keys in one packed array, (B * L, H, D). With this distance between batch rows, views are such
    arrays in both layouts, also views of a longer cache.
    """
    steps = []
    for x in (a.k, a.v):
        of_row, of_key = x.stride(0), x.stride(2)
        # The stride of an axis of extent 1 is arbitrary.
        if x.shape[0] == 1:
            of_row, of_key = x.shape[2], 1
        if of_key <= 0 or of_row < 0 or of_row % of_key:
            return None
        steps.append(of_row // of_key)
    fits = steps[0] == steps[1] and steps[0] * a.k.shape[0] + a.k.shape[2] < MANY
    return steps[0] if fits else None


def band(a: Attention) -> Band | str:
    """The band in the kernel's convention, or why the kernel cannot express it."""
    queries, keys = a.q.shape[2], (0, a.k.shape[2])
    if not has_band(a) or is_full(a, (0, queries), keys):
        return Band(keys, -1, -1)
    if has_one_offset(a):
        if conditions.has_lengths(a):
            return "with lengths it serves only bands from the bottom right"
        keys = blocks.seen_by(a, (0, queries))
        # The kernel puts query 0 at seen - queries, counted from the first visible key; here it is at offset - keys[0].
        shift = a.offset - keys[1] + queries
    elif a.bottom_right and a.q_lengths is None:
        shift = 0
    else:
        return "with an offset for each batch row it serves only bands from the bottom right"
    seen = keys[1] - keys[0]
    left, right = (None if a.left is None else a.left - shift), (None if a.right is None else a.right + shift)
    if seen == 0 or (left is not None and left < 0) or (right is not None and right < 0):
        return "it does not serve a band that begins or ends beyond the last query"
    left = -1 if left is None or left >= seen - 1 else left
    right = -1 if right is None or right >= queries - 1 else right
    if right >= seen or (left >= 0 and right < 0 and queries > seen + 1):
        return "it treats limits of at least the number of keys as no limits, which is wrong for so many queries"
    return Band(keys, left, right)
