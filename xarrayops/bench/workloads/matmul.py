"""The product of two square matrices: contiguous, strided, and in dtypes of two bytes and one byte.

The floating-point numbers are normally distributed: there are no zeros for a kernel to skip, and products are rounded.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench.workload import Arrays, Workload, exactly

_SIZES = {"toy": (48,), "default": (1024,), "large": (4096,)}
_SMALL = {"toy": (48,), "default": (256,), "large": (4096,)}
"""NumPy has no fast kernels for these dtypes."""


def _operations(n: int) -> float:
    return 2.0 * n**3


def _tolerance(n: int) -> float:
    """The rounding errors of n products grow as a random walk. TF32 and bfloat16 give far larger errors."""
    return 2 + math.sqrt(n) / 2


def _two(random: Any, n: int) -> Arrays:
    return random.standard_normal((n, n)), random.standard_normal((n, n))


def _square_and_wide(random: Any, n: int) -> Arrays:
    return random.standard_normal((n, n)), random.standard_normal((n, 2 * n))


def _bytes(random: Any, n: int) -> Arrays:
    return tuple(random.integers(-128, 128, (n, n), dtype="int8") for _ in range(2))


def _wrapped_product(a: Any, b: Any) -> Any:
    """The product modulo 256. The sums in float64 are exact for n below 2^39."""
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64).astype(np.int8)


_product = partial(Workload, function=xo.matmul, operations=_operations)
_rounded_product = partial(_product, tolerance=_tolerance)

WORKLOADS = (
    _rounded_product(
        "matmul",
        inputs=_two,
        expected=np.matmul,
        sizes={"toy": (48,), "default": (128, 512, 1024), "large": (1024, 4096)},
        timed="xo.matmul(a, b), both contiguous",
        dtypes=("float64", "float32"),
    ),
    _rounded_product(
        "matmul transposed",
        inputs=_two,
        expected=lambda a, b: a @ b.T,
        sizes=_SIZES,
        timed="xo.matmul(a, b), b the transpose of a contiguous matrix: a strided view, or an untimed copy (JAX)",
        arrange=lambda a, b: (a, xo.matrix_transpose(b)),
    ),
    _rounded_product(
        "matmul strided",
        inputs=_square_and_wide,
        expected=lambda a, wide: a @ wide[:, ::2],
        sizes=_SIZES,
        timed="xo.matmul(a, b), b every second column of a matrix: a strided view, or an untimed copy (JAX)",
        nbytes=lambda n, itemsize: 3.0 * n * n * itemsize,
        arrange=lambda a, wide: (a, wide[:, ::2]),
    ),
    _product(
        "matmul half",
        inputs=_two,
        expected=np.matmul,
        sizes=_SMALL,
        timed="xo.matmul(a, b) in 16-bit floating point, both contiguous; NumPy has no BLAS for it",
        tolerance=lambda n: 2.0,  # sums in float32, rounded once
        dtypes=("bfloat16", "float16"),
    ),
    _product(
        "matmul int8",
        inputs=_bytes,
        expected=_wrapped_product,
        sizes=_SMALL,
        timed="xo.matmul(a, b) in int8, both contiguous: the result is int8 and wraps modulo 256",
        tolerance=exactly,
        dtypes=("int8",),
    ),
)
