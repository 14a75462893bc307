"""Samples with given probabilities."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops.plugin.arrays import Array


def places_of_weights(rng: Any, backend: Backend, p: Any, n: int, count: int, *, replace: bool) -> Array:
    """The positions of a sample, (count,), among n elements with the probabilities p, by a `Generator`."""
    functions = backend.functions
    if replace:
        u = rng.random(count)
        bounds = _bounds(backend, p, n, u)
        places = functions["searchsorted"](bounds, u, side="right")
        # The last bound is 1 and u is below it, but sums are rounded: a position beyond the end is the last element.
        return functions["clip"](places, 0, n - 1)
    # The first of independent exponential waits with rates p is i with probability p[i]; the others race on, so the
    # order of waits is a sample without replacement.
    waits = rng.exponential(size=n)
    weights = _weights(backend, p, n, waits, least=count)
    where, inf = functions["where"], float("inf")
    # The wait for a probability of 0 is infinite. The inner where avoids the warning of a division by 0.
    waits = where(weights > 0, waits / where(weights > 0, weights, 1.0), inf)
    return functions["argsort"](waits)[:count]


def _bounds(backend: Backend, p: Any, n: int, like: Array) -> Array:
    """The upper ends of the intervals of [0, 1) for the elements."""
    if not hasattr(p, "shape"):
        # In Python's floats, so that the bounds have the same bits on every library.
        sums = list(accumulate(_numbers(p, n, least=1)))
        return _array(backend, [each / sums[-1] for each in sums], like)
    sums = backend.functions["cumulative_sum"](_weights(backend, p, n, like, least=1))
    return sums / sums[-1]


def _weights(backend: Backend, p: Any, n: int, like: Array, *, least: int) -> Array:
    if not hasattr(p, "shape"):
        return _array(backend, _numbers(p, n, least=least), like)
    find.one_of("random.Generator.choice", {"p": p, "rng": like})
    if tuple(p.shape) != (n,):
        raise ValueError(f"xo.random.Generator.choice: p has shape {tuple(p.shape)}, but there are {n} elements.")
    return backend.functions["astype"](p, like.dtype)


def _numbers(p: Any, n: int, *, least: int) -> list[float]:
    numbers = [float(each) for each in p]
    if len(numbers) != n:
        raise ValueError(f"xo.random.Generator.choice: p has {len(numbers)} probabilities, but there are {n} elements.")
    if not all(0 <= each < float("inf") for each in numbers):
        raise ValueError("xo.random.Generator.choice: probabilities must be finite and not negative.")
    if sum(map(bool, numbers)) < least:
        raise ValueError(f"xo.random.Generator.choice: fewer than {least} elements have a probability above 0.")
    return numbers


def _array(backend: Backend, numbers: list[float], like: Array) -> Array:
    return backend.functions["asarray"](numbers, dtype=like.dtype, device=backend.functions["device"](like))
