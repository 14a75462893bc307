"""Random numbers with functions of the standard only."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from types import ModuleType
from typing import Any

from xarrayops.plugin.arrays import Array
from xarrayops.plugin.beta import beta
from xarrayops.plugin.distributions import Arithmetic, Format, from_bits
from xarrayops.plugin.random import WORD, Draw, threefry


def random_draw(
    xp: ModuleType, draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /, a: Arithmetic | None = None
) -> Array:
    """All elements at once, in int64."""
    # int64, because the standard has no unsigned shifts: each word is a non-negative number below 2**32, and sums and
    # shifts are masked back to that range.
    words = threefry(key_words(xp, key), *counters(xp, prod(shape), device))
    bits = joined_words(draw, *words, lambda x, name: xp.astype(x, getattr(xp, name)))
    return xp.reshape(from_bits(a or arithmetic(xp), draw, bits), shape)


def random_keys(xp: ModuleType, key: Any, counters: Array, /) -> Array:
    """The two words for each counter form a key."""
    x1 = xp.astype(counters, xp.int64)
    words = threefry(key_words(xp, key), xp.zeros_like(x1), x1)
    return xp.astype(xp.stack(words, axis=-1), xp.uint32)


def random_permutation(xp: ModuleType, key: Any, size: int, device: Any, /) -> Array:
    """By a stable sort."""
    return xp.argsort(random_draw(xp, Draw("bits", "int64"), key, (size,), device))


def beta_numbers(
    xp: ModuleType,
    dtype: str,
    shapes: Array,
    normals: Array,
    exponentials: Array,
    /,
    a: Arithmetic | None = None,
) -> Array:
    """With all proposals at once."""
    return beta(a or arithmetic(xp), dtype, shapes, normals, exponentials)


def key_words(xp: ModuleType, key: Any) -> tuple[Any, Any]:
    """The two words of a key: Python integers, or arrays of int64."""
    if isinstance(key, tuple):
        return key
    words = xp.astype(key, xp.int64)
    return words[0], words[1]


def counters(xp: ModuleType, size: int, device: Any) -> tuple[Array, Array]:
    """The two words of each flat index."""
    index = xp.arange(size, dtype=xp.int64, device=device)
    # Two words, so that the numbers do not repeat at flat indices beyond 2**32.
    return index >> 32, index & WORD


def joined_words(draw: Draw, high: Array, low: Array, astype: Callable[..., Any]) -> Array:
    """The bits of a draw as int64 or int32, in two's complement, from words in int64."""
    # The shift wraps into the sign, so the 64 bits are read as two's complement.
    if draw.bits == 64:
        return (high << 32) | low
    # 32 bits from both words. The two operations extend the sign of a 32-bit number in int64, without a cast that could
    # saturate.
    return astype(((high ^ low) ^ 0x80000000) - 0x80000000, "int32")


def arithmetic(xp: ModuleType) -> Arithmetic:
    """The arithmetic of a standard namespace."""
    return Arithmetic(xp.where, xp.sqrt, xp.astype, partial(getattr, xp), partial(_frexp, xp))


def _frexp(xp: ModuleType, x: Array, form: Format) -> tuple[Array, Array]:
    """Mantissa and exponent of numbers in [2**-63, 1], by products with powers of 2, which are exact."""
    exponent = xp.zeros_like(x)
    # A binary search for the exponent. The steps add up to 63, the least exponent of a uniform number.
    for step in (32, 16, 8, 4, 2, 1):
        is_small = x < 2.0**-step
        x = xp.where(is_small, x * 2.0**step, x)
        exponent = xp.where(is_small, exponent - step, exponent)
    # The least mantissa as a number: its stored exponent stands for 1/2, so its fraction is added to 1 and halved.
    is_small = x < (form.lowest / 2**form.mantissa - form.bias + 2) / 2
    return xp.where(is_small, x * 2.0, x), xp.where(is_small, exponent - 1.0, exponent)
