"""Attention in PyTorch's own operations: blocks of queries, each against all the keys that it sees.

The scores of a block are gone before those of the next are computed, so that memory grows with the sequence and not
with its square; for a gradient they are computed anew. Serves all calls; what is here helps the other kernels as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import torch
from array_api_compat import torch as xp
from torch.autograd.function import once_differentiable
from torch.compiler import is_compiling
from torch.nn.functional import pad
from torch.utils.checkpoint import checkpoint

from xarrayops._generic_attention import Span, cut, is_full, limits, part, without_padding
from xarrayops.kernels.attention import require_lengths
from xarrayops.plugin import Array, Attention

Serve = Callable[[Attention], tuple[Array, Array | None]]

SCORES = 1 << 20
"""Scores of a block over all heads and rows of the batch, unless ``QUERIES`` make more."""
QUERIES = 16
"""Queries of a block at least."""


def attention(a: Attention, /) -> tuple[Array, Array | None]:
    """Serve any call, on any device."""
    if has_lengths(a):
        if can_read_lengths(a):
            return by_rows(a, attention)
        a = without_padding(xp, a)
    wide = torch.float64 if a.q.dtype is torch.float64 else torch.float32
    q = a.q.to(wide) * (a.scale if a.softcap is None else a.scale / a.softcap)
    k, v = a.k.to(wide).flatten(0, 1).mT, a.v.to(wide).flatten(0, 1)
    recorded = requires_grad(a) and not is_compiling() and not _transforms()
    serve: Callable[..., tuple[Array, Array]] = _Recomputed.apply if recorded else _forward
    out, lse = serve(a, q, k, v, a.bias)
    return out.to(a.q.dtype), lse


class _Recomputed(torch.autograd.Function):
    """All blocks; the scores of each are computed anew for the gradient (Dao et al. 2022, section 3.1).

    torch.utils.checkpoint would keep the result of each block in the hole that the scores of the last one left: the
    heap of the C library then grows by the scores of all blocks.
    """

    @staticmethod
    def forward(ctx: Any, a: Attention, *arrays: Any) -> tuple[Array, Array]:
        out, lse = _forward(a, *arrays)
        ctx.a = a
        ctx.save_for_backward(*arrays, out, lse)
        return out, lse

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_out: Array, d_lse: Array) -> tuple[Array | None, ...]:
        *arrays, out, lse = ctx.saved_tensors
        empty = lse[..., None] == -math.inf
        d_out = torch.where(empty, 0.0, d_out)
        base = torch.where(empty, 0.0, lse[..., None])
        delta = torch.sum(d_out * out, 3, keepdim=True) - torch.where(empty, 0.0, d_lse[..., None])
        gradients = [
            torch.zeros_like(x) if given else None for x, given in zip(arrays, ctx.needs_input_grad[1:], strict=True)
        ]
        for span in _spans(ctx.a):
            keys, rows = seen_by(ctx.a, span), slice(*span)
            if keys[0] < keys[1]:
                of_rows = d_out[:, :, rows], base[:, :, rows], delta[:, :, rows]
                _add_gradients(ctx.a, span, keys, _parts(span, keys, *arrays), of_rows, _parts(span, keys, *gradients))
        return None, *gradients


def _add_gradients(
    a: Attention,
    span: Span,
    keys: Span,
    arrays: tuple[Any, ...],
    of_rows: tuple[Array, Array, Array],
    gradients: tuple[Any, ...],
) -> None:
    """What one block adds to the gradients."""
    (q, k, v, bias), (d_out, base, delta), (d_q, d_k, d_v, d_bias) = arrays, of_rows, gradients
    bounded = _scores(a, q, k)
    scores = bounded
    if a.softcap is not None:
        bounded.tanh_()
        scores = bounded * a.softcap
    scores = _hidden(a, span, keys, scores, bias, out=scores)
    p = scores.sub_(base).exp_() if a.softcap is not None else torch.exp(scores - base)
    d_rows = _shared(d_out, v)
    d_scores = torch.bmm(d_rows, v.mT).view(p.shape).sub_(delta).mul_(p)
    if d_v is not None:
        d_v.baddbmm_(_shared(p, v).mT, d_rows)
    if d_bias is not None:
        d_bias += d_scores.sum_to_size(d_bias.shape)
    if a.softcap is not None:
        d_scores.mul_(bounded.square_().sub_(1).mul_(-a.softcap))
    d_shared = _shared(d_scores, k)
    if d_q is not None:
        d_q += torch.bmm(d_shared, k.mT).view(q.shape)
    if d_k is not None:
        d_k.baddbmm_(_shared(q, k).mT, d_shared)


def _forward(a: Attention, q: Array, k: Array, v: Array, bias: Array | None) -> tuple[Array, Array]:
    """All blocks, of queries that are scaled; k is transposed, and k and v have no axis of heads."""
    cut_up = _spans(a)
    near = ((span, seen_by(a, span)) for span in cut_up)
    serve = recomputed(a, _attended) if is_compiling() else _attended
    done = ((span, serve(a, span, keys, *_parts(span, keys, q, k, v, bias))) for span, keys in near)
    if len(cut_up) == 1 or _is_followed(q, k, v, bias):
        outs, sums = zip(*(result for _, result in done), strict=True)
        return joined(outs), joined(sums)
    out, lse = q.new_empty((*q.shape[:3], v.shape[2])), q.new_empty(q.shape[:3])
    for span, (rows_out, rows_lse) in done:  # into their places at once: see `_Recomputed`
        out.narrow(2, span[0], span[1] - span[0]).copy_(rows_out)
        lse.narrow(2, span[0], span[1] - span[0]).copy_(rows_lse)
    return out, lse


def _spans(a: Attention) -> list[Span]:
    return spans(a, SCORES // max(a.q.shape[0] * a.q.shape[1], 1), QUERIES)


def _parts(queries: Span, keys: Span, q: Any, k: Any, v: Any, bias: Any) -> tuple[Any, Any, Any, Any]:
    """What belongs to a block; None stays."""
    columns = keys[0], keys[1] - keys[0]
    return (  # by narrow: x[...] needs the GPU of a FakeTensor
        None if q is None else q.narrow(2, queries[0], queries[1] - queries[0]),
        None if k is None else k.narrow(2, *columns),
        None if v is None else v.narrow(1, *columns),
        None if bias is None else part(bias, queries, keys),
    )


def spans(a: Attention, scores: int, least: int) -> list[Span]:
    """Blocks of queries, of so many scores each for one head, but of at least so many queries; one block at least."""
    queries, keys = a.q.shape[2], a.k.shape[2]
    rows = scores // max(keys, 1)
    if a.left is not None and a.right is not None and isinstance(a.offset, int):
        width = max(a.left + a.right + 1, 1)
        if width < keys:  # a block sees its rows and the width; were there more rows, most of that would be hidden
            rows = min(scores // width, max(width // 4 // 64, 1) * 64)
    return list(cut(queries, max(rows, least))) or [(0, 0)]


def seen_by(a: Attention, queries: Span) -> Span:
    """The keys that a block of queries may see by the band."""
    begin, end = 0, a.k.shape[2]
    if isinstance(a.offset, int):
        if a.right is not None:
            end = max(min(end, queries[1] + a.offset + a.right), 0)
        if a.left is not None:
            begin = min(max(begin, queries[0] + a.offset - a.left), end)
    return begin, end


def joined(parts: Sequence[Any]) -> Array:
    """The blocks of queries as one."""
    return parts[0] if len(parts) == 1 else torch.cat(tuple(parts), dim=2)


def _attended(
    a: Attention, span: Span, keys: Span, q: Array, k: Array, v: Array, bias: Array | None
) -> tuple[Array, Array]:
    """One block of queries against all keys that it sees."""
    scores = _scores(a, q, k)
    own = None if _is_followed(q, k, v, bias) else scores  # nobody else needs these values: they are written over
    if a.softcap is not None:
        scores = torch.mul(torch.tanh(scores, out=own), a.softcap, out=own)
    scores = _hidden(a, span, keys, scores, bias, out=own)
    hidden = scores.new_full((), -math.inf)
    if keys[0] == keys[1]:
        return _product(scores, v), hidden.expand(scores.shape[:3])
    largest = scores.detach().amax(3, keepdim=True)
    base = torch.where(largest == hidden, 0.0, largest)  # so that rows without keys give no NaN
    p = torch.exp(torch.sub(scores, base, out=own), out=own)
    weights, total = p.sum(3, keepdim=True), _product(p, v)
    empty = weights == 0
    if a.q_lengths is not None:
        places = torch.arange(*span, device=q.device).view(-1, 1)
        lost = places >= a.q_lengths.view(-1, 1, 1, 1)
        empty, total = empty | lost, torch.where(lost, 0.0, total)
    weights = torch.where(empty, 1.0, weights)
    return total / weights, torch.where(empty, hidden, base + torch.log(weights)).squeeze(3)


def _scores(a: Attention, q: Array, k: Array) -> Array:
    batch, heads, queries, _ = q.shape
    return torch.bmm(_shared(q, k), k).view(batch, heads, queries, k.shape[2])


def _hidden(a: Attention, span: Span, keys: Span, scores: Array, bias: Array | None, *, out: Array | None) -> Array:
    """The scores with their bias, -inf where a query does not see a key."""
    if bias is not None:
        scores = torch.add(scores, bias.to(scores.dtype), out=out)
    hidden = scores.new_full((), -math.inf)
    for seen in limits(xp, a, span, keys, scores):
        scores = torch.where(seen, scores, hidden, out=out)
    return scores


def _product(p: Array, v: Array) -> Array:
    """The values, weighted for each head."""
    return torch.bmm(_shared(p, v), v).view(*p.shape[:3], v.shape[2])


def _shared(x: Array, like: Array) -> Array:
    """Heads that share keys as one, with the rows below each other, as ``like`` has them."""
    batch, heads, rows, size = x.shape
    return x.reshape(like.shape[0], batch * heads // max(like.shape[0], 1) * rows, size)


def has_lengths(a: Attention) -> bool:
    """Whether rows of the batch end early."""
    return a.kv_lengths is not None or a.q_lengths is not None


def can_read_lengths(a: Attention) -> bool:
    """Whether the lengths have values, which cost no wait: then nothing is computed for padding."""
    if is_compiling() or torch._C._len_torch_dispatch_stack():
        return False
    lengths = [x for x in (a.q_lengths, a.kv_lengths) if x is not None]
    wrapped = torch._C._functorch.is_functorch_wrapped_tensor
    return all(type(x) is torch.Tensor and x.is_cpu and not wrapped(x) for x in lengths)


def by_rows(a: Attention, serve: Serve) -> tuple[Array, Array | None]:
    """Serve rows of equal lengths together, and each without what its lengths cut off."""
    outs: list[Array] = []
    sums: list[Array] = []
    queries = a.q.shape[2]
    for rows, q_length, k_length, offset in _alike(a):
        q, keys = (0, q_length), (0, k_length)
        mask, bias = (None if x is None else part(x[rows] if x.shape[0] > 1 else x, q, keys) for x in (a.mask, a.bias))
        out, lse = serve(
            a._replace(
                q=a.q[rows, :, :q_length],
                k=a.k[rows, :, :k_length],
                v=a.v[rows, :, :k_length],
                mask=mask,
                bias=bias,
                offset=offset,
                q_lengths=None,
                kv_lengths=None,
            )
        )
        lost = queries - q_length
        outs.append(pad(out, (0, 0, 0, lost)) if lost else out)
        sums.append(pad(lse, (0, lost), value=-math.inf) if lost and lse is not None else lse)
    if len(outs) == 1:
        return outs[0], sums[0]
    return torch.cat(outs), torch.cat(sums) if a.with_lse else None


def _alike(a: Attention) -> Iterator[tuple[slice, int, int, int]]:
    """Neighbouring rows with equal lengths and offset."""
    batch = a.q.shape[0]
    extents = (("q_lengths", a.q_lengths, a.q.shape[2]), ("kv_lengths", a.kv_lengths, a.k.shape[2]))
    lengths = [[n] * batch if x is None else require_lengths(name, x, n) for name, x, n in extents]
    offsets = [a.offset] * batch if isinstance(a.offset, int) else a.offset.tolist()
    of_rows = zip(*lengths, offsets, strict=True)
    begin = 0
    for (q_length, k_length, offset), rows in groupby(of_rows):
        end = begin + len(list(rows))
        yield slice(begin, end), q_length, k_length, offset
        begin = end


def _is_followed(*arrays: Array | None) -> bool:
    """Whether gradients, transforms or a compiler follow the values, so that none must be written over."""
    if is_compiling() or _transforms() or torch.autograd.forward_ad._current_level >= 0:
        return True
    return torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in arrays)


def _transforms() -> bool:
    """Whether a transform of torch.func runs."""
    return torch._C._functorch.peek_interpreter_stack() is not None


def requires_grad(a: Attention) -> bool:
    """Whether gradients of the call will be asked for."""
    if not torch.is_grad_enabled():
        return False
    return a.q.requires_grad or a.k.requires_grad or a.v.requires_grad or (a.bias is not None and a.bias.requires_grad)


def recomputed(a: Attention, block: Callable[..., Any]) -> Callable[..., Any]:
    """block, whose inner values are computed anew for the gradient; transforms of torch.func refuse the hooks of it."""
    if not requires_grad(a) or (not is_compiling() and _transforms()):
        return block
    return partial(checkpoint, block, use_reentrant=False, preserve_rng_state=False)


def transform_refusal() -> str | None:
    """Why PyTorch's own kernels of attention, of which only the gradient is known, cannot serve now."""
    if is_compiling():
        return None
    if torch.autograd.forward_ad._current_level >= 0:
        return "it has no forward-mode derivative"
    if _transforms():
        gradient = torch._C._functorch.TransformType.Grad
        if any(level.key() != gradient for level in torch._C._functorch.get_interpreter_stack()):
            return "of the transforms of torch.func it knows only grad"
    return None


