"""Half and single precision in functions that sum, average or normalise: no intermediate result overflows or stagnates.

- Half types are computed in float32, and the result is rounded once: `IN_SINGLE`.
- Where a result in float32 is not finite, it is computed again from operands times a power of 2: `DEGREES`. This needs
  a look at the result, so only libraries with the hook `has_overflowed` do it, for values that they know. A lazy
  library computes these functions in float64 instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any
from warnings import catch_warnings, simplefilter

from xarrayops.plugin.candidates import Call, constant_while_tracing
from xarrayops.plugin.dtypes import INTEGER_LIMITS
from xarrayops.plugin.precision import HALVES

IN_SINGLE = frozenset(
    (
        *("cumulative_prod", "linalg.matrix_norm", "linalg.trace", "linalg.vector_norm", "prod", "std", "var"),
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
OF_ONE_ARRAY = frozenset(
    (
        *("cumulative_prod", "cumulative_sum", "linalg.matrix_norm", "linalg.norm", "linalg.trace"),
        *("linalg.vector_norm", "logsumexp", "mean", "median", "nanmean", "nanmedian", "nanstd", "nansum", "nanvar"),
        *("prod", "ptp", "softmax", "std", "var"),
    )
)
"""Functions whose only array is the first argument."""
EXPONENT = 70
"""Of the scale: the squares of the greatest numbers and a sum of 2**50 of them stay in range."""
_INTEGERS = {"bool", *INTEGER_LIMITS}
_NARROW = (*HALVES, "float32")


def without_overflow(
    verb: str, function: Callable[..., Any], hooks: Mapping[str, Callable[..., Any]], *, looks: bool, doubles: bool
) -> Callable[..., Any]:
    """The function of a verb, or of `IN_SINGLE` and `DEGREES`, for narrow dtypes.

    ``looks`` says whether the library has the hook `has_overflowed`; ``doubles``, whether it computes the function in
    float64 instead. Results have the promoted dtype of the arrays, as the function itself would give. For
    other dtypes a call costs a look at the dtypes.
    """
    is_scaled = verb in DEGREES and looks
    wide = "float64" if doubles else "float32"
    cast_names = _NARROW if wide == "float64" else HALVES if verb in IN_SINGLE else ()
    known: dict[Any, str | None] = {}

    @constant_while_tracing
    def narrow_name(dtype: Any) -> str | None:
        if dtype not in known:
            name = hooks["dtype_name"](dtype)
            known[dtype] = name if name in _NARROW else None
        return known[dtype]

    @wraps(function)
    def of_one_array(x: Any, /, **kwargs: Any) -> Any:
        # In one function: this is the price of every mean.
        name = known.get(x.dtype, "")
        if name == "":
            name = narrow_name(x.dtype)
        if name is not None and name in cast_names:
            return rounded((x,), kwargs)
        found = function(x, **kwargs)
        if name is None or not is_scaled or not hooks["has_overflowed"](found):
            return found
        return again((x,), kwargs, found)

    @wraps(function)
    def computed(*args: Any, **kwargs: Any) -> Any:
        is_narrow = False
        for value in (*args, *kwargs.values()):
            if hasattr(value, "dtype") and (name := narrow_name(value.dtype)) is not None:
                if name in cast_names:
                    return rounded(args, kwargs)
                is_narrow = is_scaled
        return scaled(args, kwargs) if is_narrow else function(*args, **kwargs)

    def rounded(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Computed in the wide dtype."""
        call = widened(Call(args, kwargs), hooks, wide)
        found = scaled(*call) if is_scaled else function(*call.args, **call.kwargs)
        names = {hooks["dtype_name"](x.dtype) for x in (*args, *kwargs.values()) if hasattr(x, "dtype")} - _INTEGERS
        if kwargs.get("dtype") is not None or not names <= {*_NARROW}:
            return found
        narrow, made = (hooks["as_dtype"](name) for name in (names.pop() if len(names) == 1 else "float32", wide))
        return _each(found, lambda x: hooks["astype"](x, narrow) if getattr(x, "dtype", None) == made else x)

    def scaled(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Computed once more where the result is not finite."""
        found = function(*args, **kwargs)
        each = found if type(found) in (tuple, list) else (found,)
        return again(args, kwargs, found) if any(map(hooks["has_overflowed"], each)) else found

    def again(args: tuple[Any, ...], kwargs: dict[str, Any], found: Any) -> Any:
        """The result that was found, with that of smaller operands where it is not finite."""
        count = 1 + (verb in PAIRED)
        with catch_warnings():
            simplefilter("ignore")  # the first computation warned
            other = function(*(_times(x, -EXPONENT, hooks) for x in args[:count]), *args[count:], **kwargs)

        def chosen(x: Any, other: Any) -> Any:
            other = hooks["astype"](_times(other, EXPONENT * DEGREES[verb], hooks), x.dtype)
            return hooks["where"](hooks["isfinite"](x), x, other)

        return type(found)(map(chosen, found, other)) if type(found) in (tuple, list) else chosen(found, other)

    return of_one_array if verb in OF_ONE_ARRAY else computed


def widened(call: Call, hooks: Mapping[str, Callable[..., Any]], wide: str = "float32") -> Call:
    """The call with arrays of half types cast to float32, or all narrow ones to float64."""
    names = HALVES if wide == "float32" else _NARROW

    def cast(value: Any) -> Any:
        is_narrow = hasattr(value, "dtype") and hooks["dtype_name"](value.dtype) in names
        return hooks["astype"](value, hooks["as_dtype"](wide)) if is_narrow else value

    return Call(tuple(map(cast, call.args)), {name: cast(value) for name, value in call.kwargs.items()})


def _each(found: Any, change: Callable[[Any], Any]) -> Any:
    return type(found)(map(change, found)) if type(found) in (tuple, list) else change(found)


def _times(x: Any, exponent: int, hooks: Mapping[str, Callable[..., Any]]) -> Any:
    """x times a power of 2, in two steps, because its square may exceed float32; half types in float32."""
    if not hasattr(x, "dtype"):
        return x
    (x,), _ = widened(Call((x,), {}), hooks)
    half = 2.0 ** (exponent // 2)
    return hooks["multiply"](hooks["multiply"](x, half), 2.0**exponent / half)
