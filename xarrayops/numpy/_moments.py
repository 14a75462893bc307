"""Means, variances and standard deviations along axes, also of the elements that are not NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import xarrayops as xo
from xarrayops._core.backends.dtype_names import name_of
from xarrayops._generic.extra.statistics import along
from xarrayops.errors import Unsupported
from xarrayops.numpy import _axes, _missing, _operands as ops, _promotion, _results, _warnings
from xarrayops.numpy._axes import Axis
from xarrayops.numpy._dtypes import named


def _in(dtype: Any, x: Any) -> Any:
    """x in the given dtype, its own floating-point dtype, or the default; float64 instead of an integer dtype."""
    return _promotion.inexact(x if dtype is None else xo.astype(x, named(dtype)))


def _sums(x: Any, mask: Any, axis: Any, keepdims: bool) -> tuple[Any, Any]:
    """The sum and the number of the elements where the mask is true."""
    mask = xo.broadcast_to(mask, tuple(x.shape))
    total = xo.sum(xo.where(mask, x, 0), axis=axis, keepdims=keepdims, dtype=x.dtype)
    return total, xo.astype(xo.count_nonzero(mask, axis=axis, keepdims=keepdims), _real(x))


def _real(x: Any) -> Any:
    """The real dtype of a floating-point x."""
    return xo.real(x).dtype if _promotion.is_complex(x) else x.dtype


def mean(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Any:
    """The mean along the axes, by `xarrayops.mean`."""
    x = ops.reduced_array(a, axis)
    is_half = name_of(x.dtype) == "float16"
    x = _in(dtype, _results.widened_for("mean", out, x, dtype) if is_half else x)
    axis = _axes.axis_of_scalar(x, _axes.axis_or_axes(axis))
    if where is True:
        with _warnings.once_of_empty(x, axis):
            found = xo.mean(x, axis=axis, keepdims=bool(keepdims))
    else:
        found = xo.divide(*_sums(x, ops.arrays(x, where)[1], axis, bool(keepdims)))
    found = found if dtype is None or out is not None else xo.astype(found, named(dtype))
    return _results.written("mean", found, out, "unsafe")


def nanmean(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Any:
    """The mean of the elements that are not NaN, by `xarrayops.nanmean`."""
    x = _of_inexact("nanmean", ops.reduced_array(a, axis), dtype)
    axis = _axes.axis_of_scalar(x, _axes.axis_or_axes(axis))
    if where is not True or dtype is not None:
        return mean(x, axis, dtype, out, keepdims, where=_missing.numbers(x, where))
    if not ops.is_numpys(x):  # NumPy warns itself, also of slices of NaN
        _warnings.of_empty(x, axis)
    return _results.written("nanmean", xo.nanmean(_promotion.floating(x), axis=axis, keepdims=bool(keepdims)), out)


def _of_inexact(name: str, x: Any, dtype: Any) -> Any:
    """x; TypeError if it is floating-point and dtype is an integer dtype."""
    if dtype is not None and not _promotion.is_integer(x) and xo.isdtype(named(dtype), ("integral", "bool")):
        raise TypeError(f"np.{name}: if x is inexact, then dtype must be inexact, not {dtype!r}")
    return x


class _Spread(Protocol):
    """The parameters of variances and standard deviations."""

    def __call__(
        self,
        a: Any,
        axis: Axis = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
        mean: Any = None,
        correction: Any = None,
    ) -> Any: ...


def _spread(name: str, text: str) -> _Spread:
    """A variance or a standard deviation."""
    is_root = name.endswith("std")

    def function(
        a: Any,
        axis: Axis = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
        mean: Any = None,
        correction: Any = None,
    ) -> Any:
        if dtype is not None and xo.isdtype(named(dtype), ("integral", "bool")):
            raise Unsupported(f"np.{name} cannot compute in {named(dtype)}. Instead: np.astype(np.{name}(x), dtype)")
        if correction is not None:
            if ddof != 0:
                raise ValueError("ddof and correction can't be provided simultaneously.")
            ddof = correction
        x, axis, ddof = ops.reduced_array(a, axis), _axes.axis_or_axes(axis), _axes.plain_number(ddof)
        if where is True:
            _warnings.of_freedom(x, axis, ddof, name.startswith("nan"))
        found = _variance(name, x, axis, dtype, ddof, bool(keepdims), where, mean)
        found = xo.sqrt(found) if is_root else found
        found = found if dtype is None or _promotion.is_complex(x) else xo.astype(found, named(dtype))
        return _results.written(name, found, out, "unsafe")

    return ops.entitled(function, name, f"{text}; ``correction`` is another name of ``ddof``.")


def _variance(name: str, x: Any, axis: Any, dtype: Any, ddof: Any, keepdims: bool, where: Any, mean: Any) -> Any:
    axis = _axes.axis_of_scalar(x, axis)
    if name.startswith("nan"):
        if where is True and dtype is None and mean is None and not _promotion.is_complex(x):
            return xo.nanvar(_promotion.floating(x), axis=axis, correction=ddof, keepdims=keepdims)
        where = _missing.numbers(_of_inexact(name, x, dtype), where)
    x = _in(dtype, x)
    if where is True and mean is None and not _promotion.is_complex(x):
        return xo.var(x, axis=axis, correction=ddof, keepdims=keepdims)
    mask = xo.ones_like(x, dtype="bool") if where is True else ops.arrays(x, where)[1]
    if mean is None:
        mean = xo.divide(*_sums(x, mask, axis, True))
    centered = xo.subtract(x, ops.arrays(x, mean)[1])
    total, count = _sums(xo.square(xo.abs(centered)), mask, axis, keepdims)
    freedom = count - ddof
    if name.startswith("nan"):
        return xo.where(freedom > 0, xo.divide(total, freedom), xo.nan)
    return xo.divide(total, xo.maximum(freedom, 0))


var = _spread("var", "The variance along the axes, by `xarrayops.var`")
std = _spread("std", "The standard deviation along the axes, by `xarrayops.std`")
nanvar = _spread("nanvar", "The variance of the elements that are not NaN, by `xarrayops.nanvar`")
nanstd = _spread("nanstd", "The standard deviation of the elements that are not NaN, by `xarrayops.nanvar`")


def average(a: Any, axis: Axis = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """The weighted mean along the axes, by `xarrayops.average`; with ``returned`` also the sum of the weights."""
    x, axis = _promotion.floating(ops.reduced_array(a, axis)), _axes.axis_or_axes(axis)
    if weights is None:
        with _warnings.once_of_empty(x, axis):
            result = xo.mean(x, axis=axis, keepdims=keepdims)
        count = xo.count_nonzero(xo.ones_like(x, dtype="bool"), axis=axis, keepdims=keepdims)
        total = xo.astype(count, result.dtype)
    else:
        x, w = _promotion.alike(_promotion.inexact(x), weights)
        result = xo.average(x, axis=axis, weights=w, keepdims=keepdims)
        w = w if tuple(w.shape) == tuple(x.shape) else along(xo, w, x, axis)
        total = xo.astype(xo.sum(w, axis=axis, keepdims=keepdims), result.dtype)
    return (result, xo.broadcast_to(total, tuple(result.shape))) if returned else result


if not TYPE_CHECKING:
    __all__ = ops.public(globals())
