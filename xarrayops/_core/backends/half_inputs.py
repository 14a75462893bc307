"""Half types in functions that sum, average or normalise: computed in float32, and rounded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from xarrayops.plugin.candidates import Call, constant_while_tracing
from xarrayops.plugin.dtypes import INTEGER_LIMITS
from xarrayops.plugin.precision import HALVES


def computing_in_single(
    function: Callable[..., Any], hooks: Mapping[str, Callable[..., Any]]
) -> Callable[..., Any]:
    """The function, with arrays of half types cast to float32, and floating-point results cast back.

    The results have the promoted dtype of the arrays, as without the casts. ``hooks`` are the library's hooks. Calls
    without an array of a half type cost a look at the dtypes.
    """
    known: dict[Any, bool] = {}

    @constant_while_tracing
    def is_half(dtype: Any) -> bool:
        if dtype not in known:
            known[dtype] = hooks["dtype_name"](dtype) in HALVES
        return known[dtype]

    @wraps(function)
    def computed(*args: Any, **kwargs: Any) -> Any:
        for value in (*args, *kwargs.values()):
            if hasattr(value, "dtype") and is_half(value.dtype):
                return compute(args, kwargs)
        return function(*args, **kwargs)

    def compute(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = in_single(Call(args, kwargs), hooks)
        found = function(*call.args, **call.kwargs)
        narrow = None if kwargs.get("dtype") is not None else _narrow_dtype((*args, *kwargs.values()), hooks)
        if narrow is None:
            return found
        single = hooks["as_dtype"]("float32")

        def rounded(x: Any) -> Any:
            return hooks["astype"](x, narrow) if hasattr(x, "dtype") and x.dtype == single else x

        return type(found)(map(rounded, found)) if type(found) in (tuple, list) else rounded(found)

    return computed


def in_single(call: Call, hooks: Mapping[str, Callable[..., Any]]) -> Call:
    """The call with arrays of half types cast to float32."""

    def cast(value: Any) -> Any:
        is_half = hasattr(value, "dtype") and hooks["dtype_name"](value.dtype) in HALVES
        return hooks["astype"](value, hooks["as_dtype"]("float32")) if is_half else value

    return Call(tuple(map(cast, call.args)), {name: cast(value) for name, value in call.kwargs.items()})


def _narrow_dtype(values: tuple[Any, ...], hooks: Mapping[str, Callable[..., Any]]) -> Any:
    """The half type of all floating-point arrays; None if there are several, or others."""
    names = {hooks["dtype_name"](value.dtype) for value in values if hasattr(value, "dtype")}
    floating = names - {"bool", *INTEGER_LIMITS}
    return hooks["as_dtype"](floating.pop()) if len(floating) == 1 else None
