"""Elementwise functions and reductions whose results in PyTorch/XLA are wrong, and arrays that are opaque to XLA."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import torch
import torch_xla.core.xla_model as xm

from xarrayops.plugin import Array
from xarrayops_backends.torch._dtypes import _pair
from xarrayops_backends.torch._standard import (
    elementwise as _elementwise,
    searching as _searching,
    statistics as _statistics,
)
from xarrayops_backends.torch._standard.wide import WIDE, _divided

_Axes = int | tuple[int, ...] | None
_Binary = Callable[[Any, Any], Array]


def _typed(function: _Binary) -> _Binary:
    """Cast both operands to one dtype: XLA promotes wrongly, and treats Python scalars as int64 or complex128."""

    @wraps(function)
    def typed(x1: Any, x2: Any, /) -> Array:
        return function(*_pair(x1, x2))

    return typed


_TYPED = dict.fromkeys(
    (
        *("add", "atan2", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_xor", "copysign", "equal"),
        *("greater", "greater_equal", "hypot", "less", "less_equal", "logaddexp", "logical_and", "logical_or"),
        *("logical_xor", "nextafter", "not_equal", "pow", "subtract"),
    ),
    _typed,
)
"""The functions of the torch backend that get both operands in one dtype."""
bitwise_right_shift = _typed(_elementwise.bitwise_right_shift)
multiply = _typed(_elementwise.multiply)


@_typed
def divide(x1: Array, x2: Array, /) -> Array:
    """XLA returns a real dtype for quotients of complex numbers (xla#4519)."""
    return torch.multiply(x1, torch.reciprocal(x2)) if x1.is_complex() else torch.divide(x1, x2)


def _floored(x1: Array, x2: Array) -> Array:
    """The floored quotient of signed integers, corrected until exact: XLA divides integers in single precision."""
    rest, out = torch.remainder(x1, x2), torch.zeros_like(x1)
    below = (rest != 0) & ((x1 < 0) != (x2 < 0))
    whole = x1 - torch.where(below, rest - x2, rest)  # rounded towards zero, so that it cannot overflow
    for _ in range(5):  # each round adds 23 bits; the last corrects an exact quotient that was rounded down
        out = out + torch.floor_divide(whole - out * x2, x2)
    return out - below.to(x1.dtype)


@_typed
def floor_divide(x1: Array, x2: Array, /) -> Array:
    """XLA divides integers in single precision."""
    if x1.is_floating_point():
        return torch.floor_divide(x1, x2)
    if x1.dtype is torch.uint64:
        return _divided(torch.floor_divide, x1, x2, _floored)
    work = torch.int64 if x1.dtype in (torch.int64, torch.uint32) else torch.int32  # XLA fails on int8
    return _floored(x1.to(work), x2.to(work)).to(x1.dtype)


@_typed
def remainder(x1: Array, x2: Array, /) -> Array:
    """XLA's remainder is exact; for uint64 it is computed from quotients."""
    return _divided(torch.remainder, x1, x2, _floored) if x1.dtype is torch.uint64 else _elementwise.remainder(x1, x2)


def _choosing(native: _Binary) -> _Binary:
    """maximum or minimum that propagates NaN from either operand, which XLA does not always do."""

    def choose(x1: Any, x2: Any, /) -> Array:
        out = native(x1, x2)
        if not out.is_floating_point():
            return out
        return torch.where(torch.isnan(x1), x1, torch.where(torch.isnan(x2), x2, out))

    return _typed(choose)


maximum = _choosing(_elementwise.maximum)
minimum = _choosing(_elementwise.minimum)


def _integral(native: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A rounding function: XLA returns signed integers for wide unsigned integers."""
    return lambda x, /: x.clone() if x.dtype in WIDE else native(x)


ceil = _integral(torch.ceil)
floor = _integral(torch.floor)
round = _integral(_elementwise.round)
trunc = _integral(torch.trunc)


def abs(x: Array, /) -> Array:
    """XLA returns a complex dtype for the absolute values of complex numbers (xla#3070)."""
    return torch.hypot(x.real, x.imag) if x.is_complex() else _elementwise.abs(x)


def _parted(native: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A test on the real and imaginary parts: XLA supports real numbers only."""
    return lambda x, /: native(x.real) | native(x.imag) if x.is_complex() else native(x)


isinf = _parted(torch.isinf)
isnan = _parted(torch.isnan)


def _logarithm(native: Callable[[Array], Array], base: float) -> Callable[[Array], Array]:
    """A logarithm of float64: XLA divides by the logarithm of the base in single precision."""
    return lambda x, /: torch.log(x) / math.log(base) if x.dtype is torch.float64 else native(x)


log2 = _logarithm(torch.log2, 2.0)
log10 = _logarithm(torch.log10, 10.0)


def argsort(x: Array, /, *, axis: int | None = -1, descending: bool = False, stable: bool = True) -> Array:
    """XLA orders -0 before +0, which are equal."""
    keys = torch.where(x == 0, 0.0, x) if x.is_floating_point() else x
    return _searching.argsort(keys, axis=axis, descending=descending, stable=stable)


def opaque(x: Array, shape: tuple[int, ...], /) -> Array:
    """XLA replaces a quotient x / y with a broadcast y by the product of x and 1 / y."""
    held = x.detach().expand(shape).clone()
    xm.optimization_barrier_([held])
    return held


def _extremum(reduce: Callable[..., Array], worst: float, x: Array, axis: _Axes, keepdims: bool) -> Array:
    """Reduce all axes if axis is None, propagate NaN, and keep infinities; torch.amax and torch.amin on XLA do not."""
    axis = tuple(range(x.ndim)) if axis is None else axis
    out = reduce(x, axis=axis, keepdims=keepdims)
    if not x.is_floating_point() or axis == ():
        return out
    has = partial(_statistics.any, axis=axis, keepdims=keepdims)
    return torch.where(has(torch.isnan(x)), torch.nan, torch.where(has(x != worst), out, worst))


def max(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """On XLA, torch.amax reduces no axis if none is given, drops NaN, and is finite for all -inf."""
    return _extremum(_statistics.max, -math.inf, x, axis, keepdims)


def min(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """On XLA, torch.amin reduces no axis if none is given, drops NaN, and is finite for all inf."""
    return _extremum(_statistics.min, math.inf, x, axis, keepdims)


def mean(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """XLA has no mean for complex numbers."""
    if not x.is_complex():
        return _statistics.mean(x, axis=axis, keepdims=keepdims)
    return torch.complex(*(_statistics.mean(part, axis=axis, keepdims=keepdims) for part in (x.real, x.imag)))


def count_nonzero(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """On XLA, torch.count_nonzero returns the dtype of x, and supports no negative axis."""
    return _statistics.sum(torch.ne(x, 0), axis=axis, keepdims=keepdims)
