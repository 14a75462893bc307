"""The product of two square matrices."""

from __future__ import annotations

import math

import numpy as np

import xarrayops as xo
from xarrayops.bench.workloads._contract import Case, Shapes, Workload

_ORDER = {"toy": 48, "default": 1024, "large": 4096}


def shapes(size: str) -> Shapes:
    """Two square matrices."""
    return ((_ORDER[size], _ORDER[size]),) * 2


def prepare(dtype: str, size: str) -> Case:
    """Normal random numbers: no zeros that a kernel could skip, no rounding that is exact by luck.

    Rounding errors of n products add up like a random walk, so the tolerance grows with the root of n; it is too small
    for products in TF32 or bfloat16 to pass as float32.
    """
    n = _ORDER[size]
    random = np.random.default_rng(seed=1)
    a, b = (random.standard_normal((n, n)).astype(dtype) for _ in range(2))
    expected = a.astype(np.float64) @ b.astype(np.float64)
    tolerance = 4 * math.sqrt(n) * float(np.finfo(dtype).eps)
    return Case((a, b), (expected,), tolerance, operations=2.0 * n**3, nbytes=3.0 * a.nbytes)


WORKLOAD = Workload("matmul", "xo.matmul(a, b), both contiguous", xo.matmul, shapes, prepare, "FLOP/s")
