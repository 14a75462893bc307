"""Calls that order random complex numbers, and their results by NumPy.

A case is a call of one function on arrays of any library. The parts of the numbers are drawn from a few values: zeros
of both signs, infinities, NaN and numbers that occur often, so that there are ties.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import xarrayops as xo

REFUSAL = "complex numbers have no order here"
"""The words of the TypeError of a function that NumPy does not define for complex numbers."""
REFUSED = None
"""The oracle of such a function."""
FINITE = np.asarray([-2, -1, -0.0, 0.0, 1, 2, 0.5, 1])
SPECIAL = np.asarray([np.nan, np.nan, -np.inf, np.inf, -0.0, 0.0, 1, 2])
SHAPES = ((7,), (40,), (1,), (0,), (3, 5), (2, 3, 4), (0, 3), (3, 0), (700,), (30, 40))
DTYPES = ("complex64", "complex128")
Function = Callable[..., Any]


class Case(NamedTuple):
    """A call of a function of a module, such as `xarrayops`, on a drawn array, and of its oracle."""

    name: str
    call: Function
    """Of the module, the array, and a second array, which shares values with the first."""
    oracle: Function | None
    """Of both arrays; `REFUSED` for functions that raise."""
    module: str = "both"
    """The module that has the function: xo, xarrayops.numpy or both."""
    takes: str = "any"
    """The shapes that the function takes: any, vectors, or nonempty for arrays with elements."""
    equal: str = "parts"
    """When results are equal: by their parts; NaN if it does not matter which one; numbers if infinities do not."""


def _rows(name: str, call: Function, oracle: Any = "same", **options: Any) -> Case:
    """A case; the oracle "same" is the same call of NumPy."""
    return Case(name, call, (lambda x, y: call(np, x, y)) if oracle == "same" else oracle, **options)


def _by_axis(name: str, oracle: Any = "same", equal: str = "parts", **options: Any) -> Iterator[Case]:
    """A reduction over all elements, along the first and the last axis, and with keepdims.

    Which of several NaNs is the maximum of all elements depends on the order of the chunks.
    """
    for axis in (None, 0, -1):
        for keepdims in (False, True):
            call = _reduction(name, axis, keepdims)
            made = REFUSED if oracle is REFUSED else _reduction(name if oracle == "same" else oracle, axis, keepdims)
            yield Case(
                f"{name} axis={axis} keepdims={keepdims}",
                call,
                made and (lambda x, y, made=made: made(np, x, y)),
                equal="NaN" if axis is None and not name.startswith("arg") and equal == "parts" else equal,
                **options,
            )


def _reduction(name: str, axis: Any, keepdims: bool) -> Function:
    return lambda m, x, y: getattr(m, name)(x, axis=axis, keepdims=keepdims)


def _binary(name: str) -> Case:
    return _rows(name, lambda m, x, y: getattr(m, name)(x, y))


def _stably(name: str, axis: int) -> Case:
    def call(m: Any, x: Any, y: Any) -> Any:
        return getattr(m, name)(x, axis=axis)

    return _rows(f"{name} axis={axis}", call, lambda x, y: getattr(np, name)(x, axis, stable=True))


def _descending(x: Any, y: Any) -> Any:
    """The stable descending order."""
    return x.shape[-1] - 1 - np.flip(np.argsort(np.flip(x, -1), -1, stable=True), -1)


def _distinct(*fields: int) -> Function:
    """Some of the results of NumPy's `unique`, with every NaN; all together they come from a stable sort."""

    def oracle(x: Any, y: Any) -> Any:
        found = np.unique(x, True, True, True, equal_nan=False)
        return tuple(found[i] for i in fields)

    return oracle


def _restored(m: Any, x: Any, y: Any) -> Any:
    """The distinct elements, and x from them; which of several NaNs with equal numbers is which is not known."""
    values, inverse = m.unique_inverse(x)
    return values, m.reshape(m.take(values, m.reshape(inverse, (-1,)), axis=0), x.shape)


def _top(x: Any, y: Any, *, largest: bool) -> Any:
    """The first of the sorted elements; NaN is the greatest."""
    k = min(2, x.shape[-1])
    ordered = np.sort(x, axis=-1)
    return np.flip(ordered, axis=-1)[..., :k] if largest else ordered[..., :k]


def _ids(x: Any) -> Any:
    """Segment ids as an array of the library of x."""
    return xo.arange(x.shape[0], like=x) % 3


