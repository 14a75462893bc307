# Long: the loop over blocks, its gradient and its forward derivative share the state of a block.
"""Attention in PyTorch's own operations: blocks of queries, each with all the keys that it may see.

The scores of a block are freed before those of the next are computed, so memory is linear in the length of the
sequence; the gradient recomputes them. The blocks serve all calls; other kernels use functions of this file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

import torch
from array_api_compat import torch as xp
from torch.compiler import is_compiling
from torch.nn.functional import pad

from xarrayops.plugin import Array, Attention, has_one_offset
from xarrayops.plugin.generic import Span, cut, is_full, limits, part, without_padding
from xarrayops.plugin.host import attention as host
from xarrayops_backends.torch import _tracing
from xarrayops_backends.torch._attention import conditions

Serve = Callable[[Attention], tuple[Array, Array | None]]
Triple = tuple[Array, Array, Array]

# Scores of a block over all heads and batch rows, unless `QUERIES` need more: they fit the caches of the cores.
SCORES = 1 << 20
# The same for accelerators, which need more work at a time.
MANY_SCORES = 1 << 26
HALVES = frozenset((torch.float16, torch.bfloat16))
# The least number of queries of a block.
QUERIES = 16
# Arguments of a call; the first four may have gradients.
TENSORS = ("q", "k", "v", "bias", "mask", "q_lengths", "kv_lengths")


def attention(a: Attention, /) -> tuple[Array, Array | None]:
    """Attention by blocks, for any call on any device."""
    if (stranger := conditions.elsewhere(a)) is not None:
        raise ValueError(stranger)
    if conditions.has_lengths(a):
        # Lengths on the CPU: rows without their padding are computed exactly as long as they are. Elsewhere reading
        # them would wait for the device, so padding is set to zero and masked.
        if conditions.can_read_lengths(a):
            return by_rows(a, attention)
        a = without_padding(xp, conditions.on_one_device(a))
    if _keeps_halves(a):
        # torch.bmm takes three axes. k is transposed once for all blocks: a view, which BLAS reads as it is.
        q, k, v = a.q, a.k.flatten(0, 1).mT, a.v.flatten(0, 1)
    else:
        wide = torch.float64 if a.q.dtype is torch.float64 else torch.float32
        q, k, v = a.q.to(wide), a.k.to(wide).flatten(0, 1).mT, a.v.to(wide).flatten(0, 1)
        # queries x size multiplications, where scores would take queries x keys.
        q = q if (scale := _scale(a)) == 1 else q * scale
    with _tracing.unrounded(q):
        # Compilers and torch.func trace through the blocks instead, with torch.utils.checkpoint where it works.
        if conditions.requires_grad(a) and not is_compiling() and not _tracing.transforms():
            out, lse = _recorded(a, q, k, v)
        else:
            out, *sums = _forward(a, q, k, v, a.bias)
            lse = _lse(a, *sums) if a.return_lse else None
    return out.to(a.q.dtype), lse


def _keeps_halves(a: Attention) -> bool:
    """Whether products use half-precision operands with float32 sums: on GPUs, without gradients or transforms.

    The weights are then rounded to half precision, as in every fused kernel. Not yet tested on a GPU.
    """
    if a.q.dtype not in HALVES or not a.q.is_cuda or torch.version.hip:
        return False
    return not _tracing.is_followed(a.q, a.k, a.v, a.bias)


def _scale(a: Attention) -> float:
    """The factor of the queries, or of their products with keys."""
    return a.scale / _late_scale(a) / (1 if a.softcap is None else a.softcap)


def _late_scale(a: Attention) -> float:
    """The factor of scores after their maximum is subtracted, if nothing needs it earlier: large scores stay exact."""
    # exp(scale * (s - max)): the difference of large scores is exact before it is scaled, and rounding grows with the
    # difference, not with the scores. Not for a scale of 0, which would be divided by, or below, which exchanges
    # maximum and minimum. A bias or a softcap needs the scaled scores.
    return a.scale if a.scale > 0 and a.bias is None and a.softcap is None else 1.0


def _lse(a: Attention, base: Array, weights: Array) -> Array:
    """The logarithm of the sum of the exponentials of each row of scores."""
    return torch.where(weights == 0, -math.inf, base * _late_scale(a) + torch.log(_divisor(weights))).squeeze(3)


def _divisor(weights: Array) -> Array:
    """The sums of weights, 1 for rows without keys. All other sums are at least 1: the weight of the maximum."""
    return weights.clamp_min(1)


def _recorded(a: Attention, q: Array, k: Array, v: Array) -> tuple[Array, Array]:
    """`_Recomputed` with each tensor as an argument, so that autograd checks for changes and frees it."""
    # Tensors in fields of `a` would be invisible to autograd.
    names = TENSORS if has_one_offset(a) else (*TENSORS, "offset")
    nothing: dict[str, Any] = dict.fromkeys(names)
    return _Recomputed.apply(a._replace(**nothing), q, k, v, *(getattr(a, name) for name in names[3:]))  # type: ignore[no-untyped-call]


def _clothed(bare: Attention, given: Sequence[Any]) -> Attention:
    """The call for the blocks, which read only the extents of axis 2 from q and k."""
    tensors = zip((*TENSORS, "offset"), given, strict=False)  # a numeric offset is not among the tensors
    return bare._replace(**dict(tensors))


class _Recomputed(torch.autograd.Function):
    """All blocks; the gradient recomputes the scores of each (Dao et al. 2022, section 3.1).

    torch.utils.checkpoint would allocate the result of each block in the freed memory of the last block's scores, so
    that the C heap grows by the scores of all blocks.
    """

    @staticmethod
    def forward(ctx: Any, bare: Attention, *given: Any) -> tuple[Array, Array]:
        a = _clothed(bare, given)
        out, *sums = _forward(a, *given[:4])
        ctx.bare = bare
        # The inputs and O(queries) numbers, no scores. Saved in this way, autograd raises if an input is changed in
        # place.
        ctx.save_for_backward(*given, out, *sums)
        return out, _lse(a, *sums)

    @staticmethod
    def backward(ctx: Any, d_out: Array, d_lse: Array) -> tuple[Array | None, ...]:
        *given, out, base, weights = ctx.saved_tensors
        a, arrays, needed = _clothed(ctx.bare, given), given[:4], ctx.needs_input_grad[1:5]
        with _tracing.unrounded(out):
            # create_graph, or vmap over the gradient: the loop below writes in place, which neither can follow.
            if torch.is_grad_enabled() or _tracing.is_batched(d_out, d_lse):
                gradients = _followed_gradients(a, arrays, needed, d_out, d_lse)
            else:
                gradients = _gradients(a, arrays, needed, (out, base, weights), d_out, d_lse)
        return None, *gradients, *[None] * (len(given) - 4)


def _followed_gradients(
    a: Attention, arrays: Sequence[Any], needed: Sequence[bool], d_out: Array, d_lse: Array
) -> list[Array | None]:
    """Operations that autograd and vmap can differentiate, for derivatives of the gradients."""
    again = torch.is_grad_enabled()
    with torch.enable_grad():
        # A view of each: q, k and v may be one tensor, whose gradients must stay apart.
        arrays = [None if x is None else x.view_as(x) for x in arrays]
        out, *sums = _forward(a, *arrays)
        results = out, _lse(a, *sums)
    wanted = [x for x, need in zip(arrays, needed, strict=True) if need]
    found = iter(torch.autograd.grad(results, wanted, (d_out, d_lse), create_graph=again, allow_unused=True))
    return [next(found) if need else None for need in needed]


def _gradients(
    a: Attention, arrays: Sequence[Any], needed: Sequence[bool], results: Triple, d_out: Array, d_lse: Array
) -> list[Array | None]:
    """The gradients, summed over blocks in the dtype of the result; autograd casts them to the dtypes of the inputs.

    The weights divide rows, not scores. A subtraction of the logsumexp would round large scores (0.5 % at 80 000).
    """
    out, base, weights = results
    # With p = exp(s - base) / weights: dL/ds = p * (d_out . v - d_out . out + d_lse). The division by the weights is
    # applied to rows of d_out and delta, so that the unnormalised exp(s - base) serves as p.
    empty = weights == 0
    d_out = torch.where(empty, 0.0, d_out / weights)
    delta = torch.sum(d_out * out, 3, keepdim=True) - torch.where(empty, 0.0, d_lse[..., None] / weights)
    # In the wide dtype: keys and values get a sum over all blocks of queries.
    gradients = [torch.zeros_like(x, dtype=out.dtype) if need else None for x, need in zip(arrays, needed, strict=True)]
    for span in _spans(a):
        keys, rows = seen_by(a, span), slice(*span)
        if keys[0] < keys[1]:
            of_rows = d_out[:, :, rows], base[:, :, rows], delta[:, :, rows]
            _add_gradients(a, span, keys, _parts(span, keys, *arrays), of_rows, _parts(span, keys, *gradients))
    for x in gradients[:2]:
        if x is not None:
            # Queries and keys get the factor once, not each block of scores.
            x.mul_(_late_scale(a))
    return gradients


def _add_gradients(
    a: Attention, span: Span, keys: Span, arrays: tuple[Any, ...], of_rows: Triple, gradients: tuple[Any, ...]
) -> None:
    """The contribution of one block to the gradients."""
    (q, k, v, bias), (d_out, base, delta), (d_q, d_k, d_v, d_bias) = arrays, of_rows, gradients
    bounded = _scores(a, q, k)
    scores = bounded
    if a.softcap is not None:
        # Kept for the derivative of the softcap: c * tanh(x) has the derivative c * (1 - tanh(x)**2) with respect to x.
        bounded.tanh_()
        scores = bounded * a.softcap
    scores = _hidden(a, span, keys, scores, bias, out=scores)
    p = _weights(a, scores, base, out=scores)
    d_rows = _shared(d_out, v)
    # In place: one temporary array of the size of a block. Hidden keys have p = 0, and so a gradient of 0.
    d_scores = torch.bmm(d_rows, v.mT).view(p.shape).sub_(delta).mul_(p)
    if d_v is not None:
        d_v.baddbmm_(_shared(p, v).mT, d_rows)
    if d_bias is not None:
        # A bias broadcasts along axes of extent 1, so its gradient is summed along them.
        d_bias += d_scores.sum_to_size(d_bias.shape)
    if a.softcap is not None:
        # (tanh**2 - 1) * -c is c * (1 - tanh**2).
        d_scores.mul_(bounded.square_().sub_(1).mul_(-a.softcap))
    d_shared = _shared(d_scores, k)
    if d_q is not None:
        d_q += torch.bmm(d_shared, k.mT).view(q.shape)
    if d_k is not None:
        d_k.baddbmm_(_shared(q, k).mT, d_shared)


def _forward(a: Attention, q: Array, k: Array, v: Array, bias: Array | None) -> Triple:
    """All blocks: the result, and for each query the largest score and the sum of the weights relative to it.

    Without keys both are 0. Queries are multiplied by `_scale`; k is transposed, and k and v have no axis of heads.
    """
    cut_up = _spans(a)
    near = ((span, seen_by(a, span)) for span in cut_up)
    serve = conditions.recomputed(a, _attended) if is_compiling() else _attended
    # A generator: the scores of one block are freed before the next block runs.
    done = ((span, serve(a, span, keys, *_parts(span, keys, q, k, v, bias))) for span, keys in near)
    # Recorded results are joined, because writing into parts of a tensor is not differentiable here.
    if len(cut_up) == 1 or _tracing.is_followed(q, k, v, bias):
        out, base, weights = (joined(rows) for rows in zip(*(result for _, result in done), strict=True))
        return out, base, weights
    wide = torch.promote_types(q.dtype, torch.float32)
    out, base, weights = (q.new_empty((*q.shape[:3], size), dtype=wide) for size in (v.shape[2], 1, 1))
    # Written directly into the result: separate results would grow the heap, see `_Recomputed`.
    for span, rows in done:
        for whole, block in zip((out, base, weights), rows, strict=True):
            whole.narrow(2, span[0], span[1] - span[0]).copy_(block)
    return out, base, weights


def _spans(a: Attention) -> list[Span]:
    return spans(a, (SCORES if a.q.is_cpu else MANY_SCORES) // max(a.q.shape[0] * a.q.shape[1], 1), QUERIES)


def _parts(queries: Span, keys: Span, q: Any, k: Any, v: Any, bias: Any) -> tuple[Any, Any, Any, Any]:
    """The slice of a block; None stays None."""
    columns = keys[0], keys[1] - keys[0]
    # narrow, because x[...] needs the GPU of a FakeTensor.
    return (
        None if q is None else q.narrow(2, queries[0], queries[1] - queries[0]),
        None if k is None else k.narrow(2, *columns),
        None if v is None else v.narrow(1, *columns),
        None if bias is None else part(bias, queries, keys),
    )


def spans(a: Attention, scores: int, least: int, most: int | None = None) -> list[Span]:
    """Blocks of queries, limited by the scores of one head, with a least number of queries; one block at least.

    In a compiled function, a block size that depends on the keys would specialize on the length of a growing cache.
    """
    queries, keys = a.q.shape[2], a.k.shape[2]
    if queries <= least:
        return [(0, queries)]
    if a.left is not None and a.right is not None and has_one_offset(a):
        width = max(a.left + a.right + 1, 1)
        if width < keys:
            # A block sees as many keys as it has rows plus the width. In a larger block most of them would be hidden.
            keys, most = width, max(width // 4 // 64, 1) * 64
    rows = queries if most is None else min(queries, most)
    return list(cut(queries, rows if rows * keys <= scores else max(scores // keys, least)))


def seen_by(a: Attention, queries: Span) -> Span:
    """The range of keys that the band lets a block of queries see."""
    begin, end = 0, a.k.shape[2]
    if has_one_offset(a):
        if a.right is not None:
            end = max(min(end, queries[1] + a.offset + a.right), 0)
        if a.left is not None:
            begin = min(max(begin, queries[0] + a.offset - a.left), end)
    return begin, end


def joined(parts: Sequence[Any]) -> Array:
    """The results of all blocks of queries, joined."""
    return parts[0] if len(parts) == 1 else torch.cat(tuple(parts), dim=2)


def _attended(a: Attention, span: Span, keys: Span, q: Array, k: Array, v: Array, bias: Array | None) -> Triple:
    """One block of queries with all keys that it may see, as in `_forward`."""
    scores = _scores(a, q, k)
    # Nothing records the scores, so each step may overwrite them: no second array of that size.
    own = None if _tracing.is_followed(q, k, v, bias) else scores
    if a.softcap is not None:
        scores = torch.mul(torch.tanh(scores, out=own), a.softcap, out=own)
    scores = _hidden(a, span, keys, scores, bias, out=own)
    if keys[0] == keys[1]:
        # amax fails without elements. The product of no keys is 0, and keeps the graph of autograd.
        nothing = scores.new_zeros((*scores.shape[:3], 1))
        return _product(scores, v), nothing, nothing
    # Detached: the result does not depend on the base, so its gradient would be 0, computed at some cost.
    largest = scores.detach().amax(3, keepdim=True)
    # -inf - -inf is NaN. With any finite base the weights of a row without keys are exp(-inf) = 0.
    base = torch.where(largest == -math.inf, 0.0, largest)
    p = _weights(a, scores, base, out=own)
    weights, total = p.sum(3, keepdim=True), _product(p, v)
    if a.q_lengths is not None:
        places = torch.arange(*span, device=q.device).view(-1, 1)
        lost = places >= a.q_lengths.view(-1, 1, 1, 1)
        weights, total = torch.where(lost, 0.0, weights), torch.where(lost, 0.0, total)
    return total / _divisor(weights), base, weights


def _scores(a: Attention, q: Array, k: Array) -> Array:
    batch, heads, queries, _ = q.shape
    rows = _shared(q, k)
    # Half-precision queries are scaled here, in float32: the product of q and a scale would be rounded to half
    # precision.
    scores = product(rows, k) if q.dtype in HALVES else torch.bmm(rows, k)
    if q.dtype in HALVES and (scale := _scale(a)) != 1:
        scores.mul_(scale)
    return scores.view(batch, heads, queries, k.shape[2])


def _weights(a: Attention, scores: Array, base: Array, *, out: Array | None) -> Array:
    """The weights of the scores, relative to a score of each row."""
    scores, scale = torch.sub(scores, base, out=out), _late_scale(a)
    return torch.exp(scores if scale == 1 else torch.mul(scores, scale, out=out), out=out)


def product(x: Array, y: Array) -> Array:
    """The product of two stacks of half-precision matrices, with sums and result in single precision."""
    return torch.bmm(x.to(y.dtype), y, out_dtype=torch.float32)


def _hidden(a: Attention, span: Span, keys: Span, scores: Array, bias: Array | None, *, out: Array | None) -> Array:
    """The scores plus bias, -inf for hidden keys."""
    if bias is not None:
        scores = torch.add(scores, bias.to(scores.dtype), out=out)
    hidden = scores.new_full((), -math.inf)
    for seen in limits(xp, a, span, keys, scores):
        scores = torch.where(seen, scores, hidden, out=out)
    return scores


def _product(p: Array, v: Array) -> Array:
    """The weighted values of each head."""
    weighted = (product if v.dtype in HALVES else torch.bmm)(_shared(p, v), v)
    return weighted.view(*p.shape[:3], v.shape[2])


def _shared(x: Array, like: Array) -> Array:
    """Merge heads that share keys into one with more rows, with the shape of ``like``."""
    batch, heads, rows, size = x.shape
    # A view for queries in C order, as heads that share keys are neighbours. max: there may be no batch row.
    return x.reshape(like.shape[0], batch * heads // max(like.shape[0], 1) * rows, size)


def by_rows(a: Attention, serve: Serve) -> tuple[Array, Array | None]:
    """Process batch rows of equal lengths together, without their padding."""
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
        # Rows past their length are 0, with a logsumexp of -inf.
        lost = queries - q_length
        outs.append(pad(out, (0, 0, 0, lost)) if lost else out)
        sums.append(pad(lse, (0, lost), value=-math.inf) if lost and lse is not None else lse)
    if len(outs) == 1:
        return outs[0], sums[0]
    return torch.cat(outs), torch.cat(sums) if a.return_lse else None


def _alike(a: Attention) -> Iterator[tuple[slice, int, int, int]]:
    """Runs of adjacent batch rows with equal lengths and offset."""
    batch = a.q.shape[0]
    extents = (("q_lengths", a.q_lengths, a.q.shape[2]), ("kv_lengths", a.kv_lengths, a.k.shape[2]))
    lengths = [[n] * batch if x is None else host.require_lengths(name, x, n) for name, x, n in extents]
    offsets = torch.as_tensor(a.offset).expand(batch).tolist()
    of_rows = zip(*lengths, offsets, strict=True)
    begin = 0
    for (q_length, k_length, offset), rows in groupby(of_rows):
        end = begin + len(list(rows))
        yield slice(begin, end), q_length, k_length, offset
        begin = end


def added_to_scores(a: Attention, queries: Span, keys: Span, dtype: torch.dtype) -> Array | None:
    """The bias of the scores of a block, with -inf for hidden keys."""
    added = None if a.bias is None else part(a.bias, queries, keys).to(dtype)
    if has_one_offset(a) and not is_full(a, queries, keys):
        band = _band(a, queries, keys, dtype)
        added = band if added is None else added + band
        a = a._replace(left=None, right=None)
    for seen in limits(xp, a, queries, keys, a.q):
        added = torch.where(seen, a.q.new_zeros((), dtype=dtype) if added is None else added, -math.inf)
    return added


def _band(a: Attention, queries: Span, keys: Span, dtype: torch.dtype) -> Array:
    """-inf outside of the band, by triangles: ten times as fast as a comparison of positions."""
    place = queries[0] + a.offset - keys[0]
    shape = (1, 1, queries[1] - queries[0], keys[1] - keys[0])
    # triu_ keeps -inf above the diagonal beyond which keys are too far ahead, and writes 0 elsewhere; tril_ keeps it
    # below the other.
    hidden = torch.full(shape, 0.0 if a.right is None else -math.inf, dtype=dtype, device=a.q.device)
    if a.right is not None:
        hidden = hidden.triu_(place + a.right + 1)
    if a.left is not None:
        hidden = hidden + torch.full_like(hidden, -math.inf).tril_(place - a.left - 1)
    return hidden
