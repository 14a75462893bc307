"""Arrays on which sums of half and single precision overflow or stagnate, and the limits of the dtypes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import xarrayops as xo

DTYPES = ("float16", "bfloat16", "float32", "int8", "int16", "uint8")


def arrays(dtype: str) -> Iterator[tuple[str, Any]]:
    """Hostile arrays of a dtype, with a name for each."""
    rng = np.random.default_rng(37)
    if dtype in ("float16", "bfloat16", "float32"):
        host = np.dtype(dtype) if dtype != "bfloat16" else np.dtype(__import__("ml_dtypes").bfloat16)
        greatest = float(xo.finfo(host).max)
        largest = greatest * np.asarray([0.9, -0.9, 0.5, 0.9, -0.8, 0.75, -0.9, 0.9, 0.9, -0.5])
        yield "longer than 65504", rng.uniform(0.25, 1.5, 70_001).astype(host)
        yield "long rows", rng.uniform(0.25, 1.5, (70_001, 2)).astype(host)
        yield "signs", rng.normal(size=9_001).astype(host)
        yield "near the largest", largest.astype(host)
        yield "all near the largest", np.full(8, 0.9 * greatest).astype(host)
        yield "equal", np.full(4350, 300.0).astype(host)
        yield "equal and long", np.full(70_001, 0.1).astype(host)
        yield "equal rows", np.full((70_001, 2), 1.1).astype(host)
        yield "zeros", np.zeros(70_001, host)
        yield "two", np.asarray([300, 400]).astype(host)
        return
    host = np.dtype(dtype)
    low, high = int(np.iinfo(host).min), int(np.iinfo(host).max)
    yield "longer than 65504", rng.integers(low, high, 70_001, host, endpoint=True)
    yield "long rows", rng.integers(low, high, (70_001, 2), host, endpoint=True)
    yield "extremes", np.asarray([low, high, high, low, low, high, high] * 3, host)
    yield "equal", np.full(4350, high, host)
    yield "equal and lowest", np.full(4350, low, host)


EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-45}
"""The unit of a dtype; for float64 an error that the oracle may have itself."""
LEAST = {"float16": 2.0**-24, "bfloat16": 2.0**-126, "float32": 2.0**-126, "float64": 2.0**-1022}
GREATEST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38, "float64": 1.7e308}
