"""Attention."""

from __future__ import annotations

from types import ModuleType

from xarrayops.plugin.arrays import Array
from xarrayops.plugin.attention import Attention


def attention(xp: ModuleType, a: Attention, /) -> tuple[Array, Array | None]:
    """The result (B, Hq, Lq, Dv) in q's dtype, and the logsumexp (B, Hq, Lq), float32 or wider.

    Law: softmax of the scores times v, computed in float32 or wider, with memory that does not grow with Lq times
    Lk. A query that sees no key gives 0, and a logsumexp of -inf. Values beyond the lengths have no effect.
    """
    from xarrayops._generic.attention import attention as by_blocks  # imported at the first call

    return by_blocks(xp, a)
