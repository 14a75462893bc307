"""Random rounding: measures the effect of the rounding of each step on a result.

A function runs on NumPy several times, and each inexact result of a step is changed at random by about one unit in the
last place. The spread of the results estimates the error that any order of operations may cause. The method is
Monte Carlo arithmetic (D. S. Parker, "Monte Carlo arithmetic: exploiting randomness in floating-point arithmetic",
1997).

A result whose lower half of the significand is zero counts as exact, so small integers and fractions such as 0.25 stay.
Sums of n numbers are changed by ``sqrt(n)`` units of the sum of their absolute values: the error that adding them one
after the other makes most likely (N. J. Higham, "Accuracy and stability of numerical algorithms", 2002, 4.2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any
from unittest import mock

import numpy as np

from xarrayops.plugin.nested import fill, leaves
from xarrayops.testing._verify._foreign import calling

Array = np.ndarray[Any, Any]

_EXACT = frozenset(
    (
        *("negative", "positive", "absolute", "fabs", "conjugate", "maximum", "minimum", "fmax", "fmin", "floor"),
        *("ceil", "trunc", "rint", "sign", "copysign", "heaviside", "nextafter", "spacing", "fmod", "remainder"),
        *("ldexp", "frexp", "modf"),
    )
)
"""The functions of numpy that do not round."""
_SUMS = frozenset(
    (
        *("dot", "vdot", "inner", "einsum", "tensordot", "correlate", "convolve", "interp", "bincount", "histogram"),
        *("histogram2d", "histogramdd"),
    )
)
"""NumPy functions that add outside of ufuncs; numpy.linalg and numpy.fft do, too."""
_CREATING = ("array", "asarray", "zeros", "ones", "full", "empty", "eye", "identity", "arange", "linspace")
_UINTS = {"e": (np.uint16, 5), "f": (np.uint32, 12), "d": (np.uint64, 26)}
"""For each dtype: the integer dtype of the same width, and half the bits of the significand."""
_asarray = np.asarray  # `rounding` replaces it in NumPy
_ZERO = np.zeros(1)
_NOISE: list[np.random.Generator] = []
"""The generator of the run in progress; empty in functions of other packages."""


class Rounded(np.ndarray):
    """An array of NumPy whose functions round at random."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        plain, kwargs = _plain((inputs, kwargs))
        if method == "at":
            return _round_at(ufunc, plain)
        mask = kwargs.get("where", True) if method == "__call__" and out is not None else True
        if mask is not True:  # the other elements come from out
            kwargs["out"] = tuple(_plain(target).copy() for target in out)
        with np.errstate(all="ignore"):
            exact = getattr(ufunc, method)(*plain, **kwargs)
            several = exact if isinstance(exact, tuple) else (exact,)
            if ufunc.__name__ not in _EXACT:
                magnitude = _magnitude(ufunc, method, plain, kwargs)
                several = tuple(_rounded(each, magnitude) for each in several)
        if out is not None:
            several = tuple(_written(target, each, mask) for target, each in zip(out, several, strict=True))
        several = tuple(map(_wrapped, several))
        return several if isinstance(exact, tuple) else several[0]

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        module = getattr(function, "__module__", "") or ""
        if module in ("numpy.linalg", "numpy.fft") or (module == "numpy" and function.__name__ in _SUMS):
            return _rounded_call(function, args, kwargs)
        found = super().__array_function__(function, types, args, kwargs)
        if module.partition(".")[0] == "numpy" and any(_is_computed(each, (args, kwargs)) for each in leaves(found)):
            return _rounded_call(function, args, kwargs)
        return _wrapped(found)

    def dot(self, b: Any, out: Any = None) -> Any:
        """The product, by `numpy.dot`."""
        found = np.dot(self, b)
        return found if out is None else _written(out, found)

    def cumsum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """The sums, by the ufunc."""
        x = self.reshape(-1) if axis is None else self
        return np.add.accumulate(x, axis=axis or 0, dtype=dtype, out=out)

    def cumprod(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """The products, by the ufunc."""
        x = self.reshape(-1) if axis is None else self
        return np.multiply.accumulate(x, axis=axis or 0, dtype=dtype, out=out)


def _plain(x: Any) -> Any:
    """x and its members as plain NumPy arrays."""
    return fill(x, lambda each: each.view(np.ndarray) if isinstance(each, Rounded) else each)


def _wrapped(x: Any) -> Any:
    """x and its members as arrays that round at random."""

    def wrap(each: Any) -> Any:
        is_number = isinstance(each, np.ndarray) and each.dtype.kind in "biufc"
        return each.view(Rounded) if is_number and not isinstance(each, Rounded) else each

    return fill(x, wrap)


def _written(target: Array, result: Any, mask: Any = True) -> Array:
    np.copyto(_plain(target), _plain(result), casting="unsafe", where=mask)
    return target


def _rounded(x: Any, magnitude: Any = None) -> Any:
    """x, changed by about ``eps * magnitude`` where it is not exact; ``magnitude`` defaults to the magnitude of x."""
    if not _is_floating(x) or not x.size or not _NOISE:
        return x
    if x.dtype.kind == "c":
        parts = np.stack([x.real, x.imag], axis=-1)
        size = np.abs(x) if magnitude is None else np.abs(magnitude)
        size = np.broadcast_to(size, x.shape)[..., None]
        changed = _asarray(_rounded(parts, size))
        return (changed[..., 0] + 1j * changed[..., 1]).astype(x.dtype)[()]
    noise = _plain(_NOISE[-1].uniform(-1.0, 1.0, x.shape))
    noise = noise + np.copysign(0.5, noise)  # never small
    changed = (x + np.finfo(x.dtype).eps * noise * np.abs(x if magnitude is None else magnitude)).astype(x.dtype)
    return np.where(_is_exact(x), x, changed)[()]


def _is_exact(x: Any) -> Any:
    """Whether the lower half of the significand is zero, or the number is not finite."""
    if x.dtype.char not in _UINTS:
        return ~np.isfinite(x)
    uint, bits = _UINTS[x.dtype.char]
    pattern = np.ascontiguousarray(x).view(uint).reshape(x.shape)
    return (pattern & uint((1 << bits) - 1) == 0) | ~np.isfinite(x)


def _magnitude(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The absolute values to which the rounding of a sum is relative, times sqrt(n); None for other functions."""
    name = ufunc.__name__
    if name in ("matmul", "vecdot", "matvec", "vecmat") and method == "__call__":
        a, b = (np.abs(_asarray(each, dtype=np.result_type(each, 1.0))) for each in inputs)
        return ufunc(a, b, **kwargs) * math.sqrt(a.shape[-1])
    if name != "add" or method not in ("reduce", "accumulate"):
        return None
    x = np.abs(_asarray(inputs[0]))
    total = getattr(ufunc, method)(x, **kwargs)
    count = x.size / max(1, total.size) if method == "reduce" else x.shape[kwargs.get("axis", 0)]
    return total * math.sqrt(count)


def _round_at(ufunc: Any, inputs: tuple[Any, ...]) -> None:
    before = inputs[0].copy()
    ufunc.at(*inputs)
    after = inputs[0]
    if ufunc.__name__ not in _EXACT:
        changed = _rounded(after, 4 * (np.abs(before) + np.abs(after)))
        inputs[0][...] = np.where(before == after, after, changed)


def _rounded_call(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The result for inputs that are changed by sqrt(n) units, unless the result is exact."""
    args, kwargs = _plain((args, kwargs))
    exact = function(*args, **kwargs)
    if all(np.all(_is_exact(_asarray(each).real)) for each in leaves(exact) if _is_floating(each)):
        return _wrapped(exact)
    found = function(*fill(args, _varied), **kwargs)
    return _wrapped(fill(found, _rounded_by_largest))


def _varied(x: Any) -> Any:
    """An argument, changed by sqrt(n) units if it is an array."""
    return _rounded(x, np.abs(x) * math.sqrt(max(x.shape))) if _is_floating(x) and x.ndim else x


def _rounded_by_largest(x: Any) -> Any:
    """A result, changed by four units of its largest element."""
    return _rounded(x, 4 * np.max(np.abs(x), initial=0.0)) if _is_floating(x) else x


def _foreign_call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result of a function of another package for plain arrays that are changed by sqrt(n) units.

    Its own steps are not rounded: they may need numbers that are exact, such as conjugate pairs.
    """
    args, kwargs = fill(_plain((args, kwargs)), _varied)
    with _without_rounding():
        found = function(*args, **kwargs)
    return _wrapped(fill(found, _rounded_by_largest))


@contextmanager
def _without_rounding() -> Iterator[None]:
    before = _NOISE[:]
    _NOISE.clear()
    try:
        yield
    finally:
        _NOISE[:] = before


def _is_computed(x: Any, inputs: Any) -> bool:
    """Whether a function of NumPy computed a result on plain arrays, so that its steps were not rounded."""
    if not _is_floating(x) or not isinstance(x, np.ndarray) or isinstance(x, Rounded):
        return False
    given = np.concatenate([_ZERO, *(each.reshape(-1) for each in leaves(_plain(inputs)) if _is_floating(each))])
    given.sort()
    found = x[x == x]
    return bool((given[given.searchsorted(found).clip(max=given.size - 1)] != found).any())


def _is_floating(x: Any) -> bool:
    return isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "fc"


@contextmanager
def rounding(seed: int, namespaces: Iterable[dict[str, Any]] = ()) -> Iterator[None]:
    """A context in which NumPy creates arrays of `Rounded`, which round by this seed.

    Functions of other packages in the namespaces get plain arrays.
    """
    _NOISE.append(np.random.Generator(np.random.PCG64(seed)))
    try:
        creating: dict[str, Any] = {name: _creating(getattr(np, name)) for name in _CREATING}
        with mock.patch.multiple(np, **creating), calling(namespaces, _foreign_call):
            yield
    finally:
        _NOISE.pop()


def _creating(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def creating(*args: Any, **kwargs: Any) -> Any:
        made = function(*args, **kwargs)
        return _wrapped(made) if _NOISE else made

    return creating
