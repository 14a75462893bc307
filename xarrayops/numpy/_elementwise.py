"""The functions behind the ufuncs: those that need several of our functions, and the table of all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import pi
from typing import Any

import xarrayops as xo
from xarrayops._core.dispatch.python_scalars import COMPARISONS
from xarrayops._core.numpy_names.renamed import RENAMED
from xarrayops._surface import FAMILIES, ROLES
from xarrayops.numpy import _axes, _operands as ops, _promotion
from xarrayops.numpy._comparison import compared
from xarrayops.numpy._ufunc import BinaryUfunc, ProductUfunc, UnaryUfunc, ufunc


class _Absolute(UnaryUfunc):
    """The absolute values, with a shorter way for complex64 numbers in double precision."""

    def _computed(self, values: list[Any], dtype: str | None, casting: str) -> Any:
        x = values[0]
        is_complex64 = dtype == "float64" and casting == "same_kind" and x.dtype == xo.complex64
        if not is_complex64 or ops.is_numpys(x) or ops.lacks(x, "float64"):
            return super()._computed(values, dtype, casting)
        # Their squares neither overflow nor underflow in double precision, so nothing needs to be scaled.
        real, imag = (xo.astype(part(x), "float64") for part in (xo.real, xo.imag))
        is_infinite = xo.logical_or(xo.isinf(real), xo.isinf(imag))  # even if the other part is NaN
        squares = real * real + imag * imag
        roots = xo.sqrt(xo.where(squares == 0, 1.0, squares))  # the gradient of sqrt is infinite at 0
        return xo.where(is_infinite, xo.inf, xo.where(squares == 0, 0.0, roots))


def _fabs(x: Any) -> Any:
    """The absolute values of real numbers, as floating-point numbers."""
    return xo.abs(x)


def _float_power(x1: Any, x2: Any) -> Any:
    """x1 to the power of x2, in at least double precision."""
    return xo.pow(*_promotion.doubles(x1, x2))  # bfloat16 has no loop of NumPy that would cast it


def _divmod(x1: Any, x2: Any) -> tuple[Any, Any]:
    """The quotients and the remainders of the floor division."""
    return xo.floor_divide(x1, x2), xo.remainder(x1, x2)


def _modf(x: Any) -> tuple[Any, Any]:
    """The fractional and the integral parts, with the sign of x."""
    whole = xo.trunc(x)
    fraction = xo.where(xo.isinf(x), 0.0, x - xo.where(xo.isinf(x), 0.0, whole))
    return xo.copysign(fraction, x), whole


def _fmod(x1: Any, x2: Any) -> Any:
    """The remainder of truncated division, with the sign of x1."""
    x1, x2 = _promotion.alike(x1, x2)
    if _promotion.is_integer(x1) and _promotion.is_integer(x2):
        remainder = xo.remainder(x1, x2)
        if not xo.isdtype(remainder.dtype, "signed integer"):
            return remainder
        return xo.where(xo.logical_or(remainder == 0, (x1 < 0) == (x2 < 0)), remainder, remainder - x2)
    remainder = xo.remainder(xo.abs(x1), xo.abs(xo.where(xo.isinf(x2), 1.0, x2)))
    remainder = xo.where(xo.logical_and(xo.isinf(x2), xo.isfinite(x1)), xo.abs(x1), remainder)
    return xo.copysign(remainder, x1)


def _ldexp(x1: Any, x2: Any) -> Any:
    """x1 times two to the power of x2."""
    x1, x2 = ops.arrays(x1, x2)
    if not _promotion.is_integer(x2):  # next to bfloat16, for which NumPy has no loop that refuses it
        raise TypeError("np.ldexp: x2 must hold integers. Instead: x1 * np.exp2(x2)")
    half = xo.astype(xo.floor_divide(x2, 2), x1.dtype)
    rest = xo.astype(x2, x1.dtype) - half
    return xo.multiply(xo.multiply(x1, xo.pow(2.0, half)), xo.pow(2.0, rest))


def _with_exponents(x1: Any, x2: Any) -> list[Any]:
    """The operands of ldexp: a list of integers does not take the floating-point dtype of x1."""
    return ops.with_numbers(x1, ops.indices(x2, ops.first_array((x1, x2))))


def _heaviside(x1: Any, x2: Any) -> Any:
    """0 for negative x1, x2 for 0, and 1 for positive x1."""
    x1, x2 = _promotion.alike(x1, x2)
    return xo.where(xo.isnan(x1), x1, xo.where(x1 == 0, x2, xo.astype(x1 > 0, x1.dtype)))


def _extremum_of_numbers(name: str, extremum: Callable[..., Any]) -> Callable[..., Any]:
    def function(x1: Any, x2: Any) -> Any:
        x1, x2 = _promotion.alike(x1, x2)
        if _promotion.is_integer(x1) and _promotion.is_integer(x2):
            return extremum(x1, x2)
        return xo.where(xo.isnan(x2), x1, xo.where(xo.isnan(x1), x2, extremum(x1, x2)))

    return ops.entitled(function, name, f"The {extremum.__name__} of each pair; for a number and NaN it is the number.")


def _logaddexp2(x1: Any, x2: Any) -> Any:
    """The logarithm to base 2 of the sum of the powers of two."""
    x1, x2 = _promotion.alike(x1, x2)
    greater, is_equal = xo.maximum(x1, x2), x1 == x2
    distance = xo.abs(xo.where(is_equal, 0.0, x1) - xo.where(is_equal, 0.0, x2))
    return greater + xo.log1p(xo.pow(2.0, -distance)) / 0.6931471805599453


def _reciprocal(x: Any) -> Any:
    """One divided by each element; for integers other than 1 and -1 the result is 0."""
    if not _promotion.is_integer(x):
        return xo.reciprocal(x)
    return xo.where(xo.logical_or(x == 1, x == -1), x, 0)


def _spacing(x: Any) -> Any:
    """The distance to the next number away from 0, with the sign of x."""
    size = xo.abs(x)
    above = xo.nextafter(size, xo.full_like(size, xo.inf))
    top = size == xo.finfo(x.dtype).max
    below = size - xo.nextafter(size, xo.zeros_like(size))
    distance = xo.where(top, below, above - size)
    return xo.copysign(xo.where(xo.isfinite(x), distance, xo.nan), xo.where(xo.isfinite(x), x, 1.0))


def _times(name: str, factor: float, text: str) -> Callable[..., Any]:
    return ops.entitled(lambda x: x * factor, name, text)


def _rint(x: Any) -> Any:
    """The nearest integers, halves to even, as floating-point numbers."""
    return xo.round(x)


def _has_negative(x: Any) -> bool:
    """Whether integers that are known have a negative one."""
    if not hasattr(x, "dtype"):
        return type(x) is int and x < 0
    return xo.isdtype(x.dtype, "signed integer") and not xo.is_lazy(x) and bool(xo.any(x < 0))


def _pow(x1: Any, x2: Any) -> Any:
    """x1 to the power of x2; negative integer powers of integers raise where values are known."""
    if _has_negative(x2) and _promotion.is_integer(ops.array(x1)) and _axes.size_of(ops.array(x1)):
        raise ValueError("Integers to negative integer powers are not allowed.")
    return xo.pow(x1, x2)


def _exp2(x: Any) -> Any:
    """Two to the power of each element."""
    return xo.pow(2.0, x)


def _matmul(x1: Any, x2: Any) -> Any:
    """The products of matrices, by `xarrayops.matmul`."""
    return xo.matmul(*_promotion.together(x1, x2))


def _vecdot(x1: Any, x2: Any) -> Any:
    """The products of vectors, the first one conjugated, by `xarrayops.vecdot`."""
    return xo.vecdot(*_promotion.together(x1, x2))


def _require_matrix(function: str, x: Any) -> None:
    if x.ndim < 2:
        raise ValueError(f"np.{function}: the matrices need two dimensions, but they have {x.ndim}")


def _matvec(x1: Any, x2: Any) -> Any:
    """The products of matrices with vectors."""
    _require_matrix("matvec", x1)
    return xo.matmul(*_promotion.together(x1, x2[..., None]))[..., 0]


def _vecmat(x1: Any, x2: Any) -> Any:
    """The products of conjugated vectors with matrices."""
    _require_matrix("vecmat", x2)
    if x1.ndim < 1:
        raise ValueError("np.vecmat: the vectors need one dimension, but they have 0")
    return xo.matmul(*_promotion.together((xo.conj(x1) if _promotion.is_complex(x1) else x1)[..., None, :], x2))[
        ..., 0, :
    ]


def _ours(name: str) -> Callable[..., Any]:
    """Our function, looked up at the first call."""

    def function(*values: Any) -> Any:
        return getattr(xo, name)(*values)

    return ops.entitled(function, name, f"By `xarrayops.{name}`.")


_OTHERS = ("clip", "imag", "nextafter", "pow", "real", "reciprocal", "round")
"""Elementwise functions of the standard that are not ufuncs, or that need more than our function."""
_SAME = [*(n for n, family in FAMILIES.items() if family == "standard.elementwise" and n not in _OTHERS), "cbrt"]
SAME_UNARY = [name for name in _SAME if len(ROLES[name]) == 1]
SAME_BINARY = [name for name in _SAME if len(ROLES[name]) == 2]
_UNARY = (
    _times("deg2rad", pi / 180, "Degrees as radians."),
    _times("rad2deg", 180 / pi, "Radians as degrees."),
    *(_exp2, _fabs, _reciprocal, _rint, _spacing),
)
_BINARY = (
    _extremum_of_numbers("fmax", xo.maximum),
    _extremum_of_numbers("fmin", xo.minimum),
    *(_float_power, _fmod, _heaviside, _logaddexp2, _ours("nextafter"), _pow),
)
_NAMED = (
    _Absolute(_ours("abs")),
    *map(UnaryUfunc, (*(_ours(name) for name in SAME_UNARY if name != "abs"), *_UNARY)),
    *map(BinaryUfunc, (*(_ours(name) for name in SAME_BINARY if name not in COMPARISONS), *_BINARY)),
    *(BinaryUfunc(_ours(name), mixed=partial(compared, name)) for name in COMPARISONS),
    BinaryUfunc(_ldexp, prepared=_with_exponents),
    *map(ProductUfunc, (_matmul, _matvec, _vecdot, _vecmat)),
    *(UnaryUfunc(_modf, nout=2), BinaryUfunc(_divmod, nout=2)),
)
UFUNCS: dict[str, ufunc] = {function.__name__: function for function in _NAMED}
"""The elementwise functions by NumPy's name."""
# fix is a plain function in NumPy, not a ufunc: _numeric defines it.
UFUNCS |= {alias: UFUNCS[name] for alias, name in RENAMED.items() if name in UFUNCS and alias not in (*UFUNCS, "fix")}
UFUNCS |= {"degrees": UFUNCS["rad2deg"], "radians": UFUNCS["deg2rad"]}
