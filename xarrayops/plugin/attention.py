"""The arguments of an attention kernel."""

from __future__ import annotations

from xarrayops.plugin.arrays import Array, Record


class Attention(Record):
    """The checked and normalised arguments of an attention call, as kernels get them.

    ``q`` (B, Hq, Lq, D), ``k`` (B, Hkv, Lk, D) and ``v`` (B, Hkv, Lk, Dv) are views of the caller's arrays; Hq is a
    multiple of Hkv. Scores are ``scale * q @ k.T``, then ``softcap * tanh(scores / softcap)``, then ``+ bias``; query i
    sees key j if ``-left <= j - i - offset <= right``, ``mask`` is True there, and both are within the lengths.
    """

    q: Array
    k: Array
    v: Array
    scale: float
    mask: Array | None = None
    """Boolean, True where a query sees a key; it broadcasts to (B, Hq, Lq, Lk), with four axes."""
    bias: Array | None = None
    """Floating-point, with a shape like ``mask``."""
    left: int | None = None
    """The number of keys before its own position that a query sees; None for all."""
    right: int | None = None
    """The number of keys after its own position that a query sees; None for all."""
    offset: int | Array = 0
    """The position of query 0 among the keys: one for the whole batch, or integers of shape (B,)."""
    softcap: float | None = None
    q_lengths: Array | None = None
    """Integers of shape (B,): later queries give 0 and a logsumexp of -inf, whatever their values are."""
    kv_lengths: Array | None = None
    """Integers of shape (B,): no query sees later keys; they and their values may be anything, even NaN."""
    return_lse: bool = False
    """Whether the logsumexp is requested; if not, a kernel may return None for it."""
    bottom_right: bool = False
    """Whether an offset of shape (B,) is the number of keys minus the number of queries, both within the lengths."""


def has_one_offset(a: Attention) -> bool:
    """Whether the offset is one number for the whole batch; a symbolic integer of a compiler is a number too."""
    return isinstance(a.offset, int) or not hasattr(a.offset, "shape")


def has_band(a: Attention) -> bool:
    """Whether ``left`` or ``right`` limits the keys that a query sees.

    These two are functions: ``torch.compile`` of PyTorch 2.9 does not trace properties of a named tuple.
    """
    return a.left is not None or a.right is not None
