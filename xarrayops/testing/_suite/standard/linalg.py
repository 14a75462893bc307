"""Products and decompositions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.testing._suite.samples import INEXACT, NUMERIC, hermitian, sample, well_conditioned
from xarrayops.testing._suite.table import Row, call, row, rows_test

A, B, V = sample("float32", (2, 3, 4)), sample("float32", (4, 5), seed=1), sample("float32", (4,), seed=2)


def squares(
    verb: str, oracle: Callable[..., Any] | None, make: Callable[..., Any] = well_conditioned, **options: Any
) -> Row:
    """A row for a function of square matrices: one matrix and a stack of them, for every dtype."""
    calls = [call(make(d)) for d in INEXACT] + [call(make(d, (2, 3, 3))) for d in INEXACT]
    return normwise(verb, oracle, *calls, **options)


def normwise(verb: str, oracle: Callable[..., Any] | None, *calls: Any, **options: Any) -> Row:
    """A row for a function whose error is relative to the largest value."""
    return row(verb, oracle, *calls, normwise=True, **{"ulps": 256, **options})


def product(verb: str, oracle: Callable[..., Any], *calls: Any, **options: Any) -> Row:
    """A row for a product: the given calls, and two operands of ``shape`` for every dtype."""
    shape = options.pop("shape", (3, 3))
    each = [call(sample(d, shape), sample(d, shape, seed=1)) for d in options.pop("dtypes", NUMERIC)]
    return row(verb, oracle, *calls, *each, **{"normwise": True, "ulps": 64, **options})


def _adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def _columns_are_orthonormal(x: Any) -> tuple[Any, Any]:
    """The equation of a matrix whose columns are orthogonal and have length 1."""
    found = _adjoint(x) @ x
    return found, np.broadcast_to(np.eye(x.shape[-1]), found.shape)


def _eigh(x: Any, values: Any, vectors: Any) -> Any:
    yield values, np.linalg.eigvalsh(x)
    yield x @ vectors, vectors * values[..., None, :]
    yield _columns_are_orthonormal(vectors)


def _eig(x: Any, values: Any, vectors: Any) -> Any:
    yield np.sort_complex(values), np.sort_complex(np.linalg.eigvals(x))
    yield x @ vectors, vectors * values[..., None, :]


def _eigvals(x: Any, values: Any) -> Any:
    yield np.sort(values.real), np.sort(np.linalg.eigvals(x).real)
    yield np.sort(np.abs(values)), np.sort(np.abs(np.linalg.eigvals(x)))


def _qr(x: Any, q: Any, r: Any, *, mode: Any = "reduced") -> Any:
    want = np.linalg.qr(x, mode=mode)
    yield np.asarray(q.shape), np.asarray(want.Q.shape)
    yield np.asarray(r.shape), np.asarray(want.R.shape)
    yield q @ r, x
    yield _columns_are_orthonormal(q)
    yield r, np.triu(r)


def _svd(x: Any, u: Any, s: Any, vh: Any, *, full_matrices: bool = True) -> Any:
    want = np.linalg.svd(x, full_matrices=full_matrices)
    for got, like in zip((u, s, vh), want, strict=True):
        yield np.asarray(got.shape), np.asarray(like.shape)
    k = s.shape[-1]
    yield s, want.S
    yield (u[..., :k] * s[..., None, :]) @ vh[..., :k, :], x
    yield _columns_are_orthonormal(u)


NORMS: tuple[Any, ...] = (1, -1, 2, -2, np.inf, -np.inf, "nuc")
TALL = [sample(d, (4, 3)) for d in INEXACT]
ORDERS: tuple[Any, ...] = (1, 0, 3, np.inf, -np.inf)
LOW_RANK = np.outer(np.arange(1.0, 4.0), np.arange(1.0, 5.0))
EIGEN = ("eigenvalues", "eigenvectors")
ROWS = [
    product(
        "matmul",
        np.matmul,
        call(A, B),
        call(A, V),
        call(V, B),
        call(V, V),
        call(A[:, :0], B),
        call(sample("float32", (3, 2)), sample("float64", (2, 0))),
    ),
    product("tensordot", np.tensordot, call(A, B, axes=1), call(A, A, axes=((0, 2), (0, 2))), call(V, V, axes=0)),
    product("vecdot", np.vecdot, call(A, V), call(A, sample("float32", (3, 1)), axis=-2), call(V, V), shape=(2, 3)),
    product("einsum", partial(np.einsum, "ij,jk->ik"), function=partial(xo.einsum, "ij,jk->ik"), label="matmul"),
    normwise(
        "einsum",
        np.einsum,
        call("bij,jk->bik", A, B),
        call("bij->jb", A),
        call("ii->i", sample("float64", (3, 3))),
        call("i,j->ij", V, V),
        call("ij,jk", B, sample("float64", (5, 2))),
        call("i,i->", sample("complex64", (3,)), sample("complex64", (3,), seed=1)),
        call("ij,jk,kl->il", sample("float64", (2, 3)), sample("float64", (3, 4)), sample("float64", (4, 2))),
        ulps=64,
    ),
    normwise(
        "linalg.cholesky",
        np.linalg.cholesky,
        *(call(hermitian(d)) for d in INEXACT),
        call(hermitian("float64"), upper=True),
    ),
    product(
        "linalg.cross",
        np.cross,
        call(sample("float32", (3, 4)), sample("float32", (3, 4), seed=1), axis=-2),
        shape=(2, 3),
    ),
    squares("linalg.det", np.linalg.det),
    row(
        "linalg.diagonal",
        np.linalg.diagonal,
        call(A),
        call(A, offset=1),
        call(A, offset=-2),
        *(call(sample(d)) for d in NUMERIC),
    ),
    squares("linalg.eig", None, law=_eig, dtype="complex", fields=EIGEN),
    squares("linalg.eigh", None, hermitian, law=_eigh, dtype=("real", "promoted"), fields=EIGEN),
    squares("linalg.eigvals", None, law=_eigvals, dtype="complex"),
    squares("linalg.eigvalsh", np.linalg.eigvalsh, hermitian, dtype="real"),
    squares("linalg.inv", np.linalg.inv),
    normwise(
        "linalg.matrix_norm",
        np.linalg.matrix_norm,
        call(A),
        call(A, keepdims=True),
        *(call(A, ord=o) for o in NORMS),
        *(call(sample(d)) for d in INEXACT),
        dtype="real",
    ),
    normwise(
        "linalg.matrix_power",
        np.linalg.matrix_power,
        *(call(well_conditioned("float64"), n) for n in (3, 0, 1, -2)),
        *(call(well_conditioned(d, (2, 2, 2)), 2) for d in INEXACT),
    ),
    row(
        "linalg.matrix_rank",
        np.linalg.matrix_rank,
        call(well_conditioned("float64")),
        call(LOW_RANK),
        call(np.diag([1.0, 1e-3, 1.0]), rtol=0.1),
        call(well_conditioned("float32", (2, 3, 3))),
        dtype="indexing",
    ),
    product("linalg.outer", np.outer, shape=(3,)),
    normwise("linalg.pinv", np.linalg.pinv, *(call(x) for x in TALL), call(LOW_RANK, rtol=1e-8), ulps=1024),
    normwise(
        "linalg.qr",
        None,
        *(call(x, mode=mode) for x in TALL for mode in ("reduced", "complete")),
        call(sample("float32", (2, 3, 3))),
        law=_qr,
        fields=("Q", "R"),
    ),
    squares("linalg.slogdet", np.linalg.slogdet, dtype=("promoted", "real"), fields=("sign", "logabsdet")),
    normwise(
        "linalg.solve",
        np.linalg.solve,
        *(call(well_conditioned(d), sample(d, (3, 2))) for d in INEXACT),
        call(well_conditioned("float32"), sample("float32", (3,))),
    ),
    normwise(
        "linalg.svd",
        None,
        *(call(x, full_matrices=full) for x in TALL for full in (False, True)),
        call(A),
        law=_svd,
        dtype=("promoted", "real", "promoted"),
        fields=("U", "S", "Vh"),
    ),
    normwise("linalg.svdvals", np.linalg.svdvals, *(call(x) for x in TALL), dtype="real"),
    row(
        "linalg.trace",
        np.linalg.trace,
        call(A),
        call(A, offset=1),
        call(sample("float32"), dtype="float64"),
        *(call(sample(d)) for d in NUMERIC),
        dtype="accumulator",
        normwise=True,
    ),
    normwise(
        "linalg.vector_norm",
        np.linalg.vector_norm,
        call(A),
        call(A, axis=1, keepdims=True),
        call(A, axis=(0, 2)),
        *(call(A, ord=o) for o in ORDERS),
        *(call(sample(d), axis=0) for d in INEXACT),
        dtype="real",
        ulps=64,
    ),
]


class LinalgSuite:
    """Products and decompositions."""

    # Unique results match the oracle; others satisfy equations: ``q @ r == x``, ``x @ v == v * w``.
    test_linalg = rows_test(ROWS)

    def test_linalg_has_the_products(self) -> None:
        """``xo.linalg`` has the products of the main namespace."""
        for name in ("matmul", "matrix_transpose", "tensordot", "vecdot"):
            assert getattr(xo.linalg, name) is getattr(xo, name)
