"""Python numbers combined with arrays: integers out of the dtype's range, `where` of numbers, `diff` with numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from operator import index
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._core.modes import defaults
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.dtypes import FLOATING_PAIRS, INTEGER_LIMITS, does_not_fit

HOLDING = (
    *("add", "subtract", "multiply", "floor_divide", "remainder", "pow", "maximum", "minimum"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"),
)
"""The functions of two operands whose result has the dtype of the array, which must hold the Python integer."""
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
"""The comparisons, which accept any Python integer."""
AS_FLOATING = (*FLOATING_PAIRS, "nextafter")
"""The functions that use any Python integer as a floating-point number."""
LOGICAL = ("logical_and", "logical_or", "logical_xor")
"""The functions that use any Python integer as a truth value."""
ALWAYS_LIMITED = frozenset((*LOGICAL, "where"))
"""The functions that check the range in every library."""
LIMITED = frozenset((*ALWAYS_LIMITED, *HOLDING, *COMPARISONS, *AS_FLOATING, "clip", "isin", "searchsorted"))
"""The functions that check the range in libraries with ``WRAPS_INTEGERS``."""
_LONGEST = INTEGER_LIMITS["int64"][1]
"""The greatest integer that every library accepts with an array whose dtype can hold it."""
OTHER_LIMITS = (-(1 << 31), (1 << 31) - 1)
"""The integers that every library accepts with a floating-point array."""


def integer(value: Any) -> int:
    """A size as `operator.index` gives it; CuPy's integers without dimensions, which have no ``__index__``, too."""
    if type(value) is int:
        return value
    backend = find.if_array(value)
    is_integer = backend is not None and not value.shape and backend.is_of_kind(value.dtype, ("integral",))
    return int(value) if is_integer else index(value)


def is_limited(verb: str, backend: Backend) -> bool:
    """Whether `within_limits` has to serve the calls of a verb with Python integers."""
    return verb in ALWAYS_LIMITED or (verb in LIMITED and getattr(backend.module, "WRAPS_INTEGERS", False))


