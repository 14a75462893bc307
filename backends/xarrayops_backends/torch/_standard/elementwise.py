# Long: each function is a few lines.
"""Elementwise functions: promotion by dtype only, Python scalars on either side, wide unsigned integers."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import array_api_compat.torch as aac
import torch
from torch import Tensor

from xarrayops.plugin import Array
from xarrayops.plugin.generic import complex_order
from xarrayops_backends.torch._dtypes import _LIMITS, _STRIDED, _pair, _refuse_sparse, _tensor, result_type
from xarrayops_backends.torch._precision import has_overflowed as _has_overflowed
from xarrayops_backends.torch._standard.wide import (
    UNORDERED,
    WIDE,
    _bits,
    _by_bits,
    _divided,
    _power,
    _rank,
    _same_bits,
    _shifted_left,
    _shifted_right,
    _unrank,
)

_Binary = Callable[[Any, Any], Array]
_Unary = Callable[[Any], Array]


def _binary(
    native: _Binary,
    wide: _Binary | None = None,
    *,
    takes_scalar: str = "both",
    promotes: bool = True,
    hard: frozenset[torch.dtype] = WIDE,
    takes_sparse: bool = False,
) -> _Binary:
    """The native function with the standard's promotion; `wide` replaces it for two arrays of one of the `hard` dtypes.

    For equal dtypes this adds two type tests and two dtype look-ups. In PyTorch the dtype of a 0-d array yields to
    another dtype of the same kind, so arrays of different ranks are cast first. ``takes_scalar`` is the position where
    native accepts a Python scalar ("both", "second", "second, real" or "no"), ``promotes`` whether it promotes.
    ``takes_sparse`` says that it computes sparse tensors, which are refused, as in every library.
    """
    hard = hard if wide else frozenset()
    kept = hard | WIDE
    scalar_first, scalar_second = takes_scalar == "both", takes_scalar != "no"
    takes_complex = takes_scalar != "second, real"
    refuse = partial(_refuse_sparse, native.__name__)

    def function(x1: Any, x2: Any, /) -> Array:
        if isinstance(x1, Tensor) and isinstance(x2, Tensor):
            if takes_sparse and (x1.layout is not _STRIDED or x2.layout is not _STRIDED):
                refuse(x1, x2)
            dtype = x1.dtype
            if dtype is x2.dtype:
                return native(x1, x2) if wide is None or dtype not in hard else wide(x1, x2)
            if promotes and x1.ndim and x2.ndim and dtype not in kept and x2.dtype not in kept:
                return native(x1, x2)
        elif isinstance(x1, Tensor):
            if takes_sparse and x1.layout is not _STRIDED:
                refuse(x1)
            if scalar_second and x1.dtype not in hard and (takes_complex or not isinstance(x2, complex)):
                return native(x1, x2)
        elif takes_sparse and x2.layout is not _STRIDED:
            refuse(x2)
        elif scalar_first and x2.dtype not in hard:
            return native(x1, x2)
        x1, x2 = _pair(x1, x2)
        return wide(x1, x2) if wide and x1.dtype in hard else native(x1, x2)

    function.__name__ = function.__qualname__ = native.__name__.removeprefix("_")
    function.__doc__ = f"torch.{function.__name__}, promoting as the standard does."
    return function


def _unary(native: _Unary, wide: _Unary) -> _Unary:
    """The native function, with a replacement for wide unsigned integers."""

    def function(x: Array, /) -> Array:
        return native(x) if x.dtype not in WIDE else wide(x)

    function.__name__ = function.__qualname__ = native.__name__
    function.__doc__ = f"torch.{native.__name__}, wide unsigned integers included."
    return function


def _ordering(native: _Binary) -> _Binary:
    """A comparison of signed integers in the same order, and of complex numbers."""
    of_complex = getattr(complex_order, native.__name__)

    def function(x1: Array, x2: Array, /) -> Array:
        return of_complex(aac, x1, x2) if x1.is_complex() else native(_rank(x1), _rank(x2))

    return function


def _choosing(native: _Binary) -> _Binary:
    """maximum or minimum of signed integers in the same order, and of complex numbers."""
    of_complex = getattr(complex_order, native.__name__)

    def function(x1: Array, x2: Array, /) -> Array:
        if x1.is_complex():
            return of_complex(aac, x1, x2)
        return _unrank(native(_rank(x1), _rank(x2)), x1.dtype)

    return function


def _testing(native: _Binary) -> _Binary:
    """A logical function of the same bits as signed integers."""
    return lambda x1, x2: native(_bits(x1), _bits(x2))


def _remainder(x1: Any, x2: Any) -> Array:
    """torch.remainder without NaN where the quotient overflows, as for 3e38 and 0.5 on CPUs with AVX-512.

    There torch.fmod has the same fault. The remainders by large multiples of x2, which are exact, come first.
    """
    found = torch.remainder(x1, x2)
    if not found.is_floating_point() or not _has_overflowed(found):
        return found
    rest, divisor = (torch.as_tensor(x, dtype=found.dtype, device=found.device) for x in (x1, x2))
    exponent = -math.log2(torch.finfo(found.dtype).tiny)
    for power in (exponent, exponent // 2, 0):
        rest = torch.fmod(rest, divisor * 2.0**power)
    rest = torch.where((rest != 0) & ((rest < 0) != (divisor < 0)), rest + divisor, rest)
    return torch.where(torch.isfinite(found), found, torch.where(torch.isfinite(rest), rest, found))


add = _binary(torch.add, _same_bits(torch.add), takes_sparse=True)
atan2 = _binary(torch.atan2, takes_scalar="no")
bitwise_and = _binary(torch.bitwise_and, _same_bits(torch.bitwise_and))
bitwise_left_shift = _binary(torch.bitwise_left_shift, _shifted_left)
bitwise_or = _binary(torch.bitwise_or, _same_bits(torch.bitwise_or))
bitwise_right_shift = _binary(torch.bitwise_right_shift, _shifted_right)
bitwise_xor = _binary(torch.bitwise_xor, _same_bits(torch.bitwise_xor))
copysign = _binary(torch.copysign, takes_scalar="second")
divide = _binary(torch.divide, takes_sparse=True)
equal = _binary(torch.eq, takes_scalar="second")
floor_divide = _binary(torch.floor_divide, lambda x1, x2: _divided(torch.floor_divide, x1, x2), takes_sparse=True)
greater = _binary(torch.greater, _ordering(torch.greater), takes_scalar="second, real", hard=UNORDERED)
greater_equal = _binary(
    torch.greater_equal, _ordering(torch.greater_equal), takes_scalar="second, real", hard=UNORDERED
)
hypot = _binary(torch.hypot, takes_scalar="no")
less = _binary(torch.less, _ordering(torch.less), takes_scalar="second, real", hard=UNORDERED)
less_equal = _binary(torch.less_equal, _ordering(torch.less_equal), takes_scalar="second, real", hard=UNORDERED)
logaddexp = _binary(torch.logaddexp, takes_scalar="no")
logical_and = _binary(torch.logical_and, _testing(torch.logical_and), takes_scalar="no")
logical_or = _binary(torch.logical_or, _testing(torch.logical_or), takes_scalar="no")
logical_xor = _binary(torch.logical_xor, _testing(torch.logical_xor), takes_scalar="no")
maximum = _binary(torch.maximum, _choosing(torch.maximum), takes_scalar="no", hard=UNORDERED)
minimum = _binary(torch.minimum, _choosing(torch.minimum), takes_scalar="no", hard=UNORDERED)
multiply = _binary(torch.multiply, _same_bits(torch.multiply), takes_sparse=True)
nextafter = _binary(torch.nextafter, takes_scalar="no")
not_equal = _binary(torch.not_equal, takes_scalar="second")
pow = _binary(torch.pow, _power, takes_sparse=True)
remainder = _binary(_remainder, lambda x1, x2: _divided(torch.remainder, x1, x2))
subtract = _binary(torch.subtract, _same_bits(torch.subtract), takes_sparse=True)

_REAL = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def isfinite(x: Array, /) -> Array:
    """torch.isfinite of real numbers takes four passes, and two suffice."""
    return torch.lt(torch.abs(x), math.inf) if x.dtype in _REAL else torch.isfinite(x)


abs = _unary(torch.abs, lambda x: x.clone())
bitwise_invert = _unary(torch.bitwise_not, lambda x: _by_bits(torch.bitwise_not, x))
logical_not = _unary(torch.logical_not, lambda x: torch.logical_not(_bits(x)))
negative = _unary(torch.negative, lambda x: _by_bits(torch.negative, x))
square = _unary(torch.square, lambda x: _by_bits(torch.square, x))


def imag(x: Array, /) -> Array:
    """torch.imag rejects real arrays; the standard leaves them open: zeros, as in NumPy."""
    return torch.imag(x) if x.is_complex() else torch.zeros_like(x)


def sign(x: Array, /) -> Array:
    """torch.sign rejects complex numbers (torch.sgn accepts them), drops NaN and lacks wide integers."""
    if x.is_floating_point():
        return torch.where(torch.isnan(x), x, torch.sign(x))
    return torch.ne(x, 0).to(x.dtype) if x.dtype in WIDE else torch.sgn(x)


def round(x: Array, /) -> Array:
    """torch.round rejects complex numbers (pytorch#58743)."""
    return torch.complex(torch.round(x.real), torch.round(x.imag)) if x.is_complex() else torch.round(x)


def acos(x: Array, /) -> Array:
    """torch.acos gives the imaginary part of a complex zero the sign of -0, not its negation."""
    if not x.is_complex():
        return torch.acos(x)
    out = torch.acos(x)
    return torch.complex(out.real, torch.where(x == 0, -x.imag, out.imag))


def expm1(x: Array, /) -> Array:
    """torch.expm1 computes exp(x) - 1 for complex numbers: inaccurate near zero and wrong at infinity."""
    if not x.is_complex():
        return torch.expm1(x)
    a, b = x.real, x.imag
    grown, exp = torch.expm1(a) + 0.0, torch.exp(a)
    real = grown * torch.cos(b) - 2 * torch.square(torch.sin(b / 2))
    imag = exp * torch.sin(b)
    # Adding 0.0 turns -0 into +0, as the standard requires. All else follows C99 G.6.3.1: exp(-inf) = 0 at any angle,
    # exp(+inf) keeps a real infinity at angle 0.
    endless = ~torch.isfinite(b)
    real = torch.where(endless & (a == math.inf), math.inf, torch.where(b == 0, grown, real))
    real = torch.where(endless & (a == -math.inf), -1.0, real)
    imag = torch.where(endless & (a == -math.inf), 0.0, torch.where(b == 0, b, imag))
    return torch.complex(real, imag)


def log1p(x: Array, /) -> Array:
    """torch.log1p of a complex number gives NaN for an infinite modulus and its angle."""
    out = torch.log1p(x)
    if not x.is_complex():
        return out
    endless = torch.isinf(x.real) | torch.isinf(x.imag)
    angle = torch.atan2(x.imag, x.real)
    return torch.complex(torch.where(endless, math.inf, out.real), torch.where(endless, angle, out.imag))


def tanh(x: Array, /) -> Array:
    """torch.tanh of a complex infinity takes the sign of zero from the angle, as in C99 and unlike the standard."""
    out = torch.tanh(x)
    if not x.is_complex():
        return out
    one, zero = torch.ones_like(x.real), torch.zeros_like(x.imag)
    limit = torch.complex(torch.copysign(one, x.real), torch.copysign(zero, x.imag))
    return torch.where(torch.isinf(x.real), limit, out)


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """torch.clamp rejects mixed bounds, drops NaN bounds (pytorch#172067) and promotes x to the dtype of the bounds."""
    if x.dtype in UNORDERED:
        if x.is_complex():
            return complex_order.clip(aac, x, min, max)
        ranked = (None if bound is None else _rank(_fitting(bound, x)) for bound in (min, max))
        return _unrank(clip(_rank(x), *ranked), x.dtype)
    if isinstance(min, Tensor) or isinstance(max, Tensor) or min != min or max != max:
        bounds = [None if bound is None else _fitting(bound, x) for bound in (min, max)]
        return torch.clamp(x, *bounds) if min is not None or max is not None else x.clone()
    min, max = (_held(bound, x.dtype) for bound in (min, max))
    return x.clone() if min is None and max is None else torch.clamp(x, min, max)


def _held(bound: Any, dtype: torch.dtype) -> Any:
    """A Python integer within the limits of the dtype."""
    if not isinstance(bound, int) or dtype not in _LIMITS:
        return bound
    low, high = _LIMITS[dtype]
    return max(low, min(bound, high))


def _fitting(bound: Any, x: Array) -> Array:
    """A bound as an array of the dtype of x; beyond the limits of an integer dtype, the nearest limit."""
    if isinstance(bound, Tensor) and bound.dtype is not x.dtype and x.dtype in _LIMITS and bound.dtype in _LIMITS:
        (low, high), (own_low, own_high) = _LIMITS[x.dtype], _LIMITS[bound.dtype]
        if low > own_low or high < own_high:
            bound = clip(bound, max(low, own_low), min(high, own_high))
    return _tensor(_held(bound, x.dtype), x.dtype, x)


def where(condition: Array, x1: Any, x2: Any, /) -> Array:
    """torch.where promotes by rank and lacks wide unsigned integers."""
    dtype = result_type(x1, x2)
    if dtype not in WIDE and all(getattr(x, "dtype", dtype) is dtype for x in (x1, x2)):
        return torch.where(condition, x1, x2)
    x1, x2 = _tensor(x1, dtype, condition), _tensor(x2, dtype, condition)
    out = torch.where(condition, _bits(x1), _bits(x2))
    return out.view(dtype) if dtype in WIDE else out


def cosh(x: Array, /) -> Array:
    """torch.cosh overflows where exp does, which is twice as large."""
    return _hyperbolic(torch.cosh, x)


def sinh(x: Array, /) -> Array:
    """Like cosh."""
    return _hyperbolic(torch.sinh, x)


def _hyperbolic(native: _Unary, x: Array) -> Array:
    found = native(x)
    if found.is_complex() or not _has_overflowed(found):
        return found
    is_early = torch.isinf(found) & torch.isfinite(x)
    root = torch.exp(torch.where(is_early, torch.abs(x), 0).to(found.dtype) / 2)  # infinity would have no gradient
    return torch.where(is_early, torch.copysign(root / 2 * root, found), found)
