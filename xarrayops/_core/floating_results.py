"""Integers in functions whose result is floating-point: the result has the default floating-point dtype."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from xarrayops._protocol.candidates import constant_while_tracing
from xarrayops._protocol.dtypes import FLOATING_REDUCTIONS, INTEGER_LIMITS

ARITHMETIC = (
    *("add", "subtract", "multiply", "floor_divide", "remainder", "pow", "maximum", "minimum", "where", "clip", "diff"),
)
"""The functions whose result is floating-point where integers meet a Python float."""
_INTEGERS = ("bool", *INTEGER_LIMITS)


def casting_integers(
    verb: str,
    function: Callable[..., Any],
    hooks: Mapping[str, Callable[..., Any]],
    mode: Callable[[], str | None] | None = None,
) -> Callable[..., Any]:
    """The function of a verb, with integer arrays cast to the default floating-point dtype.

    ``hooks`` are those of the library. ``mode`` returns the name of the dtype, or None in a thread without a default;
    without ``mode`` the dtype is the library's own. Calls with a floating-point or complex array are left alone: the
    library promotes their integers, except those of `clip` and `solve`. So are calls of `ARITHMETIC` with integers
    only.
    """
    known: dict[Any, bool] = {}

    @constant_while_tracing
    def is_integer(dtype: Any) -> bool:
        if dtype not in known:
            known[dtype] = hooks["dtype_name"](dtype) in _INTEGERS
        return known[dtype]

    @wraps(function)
    def cast(*args: Any, **kwargs: Any) -> Any:
        name = None if mode is None else mode()
        if name is None and mode is not None:
            return function(*args, **kwargs)
        values = (*args, *kwargs.values()) if kwargs else args
        for value in values:
            if hasattr(value, "dtype") and not is_integer(value.dtype):
                if verb == "clip" and is_integer(args[0].dtype):  # the result has the dtype of x
                    args = (promoted(args[0], values), *args[1:])
                elif verb == "linalg.solve":  # PyTorch does not promote its arguments
                    args = tuple(promoted(x, values) if is_integer(x.dtype) else x for x in args)
                return function(*args, **kwargs)
        if verb in ARITHMETIC and not any(type(value) in (float, complex) for value in values):
            return function(*args, **kwargs)
        return serve_integers(name, *args, **kwargs)

    def promoted(x: Any, values: tuple[Any, ...]) -> Any:
        arrays = [value for value in values if hasattr(value, "dtype")]
        return hooks["astype"](x, hooks["result_type"](*arrays))

    def serve_integers(name: str | None, *args: Any, **kwargs: Any) -> Any:
        astype = hooks["astype"]
        dtype = hooks["default_floating_dtype"]() if name is None else hooks["as_dtype"](name)
        widens = verb in FLOATING_REDUCTIONS and hooks["import_refusal"]("float64") is None
        wide = hooks["as_dtype"]("float64") if widens else dtype

        def floating(value: Any) -> Any:
            return astype(value, wide) if hasattr(value, "dtype") else value

        condition = args[:1] if verb == "where" else ()
        rest = map(floating, args[len(condition) :])
        result = function(*condition, *rest, **{key: floating(value) for key, value in kwargs.items()})
        return result if wide is dtype else astype(result, dtype)

    return cast
