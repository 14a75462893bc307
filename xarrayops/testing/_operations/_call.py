"""One call of a kernel: its results, its arguments after the call, and the memory of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops._core.backends.registry import Backend
from xarrayops._host.compare import difference, spread_of
from xarrayops._system.texts import counted
from xarrayops.plugin.arrays import Record
from xarrayops.testing._operations._samples import Placement, Sample, quietly
from xarrayops.testing._verify._rounding import rounding
from xarrayops.testing._verify._values import Value, value

SPREAD_RUNS = 3
"""The runs of the reference with random rounding."""


class Expected(Record):
    """The results of the reference in double precision, in the dtypes of the reference, and their spreads."""

    results: tuple[Value, ...]
    spreads: tuple[Any, ...]
    is_tuple: bool


def as_tuple(found: Any) -> tuple[Any, ...]:
    """The results of a call."""
    return tuple(found) if isinstance(found, (tuple, list)) else (found,)


def values(found: Any) -> list[Value]:
    """Copies of the results of a call."""
    return [value(x) for x in as_tuple(found)]


def expected(reference: Callable[..., Any], sample: Sample) -> Expected:
    """The results of the reference on NumPy, in double precision."""
    found = sample.call(reference)
    plain = values(found)  # copies, before the next call may write to the same memory
    wide = values(sample.with_arrays("", widened).call(reference))
    runs = []
    for seed in range(SPREAD_RUNS):
        with rounding(seed):
            runs.append(values(sample.call(reference)))
    results, spreads = [], []
    for k, (each, exact) in enumerate(zip(plain, wide, strict=True)):
        spreads.append(spread_of(each, [run[k] for run in runs]))
        is_rounded = each.dtype and each.data.dtype.kind in "fc" and each.shape == exact.shape
        with np.errstate(all="ignore"):
            data = exact.data.astype(each.data.dtype) if is_rounded else each.data
        results.append(each._replace(data=data))
    return Expected(tuple(results), tuple(spreads), isinstance(found, (tuple, list)))


def widened(x: Any) -> Any:
    """Floating-point values in double precision; other values unchanged."""
    return x.astype({"f": "float64", "c": "complex128"}.get(x.dtype.kind, x.dtype))


def value_faults(want: Expected, found: Any) -> Iterator[str]:
    """How results differ from the expected ones."""
    if isinstance(found, (tuple, list)) != want.is_tuple or len(as_tuple(found)) != len(want.results):
        yield f"it returns {_described(found)}, and the reference returns {_described(want.results, want.is_tuple)}"
        return
    for k, (x, expect, spread) in enumerate(zip(as_tuple(found), want.results, want.spreads, strict=True)):
        different = difference(expect, value(x), spread)
        if different is not None:
            yield f"{f'result {k}: ' if want.is_tuple else ''}{different.text}"


def _described(found: Any, is_tuple: bool | None = None) -> str:
    several = isinstance(found, (tuple, list)) if is_tuple is None else is_tuple
    return f"{counted(len(found), 'result')} in a tuple" if several else "one result"


def faults(
    function: Callable[..., Any], sample: Sample, place: Placement, backend: Backend, want: Expected
) -> Iterator[str]:
    """What is wrong with a call on arrays in this memory layout."""
    arrays, owners = placed(sample, place, backend)
    before = [owner.tobytes() for owner in owners]
    try:
        first = quietly(function, *arrays, **sample.options)
    except Exception as error:
        yield f"it raises {type(error).__name__}: {error}"
        return
    found = as_tuple(first)
    for k, y in enumerate(found):
        if not isinstance(y, tuple(backend.module.ARRAY_TYPES)):
            yield f"result {k} is a {type(y).__name__}, and not an array of {backend.name}"
            return
    yield from value_faults(want, first)
    if not backend.immutable:
        if [owner.tobytes() for owner in owners] != before:
            yield "it writes to its arguments, or to memory next to them"
        if any(xo.shares_memory(x, y) for x in arrays if x is not None for y in found):
            yield "a result shares memory with an argument"
        kept = values(first)
        again = as_tuple(quietly(function, *arrays, **sample.options))
        if any(xo.shares_memory(x, y) for x in again for y in found if 0 not in (*x.shape, *y.shape)):
            yield "the results of two calls share memory"
        elif any(difference(a, value(y)) is not None for a, y in zip(kept, found, strict=True)):
            yield "a second call changes the result of the first"


def placed(sample: Sample, place: Placement, backend: Backend) -> tuple[tuple[Any, ...], list[Any]]:
    """The arrays of a sample in a library, and the memory around them; aliased arrays stay the same object."""
    made: dict[int, tuple[Any, Any]] = {}
    for x in sample.arrays:
        if x is not None and id(x) not in made:
            inner, owner = place(x)
            made[id(x)] = xo.convert(inner, backend.name), owner
    arrays = tuple(None if x is None else made[id(x)][0] for x in sample.arrays)
    return arrays, [owner for _, owner in made.values()]
