"""Casts with ``saturate=True``: the nearest limit for numbers beyond the dtype, and 0 for NaN as an integer."""

from __future__ import annotations

from typing import Any

from xarrayops import standard as xp
from xarrayops._core.backends import find
from xarrayops._core.dispatch.errors import FAILURES, add_call
from xarrayops._core.dispatch.lookup import native_dtype
from xarrayops._ops.explained import explain_call
from xarrayops._ops.explanation import Explanation
from xarrayops._ops.verb import Verb
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.dtypes import INTEGER_LIMITS, REAL_OF

_LIMITS = {**INTEGER_LIMITS, "float8_e4m3fn": (-448, 448)}
"""The limits of the dtypes without infinities. Other casts round, also to infinity, as on every library."""
_DIGITS = {"float32": 24, "float64": 53}
"""The binary digits of the dtypes in which numbers are limited. Narrower ones are widened to float32, without error."""


def with_options(x: Array, dtype: Any, /, *, copy: bool, device: Any, saturate: bool) -> Array:
    """`xarrayops.astype` with ``saturate=True``, whose docstring is the contract."""
    name = find.one_of("astype", {"x": x}).functions["dtype_name"]
    source, target = name(x.dtype), name(native_dtype(type(x), dtype))
    if source == target or source in ("bool", *REAL_OF) or target not in _LIMITS:
        return xp.astype(x, dtype, copy=copy, device=device)
    source = source if source in (*INTEGER_LIMITS, *_DIGITS) else "float32"
    x = xp.astype(x, source, copy=False, device=device)
    (own_low, own_high), (low, high) = INTEGER_LIMITS.get(source, (0, 0)), _LIMITS[target]
    if source in _DIGITS:
        return _limited(x, source, target)
    x = x if low <= own_low and own_high <= high else xp.clip(x, max(low, own_low), min(high, own_high))
    return xp.astype(x, dtype)


def _limited(x: Array, source: str, target: str) -> Array:
    """Floating-point numbers in a dtype without infinities.

    The greatest integer may not be a floating-point number: 2**31 - 1 as float32 is 2**31, which wraps around. So x is
    limited to the greatest number below, and what was beyond it becomes the greatest integer. The least is 0 or -2**n.
    """
    low, high = _LIMITS[target]
    spare = max(0, high.bit_length() - _DIGITS[source])
    held = high >> spare << spare
    numbers = xp.where(xp.isnan(x), 0.0, x) if target in INTEGER_LIMITS else x
    found = xp.astype(xp.clip(numbers, float(low), float(held)), target)
    if held == high:
        return found
    greatest = xp.full((), high, dtype=target, like=found)  # not a number: JAX has no int64 while 64-bit types are off
    return xp.where(xp.greater(x, float(held)), greatest, found)


def explain_cast(verb: str, /, *args: Any, saturate: bool = False, **kwargs: Any) -> Explanation:
    """The function that casts, with ``saturate=True`` after the limits."""
    try:
        return explain_call(verb, *args, **kwargs)
    except FAILURES as error:
        add_call(error, verb, *args[:1])
        raise


VERBS = (Verb("astype", xp.astype, explain=explain_cast),)
