"""Python integers beside arrays of integers: what the dtype cannot hold raises, or is compared as what it is."""

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
"""The functions of two operands whose result has their dtype, which a Python integer must fit into."""
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
"""The functions of two operands that compare any numbers."""
LIMITED = frozenset((*ARITHMETIC, *COMPARISONS))
UNLIMITED = (-math.inf, math.inf)
"""The limits that a Python integer never passes, for dtypes that are none of integers."""


def within_limits(verb: str, backend: Backend, *, scalar_first: bool) -> Callable[..., Any]:
    """What serves an array beside a Python integer, where the library would wrap one that the dtype cannot hold.

    Such a number raises as in NumPy; compared, it is beyond every element. Calls of two arrays pay nothing.
    """
    function, as_dtype = backend.functions[verb], backend.functions["as_dtype"]
    limits = {as_dtype(name): pair for name, pair in INTEGER_LIMITS.items()}

    def beyond(name: str, x: Array, number: float) -> tuple[Array, float]:
        """What compares as the operands do: fractions, beside an infinity."""
        if verb not in COMPARISONS:
            dtype = backend.functions["dtype_name"](x.dtype)
            raise OverflowError(
                f"xo.{verb}: the Python integer {number} does not fit into {dtype}, the dtype of {name}. "
                f"Instead: xo.astype({name}, dtype) first, to a dtype that holds both"
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