def within_limits(verb: str, backend: Backend, key: tuple[type, ...]) -> Callable[..., Any]:
    """The function of a verb for arrays and Python integers, where the library wraps integers out of range, or raises.

    An integer out of range raises as in NumPy; in a comparison it is larger or smaller than every element. Calls with
    arrays only do not use this function.
    """
    function, as_dtype, dtype_name = (backend.functions[name] for name in (verb, "as_dtype", "dtype_name"))
    exact = {}
    for name, pair in (*INTEGER_LIMITS.items(), ("bool", INTEGER_LIMITS["int64"])):
        try:
            exact[as_dtype(name)] = pair
        except (ValueError, Unsupported):  # the library does not have this dtype, so no array has it
            continue
    limits = {dtype: (low, min(high, _LONGEST)) for dtype, (low, high) in exact.items()}
    number_is_first = key.index(int) == (1 if verb == "where" else 0)
    is_exponent = verb == "pow" and not number_is_first
    ranges = {dtype: (0, high) for dtype, (_, high) in limits.items()} if is_exponent else limits

    def as_array(x: Array, number: int) -> Array:
        """The number as an array of the dtype of x: libraries refuse Python integers beyond int64."""
        of_library = backend.functions
        return of_library["full"]((), number, dtype=x.dtype, device=of_library["device"](x))

    def beyond(name: str, x: Array, number: int) -> tuple[Array, Any]:
        """The operands of an equivalent call."""
        if verb in LOGICAL:
            return x, bool(number)
        if x.dtype not in exact:
            return x, float(number)
        low, high = exact[x.dtype]
        if _LONGEST < number <= high:
            return x, as_array(x, number)
        if verb in COMPARISONS:
            return backend.functions["astype"](x, as_dtype("float32")), math.inf if number > 0 else -math.inf
        if verb == "clip":
            nearest = min(max(low, number), high)
            return x, as_array(x, nearest) if nearest > _LONGEST else nearest
        if verb == "isin":  # the backend serves it
            return x, number
        if verb in AS_FLOATING:
            return x, float(number)
        if low <= number <= high:
            raise ValueError(
                f"xo.{verb}: integer arrays cannot be raised to the negative power {number}. "
                f"Instead: xo.{verb}(xo.astype({name}, xo.float64), {number})"
            )
        fix = f"xo.astype({name}, dtype) with a dtype that can hold both"
        raise does_not_fit(verb, number, f"{dtype_name(x.dtype)}, the dtype of {name}", fix)

    def fitting(x1: Any, x2: Any) -> tuple[Any, Any]:
        x, number = (x2, x1) if number_is_first else (x1, x2)
        low, high = ranges.get(x.dtype, OTHER_LIMITS)
        if not low <= number <= high:
            x, number = beyond("x2" if number_is_first else "x1", x, number)
        return (number, x) if number_is_first else (x, number)

    def of_two(x1: Any, x2: Any, /, **options: Any) -> Any:
        return function(*fitting(x1, x2), **options)

    def chosen(condition: Array, x1: Any, x2: Any, /) -> Any:
        return function(condition, *fitting(x1, x2))

    def clipped(x: Array, /, *bounds: Any) -> Any:
        low, high = limits.get(x.dtype, OTHER_LIMITS)
        inside = (b if type(b) is not int or low <= b <= high else beyond("x", x, b)[1] for b in bounds)
        return function(x, *inside)

    def searched(x1: Array, x2: int, /, *, side: str = "left", sorter: Any = None) -> Any:
        low, high = limits.get(x1.dtype, OTHER_LIMITS)
        if low <= x2 <= high:
            return function(x1, x2, side=side, sorter=sorter)
        if x1.dtype not in exact:
            return function(x1, float(x2), side=side, sorter=sorter)
        low, high = exact[x1.dtype]
        if not low <= x2 <= high:
            x2, side = (low, "left") if x2 < low else (high, "right")
        return function(x1, as_array(x1, x2), side=side, sorter=sorter)

    special: dict[str, Callable[..., Any]] = {"where": chosen, "clip": clipped, "searchsorted": searched}
    return special.get(verb, of_two)


def joining_numbers(hooks: Mapping[str, Callable[..., Any]]) -> Callable[..., Array]:
    """`diff` with Python numbers for ``prepend`` and ``append``. They are weakly typed, as in all functions."""
    function, full, result_type, device = (hooks[name] for name in ("diff", "full", "result_type", "device"))

    def slice_of(x: Array, axis: int, end: Any) -> Any:
        if end is None or hasattr(end, "dtype"):
            return end
        dtype = result_type(x, end)
        if type(end) is int:
            name = hooks["dtype_name"](dtype)
            low, high = INTEGER_LIMITS.get(name, (end, end))
            if not low <= end <= high:
                raise does_not_fit("diff", end, f"{name}, the dtype of x", "xo.astype(x, dtype) with a wider dtype")
        shape = list(x.shape)
        shape[axis] = 1
        return full(tuple(shape), end, dtype=dtype, device=device(x))

    def diff(x: Array, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Array:
        prepend, append = slice_of(x, axis, prepend), slice_of(x, axis, append)
        return function(x, axis=axis, n=n, prepend=prepend, append=append)

    return diff


def choosing_numbers(backend: Backend, classes: tuple[type, ...]) -> Callable[..., Any]:
    """`where` for numbers only: the result has the default dtype of their widest class."""
    function, full, device = (backend.functions[name] for name in ("where", "full", "device"))
    widest = max(classes, key=(bool, int, float, complex).index)

    def choose(condition: Array, x1: Any, x2: Any, /) -> Any:
        name = defaults.floating_dtype() if widest is float else None
        dtype = None if name is None else backend.native_dtype(name)
        numbers = (full((), widest(x), dtype=dtype, device=device(condition)) for x in (x1, x2))
        return function(condition, *numbers)

    return choose
