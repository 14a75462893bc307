"""Test inputs: random values with a fixed seed, and unusual memory layouts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Host = NDArray[Any]
SIGNED = ("int64", "int32", "int16", "int8")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = (*SIGNED, *UNSIGNED)
FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
INEXACT = (*FLOATS, *COMPLEX)
REAL = (*FLOATS, *INTEGERS)
NUMERIC = (*REAL, *COMPLEX)
DISCRETE = ("bool", *INTEGERS)
ALL = (*NUMERIC, "bool")


def sample(dtype: str, shape: tuple[int, ...] = (3, 4), *, low: float = -4, high: float = 4, seed: int = 0) -> Host:
    """Random values between low and high, the same in every run; unsigned integers start at 0."""
    random = np.random.default_rng((seed, *shape))
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.asarray(random.random(shape) < 0.5)
    if kind in "iu":
        lowest = max(int(low), 0) if kind == "u" else int(low)
        return np.asarray(random.integers(lowest, int(high), shape, endpoint=True)).astype(dtype)
    values = np.asarray(random.uniform(low, high, shape))
    return np.asarray(values + 1j * random.uniform(low, high, shape) if kind == "c" else values).astype(dtype)


HOLES = np.where(sample("bool", (4, 5), seed=1), np.nan, sample("float64", (4, 5)))
HOLES[0] = np.nan
"""Values with NaN among them; the first row has no others."""


def specials(dtype: str) -> Host:
    """NaN, infinities, both zeros and two finite values."""
    return np.asarray([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.0], dtype=dtype)


def unordered_parts(dtype: str) -> Host:
    """Complex numbers of random special values: many are equal in one part, and many have NaN."""
    real, imag = np.random.default_rng(0).choice(specials("float32"), (2, 40))
    values = np.empty(real.shape, dtype)
    values.real, values.imag = real, imag
    return values


def shuffled(dtype: str, shape: tuple[int, ...] = (3, 4)) -> Host:
    """Distinct values in random order, for sorting and searching."""
    size = int(np.prod(shape))
    order = np.random.default_rng((0, *shape)).permutation(size)
    return np.asarray(order.reshape(shape) - (0 if np.dtype(dtype).kind == "u" else size // 2)).astype(dtype)


def well_conditioned(dtype: str, shape: tuple[int, ...] = (3, 3), *, seed: int = 0) -> Host:
    """Well-conditioned square matrices."""
    return np.asarray(sample(dtype, shape, low=-1, high=1, seed=seed) + 4 * np.eye(shape[-1])).astype(dtype)


def hermitian(dtype: str, shape: tuple[int, ...] = (3, 3), *, seed: int = 0) -> Host:
    """Positive definite Hermitian matrices."""
    a = well_conditioned(dtype, shape, seed=seed)
    return np.asarray(a @ np.conj(np.swapaxes(a, -1, -2))).astype(dtype)


def unusual_layouts() -> dict[str, Host]:
    """NumPy arrays with memory layouts that other libraries may not support, by name."""
    base = sample("float32", (4, 6))
    readonly = base.copy()
    readonly.flags.writeable = False
    unaligned = np.zeros(4 * 6 * 4 + 1, dtype="uint8")[1:].view("float32").reshape(4, 6)
    unaligned[...] = base
    return {
        "plain": base,
        "empty": np.zeros((2, 0, 3), dtype="float32"),
        "0-d": np.asarray(2.5, dtype="float32"),
        "strided": base[::2, 1::3],
        "negative strides": base[::-1, ::-2],
        "transposed": base.T,
        "broadcast": np.broadcast_to(base[0], (5, 6)),
        "read-only": readonly,
        "unaligned": unaligned,
        "big-endian": base.astype(">f4"),
        "big-endian integers": np.arange(6, dtype=">i8").reshape(2, 3),
        "scalar": np.float32(1.5),  # type: ignore[dict-item]
        "nan and inf": specials("float64"),
        "gaps in a row": np.zeros((3, 8))[:, :5],
    }
