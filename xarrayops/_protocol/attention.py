"""A call of attention, as the operation gives it to a kernel."""

from __future__ import annotations

from typing import NamedTuple

from xarrayops._protocol.types import Array


class Attention(NamedTuple):
    """A call of attention as a kernel is given it: checked, and brought into one form.

    ``q`` (B, Hq, Lq, D), ``k`` (B, Hkv, Lk, D) and ``v`` (B, Hkv, Lk, Dv) are views of what the caller gave; Hq is a
    multiple of Hkv. Scores are ``scale * q @ k.T``, then ``softcap * tanh(scores / softcap)``, then ``+ bias``; query i
    sees key j where ``-left <= j - i - offset <= right`` and ``mask`` says so, and where both are within the lengths.
    """

    q: Array
    k: Array
    v: Array
    scale: float
    mask: Array | None = None
    """Bool, True where a query sees a key; four axes, each of the extent of the scores (B, Hq, Lq, Lk) or of 1."""
    bias: Array | None = None
    """Floats, with axes as the mask's."""
    left: int | None = None
    """How many keys before its own place a query sees; None for all."""
    right: int | None = None
    """How many keys after its own place a query sees; None for all."""
    offset: int | Array = 0
    """The place of query 0 among the keys: one for all rows of the batch, or integers of shape (B,)."""
    softcap: float | None = None
    q_lengths: Array | None = None
    """Integers of shape (B,): queries from there on give 0, and a logsumexp of -inf; they may hold anything."""
    kv_lengths: Array | None = None
    """Integers of shape (B,): no query sees keys from there on; they and their values may hold anything."""
    return_lse: bool = False
    """Whether the logsumexp is asked for; a kernel may give None in its place where it is not."""
    bottom_right: bool = False
    """Whether an offset of shape (B,) is, in each row, the number of keys within the length less that of queries."""


def has_one_offset(a: Attention) -> bool:
    """Whether the offset is one number for all rows; a symbolic one of a compiler is a number, too."""
    return isinstance(a.offset, int) or not hasattr(a.offset, "shape")


def has_band(a: Attention) -> bool:
    """Whether the places of query and key decide anything.

    These two are functions: ``torch.compile`` of PyTorch 2.9 does not trace properties of a named tuple.
    """
    return a.left is not None or a.right is not None
