"""A copy between NumPy and the library: what a program pays for each array that it hands over and takes back."""

from __future__ import annotations

from typing import Any

import xarrayops as xo
from xarrayops.bench.workload import Arrays, Workload
from xarrayops.plugin import Array

_SIZES = {"toy": (1000,), "default": (1_500_000,), "large": (50_000_000,)}


def _one(random: Any, n: int) -> Arrays:
    return (random.random(n),)


def from_numpy(host: Array, like: Array, /) -> Array:
    """NumPy's array as one of the library of the other, on its device, in memory of its own."""
    return xo.convert(host, like, copy=True)


def to_numpy(x: Array, /) -> Array:
    """The array as NumPy's, in memory of its own."""
    return xo.convert(x, "numpy", copy=True)


WORKLOADS = (
    Workload(
        "convert from NumPy",
        from_numpy,
        inputs=_one,
        expected=lambda x: x,
        sizes=_SIZES,
        timed="xo.convert(host, like, copy=True), host a NumPy array and like one of the library",
        tolerance=lambda n: 0.0,
        arrange=lambda x: (to_numpy(x), x),
    ),
    Workload(
        "convert to NumPy",
        to_numpy,
        inputs=_one,
        expected=lambda x: x,
        sizes=_SIZES,
        timed='xo.convert(x, "numpy", copy=True)',
        tolerance=lambda n: 0.0,
    ),
)
