"""Elements by their place in the order of all, from sorted blocks, by the digits of their bit patterns.

The bit pattern of a number, changed so that unsigned integers have the order of the numbers, is found digit by digit:
each block counts, for every wanted element, its elements below each value of the next digit. The counts of all blocks
are added, and give the digit. So an element is exact, and only counts leave a block.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from xarrayops.plugin.arrays import Array

DIGIT = 8
"""The number of bits of a digit."""
View = Callable[[Array, Any], Array]
"""An array's memory in another dtype of the same size."""


def start(xp: ModuleType, ranks: Array, dtype: Any) -> Array:
    """The places of elements before the first digit is known: zeros, in the unsigned integers as wide as the dtype."""
    return xp.zeros_like(ranks, dtype=getattr(xp, f"uint{8 * dtype.itemsize}"))


def below(xp: ModuleType, ordered: Array, places: Array, shift: int, dtype: Any, view: View) -> Array:
    """For each place, how many elements of a sorted vector are below each value of the digit at ``shift``."""
    digits = xp.arange(1 << DIGIT, dtype=places.dtype) << shift
    return xp.searchsorted(ordered, numbers(xp, places[:, None] + digits, dtype, view))


def narrowed(xp: ModuleType, places: Array, ranks: Array, total: Array, shift: int) -> Array:
    """The places with one digit more: the greatest one that has no more elements below than the rank."""
    digit = xp.count_nonzero(total <= ranks[..., None], axis=-1) - 1
    return places + (xp.astype(digit, places.dtype) << shift)


def numbers(xp: ModuleType, places: Array, dtype: Any, view: View) -> Array:
    """The numbers at places in the order of all bit patterns; NaNs are last, and negative ones -inf."""
    if xp.isdtype(dtype, ("bool", "unsigned integer")):
        return xp.astype(places, dtype)
    sign = xp.asarray(1 << (8 * dtype.itemsize - 1), dtype=places.dtype)
    if xp.isdtype(dtype, "signed integer"):
        return view(places ^ sign, dtype)
    found = view(xp.where(places >= sign, places ^ sign, ~places), dtype)
    return xp.where(xp.isnan(found) & (places < sign), -xp.asarray(xp.inf, dtype=dtype), found)
