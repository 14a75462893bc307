"""What kernels of attention are made of: which keys a block of queries sees, and the kernel over host memory."""

from __future__ import annotations

from xarrayops._generic.attention import Span, cut, is_full, limits, part, sees, without_padding
from xarrayops._host import attention as host
from xarrayops._host.attention import require_lengths

__all__ = ["Span", "cut", "host", "is_full", "limits", "part", "require_lengths", "sees", "without_padding"]
