"""Partial sums and products along an axis."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, Protocol

import xarrayops as xo
from xarrayops.numpy import _axes, _missing, _operands as ops, _results
from xarrayops.numpy._dtypes import named


def _accumulated(name: str, x: Any, axis: int | None, dtype: Any, out: Any) -> Any:
    accumulate = xo.cumulative_sum if name.endswith("sum") else xo.cumulative_prod
    if axis is None or _axes.axis_of_scalar(x, index(axis)) == ():
        x, axis = _axes.raveled(x), 0
    axis = index(axis)
    if out is not None and dtype is None:
        dtype = _results.floating_for(out, x)
    return _results.written(name, accumulate(x, axis=axis, dtype=named(dtype)), out, "unsafe")  # as in NumPy


def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """The partial sums along an axis, by default of all elements, by `xarrayops.cumulative_sum`."""
    return _accumulated("cumsum", ops.array(a), axis, dtype, out)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """The partial products along an axis, by default of all elements, by `xarrayops.cumulative_prod`."""
    return _accumulated("cumprod", ops.array(a), axis, dtype, out)


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """The partial sums with NaN as 0, by `xarrayops.cumulative_sum`."""
    return _accumulated("nancumsum", _missing.replaced(ops.array(a), 0), axis, dtype, out)


def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """The partial products with NaN as 1, by `xarrayops.cumulative_prod`."""
    return _accumulated("nancumprod", _missing.replaced(ops.array(a), 1), axis, dtype, out)


class _Cumulative(Protocol):
    """The parameters of partial sums and products, as in the standard."""

    def __call__(
        self, x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
    ) -> Any: ...


def _cumulative(verb: str, text: str) -> _Cumulative:
    """The partial sums or products, with the arguments of the standard."""

    def function(
        x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
    ) -> Any:
        x, axis = ops.array(x), _axes.axis_or_axes(axis)
        x = _axes.raveled(x) if x.ndim == 0 else x
        if axis is None and x.ndim != 1:
            raise ValueError(f"np.{verb}: for arrays that have not one dimension the axis is required")
        found = getattr(xo, verb)(x, axis=axis, dtype=named(dtype), include_initial=include_initial)
        return _results.written(verb, found, out)

    return ops.entitled(function, verb, text)


cumulative_sum = _cumulative("cumulative_sum", "The partial sums along an axis, by `xarrayops.cumulative_sum`.")
cumulative_prod = _cumulative("cumulative_prod", "The partial products along an axis, by `xarrayops.cumulative_prod`.")


if not TYPE_CHECKING:
    __all__ = ops.public(globals())
