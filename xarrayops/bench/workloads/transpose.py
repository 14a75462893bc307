"""A matrix transposed in memory, not by strides."""

from __future__ import annotations

import numpy as np

import xarrayops as xo
from xarrayops.bench.workloads._contract import Case, Shapes, Workload
from xarrayops.plugin import Array

_SHAPE = {"toy": (30, 40), "default": (3000, 4000), "large": (12000, 10000)}


def shapes(size: str) -> Shapes:
    """One matrix, not a power of two wide: there, caches would be at their worst."""
    return (_SHAPE[size],)


def transpose(x: Array, /) -> Array:
    """The elements of x in the order of its transpose, as one flat array.

    No stride can express that order in one dimension, so every library must move each element. A library that moves
    them in `permute_dims` already and again in `reshape` (JAX, outside jit) pays for both.
    """
    return xo.reshape(xo.permute_dims(x, (1, 0)), (-1,))


def prepare(dtype: str, size: str) -> Case:
    """Nothing is computed, so nothing may differ: the tolerance is 0."""
    x = np.random.default_rng(seed=2).standard_normal(_SHAPE[size]).astype(dtype)
    return Case((x,), (x.T.reshape(-1),), 0.0, operations=0.0, nbytes=2.0 * x.nbytes)


WORKLOAD = Workload(
    "transpose",
    "xo.reshape(xo.permute_dims(x, (1, 0)), (-1,)): every element moved, outside any compiler",
    transpose,
    shapes,
    prepare,
    "B/s",
)
