"""PyTorch's flash attention on the CPU, chosen by name.

If this kernel cannot serve, PyTorch's public function silently computes the whole matrix of scores. The kernel supports
heads that share keys, causal masks from the top left, and one additive mask. Other calls without a softcap are split
into these: batch rows without their padding, and blocks of queries with a mask each.
"""

from __future__ import annotations

import math
from functools import partial

import torch
from torch.nn.functional import pad

from xarrayops.plugin import Array, Attention, Call, constant_while_tracing, has_band
from xarrayops.plugin.generic import Span, is_full, part
from xarrayops_backends.torch._attention import blocks, conditions

# Values of the mask of a block, over all heads and batch rows.
MASK = 1 << 22
# Queries of a block if the band hides keys.
ROWS = 256
DTYPES = frozenset((torch.float16, torch.bfloat16, torch.float32, torch.float64))
_flash = torch._scaled_dot_product_flash_attention_for_cpu


def refusal(call: Call) -> str | None:
    """Why flash attention on the CPU cannot serve the call."""
    (a,) = call.args
    if a.q.dtype not in DTYPES:
        return f"it has no kernel for {a.q.dtype}"
    if conditions.has_lengths(a) and not conditions.can_read_lengths(a):
        return "it must read the lengths, which have no values while tracing"
    return conditions.refusal(a)


def attention(a: Attention, /) -> tuple[Array, Array | None]:
    """Attention for calls that `refusal` accepts."""
    if conditions.has_lengths(a):
        return blocks.by_rows(a, attention)
    _, _, queries, size = a.q.shape
    if size != a.v.shape[3]:
        return _of_one_size(a)
    return _of_one_query(a) if queries == 1 else _served(a)


def _served(a: Attention) -> tuple[Array, Array | None]:
    """One call of the kernel if possible, else blocks of queries."""
    if not a.q.numel() or not a.k.numel():
        # A batch row without keys or queries, which the kernel does not accept.
        return blocks.attention(a)
    # The kernel needs contiguous heads.
    if not a.q.stride(3) == a.k.stride(3) == a.v.stride(3) == 1:
        a = a._replace(q=a.q.contiguous(), k=a.k.contiguous(), v=a.v.contiguous())
    q, k, v = a.q, a.k, a.v
    hides = has_band(a) and not is_full(a, (0, q.shape[2]), (0, k.shape[2]))
    reaches = a.right == 0 and a.offset == 0 and (a.left is None or a.left >= q.shape[2] - 1)
    # Not the condition itself, which is not a bool under torch.compile with symbolic sizes. The scale must be positive,
    # because the kernel multiplies the -inf of hidden keys by it.
    causal = False
    if hides and reaches and a.scale > 0:
        causal = True
    if a.mask is None and a.bias is None and (causal or not hides):
        return _flash(q, k, v, 0.0, causal, attn_mask=None, scale=a.scale)
    return _by_blocks(a, hides)


def _of_one_size(a: Attention) -> tuple[Array, Array | None]:
    """Pad heads of different sizes with zeros, which change no score."""
    size = a.v.shape[3]
    more = size - a.q.shape[3]
    if more > 0:
        return attention(a._replace(q=pad(a.q, (0, more)), k=pad(a.k, (0, more))))
    out, lse = attention(a._replace(v=pad(a.v, (0, -more))))
    return out[..., :size], lse


def _of_one_query(a: Attention) -> tuple[Array, Array | None]:
    """One decoding step: the band is a range of keys, and heads that share keys can be stacked as queries."""
    (batch, heads, _, size), shared = a.q.shape, a.k.shape[1]
    keys = blocks.seen_by(a, (0, 1))
    mask, bias = (None if x is None else part(x, (0, 1), keys) for x in (a.mask, a.bias))
    a = a._replace(
        k=a.k[:, :, slice(*keys)], v=a.v[:, :, slice(*keys)], mask=mask, bias=bias, left=None, right=None, offset=0
    )
    of_heads = any(x is not None and x.shape[1] > 1 for x in (mask, bias))
    # Stacked, each key is read once for all of its queries. But the kernel distributes batch rows and heads over
    # threads: with fewer of them than threads, some would be idle.
    if heads == shared or of_heads or batch * shared < _threads():
        return _served(a)
    out, lse = _served(a._replace(q=a.q.reshape(batch, shared, -1, size)))
    return out.reshape(batch, heads, 1, size), None if lse is None else lse.reshape(batch, heads, 1)


@constant_while_tracing
def _threads() -> int:
    """PyTorch's number of threads, which its compiler cannot trace."""
    return torch.get_num_threads()


def _by_blocks(a: Attention, hides: bool) -> tuple[Array, Array | None]:
    """Blocks of queries, each with the keys that it may see and its slice of the masks."""
    given = [x.shape for x in (a.mask, a.bias) if x is not None]
    heads = max([shape[0] for shape in given], default=1) * max([shape[1] for shape in given], default=1)
    # Small blocks, because each sees only a part of the keys. Without a band the blocks only bound the memory of the
    # mask, and a mask with one row needs no cut at all.
    if hides:
        spans = blocks.spans(a, MASK // heads, 1, ROWS)
    elif all(shape[2] == 1 for shape in given):
        spans = [(0, a.q.shape[2])]
    else:
        spans = blocks.spans(a, MASK // heads, 1)
    outs, sums = [], []
    for span in spans:
        block = partial(_attended, a)
        out, lse = (block if len(spans) == 1 else conditions.recomputed(a, block))(span)
        outs.append(out)
        sums.append(lse)
    return blocks.joined(outs), blocks.joined(sums) if a.return_lse else None


def _attended(a: Attention, span: Span) -> tuple[Array, Array | None]:
    """One block of queries."""
    keys = blocks.seen_by(a, span)
    q, k, v = a.q[:, :, slice(*span)], a.k[:, :, slice(*keys)], a.v[:, :, slice(*keys)]
    if keys[0] == keys[1]:
        return blocks.attention(Attention(q, k, v, a.scale, return_lse=a.return_lse))
    added = blocks.added_to_scores(a, span, keys, torch.float64 if a.q.dtype is torch.float64 else torch.float32)
    out, lse = _flash(q, k, v, 0.0, False, attn_mask=added, scale=a.scale)
    if a.return_lse and added is not None:
        # The kernel gives 0 for a query without keys.
        lse = torch.where((added == -math.inf).all(3), -math.inf, lse)
    return out, lse
