"""Products and decompositions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.testing._suite.samples import INEXACT, NUMERIC, hermitian, sample, well_conditioned
from xarrayops.testing._suite.table import Row, call, cases, check_row, row
from xarrayops.testing._suite.variant import Variant

A, B, V = sample("float32", (2, 3, 4)), sample("float32", (4, 5), seed=1), sample("float32", (4,), seed=2)


def squares(
    verb: str, oracle: Callable[..., Any] | None, make: Callable[..., Any] = well_conditioned, **options: Any
) -> Row:
    """A row for a function of square matrices: one matrix and a stack of them, for every dtype."""
    calls = [call(make(d)) for d in INEXACT] + [call(make(d, (2, 3, 3))) for d in INEXACT]
    return row(verb, oracle, *calls, normwise=True, **{"ulps": 256, **options})


def product(verb: str, oracle: Callable[..., Any], *calls: Any, **options: Any) -> Row:
    """A row for a product: the given calls, and two operands of ``shape`` for every dtype."""
    shape = options.pop("shape", (3, 3))
    each = [call(sample(d, shape), sample(d, shape, seed=1)) for d in options.pop("dtypes", NUMERIC)]
    return row(verb, oracle, *calls, *each, **{"normwise": True, "ulps": 64, **options})


def _adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def _eye_like(x: Any) -> Any:
    return np.broadcast_to(np.eye(x.shape[-1]), (*x.shape[:-1], x.shape[-1]))


def _eigh(x: Any, values: Any, vectors: Any) -> Any:
    yield values, np.linalg.eigvalsh(x)
    yield x @ vectors, vectors * values[..., None, :]
    yield _adjoint(vectors) @ vectors, _eye_like(vectors)


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
    yield _adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (_adjoint(q) @ q).shape)
    yield r, np.triu(r)


def _svd(x: Any, u: Any, s: Any, vh: Any, *, full_matrices: bool = True) -> Any:
    want = np.linalg.svd(x, full_matrices=full_matrices)
    for got, like in zip((u, s, vh), want, strict=True):
        yield np.asarray(got.shape), np.asarray(like.shape)
    k = s.shape[-1]
    yield s, want.S
    yield (u[..., :k] * s[..., None, :]) @ vh[..., :k, :], x
    yield _adjoint(u) @ u, np.broadcast_to(np.eye(u.shape[-1]), (_adjoint(u) @ u).shape)


def _vecdot(x1: Any, x2: Any, *, axis: int = -1) -> Any:
    return np.sum(np.conj(x1) * x2, axis=axis, dtype=np.result_type(x1, x2))


def _vector_norm(x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    axes = tuple(range(x.ndim)) if axis is None else axis
    size = np.abs(x)
    if ord == np.inf:
        return size.max(axis=axes, keepdims=keepdims)
    if ord == -np.inf:
        return size.min(axis=axes, keepdims=keepdims)
    if ord == 0:
        return np.sum(size != 0, axis=axes, keepdims=keepdims).astype("float64")
    return np.sum(size**ord, axis=axes, keepdims=keepdims) ** (1 / ord)


def _trace(x: Any, *, offset: int = 0, dtype: Any = None) -> Any:
    return np.trace(x, offset=offset, axis1=-2, axis2=-1, dtype="int64" if x.dtype.kind == "i" else None)


def _tensordot(x1: Any, x2: Any, *, axes: Any = 2) -> Any:
    return np.tensordot(x1, x2, axes=axes)


def _pinv(x: Any, *, rtol: Any = None) -> Any:
    return np.linalg.pinv(x) if rtol is None else np.linalg.pinv(x, rcond=rtol)


def _matrix_norm(x: Any, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    return np.linalg.norm(x, ord=ord, axis=(-2, -1), keepdims=keepdims)


def _cholesky(x: Any, *, upper: bool = False) -> Any:
    return _adjoint(np.linalg.cholesky(x)) if upper else np.linalg.cholesky(x)


def _einsum(subscripts: str, *operands: Any) -> Any:
    return np.einsum(subscripts, *operands, dtype=np.result_type(*operands))


NORMS: tuple[Any, ...] = (1, -1, 2, -2, np.inf, -np.inf, "nuc")
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
    product("tensordot", _tensordot, call(A, B, axes=1), call(A, A, axes=((0, 2), (0, 2))), call(V, V, axes=0)),
    product("vecdot", _vecdot, call(A, V), call(A, sample("float32", (3, 1)), axis=-2), call(V, V), shape=(2, 3)),
    product(
        "einsum",
        lambda *operands: _einsum("ij,jk->ik", *operands),
        function=lambda *operands: xo.einsum("ij,jk->ik", *operands),
        label="matmul",
    ),
    row(
        "einsum",
        _einsum,
        call("bij,jk->bik", A, B),
        call("bij->jb", A),
        call("ii->i", sample("float64", (3, 3))),
        call("i,j->ij", V, V),
        call("ij,jk", B, sample("float64", (5, 2))),
        call("i,i->", sample("complex64", (3,)), sample("complex64", (3,), seed=1)),
        call("ij,jk,kl->il", sample("float64", (2, 3)), sample("float64", (3, 4)), sample("float64", (4, 2))),
        normwise=True,
        ulps=64,
    ),
    row(
        "linalg.cholesky",
        _cholesky,
        *(call(hermitian(d)) for d in INEXACT),
        call(hermitian("float64"), upper=True),
        ulps=256,
        normwise=True,
    ),
    product(
        "linalg.cross",
        lambda x1, x2, axis=-1: np.cross(x1, x2, axis=axis),
        call(sample("float32", (3, 4)), sample("float32", (3, 4), seed=1), axis=-2),
        shape=(2, 3),
    ),
    squares("linalg.det", np.linalg.det),
    row(
        "linalg.diagonal",
        lambda x, offset=0: np.diagonal(x, offset=offset, axis1=-2, axis2=-1),
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
    row(
        "linalg.matrix_norm",
        _matrix_norm,
        call(A),
        call(A, keepdims=True),
        *(call(A, ord=o) for o in NORMS),
        *(call(sample(d)) for d in INEXACT),
        dtype="real",
        normwise=True,
        ulps=256,
    ),
    row(
        "linalg.matrix_power",
        np.linalg.matrix_power,
        *(call(well_conditioned("float64"), n) for n in (3, 0, 1, -2)),
        *(call(well_conditioned(d, (2, 2, 2)), 2) for d in INEXACT),
        normwise=True,
        ulps=256,
    ),
    row(
        "linalg.matrix_rank",
        lambda x, rtol=None: np.linalg.matrix_rank(x, rtol=rtol),
        call(well_conditioned("float64")),
        call(LOW_RANK),
        call(np.diag([1.0, 1e-3, 1.0]), rtol=0.1),
        call(well_conditioned("float32", (2, 3, 3))),
        dtype="indexing",
    ),
    product("linalg.outer", np.outer, shape=(3,)),
    row(
        "linalg.pinv",
        _pinv,
        *(call(sample(d, (4, 3))) for d in INEXACT),
        call(LOW_RANK, rtol=1e-8),
        normwise=True,
        ulps=1024,
    ),
    row(
        "linalg.qr",
        None,
        *(call(sample(d, (4, 3)), mode=mode) for d in INEXACT for mode in ("reduced", "complete")),
        call(sample("float32", (2, 3, 3))),
        law=_qr,
        fields=("Q", "R"),
        ulps=256,
    ),
    squares("linalg.slogdet", np.linalg.slogdet, dtype=("promoted", "real"), fields=("sign", "logabsdet")),
    row(
        "linalg.solve",
        lambda a, b: np.linalg.solve(a, b if b.ndim > 1 else b[:, None]).reshape((*a.shape[:-2], *b.shape[-2:])),
        *(call(well_conditioned(d), sample(d, (3, 2))) for d in INEXACT),
        call(well_conditioned("float32"), sample("float32", (3,))),
        normwise=True,
        ulps=256,
    ),
    row(
        "linalg.svd",
        None,
        *(call(sample(d, (4, 3)), full_matrices=full) for d in INEXACT for full in (False, True)),
        call(sample("float32", (2, 3, 4))),
        law=_svd,
        dtype=("promoted", "real", "promoted"),
        fields=("U", "S", "Vh"),
        ulps=256,
    ),
    row(
        "linalg.svdvals",
        np.linalg.svdvals,
        *(call(sample(d, (4, 3))) for d in INEXACT),
        dtype="real",
        normwise=True,
        ulps=256,
    ),
    row(
        "linalg.trace",
        _trace,
        call(A),
        call(A, offset=1),
        call(sample("float32"), dtype="float64"),
        *(call(sample(d)) for d in NUMERIC),
        dtype="accumulator",
        normwise=True,
    ),
    row(
        "linalg.vector_norm",
        _vector_norm,
        call(A),
        call(A, axis=1, keepdims=True),
        call(A, axis=(0, 2)),
        *(call(A, ord=o) for o in ORDERS),
        *(call(sample(d), axis=0) for d in INEXACT),
        dtype="real",
        normwise=True,
        ulps=64,
    ),
]


class LinalgSuite:
    """Products and decompositions."""

    @cases(ROWS)
    def test_linalg(self, variant: Variant, row: Row) -> None:
        """Unique results match the oracle; others satisfy equations: ``q @ r == x``, ``x @ v == v * w``."""
        check_row(variant, row)

    def test_linalg_has_the_products(self) -> None:
        """``xo.linalg`` has the products of the main namespace."""
        for name in ("matmul", "matrix_transpose", "tensordot", "vecdot"):
            assert getattr(xo.linalg, name) is getattr(xo, name)
