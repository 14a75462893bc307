"""Convolutions and pooling: where the windows are, and the kernel for host memory.

- ``Windows``: the extents, strides, padding and dilation of windows, and where the channels are.
- ``blocked_convolution``: the convolution of NumPy arrays of float32 or float64, by BLAS.
"""

from __future__ import annotations

from typing import Any

from xarrayops._protocol.convolution import Windows as Windows


def blocked_convolution(x: Any, weights: Any, windows: Windows, groups: int) -> Any:
    """See `xarrayops._host.convolution`."""
    from xarrayops._host.convolution import convolution

    return convolution(x, weights, windows, groups)
