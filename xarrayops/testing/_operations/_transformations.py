"""Operations under the transformations of a library: compiled, differentiated, batched and lazy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops._core.backends.registry import Backend
from xarrayops._host.compare import difference
from xarrayops._ops.operations.definition import Definition
from xarrayops._system.texts import counted
from xarrayops.plugin.arrays import gap_of
from xarrayops.testing._operations._call import Expected, as_tuple, value_faults, values, widened
from xarrayops.testing._operations._samples import Sample, quietly
from xarrayops.testing._verify._run import Setup
from xarrayops.testing._verify._values import first_line, value

TOLERANCE = 1e-6
"""The tolerance of gradients in double precision, relative to the largest element."""
Function = Callable[..., Any]


def compiled_faults(definition: Definition, sample: Sample, setup: Setup, want: Expected) -> Iterator[str]:
    """How the operation differs if the library compiles it or has no values; nothing if it cannot run this way."""
    try:
        found = _run(definition.function, sample, setup)
    except Exception as error:
        with suppress(Exception):  # the reference cannot run this way either
            _run(definition.reference, sample, setup)
            yield f"it raises {first_line(error)}"
        return
    if setup.mode.has_values:
        yield from value_faults(want, found)
        return
    shapes = [value(y, has_values=False) for y in as_tuple(found)]
    if len(shapes) != len(want.results):
        yield f"it has {counted(len(shapes), 'result')}, and the reference {len(want.results)}"
        return
    compared = (difference(a._replace(data=None), b) for a, b in zip(want.results, shapes, strict=True))
    yield from (each.text for each in compared if each is not None)


def _run(function: Function, sample: Sample, setup: Setup) -> Any:
    placed = _placed(sample, setup)
    if setup.mode.traces:  # a first call looks up functions, which PyTorch's compiler traces otherwise again
        placed.call(function)
    return quietly(setup.mode.compiled(partial(function, **sample.options)), *placed.arrays)


def _placed(sample: Sample, setup: Setup) -> Sample:
    """The sample with its arrays in the library, as the mode places them."""
    return sample.with_arrays("", lambda x: setup.mode.place(xo.convert(x, setup.library)))


def _faults(
    definition: Definition, run: Callable[[Function], Any], raises: str, compare: Callable[[Any, Any], Iterator[str]]
) -> Iterator[str]:
    """How a run of the operation differs from the same run of the reference; nothing if the reference raises."""
    try:
        wanted = run(definition.reference)
    except Exception:
        return
    try:
        found = run(definition.function)
    except Exception as error:
        yield f"{raises} {first_line(error)}"
        return
    yield from compare(wanted, found)


def gradient_faults(definition: Definition, sample: Sample, backend: Backend) -> Iterator[str]:
    """How the gradients of the operation differ from the reference's, in double precision."""
    vjp = backend.functions["vjp"]
    places = [k for k, x in enumerate(sample.arrays) if x is not None and x.dtype.kind == "f"]
    if gap_of(vjp) is not None or not places:
        return
    arrays = sample.with_arrays("", lambda x: xo.convert(widened(x), backend.name)).arrays

    def of_some(function: Function) -> Callable[..., tuple[Any, ...]]:
        def run(*chosen: Any) -> tuple[Any, ...]:
            filled = list(arrays)
            for k, x in zip(places, chosen, strict=True):
                filled[k] = x
            return as_tuple(function(*filled, **sample.options))

        return run

    chosen = tuple(arrays[k] for k in places)
    results = quietly(of_some(definition.reference), *chosen)
    if not all(np.issubdtype(value(y).data.dtype, np.floating) for y in results):
        return
    rng = np.random.default_rng(1)
    cotangents = tuple(xo.convert(rng.standard_normal(tuple(y.shape)), backend.name) for y in results)

    def compare(wanted: Any, found: Any) -> Iterator[str]:
        for k, want, got in zip(places, values(wanted), values(found), strict=True):
            a, b = want.data, got.data
            scale = float(np.max(np.abs(a), initial=0.0)) + 1e-300
            differs = f"the gradient of array {k} differs from the reference's by"
            if a.shape != b.shape:
                yield f"{differs} its shape, {b.shape} and not {a.shape}"
            elif not np.allclose(a, b, rtol=0, atol=TOLERANCE * scale, equal_nan=True):
                yield f"{differs} up to {float(np.max(np.abs(a - b))):.2g}"

    run = lambda function: quietly(vjp, of_some(function), chosen, cotangents)
    yield from _faults(definition, run, "its gradient raises", compare)


def batch_faults(definition: Definition, sample: Sample, backend: Backend) -> Iterator[str]:
    """How the operation under vmap differs from calls for each item."""
    vmap = backend.functions["vmap"]
    if gap_of(vmap) is not None or any(x is None for x in sample.arrays):
        return
    items = [sample.arrays, sample.with_arrays("", lambda x: np.flip(x).copy()).arrays]
    stacked = [xo.convert(np.stack(pair), backend.name) for pair in zip(*items, strict=True)]

    def compare(wanted: Any, found: Any) -> Iterator[str]:
        for want, got in zip(values(wanted), values(found), strict=True):
            different = difference(want, got, spread=TOLERANCE)
            if different is not None:
                yield f"under vmap: {different.text}"

    run = lambda function: quietly(vmap(partial(function, **sample.options)), *stacked)
    yield from _faults(definition, run, "vmap raises", compare)


def lazy_faults(definition: Definition, sample: Sample, setup: Setup) -> Iterator[str]:
    """Whether the operation computes on a lazy library although the reference does not."""
    placed = _placed(sample, setup)
    if not any(x is not None and xo.is_lazy(x) for x in placed.arrays):
        return

    def run(function: Function) -> None:
        with xo.strict(computes=0):
            placed.call(function)

    yield from _faults(definition, run, "on arrays without values it raises", lambda wanted, found: iter(()))
