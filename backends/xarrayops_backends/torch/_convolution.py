"""Convolutions and pooling by PyTorch's functions, which compute both orders of channels without a copy.

Maxima with the channels first on a CPU are the exception: see `_is_scalar`.
"""

from __future__ import annotations

from math import prod
from typing import Any, Literal

import torch
import torch.nn.functional as F

from xarrayops.plugin import Array, Call
from xarrayops.plugin.convolution import Windows
from xarrayops_backends.torch._precision import _convolution_precision
from xarrayops_backends.torch._tracing import is_followed

_functions: Any = F  # untyped: PyTorch does not annotate these functions
_CONVOLUTIONS = {1: _functions.conv1d, 2: _functions.conv2d, 3: _functions.conv3d}
_MANY = 1 << 14
"""The number of windows from which maxima of slices are faster than PyTorch's pooling."""
_LARGEST = {1: _functions.max_pool1d, 2: _functions.max_pool2d, 3: _functions.max_pool3d}


def _native(x: Array, weights: Array, windows: Windows, groups: int, /) -> Array:
    """A view has the channels second. If they are last in memory, PyTorch returns its result in the same order."""
    is_own = all(before == after for before, after in windows.padding)
    first, padding = _with_padding(_first(x, windows), windows, 0.0, is_own=is_own)
    convolve = _CONVOLUTIONS[len(windows.shape)]
    with _convolution_precision(first):
        found = convolve(first, weights, None, windows.stride, padding, windows.dilation, groups)
    return _back(found, windows)


def _refusal(call: Call) -> str | None:
    x, weights, _, _ = call.args
    if not x.dtype.is_floating_point and not x.dtype.is_complex:
        return "PyTorch's convolutions take no integers"
    return None if x.numel() and weights.numel() else "PyTorch's convolutions refuse some empty arrays"


def _largest(x: Array, windows: Windows, kind: Literal["max", "sum"], /) -> Array:
    """The largest elements. PyTorch's own padding is at most half of the window.

    With dilation a window may have padding alone; the gradient of PyTorch's function then writes outside of its array.
    """
    each = zip(windows.padding, windows.shape, windows.dilation, strict=True)
    is_own = all(before == after <= n // 2 and (step == 1 or not after) for (before, after), n, step in each)
    first, padding = _with_padding(_first(x, windows), windows, float("-inf"), is_own=is_own)
    pool = _LARGEST[len(windows.shape)]
    return _back(pool(first, windows.shape, windows.stride, padding, windows.dilation), windows)


def _largest_refusal(call: Call) -> str | None:
    x, windows, kind = call.args
    if kind != "max":
        return "it gives the largest elements"
    if not x.dtype.is_floating_point:
        return "PyTorch's pooling takes no integers"
    # Gradients need PyTorch's function: of equal elements the first one gets the gradient.
    if not is_followed(x) and x.is_cpu and _is_scalar(x, windows):
        return "maxima along each axis are several times as fast"
    return None if x.numel() else "PyTorch's pooling refuses some empty arrays"


def _is_scalar(x: Array, windows: Windows) -> bool:
    """Whether PyTorch's loop over many windows uses no vector instructions: it does if the channels are last in memory.

    The strides decrease, so that the result of maxima along each axis is compact.
    """
    is_first = not windows.is_channels_last and x.stride(1) != 1 and [*x.stride()] == sorted(x.stride(), reverse=True)
    is_dense = all(step <= n for step, n in zip(windows.stride, windows.shape, strict=True))
    return is_first and is_dense and x.ndim > 3 and prod((*x.shape[:2], *windows.counts(x.shape[2:]))) >= _MANY


def _sums(x: Array, windows: Windows, kind: Literal["max", "sum"], /) -> Array:
    """The sums. Padding is added here: PyTorch's own is at most half of the window. One axis is pooled as two."""
    first = _padded(_first(x, windows), windows, 0.0)
    if len(windows.shape) == 1:
        found = _functions.avg_pool2d(first.unsqueeze(2), (1, *windows.shape), (1, *windows.stride), divisor_override=1)
        return _back(found.squeeze(2), windows)
    pool = {2: _functions.avg_pool2d, 3: _functions.avg_pool3d}[len(windows.shape)]
    return _back(pool(first, windows.shape, windows.stride, divisor_override=1), windows)


def _sums_refusal(call: Call) -> str | None:
    x, windows, kind = call.args
    if kind != "sum" or any(step != 1 for step in windows.dilation):
        return "it gives the sums of windows without dilation"
    if not x.is_cuda or x.dtype not in (torch.float32, torch.float64):
        return "it serves float32 and float64 on CUDA and HIP"
    return None if x.numel() else "PyTorch's pooling refuses some empty arrays"


def _first(x: Array, windows: Windows) -> Array:
    return x.movedim(-1, 1) if windows.is_channels_last else x


def _back(x: Array, windows: Windows) -> Array:
    return x.movedim(1, -1).contiguous() if windows.is_channels_last else x.contiguous()


def _with_padding(x: Array, windows: Windows, value: float, *, is_own: bool) -> tuple[Array, Any]:
    """The array and the padding for PyTorch's function. Padding that is not its own is added here."""
    return (x, tuple(before for before, _ in windows.padding)) if is_own else (_padded(x, windows, value), 0)


def _padded(x: Array, windows: Windows, value: float) -> Array:
    widths = [width for pair in reversed(windows.padding) for width in pair]
    return _functions.pad(x, widths, value=value) if any(widths) else x


CONVOLUTION_CANDIDATES = [("native", _native, _refusal)]
POOLING_CANDIDATES = [("native", _largest, _largest_refusal), ("sums", _sums, _sums_refusal)]
