"""Attention in double precision by its definition: the full matrix of scores, one head at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xarrayops.testing._suite.samples import Host


def attention_oracle(
    q: Host,
    k: Host,
    v: Host,
    *,
    layout: str = "BHSD",
    mask: Host | None = None,
    bias: Host | None = None,
    causal: bool | int | str = False,
    window: tuple[Any, ...] | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    q_lengths: Host | Sequence[int] | None = None,
    kv_lengths: Host | Sequence[int] | None = None,
) -> tuple[Host, Host]:
    """The expected result of ``xo.attention`` with these arguments, and its logsumexp.

    Parameters
    ----------
    q, k, v, layout, mask, bias, causal, window, scale, softcap, q_lengths, kv_lengths
        As for ``xo.attention``, with NumPy arrays. The arguments are not validated.

    Returns
    -------
    out : array
        The attention, in q's layout.
    lse : array
        The logsumexp, of shape (B, Hq, Lq), or (Hq, Lq) without a batch, for every layout.

    Notes
    -----
    For one batch item, restricted to its real positions, and one head, with query i, key j and head size D::

        s = scale * sum_d q[i, d] * k[j, d]      the default of scale is 1/sqrt(D)
        s = softcap * tanh(s / softcap)          if there is a softcap
        s = s + bias[i, j]
        s = -inf                                 where j is hidden from i
        lse[i] = log(sum_j exp(s[i, j]))
        out[i] = sum_j exp(s[i, j] - lse[i]) * v[j], and 0 where lse[i] is -inf

    The key j is visible to i if all given conditions hold: the mask is true at (i, j); ``j <= i + o`` for a causal
    call; ``i + o - left <= j <= i + o + right`` for a window. The offset o is 0 for the anchor "top_left", and the
    number of real keys minus the number of real queries for "bottom_right". An integer anchor is the offset itself.
    With grouped heads, query head h reads the keys and values of head ``h // (Hq / Hkv)``.

    Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1. The row's maximum is subtracted before
    exp, to avoid overflow. The kernels under test use the online softmax of Milakov and Gimelshein (2018); the oracle
    does not.
    """
    batched, heads_first = layout.startswith("B"), layout.endswith("HSD")
    q, k, v = (_as_bhsd(np.asarray(x, dtype="float64"), batched, heads_first) for x in (q, k, v))
    (batch, heads, queries, size), keys = q.shape, k.shape[2]
    group = heads // k.shape[1] if heads else 1
    shape = (batch, heads, queries, keys)
    mask = np.broadcast_to(True if mask is None else mask, shape)
    bias = np.broadcast_to(np.asarray(0.0 if bias is None else bias, dtype="float64"), shape)
    out = np.zeros((batch, heads, queries, v.shape[3]))
    lse = np.full((batch, heads, queries), -np.inf)
    for b in range(batch):
        nq = queries if q_lengths is None else int(q_lengths[b])
        nk = keys if kv_lengths is None else int(kv_lengths[b])
        visible = _visible(nq, nk, causal, window)
        for h in range(heads):
            s = q[b, h, :nq] @ k[b, h // group, :nk].T * (size**-0.5 if scale is None else scale)
            if softcap is not None:
                s = softcap * np.tanh(s / softcap)
            s = s + bias[b, h, :nq, :nk]
            s = np.where(visible & mask[b, h, :nq, :nk], s, -np.inf)
            out[b, h, :nq], lse[b, h, :nq] = _softmax_times(s, v[b, h // group, :nk])
    out = out if heads_first else out.swapaxes(1, 2)
    return (out, lse) if batched else (out[0], lse[0])


def _as_bhsd(x: Host, batched: bool, heads_first: bool) -> Host:
    x = x if batched else x[np.newaxis]
    return x if heads_first else x.swapaxes(1, 2)


def _visible(nq: int, nk: int, causal: bool | int | str, window: tuple[Any, ...] | None) -> Host:
    """Which of nk real keys the causal option and the window leave visible to each of nq real queries."""
    i, j = np.arange(nq)[:, np.newaxis], np.arange(nk)
    visible = np.full((nq, nk), True)
    if causal is not False:
        visible &= j <= i + _offset(causal, nq, nk)
    if window is not None:
        left, right, *own = window
        o = _offset(own[0] if own else causal, nq, nk)
        if left is not None:
            visible &= j >= i + o - left
        if right is not None:
            visible &= j <= i + o + right
    return visible


def _offset(anchor: bool | int | str, nq: int, nk: int) -> int:
    """The offset o of an anchor; ``False`` and ``True`` mean 0."""
    if isinstance(anchor, str):
        return {"top_left": 0, "bottom_right": nk - nq}[anchor]
    return 0 if isinstance(anchor, bool) else int(anchor)


def _softmax_times(s: Host, v: Host) -> tuple[Host, Host]:
    """The softmax of each row of scores times the values, and each row's logsumexp. A row of -inf gives 0 and -inf."""
    top = s.max(axis=-1, initial=-np.inf)
    top = np.where(top == -np.inf, 0.0, top)
    weights = np.exp(s - top[:, np.newaxis])
    total = weights.sum(axis=-1)
    with np.errstate(divide="ignore"):
        lse = top + np.log(total)
    return weights @ v / np.where(total == 0, 1.0, total)[:, np.newaxis], lse
