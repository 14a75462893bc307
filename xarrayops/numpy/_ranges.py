"""Evenly spaced values. Without an array they follow `xarrayops.use`, with NumPy's default dtypes."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

import xarrayops as xo
from xarrayops._core.backends.find import SCALARS
from xarrayops._core.backends.numpy_scalars import as_number
from xarrayops.numpy import _axes, _operands as ops, _promotion
from xarrayops.numpy._dtypes import named
from xarrayops.numpy._own import OnlyNumPy
from xarrayops.plugin import nested


def arange(
    start_or_stop: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None, like: Any = None
) -> Any:
    """Evenly spaced values of a half-open interval, by `xarrayops.arange`."""
    start, stop, step = map(_axes.plain_number, (start_or_stop, stop, 1 if step is None else step))
    start, stop = (0, start) if stop is None else (start, stop)
    classes = {type(start), type(stop), type(step)}
    if not SCALARS.issuperset(classes):
        raise OnlyNumPy(
            f"np.arange takes numbers, not {start!r}, {stop!r} and {step!r}. Instead: int(x) or float(x) of an array"
        )
    found = ops.name_of_default(max(classes, key=list(ops.NUMBERS).index))
    dtype = (ops.name_of_default(int) if found == "bool" else found) if dtype is None else named(dtype)
    return xo.arange(start, stop, step, dtype=dtype, device=device, like=ops.reference(like))


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
    like: Any = None,
) -> Any:
    """Evenly spaced values from start to stop, which may be arrays, by `xarrayops.linspace`."""
    num = index(num)
    like = ops.reference(like)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    parts = num - 1 if endpoint else num
    if _are_numbers(start, stop):
        start, stop = _axes.plain_number(start), _axes.plain_number(stop)
        work = _dtype_of_steps(dtype, start, stop)
        x = xo.linspace(start, stop, num, dtype=work, device=device, endpoint=endpoint, like=like)
        step = (stop - start) / parts if parts > 0 else xo.nan
    else:
        first, last = (start, stop) if like is None else ops.arrays(like, start, stop)[1:]
        x, step = _between(first, last, num, parts)
    if dtype is not None:
        x = xo.astype(xo.floor(x) if xo.isdtype(named(dtype), "integral") else x, named(dtype))
    x = xo.moveaxis(x, 0, _axes.one_axis(axis, x.ndim)) if axis != 0 else x
    return (x, step if parts > 0 else xo.nan) if retstep else x


def _dtype_of_steps(dtype: Any, *ends: Any) -> Any:
    """The default dtype; before a cast the widest one, which is float32 on JAX without 64-bit types."""
    cls = complex if complex in map(type, ends) else float
    return ops.name_of_default(cls) if dtype is None else cls


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(as_number(value), (int, float, complex)) for value in values)


def _between(start: Any, stop: Any, num: int, parts: int) -> tuple[Any, Any]:
    """Values between arrays along a new first axis, and the step."""
    start, stop = map(_promotion.inexact, xo.broadcast_arrays(*map(_promotion.floating, _promotion.alike(start, stop))))
    steps = xo.arange(num, dtype=start.dtype, like=start)
    steps = xo.reshape(steps, (num, *(1,) * start.ndim))
    step = (stop - start) / parts if parts > 0 else xo.full_like(start, xo.nan)
    x = start + steps * step if parts > 0 else start + steps * (stop - start)
    if num > 1 and parts == num - 1:
        x = xo.concat([x[:-1], stop[None]], axis=0)
    return x, step


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
    *,
    like: Any = None,
) -> Any:
    """Values from ``base**start`` to ``base**stop``, evenly spaced by factors, by `xarrayops.pow`."""
    if dtype is not None and _are_numbers(start, stop, base):
        first, last, number = map(_axes.plain_number, (start, stop, base))
        work, like = _dtype_of_steps(dtype, first, last), ops.reference(like)
        x = xo.pow(number, xo.linspace(first, last, index(num), dtype=work, endpoint=endpoint, like=like))
    elif _are_numbers(base):
        x = xo.pow(_axes.plain_number(base), linspace(start, stop, num, endpoint, axis=axis, like=like))
    else:
        start, stop, bases = ops.arrays(ops.reference(like), start, stop, base)[1:]
        ndim = max(x.ndim for x in (start, stop, bases))
        start, stop, bases = (xo.reshape(x, (*(1,) * (ndim - x.ndim), *x.shape)) for x in (start, stop, bases))
        exponents = linspace(start, stop, num, endpoint, axis=axis)
        x = xo.pow(xo.astype(xo.expand_dims(bases, axis=axis), exponents.dtype), exponents)
    return x if dtype is None else xo.astype(x, named(dtype))


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0, *, like: Any = None
) -> Any:
    """Values from start to stop, each the same multiple of the one before, by `xarrayops.geomspace`."""
    num, like, ends = index(num), ops.reference(like), (start, stop)
    if dtype is not None and xo.isdtype(named(dtype), "complex floating"):
        start, stop = (xo.astype(x, named(dtype)) for x in ops.arrays(like, start, stop)[1:])
    if _are_numbers(start, stop) and _have_one_sign(*map(_axes.plain_number, (start, stop))):
        first, last = map(_axes.plain_number, (start, stop))
        x = xo.geomspace(first, last, num, endpoint=endpoint, dtype=_dtype_of_steps(dtype), like=like)
    else:
        if bool(_has_zero(ends[0]) | _has_zero(ends[1])):
            raise ValueError("Geometric sequence cannot include zero")
        first, last = ops.arrays(like, start, stop)[1:]
        x = _between_by_factors(first, last, num, endpoint)
    x = xo.moveaxis(x, 0, _axes.one_axis(axis, x.ndim)) if axis != 0 else x
    return x if dtype is None else xo.astype(x, named(dtype))


def _have_one_sign(start: Any, stop: Any) -> bool:
    return not isinstance(start, complex) and not isinstance(stop, complex) and start * stop > 0


def _has_zero(end: Any) -> Any:
    """Whether numbers, which are not in an array yet, or an array have a zero: a boolean or an array."""
    found = xo.any(end == 0) if ops.is_array(end) else any(bool(x == 0) for x in nested.members(end))
    return bool(found) if ops.is_numpys(end) else found


def _between_by_factors(start: Any, stop: Any, num: int, endpoint: bool) -> Any:
    """Values between arrays, or between complex numbers, along a new first axis, as NumPy computes them."""
    first, last = xo.broadcast_arrays(*_promotion.floats(start, stop))
    sign = xo.sign(first)
    low, high = (xo.log10(x / sign) for x in (first, last))
    x = xo.pow(10.0, linspace(low, high, num, endpoint)) * sign
    ends = [first[None]][:num], [last[None]][: endpoint and num > 1]
    return xo.concat([*ends[0], x[1 : num - len(ends[1])], *ends[1]], axis=0) if num else x


if not TYPE_CHECKING:
    __all__ = ops.public(globals())
