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
        *("quantile", "segment_mean", "segment_sum", "softmax", "trapezoid"),
    )
)
"""The functions that compute in float32 for operands of half types. The others that sum do so in each backend."""
"""The dtype in which each half type is computed."""
OF_POWERS = frozenset(
    ("cumulative_prod", "linalg.cond", "linalg.norm", "linalg.vector_norm", "polyval", "prod"),
)
"""The functions of which products of three and more numbers overflow. In others only `LARGE` numbers do."""
LARGE = 2.0**43
"""The sum of 2**40 squares of smaller numbers is in the range of float32."""
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
    known: dict[Any, str | None] = {}

    @constant_while_tracing
    def name_of(dtype: Any) -> str | None:
        if dtype not in known:
            known[dtype] = hooks["dtype_name"](dtype)
        return known[dtype]

    @wraps(function)
    def of_one_array(x: Any, /, **kwargs: Any) -> Any:
        name = name_of(x.dtype)
        if name not in DOUBLE and kwargs.get("dtype") is None:
            return function(x, **kwargs)
        return of_narrow((x,), kwargs, {name})

    @wraps(function)
    def computed(*args: Any, **kwargs: Any) -> Any:
        arrays = [*args, *(x for key, x in kwargs.items() if key != "dtype")] if kwargs else args
        # JAX's weakly typed arrays do not determine the dtype of the result.
        names = {name_of(x.dtype) for x in arrays if hasattr(x, "dtype") and not getattr(x, "weak_type", False)}
        if names.isdisjoint(DOUBLE) and kwargs.get("dtype") is None:
            return function(*args, **kwargs)
        return of_narrow(args, kwargs, names)

    def of_narrow(args: tuple[Any, ...], kwargs: dict[str, Any], names: set[Any]) -> Any:
        names -= _INTEGERS
        if kwargs.get("dtype") is not None:
            names.add(hooks["dtype_name"](kwargs["dtype"]))
        if names.isdisjoint(wider):
            return checked(args, kwargs, names)
        call = widened(Call(args, kwargs), hooks, wider)
        found = checked(*call, {wider.get(name, name) for name in names})
        return _each(found, lambda x: _narrowed(x, kwargs.get("dtype"), names, hooks))

    def checked(args: tuple[Any, ...], kwargs: dict[str, Any], names: set[Any]) -> Any:
        """The result; if it is not finite, computed again in double precision."""
        found = function(*args, **kwargs)
        if not is_checked or names.isdisjoint(AGAIN):
            return found
        several = found if type(found) in (tuple, list) else (found,)
        if not any(map(hooks["has_overflowed"], several)) or not may_overflow(args, kwargs):
            return found
        call = widened(Call(args, kwargs), hooks, DOUBLE)
        dtypes = iter([x.dtype for x in several])
        return _each(function(*call.args, **call.kwargs), lambda x: hooks["astype"](x, next(dtypes)))

    def may_overflow(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether there are products, or a large number. NaN and infinity among other numbers are legitimate."""
        given = [x for x in (*args, *(x for key, x in kwargs.items() if key != "dtype")) if hasattr(x, "dtype")]
        return verb in OF_POWERS or len(given) > 1 or any(map(is_large, given))

    def is_large(x: Any) -> bool:
        is_beyond = hooks["greater"](hooks["abs"](x), LARGE)
        return bool(hooks["any"](hooks["logical_and"](hooks["isfinite"](x), is_beyond)))

    return of_one_array if len(ROLES[verb]) == 1 else computed


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