def _kth(x: Any) -> int:
    return x.shape[-1] // 2


def _cases() -> Iterator[Case]:
    for axis in (-1, 0):
        yield _stably("sort", axis)
        yield _stably("argsort", axis)
    yield _rows("argsort descending", lambda m, x, y: m.argsort(x, descending=True), _descending, module="xo")
    yield _rows(
        "sort descending",
        lambda m, x, y: m.sort(x, descending=True),
        lambda x, y: np.flip(np.sort(x, stable=True), -1),
        module="xo",
    )
    for name in ("max", "min"):
        yield from _by_axis(name)
        for axes in ((0, -1), ()):
            call = _reduction(name, axes, False)
            yield _rows(f"{name} axis={axes}", call, takes="matrices", equal="NaN" if axes else "parts")
    for name in ("argmax", "argmin", "ptp", "nanmax", "nanmin", "median", "nanmedian"):
        equal = "numbers" if name in ("median", "nanmedian", "ptp") else "parts" if name.startswith("arg") else "NaN"
        yield from _by_axis(name, equal=equal)
    for name in ("nanargmax", "nanargmin"):
        yield from _by_axis(name, module="numpy")
    for name in ("maximum", "minimum", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal"):
        yield _binary(name)
    for name in ("fmax", "fmin"):
        yield _rows(name, lambda m, x, y, name=name: getattr(m, name)(x, y), module="numpy")
    for name in ("maximum", "minimum", "less", "greater_equal"):
        for number in (1.0, 1 + 1j):
            yield _rows(f"{name} {number}", lambda m, x, y, name=name, number=number: getattr(m, name)(x, number))
    yield _rows("clip numbers", lambda m, x, y: m.clip(x, -1 + 1j, 1.0))
    yield _rows("clip arrays", lambda m, x, y: m.clip(x, y, y + 1), equal="NaN")
    yield _rows("clip min", lambda m, x, y: m.clip(x, -1.0, None))
    yield _rows("clip max", lambda m, x, y: m.clip(x, None, 1.0))
    for side in ("left", "right"):
        yield _rows(
            f"searchsorted {side}",
            lambda m, x, y, side=side: m.searchsorted(m.sort(x), y, side=side),
            lambda x, y, side=side: np.searchsorted(np.sort(x), y, side=side),
            takes="vectors",
        )
        yield _rows(
            f"searchsorted {side} sorter",
            lambda m, x, y, side=side: m.searchsorted(x, y, side=side, sorter=m.argsort(x)),
            lambda x, y, side=side: np.searchsorted(x, y, side=side, sorter=np.argsort(x, stable=True)),
            takes="vectors",
        )
    yield _binary("isin")
    yield _rows("isin invert", lambda m, x, y: m.isin(x, y, invert=True))
    yield _rows("unique_values", lambda m, x, y: (m.unique_values(x),), _distinct(0))
    yield _rows("unique_counts", lambda m, x, y: tuple(m.unique_counts(x)), _distinct(0, 3))
    yield _rows("unique_inverse", _restored, lambda x, y: (_distinct(0)(x, y)[0], x), module="xo")
    yield _rows("unique_all", lambda m, x, y: tuple(m.unique_all(x)), _distinct(0, 1, 2, 3))
    yield _rows("unique", lambda m, x, y: m.unique(x), equal="NaN")
    yield _rows("unique axis=0", lambda m, x, y: m.unique(x, axis=0), takes="nonempty")
    for name in ("intersect1d", "union1d", "setdiff1d", "setxor1d"):
        yield _rows(name, lambda m, x, y, name=name: getattr(m, name)(x, y), equal="NaN")
    yield _rows(
        "partition",
        lambda m, x, y: m.partition(x, _kth(x))[..., _kth(x)],
        lambda x, y: np.sort(x)[..., _kth(x)],
        takes="nonempty",
    )
    yield _rows(
        "argpartition",
        lambda m, x, y: m.take_along_axis(x, m.argpartition(x, _kth(x)), axis=-1)[..., _kth(x)],
        lambda x, y: np.sort(x)[..., _kth(x)],
        takes="nonempty",
    )
    yield _rows("lexsort", lambda m, x, y: m.lexsort([y, x]), lambda x, y: np.lexsort([y, x]))
    for largest in (True, False):
        yield _rows(
            f"topk largest={largest}",
            lambda m, x, y, largest=largest: m.topk(x, min(2, x.shape[-1]), largest=largest)[0],
            lambda x, y, largest=largest: _top(x, y, largest=largest),
            module="xo",
        )
    yield _rows("segment_max", lambda m, x, y: m.segment_max(x, _ids(x), 3), REFUSED, module="xo")
    yield _rows("segment_min", lambda m, x, y: m.segment_min(x, _ids(x), 3), REFUSED, module="xo")
    yield _rows("quantile", lambda m, x, y: m.quantile(x, 0.5), REFUSED)
    yield _rows("quantile lower", lambda m, x, y: m.quantile(x, 0.5, method="lower"), REFUSED)
    yield _rows("percentile", lambda m, x, y: m.percentile(x, 50.0), REFUSED)
    yield _rows("nanquantile", lambda m, x, y: m.nanquantile(x, 0.5), REFUSED)
    yield _rows("nanpercentile", lambda m, x, y: m.nanpercentile(x, 50.0), REFUSED)
    yield _rows("histogram", lambda m, x, y: m.histogram(x, 3), REFUSED)
    yield _rows("digitize", lambda m, x, y: m.digitize(x, m.sort(y)), REFUSED, takes="vectors")
    yield _rows("interp", lambda m, x, y: m.interp(x, m.sort(y), y), REFUSED, takes="vectors")
    yield _rows("pad maximum", lambda m, x, y: m.pad(x, 1, "maximum"), takes="nonempty")


CASES = tuple(_cases())


def serves(case: Case, shape: tuple[int, ...]) -> bool:
    """Whether a case takes arrays of a shape."""
    if case.takes == "vectors":
        return len(shape) == 1 and shape[0] > 0
    if case.takes == "matrices":
        return len(shape) > 1 and all(shape)
    return case.takes == "any" or all(shape)


def drawn(seed: int, dtype: str, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Two arrays, some of whose elements are equal. Of three seeds one draws no NaN, and one many."""
    rng = np.random.default_rng(seed)
    count = int(np.prod(shape))
    is_special = rng.random((4, count)) < (0, 0.1, 1)[seed % 3]
    parts = np.where(is_special, rng.choice(SPECIAL, (4, count)), rng.choice(FINITE, (4, count)))
    x, y = np.empty((2, count), dtype)
    x.real, x.imag, y.real, y.imag = parts
    shared = rng.random(count) < 0.3
    y[shared] = x[shared]
    return x.reshape(shape), y.reshape(shape)


def wanted(case: Case, x: Any, y: Any) -> Any:
    """The result of the oracle, or the class of its error."""
    if case.oracle is REFUSED:
        return TypeError
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return case.oracle(x.copy(), y.copy())
        except (ValueError, IndexError) as error:
            return type(error)


def found(case: Case, module: Any, x: Any, y: Any, host: Function) -> Any:
    """The result of the call as NumPy's arrays, or its error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = case.call(module, x, y)
            return tuple(map(host, result)) if isinstance(result, tuple) else host(result)
        except Exception as error:  # any class: this is what is examined
            return error


def fault(case: Case, want: Any, got: Any) -> str | None:
    """What is wrong with a result: a raw error, an error, another value; None if nothing is."""
    if isinstance(got, Exception):
        is_ours = isinstance(got, TypeError) and REFUSAL in str(got)
        if isinstance(want, type) and issubclass(want, Exception):
            if want is TypeError:
                return None if is_ours else f"raw {type(got).__name__}: {got}"
            return None if isinstance(got, (ValueError, IndexError)) else f"raw {type(got).__name__}: {got}"
        return f"{'refused' if is_ours else 'raw'} {type(got).__name__}: {got}"
    if isinstance(want, type):
        return f"a value, not {want.__name__}: {got!r}"
    pairs = list(zip(want, got, strict=True)) if isinstance(want, tuple) else [(want, got)]
    return next((f"another value: {g!r}, not {w!r}" for w, g in pairs if not _is_same(w, g, case.equal)), None)


def _is_same(want: Any, got: Any, equal: str) -> bool:
    want, got = np.asarray(want), np.asarray(got)
    if want.shape != got.shape or want.dtype.kind != got.dtype.kind:
        return False
    if equal == "numbers":
        want, got = (np.where(np.isfinite(x), x, np.nan) for x in (want, got))
    if want.dtype.kind != "c" or equal != "parts":
        return np.array_equal(want, got, equal_nan=want.dtype.kind in "fc")
    return all(np.array_equal(a, b, equal_nan=True) for a, b in ((want.real, got.real), (want.imag, got.imag)))
