"""What kernels of attention are made of: which keys a block of queries sees, and the kernel over host memory.

- `cut` gives the blocks of an axis, each a `Span`; `part` takes the block of a mask or bias.
- `sees`, `is_full` and `limits` say which keys of a block the band and the lengths let a block of queries see.
- `without_padding` writes zeros where the lengths exclude, `require_lengths` raises where they exceed the sequence.
- `host` is the kernel over host memory.
"""

from __future__ import annotations

from xarrayops._generic.attention import Span, cut, is_full, limits, part, sees, without_padding
from xarrayops._host import attention as host
from xarrayops._host.attention import require_lengths

__all__ = ["Span", "cut", "host", "is_full", "limits", "part", "require_lengths", "sees", "without_padding"]
