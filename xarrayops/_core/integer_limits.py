"""Python integers with integer arrays: a number that the dtype cannot hold raises, or is compared correctly."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from xarrayops._core.registry import Backend
from xarrayops._protocol.dtypes import INTEGER_LIMITS
from xarrayops._protocol.types import Array

ARITHMETIC = (
    *("add", "subtract", "multiply", "floor_divide", "remainder", "pow", "maximum", "minimum"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"),
)
"""The functions of two operands whose result has the dtype of the array, which must hold the Python integer."""
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
"""The functions of two operands that compare, and so accept any Python integer."""
LIMITED = frozenset((*ARITHMETIC, *COMPARISONS))
UNLIMITED = (-math.inf, math.inf)
"""The limits for dtypes other than integers, which every Python integer is within."""


def within_limits(verb: str, backend: Backend, *, scalar_first: bool) -> Callable[..., Any]:
    """The function of a verb for an array and a Python integer, for a library that wraps integers out of range.

    An integer out of range raises as in NumPy; in a comparison it is beyond every element. Calls with two arrays do not
    use this function.
    """
    function, as_dtype = backend.functions[verb], backend.functions["as_dtype"]
    limits = {as_dtype(name): pair for name, pair in INTEGER_LIMITS.items()}

    def beyond(name: str, x: Array, number: float) -> tuple[Array, float]:
        """The operands of an equivalent comparison: x as float32, and an infinity."""
        if verb not in COMPARISONS:
            dtype = backend.functions["dtype_name"](x.dtype)
            raise OverflowError(
                f"xo.{verb}: the Python integer {number} does not fit into {dtype}, the dtype of {name}. "
                f"Instead: xo.astype({name}, dtype) with a dtype that can hold both"
            )
        return backend.functions["astype"](x, as_dtype("float32")), math.inf if number > 0 else -math.inf

    def first(x1: float, x2: Array, /) -> Any:
        low, high = limits.get(x2.dtype, UNLIMITED)
        if not low <= x1 <= high:
            x2, x1 = beyond("x2", x2, x1)
        return function(x1, x2)

    def second(x1: Array, x2: float, /) -> Any:
        low, high = limits.get(x1.dtype, UNLIMITED)
        if not low <= x2 <= high:
            x1, x2 = beyond("x1", x1, x2)
        return function(x1, x2)

    return first if scalar_first else second
