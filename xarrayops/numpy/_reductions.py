"""Sums, products, extrema and truth along axes, also of the elements that are not NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import xarrayops as xo
from xarrayops.numpy import _axes, _missing, _operands as ops, _promotion, _results
from xarrayops.numpy._axes import Axis
from xarrayops.numpy._dtypes import named

NEUTRAL = {"sum": 0, "prod": 1, "all": True, "any": False}
"""The neutral value of each reduction."""
COMBINED = {
    "sum": "add",
    "prod": "multiply",
    "max": "maximum",
    "min": "minimum",
    "all": "logical_and",
    "any": "logical_or",
}
"""The function of two operands that each reduction applies; it also joins the result with an initial value."""
LIMITED = ("max", "min")
"""Reductions that need an element or an initial value."""


def reduced(verb: str, a: Any, axis: Any, dtype: Any, out: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    """A reduction of some elements, joined with an initial value, in a dtype, into an output."""
    x = ops.reduced_array(a, axis)
    if isinstance(axis, list):
        raise TypeError(f"np.{verb}: axis must be an integer or a tuple of integers, not a list")
    axis = None if axis is None else _axes.axes_of(x, _axes.axis_of_scalar(x, axis))
    if out is not None and dtype is None and verb in ("sum", "prod"):
        dtype = _results.floating_for(out, x)
    if dtype is not None and verb in LIMITED:
        x = xo.astype(x, named(dtype))
    initial = _of_class(x, initial) if verb in LIMITED else initial  # a sum may have a wider dtype than x
    if where is not True:
        x = _selected(verb, x, where, initial)
    options = {"dtype": named(dtype)} if verb in ("sum", "prod") else {}
    if verb in LIMITED and initial is not None and 0 in [x.shape[a] for a in _axes.axes_of(x, axis)]:
        result = _of_no_elements(x, axis, keepdims, initial)
    elif axis == ():
        result = xo.astype(x, named(dtype) or x.dtype) if verb not in ("all", "any") else xo.astype(x, "bool")
        result = xo.sum(result[None], axis=0, **options) if options and dtype is None else result
    else:
        result = getattr(xo, verb)(x, axis=axis, keepdims=bool(keepdims), **options)
    if initial is not None:
        result = getattr(xo, COMBINED[verb])(result, _of_class(result, initial))
    return _results.written(verb, result, out, "unsafe")  # as in NumPy


def _of_class(x: Any, initial: Any) -> Any:
    """A Python number as an initial value for x, which determines the class as in NumPy."""
    if type(initial) not in ops.NUMBERS or not _promotion.is_integer(x):
        return initial
    return (bool if xo.isdtype(x.dtype, "bool") else int)(initial)


def _selected(verb: str, x: Any, where: Any, initial: Any) -> Any:
    """The elements, with the neutral value where the mask is false."""
    if verb in LIMITED and initial is None:
        name = "maximum" if verb == "max" else "minimum"
        raise ValueError(
            f"reduction operation '{name}' does not have an identity, so to use a where mask one has to "
            "specify 'initial'"
        )
    if verb in ("all", "any") and not xo.isdtype(x.dtype, "bool"):
        x = x != 0
    return xo.where(xo.broadcast_to(ops.arrays(x, where)[1], tuple(x.shape)), x, NEUTRAL.get(verb, initial))


def _of_no_elements(x: Any, axis: tuple[int, ...] | None, keepdims: bool, initial: Any) -> Any:
    """The initial value in the shape of the reduction."""
    axes = _axes.axes_of(x, axis)
    shape = tuple(1 if a in axes else n for a, n in enumerate(x.shape) if keepdims or a not in axes)
    return xo.full(shape, initial, dtype=x.dtype, like=x)


class _Total(Protocol):
    """The parameters of sums and products."""

    def __call__(
        self,
        a: Any,
        axis: Axis = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any: ...


def _total(name: str, text: str) -> _Total:
    """A sum or a product."""
    verb = name.removeprefix("nan")

    def function(
        a: Any,
        axis: Axis = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        x = a if name == verb else _missing.replaced(ops.reduced_array(a, axis), NEUTRAL[verb])
        return reduced(verb, x, axis, dtype, out, keepdims, initial, where)

    return ops.entitled(function, name, text)


sum = _total("sum", "The sum along the axes, by `xarrayops.sum`.")
prod = _total("prod", "The product along the axes, by `xarrayops.prod`.")
nansum = _total("nansum", "The sum of the elements that are not NaN, by `xarrayops.sum`.")
nanprod = _total("nanprod", "The product of the elements that are not NaN, by `xarrayops.prod`.")


class _Extremum(Protocol):
    """The parameters of maxima and minima."""

    def __call__(
        self, a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Any: ...


def _extremum(name: str, text: str) -> _Extremum:
    """A maximum or a minimum."""
    verb = name.removeprefix("nan")

    def function(
        a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Any:
        if name == verb:
            return reduced(verb, a, axis, None, out, keepdims, initial, where)
        x = ops.reduced_array(a, axis)
        if initial is None and where is True:
            axis = _axes.axis_or_axes(axis)
            return _results.written(name, getattr(xo, name)(x, axis=axis, keepdims=bool(keepdims)), out, "unsafe")
        return reduced(verb, x, axis, None, out, keepdims, initial, _missing.numbers(x, where))

    return ops.entitled(function, name, text)


max = _extremum("max", "The largest element along the axes, by `xarrayops.max`.")
min = _extremum("min", "The smallest element along the axes, by `xarrayops.min`.")
nanmax = _extremum("nanmax", "The largest element that is not NaN, by `xarrayops.nanmax`.")
nanmin = _extremum("nanmin", "The smallest element that is not NaN, by `xarrayops.nanmin`.")
amax, amin = max, min


def all(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """Whether all elements along the axes are true, by `xarrayops.all`."""
    return reduced("all", a, axis, None, out, keepdims, None, where)


def any(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """Whether any element along the axes is true, by `xarrayops.any`."""
    return reduced("any", a, axis, None, out, keepdims, None, where)


def ptp(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False) -> Any:
    """The largest element minus the smallest along the axes, by `xarrayops.ptp`."""
    x = _results.widened_for("ptp", out, ops.reduced_array(a, axis), None)
    return _results.written("ptp", xo.ptp(x, axis=_axes.axis_or_axes(axis), keepdims=bool(keepdims)), out)


def count_nonzero(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The number of elements that are not zero, by `xarrayops.count_nonzero`."""
    return xo.count_nonzero(ops.reduced_array(a, axis), axis=_axes.axis_or_axes(axis), keepdims=bool(keepdims))


if not TYPE_CHECKING:
    __all__ = ops.public(globals(), hidden=("reduced",))
