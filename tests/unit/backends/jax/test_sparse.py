"""Sparse matrices on JAX: concrete and traced calls, gradients, and padding, compared with dense NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.errors import InvalidSparse, Unsupported

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax.experimental.sparse import BCOO, BCSR, COO  # noqa: E402
from xarrayops_backends.jax import _sparse as companion  # noqa: E402
from xarrayops_backends.jax._sparse import programs  # noqa: E402

FORMATS = ["coo", "csr"]
each_format = pytest.mark.parametrize("format", FORMATS)


def matrix(rows: int = 5, columns: int = 7, *, seed: int = 0, dtype: str = "float32") -> np.ndarray[Any, Any]:
    """Small integers, exact in every dtype, more than half of them zero, with an empty row and an empty column."""
    random = np.random.default_rng(seed)
    x = random.integers(-4, 5, (rows, columns)) * (random.random((rows, columns)) < 0.6)
    x[rows // 2 : rows // 2 + 1], x[:, 1:2] = 0, 0
    return np.abs(x).astype(dtype) if dtype.startswith("u") else x.astype(dtype)


def scattered(x: Any, *, extra: int = 0) -> Any:
    """A BCOO with each entry split in two, in random order, with padding between them."""
    random = np.random.default_rng(1)
    places = np.argwhere(x)
    places = np.concatenate([places, places, np.full((extra, 2), x.shape)])
    values = np.concatenate([x[x != 0] - 1, np.ones((x != 0).sum()), np.full(extra, 9)]).astype(x.dtype)
    order = random.permutation(len(places))
    return BCOO((jnp.asarray(values[order]), jnp.asarray(places[order].astype("int32"))), shape=x.shape)


KINDS: dict[str, Callable[[], Any]] = {
    "coo": lambda: BCOO.fromdense(jnp.asarray(matrix())),
    "csr": lambda: BCSR.fromdense(jnp.asarray(matrix())),
    "padded coo": lambda: BCOO.fromdense(jnp.asarray(matrix()), nse=33),
    "padded csr": lambda: BCSR.fromdense(jnp.asarray(matrix()), nse=33),
    "unsorted": lambda: scattered(matrix(), extra=4),
    "no entries": lambda: BCSR.fromdense(jnp.zeros((5, 7), "float32")),
    "no rows": lambda: xo.sparse.from_dense(jnp.zeros((0, 7), "float32"), "coo", nnz_max=2),
    "no columns": lambda: xo.sparse.from_dense(jnp.zeros((5, 0), "float32"), nnz_max=2),
}


SORTED = ("add", "multiply", "matmul sparse", "sddmm", "csr")
"""The operations whose containers are sorted, also while tracing."""


def dense(x: Any) -> np.ndarray[Any, Any]:
    """The dense array of a container, summed entry by entry; an array unchanged."""
    if not companion.holds(x):
        return np.asarray(x)
    p = companion.parts(x)
    out = np.zeros(x.shape, "float64" if x.dtype.kind != "c" else "complex128")
    coords = p.coords if p.format == "coo" else (np.searchsorted(p.indptr, np.arange(x.nse), "right") - 1, p.indices)
    for row, column, value in zip(*map(np.asarray, (*coords, p.data)), strict=True):
        if row < x.shape[0] and column < x.shape[1]:
            out[row, column] += value
    return out


def verbs(s: Any, x: Any, y: Any) -> dict[str, Any]:
    """The result of every operation on s (m, n), x (n, 3) and y (3, m)."""
    transposed = xo.sparse.transpose(s)
    return {
        "to_dense": xo.sparse.to_dense(s),
        "matmul": xo.matmul(s, x),
        "matmul vector": xo.matmul(s, x[:, 0]),
        "matmul from the left": xo.matmul(y, s),
        "matmul vector from the left": xo.matmul(y[0], s),
        "matmul sparse": xo.matmul(s, transposed),
        "transpose": transposed,
        "add": xo.sparse.add(s, xo.sparse.multiply(s, -0.5)),
        "multiply": xo.sparse.multiply(s, s),
        "multiply number": xo.sparse.multiply(2.5, s),
        "multiply row": xo.sparse.multiply(s, x[:, 1]),
        "multiply column": xo.sparse.multiply(y[1][:, None], s),
        "sum": xo.sparse.sum(s),
        "sum of columns": xo.sparse.sum(s, axis=0),
        "sum of rows": xo.sparse.sum(s, axis=-1),
        "sddmm": xo.sparse.sddmm(y.T, x.T, s),
        "coo": xo.sparse.convert(s, "coo"),
        "csr": xo.sparse.convert(xo.sparse.convert(s, "coo"), "csr"),
    }


def expected(s: Any, x: Any, y: Any, places: Any) -> dict[str, Any]:
    """The same results for dense arrays."""
    return {
        "to_dense": s,
        "matmul": s @ x,
        "matmul vector": s @ x[:, 0],
        "matmul from the left": y @ s,
        "matmul vector from the left": y[0] @ s,
        "matmul sparse": s @ s.T,
        "transpose": s.T,
        "add": s * 0.5,
        "multiply": s * s,
        "multiply number": s * 2.5,
        "multiply row": s * x[:, 1],
        "multiply column": s * y[1][:, None],
        "sum": s.sum(),
        "sum of columns": s.sum(axis=0),
        "sum of rows": s.sum(axis=1),
        "sddmm": places * (y.T @ x.T),
        "coo": s,
        "csr": s,
    }


@pytest.mark.parametrize(
    ("kind", "traced"), [(kind, traced) for kind in KINDS for traced in (False, True) if not traced or " " in kind]
)
def test_every_operation_equals_that_of_dense_arrays(kind: str, traced: bool) -> None:
    s = KINDS[kind]()
    random = np.random.default_rng(2)
    x, y = (random.standard_normal(shape).astype("float32") for shape in ((s.shape[1], 3), (3, s.shape[0])))
    found = (jax.jit(verbs) if traced else verbs)(s, jnp.asarray(x), jnp.asarray(y))
    places = dense(s) != 0
    wide = (np.asarray(a, "float64") for a in (dense(s), x, y))
    for name, right in expected(*wide, places).items():
        result = found[name]
        np.testing.assert_allclose(dense(result), right, rtol=1e-5, atol=1e-5, err_msg=name)
        assert result.dtype == "float32", name
        if companion.holds(result) and result is not s and (name in SORTED or not traced):
            xo.sparse.validate(result, canonical=True)
            assert result.indices_sorted, name
            assert result.unique_indices, name
            assert traced or result.nse == xo.convert(result, "numpy").nnz, name


@pytest.mark.parametrize(
    ("format", "dtype"),
    [
        *(("csr", dtype) for dtype in ("bool", "int8", "uint16", "int32", "float16", "float8_e5m2", "complex64")),
        *(("coo", dtype) for dtype in ("bool", "bfloat16", "complex64")),
    ],
)
def test_dtypes(format: str, dtype: str) -> None:
    x = matrix(dtype="uint8" if dtype[0] in "bu" else "int8").astype(jnp.dtype(dtype))
    wide = x.astype("complex64" if dtype == "complex64" else "float32").astype("complex128")
    s = xo.sparse.from_dense(jnp.asarray(x), format)
    xo.sparse.validate(s, canonical=True)
    assert s.dtype == dtype
    ones = jnp.ones((7, 2), dtype)
    for wrapped in (lambda f: f, jax.jit):
        np.testing.assert_array_equal(np.asarray(wrapped(xo.sparse.to_dense)(s)).astype("complex128"), wide)
        product = wrapped(xo.matmul)(s, ones)
        total = wide.sum(axis=1)
        assert product.dtype == dtype
        right = (total != 0) if dtype == "bool" else total
        np.testing.assert_array_equal(np.asarray(product).astype("complex128"), np.stack([right, right], axis=1))
        by_rows = wrapped(lambda s: xo.sparse.sum(s, axis=1))(s)
        assert by_rows.dtype == jnp.sum(jnp.asarray(x), axis=1).dtype
        np.testing.assert_array_equal(np.asarray(by_rows).astype("complex128"), total)


def test_bools_are_combined_by_or() -> None:
    places = jnp.asarray([[0, 1], [0, 1], [1, 0]], "int32")
    s = BCOO((jnp.asarray([True, True, False]), places), shape=(2, 2))
    for wrapped in (lambda f: f, jax.jit):
        np.testing.assert_array_equal(wrapped(xo.sparse.to_dense)(s), [[False, True], [False, False]])
        np.testing.assert_array_equal(wrapped(lambda s: xo.sparse.sum(s, axis=1))(s), [1, 0])
        joined = wrapped(lambda s: xo.sparse.add(s, s))(s)
        np.testing.assert_array_equal(xo.sparse.to_dense(joined), [[False, True], [False, False]])


def test_dtypes_are_promoted_as_jax_does() -> None:
    s = xo.sparse.from_dense(jnp.asarray(matrix(dtype="int32")))
    x = jnp.ones((7, 2), "float16")
    assert xo.matmul(s, x).dtype == jnp.matmul(xo.sparse.to_dense(s), x).dtype
    assert xo.sparse.multiply(s, 0.5).dtype == (xo.sparse.to_dense(s) * 0.5).dtype
    np.testing.assert_array_equal(dense(xo.sparse.multiply(s, 0.5)), matrix() * 0.5)


def test_non_finite_values_affect_only_their_own_results() -> None:
    x = matrix()
    x[0, 0], x[4, 6], x[3, 0] = np.nan, np.inf, -np.inf
    other = np.ones((7, 2), "float32")
    other[1] = np.nan  # which matches no entry
    with np.errstate(invalid="ignore"):
        product = np.where(x != 0, x, 0) @ np.where(np.isnan(other), 0, other)
    for format in FORMATS:
        s = xo.sparse.from_dense(jnp.asarray(x), format, nnz_max=40)
        for wrapped in (lambda f: f, jax.jit):
            np.testing.assert_array_equal(wrapped(xo.sparse.to_dense)(s), x)
            np.testing.assert_allclose(wrapped(xo.matmul)(s, jnp.asarray(other)), product, rtol=1e-6)
            np.testing.assert_array_equal(
                wrapped(lambda s: xo.sparse.to_dense(xo.sparse.multiply(s, jnp.asarray(other[:, 0]))))(s),
                np.where(x != 0, x * other[:, 0], 0),
            )
            np.testing.assert_array_equal(wrapped(lambda s: xo.sparse.sum(s, axis=0))(s)[1:], x.sum(axis=0)[1:])


def test_padding_is_not_visible_to_other_libraries() -> None:
    for s in (KINDS["padded coo"](), KINDS["padded csr"]()):
        xo.sparse.validate(s)
        over = xo.convert(s, "numpy")
        np.testing.assert_array_equal(over.toarray(), matrix())
        assert over.nnz == (matrix() != 0).sum()
    for indices in ([[0, 7]], [[5, 0]], [[-1, 0]]):
        s = BCOO((jnp.ones(1), jnp.asarray(indices)), shape=(5, 7))
        for call in (xo.sparse.validate, xo.sparse.to_dense, xo.sparse.transpose):
            with pytest.raises(InvalidSparse):
                call(s)
    inside = BCSR((jnp.ones(1), jnp.asarray([7]), jnp.asarray([0, 1, 1, 1, 1, 1])), shape=(5, 7))
    with pytest.raises(InvalidSparse, match="7 columns"):
        xo.matmul(inside, jnp.ones(7))
    assert not jax.jit(xo.matmul)(inside, jnp.ones(7)).any()


def test_refusals_of_unsupported_containers() -> None:
    batched = BCOO.fromdense(jnp.ones((2, 3, 4)), n_batch=1)
    blocks = BCOO.fromdense(jnp.ones((3, 4)), n_dense=1)
    for s in (batched, blocks):
        with pytest.raises(Unsupported, match=r"batch or dense axes.*bcoo_update_layout"):
            xo.sparse.parts(s)
    with pytest.raises(Unsupported, match=r"COO is neither BCOO nor BCSR.*todense"):
        xo.sparse.parts(COO((jnp.ones(1), jnp.zeros(1, int), jnp.zeros(1, int)), shape=(2, 2)))


def test_traced_products_of_containers_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    s = KINDS["csr"]()
    monkeypatch.setattr(companion, "PAIRS", s.nse**2 - 1)
    with pytest.raises(Unsupported, match=r"all pairs.*outside of jax\.jit"):
        jax.jit(lambda s: xo.matmul(s, xo.sparse.transpose(s)))(s)
    np.testing.assert_allclose(dense(xo.matmul(s, xo.sparse.transpose(s))), matrix() @ matrix().T)


def test_parts_are_those_of_the_container() -> None:
    s = KINDS["csr"]()
    p = xo.sparse.parts(s)
    assert p.data is s.data
    assert p.indices is s.indices
    again = companion.wrap(p)
    assert again.indptr is s.indptr
    coo = scattered(matrix())
    p = xo.sparse.parts(coo)
    np.testing.assert_array_equal(p.coords, coo.indices.T)
    assert (p.sorted, p.unique) == (None, None)
    np.testing.assert_array_equal(companion.wrap(p).indices, coo.indices)
    canonical = xo.sparse.from_parts("coo", p.coords, p.data, shape=p.shape, canonicalize=True)
    assert canonical.indices_sorted
    assert canonical.unique_indices
    np.testing.assert_array_equal(canonical.todense(), matrix())


def _losses(format: str) -> tuple[Any, Any, tuple[Any, ...]]:
    """A loss of the operations, the same loss of dense arrays, and the arguments of both, in double precision."""
    random = np.random.default_rng(3)
    s = xo.sparse.from_dense(jnp.asarray(matrix(dtype="float64")), format, nnz_max=20)
    p = xo.sparse.parts(s)
    pattern = matrix() != 0
    rows, columns = np.nonzero(pattern)
    x, y = (jnp.asarray(random.standard_normal(shape)) for shape in ((7, 3), (3, 5)))

    def weigh(results: dict[str, Any]) -> Any:
        arrays = [xo.sparse.to_dense(r) if companion.holds(r) else r for r in results.values()]
        return sum(jnp.sum(jnp.sin(a + jnp.arange(a.size).reshape(a.shape))) for a in arrays)

    def loss(data: Any, x: Any, y: Any) -> Any:
        given = xo.sparse.from_parts(format, *list(p.arrays.values())[:-1], data, shape=p.shape, check=False)
        return weigh(verbs(given, x, y))

    def dense_loss(data: Any, x: Any, y: Any) -> Any:
        full = jnp.zeros((5, 7)).at[rows, columns].add(data[: len(rows)])
        return weigh(expected(full, x, y, pattern))

    return loss, dense_loss, (p.data, x, y)


@each_format
def test_gradients_are_those_of_dense_arrays(format: str) -> None:
    with jax.enable_x64(True):
        loss, dense_loss, at = _losses(format)
        everything = (0, 1, 2)
        direction = jax.tree.map(jnp.cos, at)

        def derivatives(f: Any) -> Any:
            return jax.jit(lambda *at: (jax.grad(f, everything)(*at), jax.jvp(f, at, direction)))(*at)

        found, right = (jax.tree.leaves(derivatives(f)) for f in (loss, dense_loss))
        for a, b in zip(found, right, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_second_derivatives_of_products() -> None:
    with jax.enable_x64(True):
        s = xo.sparse.from_dense(jnp.asarray(matrix(dtype="float64")))
        x = jnp.linspace(0, 1, 7)

        def loss(x: Any, product: Any) -> Any:
            return jnp.sum(jnp.sin(product(x)))

        found = jax.hessian(lambda x: loss(x, lambda x: xo.matmul(s, x)))(x)
        right = jax.hessian(lambda x: loss(x, lambda x: jnp.asarray(matrix(dtype="float64")) @ x))(x)
        np.testing.assert_allclose(found, right, rtol=1e-10, atol=1e-12)


@each_format
def test_containers_pass_through_transformations(format: str) -> None:
    s = xo.sparse.from_dense(jnp.asarray(matrix()), format)
    random = np.random.default_rng(4)
    xs = random.standard_normal((4, 7, 2)).astype("float32")
    for axis in (0, 2):
        batch = jnp.asarray(np.moveaxis(xs, 0, axis))
        found = jax.vmap(xo.matmul, in_axes=(None, axis))(s, batch)
        np.testing.assert_allclose(found, matrix() @ xs, rtol=1e-5, atol=1e-5)
    scaled = jax.vmap(lambda factor: xo.sparse.to_dense(xo.sparse.multiply(s, factor)))(jnp.arange(3.0))
    np.testing.assert_array_equal(scaled, matrix() * np.arange(3.0)[:, None, None])
    products = jax.vmap(lambda factor: xo.matmul(xo.sparse.multiply(s, factor), jnp.asarray(xs[0])))(jnp.arange(3.0))
    np.testing.assert_allclose(products, np.arange(3.0)[:, None, None] * (matrix() @ xs[0]), rtol=1e-5, atol=1e-5)
    grad = jax.grad(lambda s: jnp.sum(xo.matmul(s, jnp.asarray(xs[0])) ** 2), allow_int=True)(s)
    right = 2 * (matrix() @ xs[0]) @ xs[0].T
    np.testing.assert_allclose(grad.data, right[matrix() != 0], rtol=1e-4, atol=1e-4)


def test_sampled_products_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "SAMPLED", 12)
    programs.sddmm.clear_cache()
    random = np.random.default_rng(5)
    a, b = (random.standard_normal(shape).astype("float32") for shape in ((5, 4), (4, 7)))
    s = KINDS["padded csr"]()
    found = jax.jit(xo.sparse.sddmm)(jnp.asarray(a), jnp.asarray(b), s)
    np.testing.assert_allclose(dense(found), (matrix() != 0) * (a @ b), rtol=1e-5, atol=1e-6)
    grad = jax.grad(lambda a: xo.sparse.sum(xo.sparse.sddmm(a, jnp.asarray(b), s)))(jnp.asarray(a))
    np.testing.assert_allclose(grad, (matrix() != 0) @ b.T, rtol=1e-5, atol=1e-5)
    programs.sddmm.clear_cache()


class TestCusparse:
    """When cuSPARSE is chosen. CPU devices pose as GPUs, and JAX's CPU kernels replace cuSPARSE."""

    @pytest.fixture
    def on_cuda(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(companion, "_kind", lambda device: "cuda")
        monkeypatch.setattr(companion, "memory", lambda x: None)

    @staticmethod
    def refusal(a: Any, b: Any) -> str:
        return xo.explain("matmul", a, b).candidates[0].reason

    def test_refused_on_other_devices(self) -> None:
        s, x = BCSR.fromdense(jnp.asarray(matrix())), jnp.ones((7, 3), "float32")
        assert self.refusal(s, x) == "the values are not on a CUDA device"
        assert xo.explain("matmul", s, x).chosen == "jax:host"

    @pytest.mark.parametrize("dtype", ["float32", "complex64"])
    @pytest.mark.parametrize("kind", ["coo", "csr", "padded coo", "padded csr"])
    def test_products(self, on_cuda: None, kind: str, dtype: str) -> None:
        s, x = KINDS[kind](), matrix()
        for right, left in (((7,), (5,)), ((7, 3), (4, 5)), ((7, 1), (1, 5))):
            b, c = (np.arange(np.prod(shape)).reshape(shape).astype(dtype) for shape in (right, left))
            assert xo.explain("matmul", s, jnp.asarray(b)).chosen == "jax:cusparse"
            for got, want in ((xo.matmul(s, jnp.asarray(b)), x @ b), (xo.matmul(jnp.asarray(c), s), c @ x)):
                np.testing.assert_array_equal(got, want)
                assert got.dtype == dtype

    def test_unsorted_rows(self, on_cuda: None) -> None:
        indptr, indices = (jnp.asarray(x, "int32") for x in ([0, 3, 4], [2, 0, 2, 1]))
        s = BCSR((jnp.asarray([1.0, 2, 3, 4]), indices, indptr), shape=(2, 3))
        assert xo.explain("matmul", s, jnp.eye(3)).chosen == "jax:cusparse"
        assert xo.matmul(s, jnp.eye(3)).tolist() == [[2, 0, 4], [0, 4, 0]]
        assert xo.matmul(jnp.eye(2), s).tolist() == [[2, 0, 4], [0, 4, 0]]

    def test_refusals(self, on_cuda: None) -> None:
        s, x = KINDS["csr"](), jnp.ones((7, 3), "float32")
        assert self.refusal(s, BCSR.fromdense(x)) == "it multiplies a container by a dense array, not two containers"
        assert "sorted by row" in self.refusal(scattered(matrix()), x)
        assert "not float16" in self.refusal(BCSR.fromdense(jnp.ones((5, 7), "float16")), x.astype("float16"))
        wide = BCSR(
            (s.data, s.indices.astype("int16"), s.indptr), shape=s.shape, indices_sorted=True, unique_indices=True
        )
        assert self.refusal(wide, x) == "it supports int32 indices, not int16"
        assert "empty matrices" in self.refusal(s, x[:, :0])
        assert "empty matrices" in self.refusal(KINDS["no entries"](), x)

    def test_traced_products_use_jax(self, on_cuda: None) -> None:
        s, x = KINDS["csr"](), jnp.ones((4, 7, 3))
        got = jax.vmap(lambda b: xo.matmul(s, b))(x)
        np.testing.assert_array_equal(got, matrix() @ np.ones((4, 7, 3)))
        reasons = []
        jax.jit(lambda b: reasons.append(self.refusal(s, b)))(x[0])
        assert "concrete" in reasons[0]