def added_to_scores(a: Attention, queries: Span, keys: Span, dtype: torch.dtype) -> Array | None:
    """What is added to the scores of a block: the bias, and -inf where a query does not see a key."""
    added = None if a.bias is None else part(a.bias, queries, keys).to(dtype)
    if isinstance(a.offset, int) and not is_full(a, queries, keys):
        band = _band(a, queries, keys, dtype)
        added = band if added is None else added + band
        a = a._replace(left=None, right=None)
    for seen in limits(xp, a, queries, keys, a.q):
        added = torch.where(seen, a.q.new_zeros((), dtype=dtype) if added is None else added, -math.inf)
    return added


def _band(a: Attention, queries: Span, keys: Span, dtype: torch.dtype) -> Array:
    """-inf outside of the band: by triangles, in a tenth of the time that comparing places takes."""
    place = queries[0] + a.offset - keys[0]
    shape = (1, 1, queries[1] - queries[0], keys[1] - keys[0])
    hidden = torch.full(shape, 0.0 if a.right is None else -math.inf, dtype=dtype, device=a.q.device)
    if a.right is not None:
        hidden = hidden.triu_(place + a.right + 1)
    if a.left is not None:
        hidden = hidden + torch.full_like(hidden, -math.inf).tril_(place - a.left - 1)
    return hidden
