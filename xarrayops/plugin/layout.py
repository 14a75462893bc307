"""Views of host memory, and copies with permuted axes.

- `views`: NumPy arrays over an address or another array, with any shape and strides.
- `permute`: ``contiguous(source)`` and ``copy(source, target)`` between strided views, at memory bandwidth.
"""

from __future__ import annotations

from xarrayops._host import permute as permute, views as views
