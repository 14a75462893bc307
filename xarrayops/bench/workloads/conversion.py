"""Copies between NumPy and another library: the cost of a conversion in either direction."""

from __future__ import annotations

from functools import partial
from typing import Any

import xarrayops as xo
from xarrayops.bench.workload import Arrays, Workload, exactly
from xarrayops.plugin import Array

_SIZES = {"toy": (1000,), "default": (1_500_000,), "large": (50_000_000,)}


def _one(random: Any, n: int) -> Arrays:
    return (random.random(n),)


def from_numpy(host: Array, like: Array, /) -> Array:
    """A copy of a NumPy array in the library and on the device of another array."""
    return xo.convert(host, like, copy=True)


def to_numpy(x: Array, /) -> Array:
    """A copy of the array in NumPy."""
    return xo.convert(x, "numpy", copy=True)


_copied = partial(Workload, inputs=_one, expected=lambda x: x, sizes=_SIZES, tolerance=exactly)

WORKLOADS = (
    _copied(
        "convert from NumPy",
        from_numpy,
        timed="xo.convert(host, like, copy=True): host is a NumPy array, like is an array of the library",
        arrange=lambda x: (to_numpy(x), x),
    ),
    _copied("convert to NumPy", to_numpy, timed='xo.convert(x, "numpy", copy=True)'),
)
