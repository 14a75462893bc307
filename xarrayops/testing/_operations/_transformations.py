"""Operations under the transformations of a library: compiled, differentiated, batched and lazy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops._core.backends.registry import Backend
from xarrayops._host.compare import difference
from xarrayops.plugin.arrays import gap_of
from xarrayops.testing._operations._call import Expected, as_tuple, quietly, value_faults
from xarrayops.testing._operations._samples import Sample
from xarrayops.testing._verify._run import Setup
from xarrayops.testing._verify._values import Value, value

TOLERANCE = 1e-6
"""The tolerance of gradients in double precision, relative to the largest element."""
Function = Callable[..., Any]


def compiled_faults(operation: Function, reference: Function, sample: Sample, setup: Setup, want: Expected) -> Any:
    """How the operation differs if the library compiles it or has no values; None if it cannot run this way."""
    try:
        found = _run(operation, sample, setup)
    except Exception as error:
        try:
            _run(reference, sample, setup)
        except Exception:
            return None
        return [f"it raises {type(error).__name__}: {str(error).partition(chr(10))[0]}"]
    if setup.mode.has_values:
        return list(value_faults(want, found))
    shapes = [value(y, has_values=False) for y in as_tuple(found)]
    if len(shapes) != len(want.results):
        return [f"it has {len(shapes)} results, and the reference {len(want.results)}"]
    compared = (difference(_shape_of(a), b) for a, b in zip(want.results, shapes, strict=True))
    return [each.text for each in compared if each is not None]


def _shape_of(x: Value) -> Value:
    return x._replace(data=None)


def _run(function: Function, sample: Sample, setup: Setup) -> Any:
    arrays = [x if x is None else setup.mode.place(xo.convert(x, setup.library)) for x in sample.arrays]
    if setup.mode.traces:  # a first call looks up functions, which PyTorch's compiler traces otherwise again
        quietly(function, *arrays, **sample.options)
    run = setup.mode.compiled(partial(function, **sample.options))
    return quietly(run, *arrays)


def gradient_faults(operation: Function, reference: Function, sample: Sample, backend: Backend) -> Iterator[str]:
    """How the gradients of the operation differ from the reference's, in double precision."""
    vjp = backend.functions["vjp"]
    places = [k for k, x in enumerate(sample.arrays) if x is not None and x.dtype.kind == "f"]
    if gap_of(vjp) is not None or not places:
        return
    arrays = [x if x is None else xo.convert(_in_double(x), backend.name) for x in sample.arrays]

    def of_some(function: Function) -> Callable[..., tuple[Any, ...]]:
        def run(*chosen: Any) -> tuple[Any, ...]:
            filled = list(arrays)
            for k, x in zip(places, chosen, strict=True):
                filled[k] = x
            return as_tuple(function(*filled, **sample.options))

        return run

    chosen = tuple(arrays[k] for k in places)
    results = quietly(of_some(reference), *chosen)
    if not all(np.issubdtype(value(y).data.dtype, np.floating) for y in results):
        return
    rng = np.random.default_rng(1)
    cotangents = tuple(xo.convert(rng.standard_normal(tuple(y.shape)), backend.name) for y in results)
    try:
        wanted = quietly(vjp, of_some(reference), chosen, cotangents)
    except Exception:  # the reference cannot be differentiated
        return
    try:
        found = quietly(vjp, of_some(operation), chosen, cotangents)
    except Exception as error:
        yield f"its gradient raises {type(error).__name__}: {str(error).partition(chr(10))[0]}"
        return
    for k, want, got in zip(places, map(_plain, wanted), map(_plain, found), strict=True):
        scale = float(np.max(np.abs(want), initial=0.0)) + 1e-300
        if want.shape != got.shape or not np.allclose(want, got, rtol=0, atol=TOLERANCE * scale, equal_nan=True):
            yield f"the gradient of array {k} differs from the reference's by {_distance(want, got)}"


def _in_double(x: Any) -> Any:
    return x.astype(np.float64) if x.dtype.kind == "f" else x


def _plain(x: Any) -> Any:
    return value(x).data


def _distance(want: Any, got: Any) -> str:
    if want.shape != got.shape:
        return f"its shape, {got.shape} and not {want.shape}"
    return f"up to {float(np.max(np.abs(want - got))):.2g}"


def batch_faults(operation: Function, reference: Function, sample: Sample, backend: Backend) -> Iterator[str]:
    """How the operation under vmap differs from calls for each item."""
    vmap = backend.functions["vmap"]
    if gap_of(vmap) is not None or any(x is None for x in sample.arrays):
        return
    items = [sample.arrays, sample.with_arrays("", lambda x: np.flip(x).copy()).arrays]
    stacked = [xo.convert(np.stack(pair), backend.name) for pair in zip(*items, strict=True)]
    try:
        wanted = quietly(vmap(partial(reference, **sample.options)), *stacked)
    except Exception:  # the reference has no batches
        return
    try:
        found = quietly(vmap(partial(operation, **sample.options)), *stacked)
    except Exception as error:
        yield f"vmap raises {type(error).__name__}: {str(error).partition(chr(10))[0]}"
        return
    for want, got in zip(as_tuple(wanted), as_tuple(found), strict=True):
        different = difference(value(want), value(got), spread=TOLERANCE)
        if different is not None:
            yield f"under vmap: {different.text}"


def lazy_faults(operation: Function, reference: Function, sample: Sample, setup: Setup) -> Iterator[str]:
    """Whether the operation computes on a lazy library although the reference does not."""
    arrays = [x if x is None else setup.mode.place(xo.convert(x, setup.library)) for x in sample.arrays]
    if not any(x is not None and xo.is_lazy(x) for x in arrays):
        return
    try:
        with xo.strict(computes=0):
            quietly(reference, *arrays, **sample.options)
    except Exception:
        return
    try:
        with xo.strict(computes=0):
            quietly(operation, *arrays, **sample.options)
    except Exception as error:
        yield f"on arrays without values it raises {type(error).__name__}: {str(error).partition(chr(10))[0]}"
