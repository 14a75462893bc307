"""Integers in functions whose result is floating-point: the result has the default floating-point dtype."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from xarrayops.plugin.candidates import constant_while_tracing
from xarrayops.plugin.dtypes import (
    FLOATING_ARGUMENTS,
    FLOATING_BY_DTYPE,
    FLOATING_EXCEPT_CHOSEN,
    FLOATING_EXTRA,
    FLOATING_REDUCTIONS,
    FLOATING_RESULTS,
    INTEGER_LIMITS,
)

ARITHMETIC = (
    *("add", "subtract", "multiply", "floor_divide", "remainder", "pow", "maximum", "minimum", "where", "clip", "diff"),
    "polyval",
)
"""The functions whose result is floating-point for integers combined with a Python float."""
CASTING = frozenset((*FLOATING_RESULTS, *FLOATING_EXTRA, *FLOATING_ARGUMENTS, *FLOATING_BY_DTYPE, *ARITHMETIC))
"""The functions whose result may have the default floating-point dtype."""
_INTEGERS = ("bool", *INTEGER_LIMITS)


def casting_integers(
    verb: str,
    function: Callable[..., Any],
    hooks: Mapping[str, Callable[..., Any]],
    mode: Callable[[], str | None] | None = None,
) -> Callable[..., Any]:
    """The function of a verb, with integer arrays cast to the default floating-point dtype.

    ``hooks`` are the library's hooks. ``mode`` returns the name of the dtype, or None in a thread without a default;
    without ``mode`` the dtype is the library's own. Calls with a floating-point or complex array are not changed,
    because the library promotes their integers, except in `clip` and `solve`. Calls of `ARITHMETIC` with integers only
    are not changed either. For functions in `FLOATING_ARGUMENTS`, each listed argument is cast separately.
    """
    known: dict[Any, bool] = {}
    chosen = frozenset[str]() if verb not in FLOATING_EXCEPT_CHOSEN else _choosing_methods()

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
        if chosen and kwargs.get("method") in chosen and hooks["dtype_name"](args[0].dtype) != "bool":
            return function(*args, **kwargs)
        if verb in FLOATING_BY_DTYPE:
            dtype = kwargs.get("dtype")
            return function(*args, **kwargs | {"dtype": default_dtype(name) if dtype is None else dtype})
        if verb in FLOATING_ARGUMENTS:
            return serve_arguments(name, args, kwargs)
        values = (*args, *kwargs.values()) if kwargs else args
        for value in values:
            if hasattr(value, "dtype") and not is_integer(value.dtype):
                if verb == "clip" and is_integer(args[0].dtype):  # the result has the dtype of x
                    args = (promoted(args[0], values), *args[1:])
                elif verb == "linalg.solve":  # PyTorch does not promote its arguments
                    args = tuple(promoted(x, values) if is_integer(x.dtype) else x for x in args)
                return function(*args, **kwargs)
        if verb in ARITHMETIC and not any(type(value) in (float, complex) for value in values):
            if verb == "clip" and hooks["dtype_name"](args[0].dtype) == "bool":
                return clip_booleans(*args, **kwargs)
            return function(*args, **kwargs)
        return serve_integers(name, *args, **kwargs)

    def clip_booleans(x: Any, *bounds: Any, **named: Any) -> Any:
        """The limits of int8 are wider than those of bool, and each number above 0 becomes True."""
        wide = hooks["astype"](x, hooks["as_dtype"]("int8"))
        return hooks["greater"](function(wide, *bounds, **named), 0)

    def promoted(x: Any, values: tuple[Any, ...]) -> Any:
        arrays = [value for value in values if hasattr(value, "dtype")]
        return hooks["astype"](x, hooks["result_type"](*arrays))

    def default_dtype(name: str | None) -> Any:
        return hooks["default_floating_dtype"]() if name is None else hooks["as_dtype"](name)

    def serve_arguments(name: str | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        dtype = default_dtype(name)
        given = dict(enumerate(args)) | kwargs
        for key in FLOATING_ARGUMENTS[verb]:
            value: Any = given.get(key)
            if hasattr(value, "dtype") and is_integer(value.dtype):
                given[key] = hooks["astype"](value, dtype)
        return function(*(given[i] for i in range(len(args))), **{key: given[key] for key in kwargs})

    def serve_integers(name: str | None, *args: Any, **kwargs: Any) -> Any:
        astype = hooks["astype"]
        dtype = default_dtype(name)
        widens = verb in FLOATING_REDUCTIONS and hooks["import_refusal"]("float64") is None
        wide = hooks["as_dtype"]("float64") if widens else dtype

        def floating(value: Any) -> Any:
            return astype(value, wide) if hasattr(value, "dtype") else value

        condition = args[:1] if verb == "where" else ()
        rest = map(floating, args[len(condition) :])
        result = function(*condition, *rest, **{key: floating(value) for key, value in kwargs.items()})
        return result if wide is dtype else astype(result, dtype)

    return cast


def _choosing_methods() -> frozenset[str]:
    """The quantile methods that return an element."""
    from xarrayops._generic.extra.quantiles import ROUNDED  # imported when one of these functions is called

    return frozenset(ROUNDED)
