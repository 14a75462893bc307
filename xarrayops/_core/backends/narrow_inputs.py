"""Half and single precision in functions that sum, average or normalise: no intermediate result overflows or stagnates.

- Half types are computed in float32, and the result is rounded once: `IN_SINGLE`.
- A result that is not finite is computed again in double precision: `CHECKED`. The function looks at the result to
  decide, so only libraries with the hook `has_overflowed` do so, for values that they know. A lazy library computes in
  double precision at once, and JAX has a branch in its program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from xarrayops._surface import ROLES
from xarrayops.plugin.candidates import Call, constant_while_tracing
from xarrayops.plugin.dtypes import INTEGER_LIMITS
from xarrayops.plugin.precision import AGAIN, CHECKED, DOUBLE, SINGLE, widened

IN_SINGLE = frozenset(
    (
        *("cumulative_prod", "linalg.matrix_norm", "linalg.trace", "linalg.vector_norm", "prod", "std", "var"),
        *("allclose", "average", "bincount", "convolve", "corrcoef", "correlate", "cov", "gradient", "histogram"),
        *("interp", "isclose", "linalg.cond", "linalg.lstsq", "linalg.norm", "logsumexp", "median", "nanmean"),
        *("nanmedian", "nanpercentile", "nanquantile", "nanstd", "nansum", "nanvar", "percentile", "polyval", "ptp"),
        *("erf", "log_softmax", "quantile", "segment_mean", "segment_sum", "sigmoid", "softmax", "trapezoid"),
    )
)
"""The functions that compute in float32 for operands of half types. The others that sum do so in each backend."""
OF_POWERS = frozenset(("cumulative_prod", "linalg.cond", "linalg.norm", "linalg.vector_norm", "polyval", "prod"))
"""The functions of which products of three and more numbers overflow. In others only `LARGE` numbers do."""
LARGE = 2.0**43
"""The sum of 2**40 squares of smaller numbers is in the range of float32."""
_NOTHING, _LOOK, _CAST = range(3)
"""What a dtype needs: nothing, a look at the result, or a cast. A call needs the greatest of its arrays."""
_INTEGERS = {"bool", *INTEGER_LIMITS}
Hooks = Mapping[str, Callable[..., Any]]


def without_overflow(
    verb: str, function: Callable[..., Any], hooks: Hooks, *, looks: bool, doubles: bool
) -> Callable[..., Any]:
    """The function of a verb of `IN_SINGLE` or `CHECKED`, for narrow dtypes.

    ``looks`` says whether the library has the hook `has_overflowed`; ``doubles``, whether it computes the function in
    double precision instead. Results have the dtypes that the function itself would give. For other dtypes a call costs
    a look at the dtypes.
    """
    is_checked = looks and verb in CHECKED
    wider = DOUBLE if doubles else SINGLE if verb in IN_SINGLE else {}
    needs: dict[Any, int] = {}

    @constant_while_tracing
    def need_of(dtype: Any) -> int:
        if dtype not in needs:
            name = hooks["dtype_name"](dtype)
            needs[dtype] = _CAST if name in wider else _LOOK if is_checked and name in AGAIN else _NOTHING
        return needs[dtype]

    @wraps(function)
    def of_one_array(x: Any, /, **kwargs: Any) -> Any:
        need = need_of(x.dtype) if kwargs.get("dtype") is None else _CAST
        if not need:
            return function(x, **kwargs)
        return cast((x,), kwargs) if need == _CAST else checked((x,), kwargs, need)

    @wraps(function)
    def of_arrays(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("dtype") is not None:
            return cast(args, kwargs)
        need = _NOTHING
        for x in (*args, *kwargs.values()) if kwargs else args:
            if hasattr(x, "dtype") and need_of(x.dtype) > need:
                need = need_of(x.dtype)
        return cast(args, kwargs) if need == _CAST else checked(args, kwargs, need)

    def checked(args: tuple[Any, ...], kwargs: dict[str, Any], need: int) -> Any:
        found = function(*args, **kwargs)
        return again(found, args, kwargs) if need == _LOOK and has_overflowed(found) else found

    def cast(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result for arrays in the wider dtypes, in the dtype of the arrays."""
        # JAX's weakly typed arrays do not determine the dtype of the result.
        dtypes = [x.dtype for x in _arrays_of(args, kwargs) if not getattr(x, "weak_type", False)]
        if kwargs.get("dtype") is not None:
            dtypes.append(kwargs["dtype"])
        names = set(map(hooks["dtype_name"], dtypes)) - _INTEGERS
        need = _LOOK if is_checked and not AGAIN.isdisjoint(wider.get(name, name) for name in names) else _NOTHING
        if names.isdisjoint(wider):
            return checked(args, kwargs, need)
        found = checked(*widened(Call(args, kwargs), hooks, wider), need)
        return _each(found, lambda x: _narrowed(x, kwargs.get("dtype"), names, hooks))

    def has_overflowed(found: Any) -> bool:
        """Whether a value of the result, or of one of several, is not finite."""
        one = hooks["has_overflowed"]
        return any(map(one, found)) if type(found) in (tuple, list) else one(found)

    def again(found: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result, computed again in double precision if an intermediate result may have overflowed."""
        given = _arrays_of(args, kwargs)
        # NaN and infinity among other numbers are legitimate.
        if not (verb in OF_POWERS or len(given) > 1 or any(map(is_large, given))):
            return found
        call = widened(Call(args, kwargs), hooks, DOUBLE)
        dtypes = iter([x.dtype for x in (found if type(found) in (tuple, list) else (found,))])
        return _each(function(*call.args, **call.kwargs), lambda x: hooks["astype"](x, next(dtypes)))

    def is_large(x: Any) -> bool:
        if hooks["dtype_name"](x.dtype) == "float16":  # its range ends below
            return False
        is_beyond = hooks["greater"](hooks["abs"](x), LARGE)
        return bool(hooks["any"](hooks["logical_and"](hooks["isfinite"](x), is_beyond)))

    return of_one_array if len(ROLES[verb]) == 1 else of_arrays


def _arrays_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    return [x for x in (*args, *(x for key, x in kwargs.items() if key != "dtype")) if hasattr(x, "dtype")]


def _narrowed(x: Any, dtype: Any, names: set[Any], hooks: Hooks) -> Any:
    """A result in the dtype that was asked for, or else the one to which the dtypes of the arrays promote."""
    name = hooks["dtype_name"](x.dtype) if hasattr(x, "dtype") else None
    if dtype is not None:
        return hooks["astype"](x, dtype)
    if name not in ("float32", "float64", "complex128") or not names <= DOUBLE.keys():
        return x
    real = next(iter(names)) if len(names) == 1 and names <= SINGLE.keys() else "float32"
    return hooks["astype"](x, hooks["as_dtype"]("complex64" if name == "complex128" else real))


def _each(found: Any, change: Callable[[Any], Any]) -> Any:
    return type(found)(map(change, found)) if type(found) in (tuple, list) else change(found)
