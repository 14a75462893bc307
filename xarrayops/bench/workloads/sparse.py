"""Sparse matrices with a density of 5 %: conversions from dense matrices, and products with dense matrices."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench.workload import Arrays, Workload, exactly
from xarrayops.plugin import Array

_SIZES = {"toy": (40,), "default": (2048,), "large": (8192,)}
_COLUMNS = 64
"""The columns of the dense operand of a product."""


def stored(n: int) -> int:
    """The number of nonzero elements of an n by n matrix."""
    return n * n // 20


def to_csr(x: Array, /, where: str | None = None) -> tuple[Array, ...]:
    """The values, column indices and row pointers of the nonzero elements, or of those that ``where`` selects."""
    p = xo.sparse.parts(xo.sparse.from_dense(x, where=where))
    return p.data, p.indices, p.indptr


def to_coo(x: Array, /) -> tuple[Array, ...]:
    """The values and coordinates of the nonzero elements."""
    p = xo.sparse.parts(xo.sparse.from_dense(x, "coo"))
    return p.data, p.coords


def _scattered(random: Any, n: int, *, positive: bool = False) -> Arrays:
    """Zeros with scattered values; or negative numbers with positive ones, like the inputs of a ReLU in a network."""
    x = np.full(n * n, -0.5 if positive else 0.0)
    values = _values(random, n)
    x[random.choice(n * n, stored(n), replace=False, shuffle=False)] = np.abs(values) if positive else values
    return (x.reshape(n, n),)


def _values(random: Any, n: int) -> Any:
    """Values of either sign that are not rounded to zero in any dtype."""
    return random.uniform(0.5, 1.5, stored(n)) * random.choice((-1.0, 1.0), stored(n))


def _compressed(random: Any, n: int) -> Arrays:
    (x,) = _scattered(random, n)
    return (*_csr_of(x), random.standard_normal((n, _COLUMNS)))


def _csr_of(x: Any) -> Arrays:
    """The CSR parts, found with NumPy."""
    rows, columns = np.nonzero(x)
    pointers = np.searchsorted(rows, np.arange(len(x) + 1))
    return x[rows, columns], columns.astype(np.int32), pointers.astype(np.int32)


def _coo_of(x: Any) -> Arrays:
    coords = np.asarray(np.nonzero(x))
    return x[tuple(coords)], coords.astype(np.int32)


def _product(values: Any, columns: Any, pointers: Any, dense: Any) -> Any:
    whole = np.zeros((len(dense), len(dense)))
    whole[np.repeat(np.arange(len(dense)), np.diff(pointers)), columns] = values
    return whole @ dense


def _as_csr(values: Array, columns: Array, pointers: Array, dense: Array) -> Arrays:
    n = dense.shape[0]
    return xo.sparse.from_parts("csr", pointers, columns, values, shape=(n, n)), dense


_compaction = partial(Workload, sizes=_SIZES, tolerance=exactly)

WORKLOADS = (
    _compaction(
        "sparse from_dense csr",
        to_csr,
        inputs=_scattered,
        expected=_csr_of,
        timed="xo.sparse.from_dense(x): 5 % of the elements are nonzero",
    ),
    _compaction(
        "sparse from_dense coo",
        to_coo,
        inputs=_scattered,
        expected=_coo_of,
        timed='xo.sparse.from_dense(x, "coo"): 5 % of the elements are nonzero',
    ),
    _compaction(
        "sparse relu",
        partial(to_csr, where="relu"),
        inputs=partial(_scattered, positive=True),
        expected=lambda x: _csr_of(np.maximum(x, 0)),
        timed='xo.sparse.from_dense(x, where="relu"): 5 % of the elements are positive',
    ),
    Workload(
        "sparse spmm",
        xo.matmul,
        inputs=_compressed,
        expected=_product,
        sizes=_SIZES,
        timed="xo.matmul(s, x): s is CSR with a density of 5 %, x is dense with 64 columns",
        operations=lambda n: 2.0 * stored(n) * _COLUMNS,
        tolerance=lambda n: 8.0,
        arrange=_as_csr,
    ),
)
