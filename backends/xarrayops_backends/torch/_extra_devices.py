"""Functions beyond the standard in few kernels, each of which takes time to start on an accelerator.

On CPUs other ways are faster, and serve.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from xarrayops.plugin import Array, Call
from xarrayops.plugin.generic import common, signal

_REAL = (torch.float32, torch.float64)
_Refusal = Callable[[Call], str | None]


def _on_devices(refusal: _Refusal) -> _Refusal:
    """The capability test, for CUDA and HIP only."""

    def refused(call: Call, /) -> str | None:
        x = call.args[0]
        if not isinstance(x, torch.Tensor) or not x.is_cuda:
            return "it serves CUDA and HIP"
        return refusal(call)

    return refused


def _are_alike(call: Call, /) -> str | None:
    first = call.args[0]
    if not all(isinstance(x, torch.Tensor) and x.dtype is first.dtype and x.is_cuda for x in call.args):
        return "it takes tensors of one dtype"
    return None if first.dtype in _REAL else f"it has no code for {first.dtype}"


def _is_comparable(call: Call, /) -> str | None:
    tolerances = (call.kwargs.get(name, 0.0) for name in ("rtol", "atol"))
    return _are_alike(call) if all(type(x) in (int, float) for x in tolerances) else "the tolerances are numbers"


def _isclose(x1: Array, x2: Array, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    """NaN for the size of infinity makes its tolerance NaN, so that nothing is near."""
    size = torch.nan_to_num(torch.abs(x2), math.nan, math.nan, math.nan)
    tolerance = torch.add(torch.tensor(atol, dtype=x2.dtype, device="cpu"), size, alpha=rtol)
    found = (torch.abs(x1 - x2) <= tolerance) | (x1 == x2)
    return found | (torch.isnan(x1) & torch.isnan(x2)) if equal_nan else found


def _allclose(x1: Array, x2: Array, /, **options: Any) -> Array:
    """See `_isclose`."""
    return torch.all(_isclose(x1, x2, **options))


def _logsumexp(x: Array, /, *, axis: common.Axes = None, keepdims: bool = False) -> Array:
    """The greatest element, if it is finite, is subtracted first, and added to the result."""
    axes = common.normal_axes(axis, x.ndim)
    top = torch.nan_to_num(torch.amax(x.detach(), axes, keepdim=True), 0.0, 0.0, 0.0)
    found = torch.log(torch.sum(torch.exp(x - top), axes, keepdim=True)) + top
    return found if keepdims else found.squeeze(axes)


def _is_summable(call: Call, /) -> str | None:
    x = call.args[0]
    if x.dtype not in _REAL or not x.numel() or call.kwargs.get("axis") == ():
        return "it sums elements of float32 or float64"
    return None


_FEW, _TERMS = 5, 1024
"""The elements of the shorter vector for which shifted products take fewer kernels, and those of a block, of which the
products at both ends fit in memory."""


def _full(long: Array, short: Array) -> Array:
    """All products in double precision, for which PyTorch has no approximate convolution."""
    dtype, size = long.dtype, long.shape[0] + short.shape[0] - 1
    long, short = long.to(torch.float64), short.to(torch.float64)
    parts = [
        torch.nn.functional.pad(_block(long, part), (start, size - start - long.shape[0] - part.shape[0] + 1))
        for start, part in zip(range(0, short.shape[0], _TERMS), torch.split(short, _TERMS), strict=True)
    ]
    return sum(parts[1:], parts[0]).to(dtype)


def _block(long: Array, short: Array) -> Array:
    """The full convolution. Both ends are sums of their own, so that no zero is multiplied by infinity or NaN."""
    count, reverse = short.shape[0], short.flip(0)
    inside = torch.conv1d(long[None, None], reverse[None, None]).reshape(-1)
    if count == 1:
        return inside
    ends = torch.nn.functional.pad(long, (count - 1, count - 1)).unfold(0, count, 1)
    first = torch.triu(ends[: count - 1].flip(0) * reverse, 1).sum(1).flip(0)
    last = torch.tril(ends[1 - count :].flip(0) * reverse).sum(1).flip(0)
    return torch.cat([first, inside, last])


def _convolve(x1: Array, x2: Array, /, mode: str = "full") -> Array:
    """By torch.conv1d."""
    return signal.convolved(_full, x1, x2, mode)


def _correlate(x1: Array, x2: Array, /, mode: str = "valid") -> Array:
    """By torch.conv1d."""
    return signal.correlated(_full, x1, x2, mode, lambda x: x.flip(0))


def _is_convolvable(call: Call, /) -> str | None:
    x1, x2 = call.args[:2]
    if not all(isinstance(x, torch.Tensor) and x.ndim == 1 and x.numel() and x.is_cuda for x in (x1, x2)):
        return "it takes vectors with elements"
    if min(x1.numel(), x2.numel()) <= _FEW:
        return "so few shifted products take fewer kernels"
    return None if x1.dtype is x2.dtype and x1.dtype in _REAL else "it takes one dtype, float32 or float64"


def _interp(
    x: Array, points: Array, values: Array, /, *, left: Any = None, right: Any = None, period: Any = None
) -> Array:
    """A lerp of the neighbouring values; where that is not finite, the sum of both with their weights."""
    inside = torch.clamp(x, points[0], points[-1])
    low = torch.searchsorted(points[1:-1].contiguous(), inside.detach(), right=True)
    half = points * 0.5  # the distance of two points may overflow
    start, step = torch.take(half[:-1], low), torch.take(half[1:] - half[:-1], low)
    first, last = torch.take(values[:-1], low), torch.take(values[1:], low)
    weight = (inside * 0.5 - start) / step
    found = torch.lerp(first, last, weight)
    both = torch.addcmul(first * (1 - weight), last, weight)
    found = torch.where(torch.abs(found) < math.inf, found, both)
    found = torch.where(weight == 0, first, torch.where(weight == 1, last, found))
    found = found if left is None else torch.where(x < points[0], left, found)
    return found if right is None else torch.where(x > points[-1], right, found)


def _is_interpolable(call: Call, /) -> str | None:
    _, points, values = call.args
    if (reason := _are_alike(call)) is not None:
        return reason
    if call.kwargs.get("period") is not None or points.ndim != 1 or points.shape != values.shape:
        return "it takes vectors of points and values, without a period"
    if len(points) < 2:
        return "there is one point"
    outer = [y for y in (call.kwargs.get("left"), call.kwargs.get("right")) if y is not None]
    return None if all(type(y) in (int, float) for y in outer) else "it takes numbers as left and right"


def _polyval(p: Array, x: Array, /) -> Array:
    """Horner's rule."""
    signal.require_coefficients(p)
    total = torch.zeros_like(x)
    for coefficient in torch.unbind(p):
        total = torch.addcmul(coefficient, total, x)
    return total


CONVOLVE = ("products", _convolve, _on_devices(_is_convolvable))
CORRELATE = ("products", _correlate, _on_devices(_is_convolvable))
INTERP = ("search", _interp, _on_devices(_is_interpolable))
ISCLOSE = ("few_kernels", _isclose, _on_devices(_is_comparable))
ALLCLOSE = ("few_kernels", _allclose, _on_devices(_is_comparable))
POLYVAL = ("fused_steps", _polyval, _on_devices(_are_alike))
LOGSUMEXP = ("few_kernels", _logsumexp, _on_devices(_is_summable))
