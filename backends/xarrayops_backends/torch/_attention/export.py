"""PyTorch's public attention while `xarrayops.export` traces, which formats such as ONNX have as one operator."""

from __future__ import annotations

import math

import torch
from torch.nn.functional import scaled_dot_product_attention

from xarrayops.plugin import Array, Attention, Call, has_band, has_one_offset
from xarrayops_backends.torch._attention import conditions
from xarrayops_backends.torch._compilation import _is_exporting


def refusal(call: Call) -> str | None:
    """Why the public function cannot serve the call."""
    (a,) = call.args
    if not _is_exporting():
        return "it serves exports"
    if a.softcap is not None or a.return_lse:
        return "it has neither a softcap nor a logsumexp"
    if conditions.has_lengths(a) or not has_one_offset(a):
        return "it does not support lengths or several offsets"
    return None


def attention(a: Attention, /) -> tuple[Array, None]:
    """Attention for calls that `refusal` accepts. Queries that a mask leaves without a key give 0, as elsewhere."""
    is_plain = a.mask is None and a.bias is None
    is_causal = is_plain and a.left is None and a.right == 0 and isinstance(a.offset, int) and a.offset == 0
    added = None if is_causal or (is_plain and not has_band(a)) else _added(a)
    out = scaled_dot_product_attention(
        a.q, a.k, a.v, attn_mask=added, is_causal=is_causal, scale=a.scale, enable_gqa=a.q.shape[1] != a.k.shape[1]
    )
    if added is None:
        return out, None
    return torch.where((added == -math.inf).all(3, keepdim=True), 0.0, out), None


def _added(a: Attention) -> Array:
    """The bias of all scores, with -inf for hidden keys; no length decides how it is made."""
    queries, keys = a.q.shape[2], a.k.shape[2]
    added = a.q.new_zeros((1, 1, queries, keys)) if a.bias is None else a.bias.to(a.q.dtype)
    if a.mask is not None:
        added = torch.where(a.mask, added, -math.inf)
    if has_band(a):
        rows = torch.arange(queries, device=a.q.device)[:, None] + a.offset
        distance = torch.arange(keys, device=a.q.device) - rows
        if a.left is not None:
            added = torch.where(distance >= -a.left, added, -math.inf)
        if a.right is not None:
            added = torch.where(distance <= a.right, added, -math.inf)
    return added
