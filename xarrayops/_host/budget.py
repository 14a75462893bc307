"""How far a result may be from another one: the rule of `xarrayops.testing.verify`, `jit` and `export`.

For floating-point and complex numbers, element by element::

    |got - want| <= FACTOR * (spread + eps * |want| + tiny)

``spread`` is how far the results are apart when the arguments, or what the function computes, are rounded at random.
Integers and booleans must be equal, or as near as that moves them. Infinities must be equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

FACTOR = 16.0
"""Libraries round functions such as exp to a few units in the last place, and the spread is measured in few runs."""


def wide(x: Any) -> Any:
    """The values in float64, or in complex128."""
    return np.asarray(x).astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def beyond(want: Any, got: Any, spread: Any, *, eps: float, tiny: float = 0.0, size: Any = None) -> Any:
    """Where values are farther apart than the budget.

    ``size`` replaces ``abs(want)`` in the budget. With 0 for eps the values are integers or booleans.
    """
    spread = np.asarray(spread)
    if not eps:
        with np.errstate(all="ignore"):
            return (want != got) & ~(np.abs(wide(got) - wide(want)) <= spread)
    with np.errstate(all="ignore"):
        wide_want, wide_got = wide(want), wide(got)
        allowed = FACTOR * (spread + eps * (np.abs(wide_want) if size is None else size) + tiny)
        # Equal infinities are equal; their difference is NaN and would not be within any budget.
        equal = (wide_want == wide_got) | (np.isnan(wide_want) & np.isnan(wide_got))
        near = np.isfinite(wide_want) & (np.abs(wide_got - wide_want) <= allowed)
        # An infinite spread means that rounding alone moves the value without limit: nothing can be said against the
        # result.
        return ~(equal | near | np.isinf(spread))


def farthest(want: Any, got: Any, where: Any) -> tuple[int, ...]:
    """The index of the element that is farthest from the other one, of those in the mask."""
    with np.errstate(all="ignore"):
        distance = np.abs(wide(got) - wide(want))
    # NaN against a number counts as the largest difference.
    distance = np.where(where, np.where(np.isnan(distance), np.inf, distance), -1.0)
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(distance)), distance.shape))
