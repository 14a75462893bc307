"""Building blocks of attention kernels: the keys that a block of queries sees, and the kernel for host memory.

- `cut` gives the blocks of an axis, each a `Span`; `part` gives the block of a mask or bias.
- `sees`, `is_full` and `limits` give the keys of a block that a block of queries sees, by the band and the lengths.
- `without_padding` sets values beyond the lengths to zero; `require_lengths` raises if a length exceeds the sequence.
- `host` is the kernel for host memory.
"""

from __future__ import annotations

from xarrayops._generic.attention import Span, cut, is_full, limits, part, sees, without_padding
from xarrayops._host import attention as host
from xarrayops._host.attention import require_lengths

__all__ = ["Span", "cut", "host", "is_full", "limits", "part", "require_lengths", "sees", "without_padding"]
