"""Replacements for the kernels that PyTorch lacks for uint16, uint32 and uint64 (pytorch#58734).

They compute on signed integers: with the same bits if elements are only moved or tested for zero, with the same values
in a wider dtype for arithmetic that wraps in the same way, and with the same order for comparisons.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.compiler import is_compiling

from xarrayops.plugin import Array

WIDE = frozenset({torch.uint16, torch.uint32, torch.uint64})
UNORDERED = WIDE | {torch.complex64, torch.complex128}
"""Dtypes that PyTorch does not order."""
_SAME_WIDTH = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}
_SAME_VALUE = {torch.uint16: torch.int32, torch.uint32: torch.int64, torch.uint64: torch.int64}
_PARTS = {torch.complex64: torch.float32, torch.complex128: torch.float64}
_Binary = Callable[[Array, Array], Array]
_LOWEST = torch.iinfo(torch.int64).min


def _bits(x: Array) -> Array:
    """The memory of x as signed integers of the same width, without a copy; other dtypes are returned unchanged."""
    return x.view(_SAME_WIDTH[x.dtype]) if x.dtype in WIDE else x


def _same_bits(function: _Binary) -> _Binary:
    """A function of two wide arrays of one dtype that gives the same bits for signed integers of the same width."""
    return lambda x1, x2: function(_bits(x1), _bits(x2)).view(x1.dtype)


def _value(x: Array) -> Array:
    """The values of x as wider signed integers; uint64 wraps, as its arithmetic does."""
    return x.to(_SAME_VALUE[x.dtype]) if x.dtype in WIDE else x


def _rank(x: Array) -> Array:
    """Signed integers in the order of the values of x."""
    return x.view(torch.int64) ^ _LOWEST if x.dtype is torch.uint64 else _value(x)


def _unrank(ranks: Array, dtype: Any) -> Array:
    """The values that have these ranks: the inverse of `_rank`."""
    return (ranks ^ _LOWEST).view(torch.uint64) if dtype is torch.uint64 else ranks.to(dtype)


def _cast(x: Array, dtype: Any, **options: Any) -> Array:
    """``x.to(dtype)``. PyTorch casts a few floating-point numbers above 2**63 to 0 as uint64, so these go in halves.

    torch.compile generates no code for complex dtypes, so the real and imaginary parts are cast there.
    """
    if dtype is torch.uint64 and x.is_floating_point():
        is_high = x >= 2.0**63
        word = torch.where(is_high, x - 2.0**63, x).to(torch.int64)
        x = (word ^ torch.where(is_high, _LOWEST, 0)).view(torch.uint64)
    if dtype in _PARTS and x.is_complex() and dtype is not x.dtype and is_compiling():
        x = torch.view_as_complex(torch.view_as_real(x.resolve_conj().resolve_neg()).to(_PARTS[dtype]))
    return x.to(dtype=dtype, **options)


def _by_bits(function: Callable[..., Array], x: Array, *args: Any, **kwargs: Any) -> Array:
    """Apply a function that only moves the elements of x, for every dtype."""
    if x.dtype not in WIDE:
        return function(x, *args, **kwargs)
    return function(_bits(x), *args, **kwargs).view(x.dtype)


def _divided(function: _Binary, x1: Array, x2: Array, floored: _Binary = torch.floor_divide) -> Array:
    """The floored quotient or the remainder of two wide arrays of one dtype, by ``floored`` quotients of int64."""
    if x1.dtype is not torch.uint64:
        return function(_value(x1), _value(x2)).to(x1.dtype)
    # Division of 64-bit words by signed steps: Warren, Hacker's Delight, chapter 9.
    dividend, divisor = x1.view(torch.int64), x2.view(torch.int64)
    halved = torch.bitwise_right_shift(dividend, 1) & ~_LOWEST
    estimate = torch.where(divisor < 0, 0, floored(halved, torch.where(divisor < 0, 1, divisor)) << 1)
    short = (((dividend - estimate * divisor) ^ _LOWEST) >= (divisor ^ _LOWEST)).to(torch.int64)
    quotient = estimate + short
    return (quotient if function is torch.floor_divide else dividend - quotient * divisor).view(torch.uint64)


def _shifted_left(x1: Array, x2: Array) -> Array:
    """A shift x1 << x2 of wider values: bits beyond the width of x1 are dropped."""
    return torch.bitwise_left_shift(_value(x1), _value(x2)).to(x1.dtype)


def _shifted_right(x1: Array, x2: Array) -> Array:
    """A logical shift x1 >> x2; an arithmetic shift of the signed integers would fill in their sign."""
    shift = torch.bitwise_right_shift  # not >>, which PyTorch/XLA implements as a division
    if x1.dtype is not torch.uint64:
        return shift(_value(x1), _value(x2)).to(x1.dtype)
    word, by = x1.view(torch.int64), _rank(x2).clamp(max=_LOWEST + 64) ^ _LOWEST
    return torch.where(by == 0, word, shift(shift(word, 1) & ~_LOWEST, (by - 1).clamp(min=0))).view(torch.uint64)


def _power(x1: Array, x2: Array) -> Array:
    """x1**x2 modulo 2**n. A base to the power of 2**63 is 1 if it is odd and 0 if it is even, modulo 2**64."""
    if x1.dtype is not torch.uint64:
        return torch.pow(_value(x1), _value(x2)).to(x1.dtype)
    base, exponent = x1.view(torch.int64), x2.view(torch.int64)
    power = torch.pow(base, exponent & ~_LOWEST)
    return torch.where((exponent < 0) & (base & 1 == 0), 0, power).view(torch.uint64)
