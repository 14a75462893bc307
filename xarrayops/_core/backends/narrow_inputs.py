"""Half and single precision in functions that sum, average or normalise: no intermediate result overflows or stagnates.

- Half types are computed in float32, and the result is rounded once: `IN_SINGLE`.
- Where a result in float32 is not finite, it is computed again from operands times a power of 2: `DEGREES`. This needs
  a look at the result, so only libraries with the hook `has_overflowed` do it, for values that they know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from xarrayops.plugin.candidates import Call, constant_while_tracing
from xarrayops.plugin.dtypes import INTEGER_LIMITS
from xarrayops.plugin.precision import HALVES

IN_SINGLE = frozenset(
    (
        *("prod", "cumulative_prod", "linalg.matrix_norm", "linalg.trace", "linalg.vector_norm"),
        *("allclose", "average", "bincount", "convolve", "corrcoef", "correlate", "cov", "gradient", "histogram"),
        *("interp", "isclose", "linalg.cond", "linalg.lstsq", "linalg.norm", "logsumexp", "median", "nanmean"),
        *("nanmedian", "nanpercentile", "nanquantile", "nanstd", "nansum", "nanvar", "percentile", "polyval", "ptp"),
        *("quantile", "segment_mean", "segment_sum", "softmax", "trapezoid"),
    )
)
"""The functions that compute in float32 for operands of half types. The others that sum do so in each backend."""
DEGREES = {
    "corrcoef": 0,
    **dict.fromkeys(("average", "cumulative_sum", "gradient", "mean", "median", "nanmean", "nanmedian"), 1),
    **dict.fromkeys(("nanpercentile", "nanquantile", "nanstd", "nansum", "percentile", "polyval", "quantile"), 1),
    **dict.fromkeys(("linalg.matrix_norm", "linalg.norm", "linalg.vector_norm", "segment_mean", "std", "trapezoid"), 1),
    **dict.fromkeys(("cov", "nanvar", "var"), 2),
}
"""The functions f with ``f(s * x) = s**degree * f(x)``, where x is the first argument; also the second in `PAIRED`."""
PAIRED = ("corrcoef", "cov")
EXPONENT = 70
"""Of the scale: the squares of the greatest numbers and a sum of 2**50 of them stay in range."""


def without_overflow(
    verb: str, function: Callable[..., Any], hooks: Mapping[str, Callable[..., Any]], *, looks: bool
) -> Callable[..., Any]:
    """The function of a verb; ``looks`` says whether the library has the hook `has_overflowed`.

    Results have the promoted dtype of the arrays, as the function itself would give. For other dtypes a call costs a
    look at the dtypes.
    """
    known: dict[Any, str | None] = {}
    is_scaled = looks and verb in DEGREES
    in_single = verb in IN_SINGLE

    @constant_while_tracing
    def narrow_name(dtype: Any) -> str | None:
        if dtype not in known:
            name = hooks["dtype_name"](dtype)
            known[dtype] = name if name in (*HALVES, "float32") else None
        return known[dtype]

    @wraps(function)
    def computed(*args: Any, **kwargs: Any) -> Any:
        has_single = False
        for value in (*args, *kwargs.values()):
            if hasattr(value, "dtype") and (name := narrow_name(value.dtype)) is not None:
                if in_single and name != "float32":
                    return rounded(args, kwargs)
                has_single = is_scaled
        return scaled(args, kwargs) if has_single else function(*args, **kwargs)

    def rounded(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Computed in float32."""
        call = widened(Call(args, kwargs), hooks)
        found = scaled(*call) if is_scaled else function(*call.args, **call.kwargs)
        narrow = None if kwargs.get("dtype") is not None else _half_dtype((*args, *kwargs.values()), hooks)
        if narrow is None:
            return found
        single = hooks["as_dtype"]("float32")
        return _each(found, lambda x: hooks["astype"](x, narrow) if getattr(x, "dtype", None) == single else x)

    def scaled(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Computed once more where the result is not finite."""
        found = function(*args, **kwargs)
        if not any(map(hooks["has_overflowed"], found if isinstance(found, tuple | list) else (found,))):
            return found
        count = 1 + (verb in PAIRED)
        small = *(_times(x, -EXPONENT, hooks) for x in args[:count]), *args[count:]
        again = function(*small, **kwargs)

        def chosen(x: Any, other: Any) -> Any:
            other = hooks["astype"](_times(other, EXPONENT * DEGREES[verb], hooks), x.dtype)
            return hooks["where"](hooks["isfinite"](x), x, other)

        if isinstance(found, tuple | list):
            return type(found)(map(chosen, found, again))
        return chosen(found, again)

    return computed


def widened(call: Call, hooks: Mapping[str, Callable[..., Any]]) -> Call:
    """The call with arrays of half types cast to float32."""

    def cast(value: Any) -> Any:
        is_half = hasattr(value, "dtype") and hooks["dtype_name"](value.dtype) in HALVES
        return hooks["astype"](value, hooks["as_dtype"]("float32")) if is_half else value

    return Call(tuple(map(cast, call.args)), {name: cast(value) for name, value in call.kwargs.items()})


def _half_dtype(values: tuple[Any, ...], hooks: Mapping[str, Callable[..., Any]]) -> Any:
    """The half type of all floating-point arrays; None if there are several, or others."""
    names = {hooks["dtype_name"](value.dtype) for value in values if hasattr(value, "dtype")}
    floating = names - {"bool", *INTEGER_LIMITS}
    return hooks["as_dtype"](floating.pop()) if len(floating) == 1 else None


def _each(found: Any, change: Callable[[Any], Any]) -> Any:
    return type(found)(map(change, found)) if type(found) in (tuple, list) else change(found)


def _times(x: Any, exponent: int, hooks: Mapping[str, Callable[..., Any]]) -> Any:
    """x times a power of 2, in two steps, because its square may exceed float32; half types in float32."""
    if not hasattr(x, "dtype"):
        return x
    (x,), _ = widened(Call((x,), {}), hooks)
    half = 2.0 ** (exponent // 2)
    return hooks["multiply"](hooks["multiply"](x, half), 2.0**exponent / half)
