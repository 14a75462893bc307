# Long: functions of NumPy by the section of its reference.
"""Samples, signals, statistics and polynomials; complex parts and rounding."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import pairwise
from math import pi
from operator import index
from typing import TYPE_CHECKING, Any

import xarrayops as xo
from xarrayops._core.backends.numpy_scalars import as_number
from xarrayops._generic.extra.common import part
from xarrayops.numpy import _axes, _comparison, _operands as ops, _promotion, _results
from xarrayops.numpy._bins import number_of_bins
from xarrayops.numpy._dtypes import named
from xarrayops.numpy._elementwise import UFUNCS


def clip(
    a: Any, a_min: Any = ..., a_max: Any = ..., out: Any = None, *, min: Any = ..., max: Any = ..., **kwargs: Any
) -> Any:
    """The elements limited to a minimum and a maximum, by `xarrayops.clip`."""
    _results.refuse(
        "clip", "np.where(where, np.clip(...), out), or astype", **{name: name != "casting" for name in kwargs}
    )
    if (a_min is not ... or a_max is not ...) and (min is not ... or max is not ...):
        raise ValueError("Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.")
    if (a_min is ...) != (a_max is ...):
        raise TypeError(
            f"clip() missing 1 required positional argument: {'a_min' if a_min is ... else 'a_max'!r}. "
            "Instead: min= or max= for one limit"
        )
    limits = (min, max) if a_min is ... else (a_min, a_max)
    low, high = (None if limit is ... else limit for limit in limits)
    x = ops.operand(a, low, high)
    if low is None and high is None:
        return UFUNCS["positive"](x, out=out)
    x, *given = _promotion.operands(x, *(limit for limit in (low, high) if limit is not None))
    x = xo.astype(x, xo.result_type(x, *given), copy=False)
    values = iter(given)
    low, high = (None if limit is None else next(values) for limit in (low, high))
    return _results.written("clip", xo.clip(x, low, high), out, kwargs.get("casting", "same_kind"))


def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """The elements rounded to a number of decimals, halves to even, by `xarrayops.round`."""
    x, decimals = ops.operand(a), index(decimals)
    if decimals and xo.isdtype(x.dtype, "bool"):
        raise TypeError("np.round: booleans have no decimals. Instead: x.astype(float)")
    if decimals == 0 or (_promotion.is_integer(x) and decimals > 0):
        return _results.written(
            "round", xo.round(x) if not xo.isdtype(x.dtype, "bool") else xo.astype(x, "float16"), out
        )
    power = 10.0 ** abs(decimals)
    if _promotion.is_integer(x) and _promotion.missing_dtype(x, 0.5):
        return _results.written("round", _tens(x, 10**-decimals), out)
    values = _promotion.floating(x)
    values = xo.round(values * power) / power if decimals > 0 else xo.round(values / power) * power
    return _results.written("round", xo.astype(values, x.dtype) if _promotion.is_integer(x) else values, out)


def _tens(x: Any, power: int) -> Any:
    """Integers rounded to multiples of a power of ten, halves to even, without fractions."""
    wide = xo.astype(x, int) if xo.iinfo(x.dtype).bits < 32 else x
    if power > 2 * xo.iinfo(wide.dtype).max:
        return xo.zeros_like(x)
    count, rest = xo.floor_divide(wide, power), xo.remainder(wide, power)
    is_up = xo.logical_or(rest > power - rest, xo.logical_and(rest == power - rest, count % 2 == 1))
    return xo.astype((count + xo.astype(is_up, wide.dtype)) * power, x.dtype)


around = round


def fix(x: Any, out: Any = None) -> Any:
    """The elements without their fractions, by `xarrayops.trunc`."""
    return _results.written("fix", xo.trunc(ops.operand(x)), out)


def real(val: Any) -> Any:
    """The real parts, by `xarrayops.real`."""
    if type(val) in ops.NUMBERS:
        return val.real
    x = ops.operand(val)
    return _like_number(val, xo.real(x) if _promotion.is_complex(x) else x)


def imag(val: Any) -> Any:
    """The imaginary parts, by `xarrayops.imag`."""
    if type(val) in ops.NUMBERS:
        return val.imag
    x = ops.operand(val)
    return _like_number(val, xo.imag(x) if _promotion.is_complex(x) else xo.zeros_like(x))


def _like_number(value: Any, result: Any) -> Any:
    """The result for a number: a scalar if the library has scalars."""
    return result if ops.is_array(value) else ops.scalar(result)


def angle(z: Any, deg: bool = False) -> Any:
    """The angle of complex numbers in the plane, by `xarrayops.atan2`."""
    x = ops.operand(z)
    result = xo.atan2(xo.imag(x), xo.real(x)) if _promotion.is_complex(x) else UFUNCS["arctan2"](0, x)
    return result * (180 / pi) if deg else result


def real_if_close(a: Any, tol: float = 100) -> Any:
    """The real parts if all imaginary parts are close to 0, by `xarrayops.real`; the values are read."""
    x = ops.operand(a)
    if not _promotion.is_complex(x):
        return x
    _results.require_values("real_if_close", "np.real(a)")
    limit = xo.finfo(xo.real(x).dtype).eps * tol if tol > 1 else tol
    is_real = _results.truth("real_if_close", xo.all(xo.abs(xo.imag(x)) < limit), "np.real(a)")
    return xo.real(x) if is_real else x


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """NaN and infinities replaced by numbers, by `xarrayops.nan_to_num`; in place without ``copy``."""
    values = ops.operand(x)
    result = xo.nan_to_num(values, nan=nan, posinf=posinf, neginf=neginf)
    if copy or not ops.is_array(x):
        return result
    return _results.overwritten("nan_to_num", x, ..., result, "x = np.nan_to_num(x)")


def isposinf(x: Any, out: Any = None) -> Any:
    """Whether each element is the positive infinity, by `xarrayops.equal`."""
    return _results.written("isposinf", _real_numbers("isposinf", x) == xo.inf, out)


def isneginf(x: Any, out: Any = None) -> Any:
    """Whether each element is the negative infinity, by `xarrayops.equal`."""
    return _results.written("isneginf", _real_numbers("isneginf", x) == -xo.inf, out)


def _real_numbers(function: str, x: Any) -> Any:
    x = ops.operand(x)
    if _promotion.is_complex(x):
        raise TypeError(
            f"This operation is not supported for complex128 values because it would be ambiguous: {function}"
        )
    return x


def sinc(x: Any) -> Any:
    """The function ``sin(pi x) / (pi x)``, by `xarrayops.sin`."""
    v = _promotion.inexact(ops.operand(x)) * pi
    v = xo.where(v == 0, 1.0e-20 if xo.finfo(v.dtype).bits > 16 else 1.0e-4, v)
    return xo.sin(v) / v


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The differences of neighbours along an axis, n times, by `xarrayops.diff`."""
    n = index(n)
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    x, before, after = ops.arrays(a, prepend, append)
    if x.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = _axes.one_axis(axis, x.ndim)
    members = [
        each if each.ndim else xo.broadcast_to(each, tuple(1 if i == axis else k for i, k in enumerate(x.shape)))
        for each in (before, x, after)
        if each is not None
    ]
    if len(members) > 1:
        x = xo.concat(_promotion.harmonised(*members), axis=axis)
    for _ in range(n):
        upper, lower = part(x, axis, 1, None), part(x, axis, None, -1)
        x = xo.not_equal(upper, lower) if xo.isdtype(x.dtype, "bool") else xo.subtract(upper, lower)
    return x


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """The differences of neighbours in the flattened array, with values before and after, by `xarrayops.subtract`."""
    x, after, before = ops.arrays(ary, to_end, to_begin)
    x = _axes.raveled(x)
    for given, name in ((before, "to_begin"), (after, "to_end")):
        if given is not None and _promotion.is_integer(x) and not _promotion.is_integer(given):
            raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
    before, after = (each if each is None else _axes.raveled(xo.astype(each, x.dtype)) for each in (before, after))
    parts = [each for each in (before, xo.subtract(x[1:], x[:-1]), after) if each is not None]
    return xo.concat(parts) if len(parts) > 1 else parts[0]


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """The gradient along the axes, by `xarrayops.gradient`."""
    x, *spacing = ops.arrays(f, *varargs)
    x = _promotion.floating(x)
    spacing = [
        _promotion.floating(s) if s.ndim else as_number(v) if type(as_number(v)) in (int, float) else float(s)
        for s, v in zip(spacing, varargs, strict=True)
    ]
    return xo.gradient(x, *spacing, axis=_axes.axis_or_axes(axis), edge_order=index(edge_order))


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """The linear interpolation between points, by `xarrayops.interp`."""
    x, xp, fp = ops.arrays(x, xp, fp)
    places, xs = _promotion.doubles(x, xp)
    return xo.interp(places, xs, _promotion.doubles(fp)[0], left=left, right=right, period=period)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral of samples by the trapezoidal rule, by `xarrayops.trapezoid`."""
    values, places = ops.arrays(y, x)
    axis = _axes.one_axis(axis, values.ndim) - values.ndim
    if places is None:
        return xo.trapezoid(_promotion.floating(values), dx=dx, axis=axis)
    if places.shape != values.shape and 1 < places.ndim >= -axis and places.shape[axis] == values.shape[axis]:
        places = xo.broadcast_to(places, tuple(values.shape))
    return xo.trapezoid(*map(_promotion.floating, _promotion.alike(*_promotion.harmonised(values, places))), axis=axis)


def unwrap(p: Any, discont: float | None = None, axis: int = -1, *, period: float = 2 * pi) -> Any:
    """Angles without jumps of more than half a period, by `xarrayops.cumulative_sum`."""
    x = ops.array(p)
    is_whole = xo.isdtype(x.dtype, "integral") and isinstance(period, int)
    steps = diff(x, axis=axis)
    x, steps = (x, steps) if is_whole else (_promotion.inexact(x), _promotion.inexact(steps))
    low = period // 2 if is_whole else period / 2
    wrapped = xo.remainder(steps + low, period) - low
    if not is_whole or period % 2 == 0:
        wrapped = xo.where(xo.logical_and(wrapped == -low, steps > 0), low, wrapped)
    correction = wrapped - steps
    correction = xo.where(xo.abs(steps) < (period / 2 if discont is None else discont), 0, correction)
    axis = _axes.one_axis(axis, x.ndim)
    changed = part(x, axis, 1, None) + xo.cumulative_sum(correction, axis=axis, dtype=correction.dtype)
    return xo.concat(_promotion.harmonised(xo.astype(part(x, axis, 0, 1), changed.dtype), changed), axis=axis)


def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    """The convolution of two vectors, by `xarrayops.convolve`."""
    return _sliding(xo.convolve, a, v, mode)


def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    """The cross-correlation of two vectors, by `xarrayops.correlate`."""
    return _sliding(xo.correlate, a, v, mode)


def _sliding(function: Callable[..., Any], a: Any, v: Any, mode: Any) -> Any:
    x, y = (xo.reshape(z, (1,)) if z.ndim == 0 else z for z in _promotion.alike(*ops.arrays(a, v)))
    return function(x, y, _mode(mode))


_MODES = ("valid", "same", "full")


def _mode(mode: Any) -> Any:
    """The mode, given by name or number."""
    name = _MODES[mode] if isinstance(mode, int) and 0 <= mode < len(_MODES) else mode
    if name not in _MODES:
        error = ValueError if isinstance(mode, (str, int)) else TypeError
        raise error(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    return name


def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    """The number of occurrences of each integer, or the sum of their weights, by `xarrayops.bincount`."""
    _results.require_values("bincount", "xo.bincount(x, length=n)")
    values, w = ops.arrays(x, weights)
    if _axes.size_of(values) == 0:
        values, w = xo.astype(values, int), None
    return xo.bincount(values, None if w is None else xo.astype(w, "float64"), minlength=index(minlength))


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """The index of the bin of each element, by `xarrayops.digitize`."""
    return _comparison.digitize(*ops.arrays(x, bins), right=right)


def _bins(a: Any, bins: Any, range: Any, weights: Any) -> tuple[Any, Any, Any]:
    x, w = ops.arrays(a, weights)
    if xo.isdtype(x.dtype, "bool"):
        warnings.warn("Converting input from bool to <class 'numpy.uint8'> for compatibility.", RuntimeWarning, 3)
        x = xo.astype(x, "uint8")
    if isinstance(bins, str):
        bins = number_of_bins(x, bins, range, w)
    if not _axes.is_several(bins):
        return _promotion.floating(x), index(bins), w
    edges = ops.arrays(x, bins)[1]
    is_known = edges.ndim == 1 and not xo.is_lazy(edges)
    listed = bins if isinstance(bins, (list, tuple)) else edges.tolist() if is_known else ()
    if any(upper < lower for lower, upper in pairwise(listed)):
        raise ValueError("`bins` must increase monotonically, when an array")
    is_whole = _promotion.is_integer(x) and _promotion.is_integer(edges)
    return x if is_whole else _promotion.floating(x), edges, w


def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """The number of elements in each bin, and the edges of the bins, by `xarrayops.histogram`.

    A name of a rule, such as "auto", reads the values.
    """
    x, bins, w = _bins(a, bins, range, weights)
    counts, edges = xo.histogram(x, bins, range=range, weights=w)
    if w is not None and xo.isdtype(w.dtype, "integral"):
        counts = xo.astype(counts, w.dtype)
    if density:
        widths = _promotion.doubles(xo.diff(edges))[0]
        counts = xo.astype(counts, widths.dtype) / widths / xo.astype(xo.sum(counts), widths.dtype)
    return counts, edges


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """The edges of the bins of `histogram`, by `xarrayops.histogram`."""
    return histogram(a, bins, range, None, weights)[1]


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """The covariance matrix, by `xarrayops.cov`."""
    ddof = _axes.plain_number(ddof)
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    f, w = None if fweights is None else ops.indices(fweights, ops.first_array((m,))), ops.arrays(m, aweights)[1]
    correction = (0 if bias else 1) if ddof is None else ddof
    return xo.cov(*_variables(m, y, dtype), rowvar=rowvar, correction=correction, fweights=f, aweights=w)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """The correlation coefficients, by `xarrayops.corrcoef`."""
    return xo.corrcoef(*_variables(x, y, dtype), rowvar=rowvar)


def _variables(x: Any, y: Any, dtype: Any) -> list[Any]:
    """One or two arrays of variables, in one dtype."""
    found = [z for z in ops.arrays(x, y) if z is not None]
    return _promotion.doubles(*found) if dtype is None else [xo.astype(z, named(dtype)) for z in found]


def polyval(p: Any, x: Any) -> Any:
    """The values of a polynomial, by `xarrayops.polyval`."""
    coefficients, places = ops.arrays(p, x)
    return xo.polyval(*_promotion.alike(coefficients, places)) if _axes.size_of(coefficients) else xo.zeros_like(places)


def polyfit(
    x: Any, y: Any, deg: int, rcond: float | None = None, full: bool = False, w: Any = None, cov: Any = False
) -> Any:
    """The coefficients of the least-squares polynomial, by `xarrayops.linalg.lstsq`."""
    _results.refuse("polyfit", "np.linalg.lstsq(np.vander(x, deg + 1), y)", full=full, cov=bool(cov))
    places, values, weights = ops.arrays(x, y, w)
    places, values = _promotion.doubles(places)[0], _promotion.doubles(values)[0]
    powers = xo.stack([places**k for k in range(int(deg), -1, -1)], axis=1)
    if weights is not None:
        powers = powers * weights[:, None]
        values = values * (weights if values.ndim == 1 else weights[:, None])
    scale = xo.sqrt(xo.sum(powers * powers, axis=0))
    rtol = places.shape[0] * xo.finfo(places.dtype).eps if rcond is None else rcond
    found = xo.linalg.lstsq(powers / scale, values, rtol=rtol)[0]
    return xo.divide(found, scale if found.ndim == 1 else scale[:, None])


def shares_memory(a: Any, b: Any, /, max_work: int | None = -1) -> bool:
    """Whether two arrays share memory, by `xarrayops.shares_memory`."""
    return xo.shares_memory(a, b)


may_share_memory = shares_memory


if not TYPE_CHECKING:
    __all__ = ops.public(globals())
