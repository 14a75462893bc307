"""Engines serve calls without copies between NumPy and PyTorch, and never where the array's library has to serve."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import xarrayops as xo
from xarrayops import standard
from xarrayops._ops.engines import serving

torch = pytest.importorskip("torch", exc_type=ImportError)

X = np.random.default_rng(0).standard_normal((6, 6))
CALLS = {
    "abs": lambda x: xo.abs(x),
    "add": lambda x: xo.add(x, x),
    "argmax": lambda x: xo.argmax(x, axis=0),
    "argsort": lambda x: xo.argsort(x),
    "concat": lambda x: xo.concat([x, x]),
    "cumulative_sum": lambda x: xo.cumulative_sum(x, axis=1),
    "einsum": lambda x: xo.einsum("ij,jk->ik", x, x),
    "exp": lambda x: xo.exp(x),
    "fft.rfft": lambda x: xo.fft.rfft(x),
    "linalg.eigh": lambda x: xo.linalg.eigh(xo.add(x, xo.matrix_transpose(x))),
    "linalg.inv": lambda x: xo.linalg.inv(x),
    "linalg.solve": lambda x: xo.linalg.solve(x, x),
    "matmul": lambda x: xo.matmul(x, x),
    "maximum": lambda x: xo.maximum(x, 0.5),
    "mean": lambda x: xo.mean(x, axis=0),
    "median": lambda x: xo.median(x, axis=0),
    "pad": lambda x: xo.pad(x, 1),
    "quantile": lambda x: xo.quantile(x, 0.3, axis=0),
    "relayout": lambda x: xo.relayout(x, "a b -> b a"),
    "softmax": lambda x: xo.softmax(x),
    "sort": lambda x: xo.sort(x),
    "std": lambda x: xo.std(x, axis=0),
    "sum": lambda x: xo.sum(x, axis=0),
    "take": lambda x: xo.take(x, xo.argsort(x[0, :]), axis=0),
    "tensordot": lambda x: xo.tensordot(x, x),
    "topk": lambda x: xo.topk(x, 2),
    "unique_values": lambda x: xo.unique_values(x),
    "where": lambda x: xo.where(xo.greater(x, 0), x, 0.0),
}
PAIRS = [("numpy", "torch"), ("torch", "numpy")]


def of(library, array=X):
    return xo.convert(array, library, copy=True)


def error_of(call):
    try:
        call()
    except Exception as error:
        return error
    raise AssertionError("the call raises nothing")


@pytest.fixture
def exchanged(monkeypatch):
    """The memory of each array that is passed to another library, before and after."""
    found = []

    def recording(function):
        def record(route, x, *rest):
            y = function(route, x, *rest)
            found.append((x, y))
            return y

        return record

    for name in ("_passed", "_back"):  # routes are kept, with the aliases that earlier calls found
        monkeypatch.setattr(serving.Route, name, recording(getattr(serving.Route, name)))
    return found


@pytest.fixture
def served(monkeypatch):
    """The verbs that engines served."""
    verbs = []
    serve = serving.Route.__call__

    def recording(route, args, kwargs):
        result = serve(route, args, kwargs)
        verbs.append(route.verb)
        return result

    monkeypatch.setattr(serving.Route, "__call__", recording)
    return verbs


def pointer(x):
    return x.data_ptr() if isinstance(x, torch.Tensor) else x.ctypes.data


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(("library", "engine"), PAIRS)
def test_no_copy_between_numpy_and_torch(exchanged, served, library, engine, name):
    x = of(library)
    with xo.engines(engine):
        result = CALLS[name](x)
    assert name in served
    assert len(exchanged) >= 2
    for before, after in exchanged:
        assert before.shape == () or pointer(before) == pointer(after)
    want = CALLS[name](of("numpy"))
    for got, expected in zip(*(r if isinstance(r, tuple) else (r,) for r in (result, want)), strict=True):
        assert type(got) in (np.ndarray, np.float64) if library == "numpy" else type(got) is torch.Tensor
        host = np.asarray(got)
        assert library == "torch" or got.shape == () or got.flags.writeable
        assert host.dtype == expected.dtype
        if name != "linalg.eigh":  # eigenvectors are not unique
            np.testing.assert_allclose(host, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("verb", ["exp", "sort", "cumulative_sum", "add"])
def test_numpy_allocates_nothing(verb):
    """The result is memory of PyTorch, which tracemalloc does not see."""
    x = np.ones((1000, 1000))
    with xo.engines("torch"):
        CALLS[verb](x)
        tracemalloc.start()
        result = CALLS[verb](x)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert result.shape == x.shape
    assert peak < x.nbytes / 50


def test_results_are_of_the_callers_library_by_jax(served):
    jax = pytest.importorskip("jax", exc_type=ImportError)
    x = X.astype("float32")
    with xo.engines("jax"):
        result = xo.exp(x)
    assert served == ["exp"]
    assert type(result) is np.ndarray
    assert result.flags.writeable
    assert result.dtype == x.dtype
    y = jax.numpy.asarray(x)
    with xo.engines("numpy"):
        result = xo.sort(y)
    assert isinstance(result, jax.Array)
    assert served == ["exp", "sort"]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("engine", ["numpy", "torch"])
def test_memory_of_jax_is_lent_to_an_engine(exchanged, served, engine, dtype):
    jax = pytest.importorskip("jax", exc_type=ImportError)
    x = jax.numpy.arange(6, dtype=dtype).reshape(2, 3)
    with xo.engines(engine):
        explanation = xo.explain("matmul", x, x.T)
        result = xo.matmul(x, x.T)
    assert served == ["matmul"]
    assert explanation.candidates[0].copies == ()
    before, after = exchanged[0]
    assert before.unsafe_buffer_pointer() == pointer(after)
    assert isinstance(result, jax.Array)
    assert result.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(result, np.float64), [[5.0, 14.0], [14.0, 50.0]])
    np.testing.assert_array_equal(np.asarray(x, np.float64), [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])


@pytest.mark.parametrize("engine", ["numpy", "torch"])
def test_indices_for_jax_without_64_bits(served, engine):
    """JAX's indices are int32 then. Numbers of an engine are int64, and cannot be anything but indices or counts."""
    jax = pytest.importorskip("jax", exc_type=ImportError)
    if jax.config.jax_enable_x64:
        pytest.skip("the 64-bit types of JAX are on")
    x = jax.numpy.asarray([[3, 1, 2], [5, 5, 4]], "int32")
    with xo.engines(engine):
        found = [xo.argmax(x, axis=1), *xo.unique_counts(x), xo.argsort(x, axis=1, descending=True)]
    assert served == ["argmax", "unique_counts", "argsort"]
    assert all(isinstance(y, jax.Array) and y.dtype == "int32" for y in found)
    assert [y.tolist() for y in found] == [[0, 0], [1, 2, 3, 4, 5], [1, 1, 1, 1, 2], [[0, 2, 1], [0, 1, 2]]]


def test_a_result_that_jax_cannot_alias_keeps_its_device(served):
    jax = pytest.importorskip("jax", exc_type=ImportError)
    x = jax.numpy.arange(1.0, 4.0)
    with xo.engines("numpy"):
        for _ in range(20):  # NumPy's memory has no alignment that JAX requires, except by chance
            result = xo.exp(x)
            assert result.devices() == x.devices()
            np.testing.assert_allclose(np.asarray(result), np.exp(np.asarray(x)), rtol=1e-6)
    assert served == ["exp"] * 20


@pytest.mark.parametrize("order", [("torch", "jax"), ("jax", "torch")])
def test_the_first_engine_that_can_serve_is_preferred(monkeypatch, order):
    pytest.importorskip("jax", exc_type=ImportError)
    serve, names = serving.Route.__call__, []

    def recording(route, args, kwargs):
        names.append(route.engine.name)
        return serve(route, args, kwargs)

    monkeypatch.setattr(serving.Route, "__call__", recording)
    with xo.engines(*order):
        xo.exp(X.astype("float32"))
    assert names == [order[0]]


class TestTheOwnLibraryServes:
    """A call that an engine must not or cannot serve."""

    def test_without_a_block(self, served):
        with xo.engines("torch"):
            xo.add(X, X)
        xo.add(X, X)
        assert served == ["add"]
        assert standard._add[np.ndarray][np.ndarray] is np.add

    def test_gradients(self, served):
        x = of("torch").requires_grad_(True)
        with xo.engines("numpy"):
            loss = xo.sum(xo.exp(x))
        loss.backward()
        np.testing.assert_allclose(x.grad.numpy(), np.exp(X))
        assert not served

    def test_one_tensor_with_a_gradient(self, served):
        x, weight = of("torch"), of("torch").requires_grad_(True)
        with xo.engines("numpy"):
            assert xo.matmul(x, weight).requires_grad
        assert not served

    @pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
    @pytest.mark.parametrize("transform", ["grad", "vmap", "jvp"])
    def test_transformations_of_torch(self, served, transform):
        x = of("torch")
        calls = {
            "grad": lambda: torch.func.grad(lambda y: xo.sum(xo.exp(y)))(x),
            "vmap": lambda: torch.func.vmap(lambda y: xo.exp(y))(x),
            "jvp": lambda: torch.func.jvp(lambda y: xo.exp(y), (x,), (torch.ones_like(x),))[1],
        }
        with xo.engines("numpy"):
            got = calls[transform]()
        np.testing.assert_allclose(got.numpy(), np.exp(X))
        assert not served

    def test_torch_compile(self, served):
        def function(x):
            return xo.sum(xo.exp(x), axis=0)

        torch.compiler.reset()
        with xo.engines("numpy"):
            got = torch.compile(function, fullgraph=True, backend="eager")(of("torch"))
        np.testing.assert_allclose(got.numpy(), np.exp(X).sum(axis=0))
        assert not served

    @pytest.mark.parametrize("transform", ["jit", "grad", "vmap"])
    def test_transformations_of_jax(self, served, transform):
        jax = pytest.importorskip("jax", exc_type=ImportError)
        x = jax.numpy.asarray(X, dtype="float32")
        functions = {"jit": xo.exp, "grad": lambda y: xo.sum(xo.exp(y)), "vmap": xo.exp}
        with xo.engines("numpy", "torch"):
            got = getattr(jax, transform)(functions[transform])(x)
        np.testing.assert_allclose(np.asarray(got), np.exp(X), rtol=1e-5)
        assert not served

    def test_numpy_arrays_inside_of_jit(self, served):
        jax = pytest.importorskip("jax", exc_type=ImportError)
        small = X.astype("float32")
        with xo.engines("jax"):
            got = jax.jit(lambda y: y + xo.exp(small))(jax.numpy.zeros((6, 6)))
        np.testing.assert_allclose(np.asarray(got), np.exp(X), rtol=1e-5)
        assert not served

    def test_task_graphs(self, served):
        dask = pytest.importorskip("dask.array")
        x = dask.from_array(X, chunks=3)
        with xo.engines("numpy", "torch"):
            result = xo.exp(x)
        assert xo.is_lazy(result)
        with xo.engines("dask"):
            assert type(xo.exp(X)) is np.ndarray
        assert not served

    def test_scalars_and_subclasses(self, served):
        parameter = torch.nn.Parameter(torch.ones(3), requires_grad=False)
        with xo.engines("torch", "numpy"):
            xo.add(np.float64(1), np.float64(2))
            xo.exp(parameter)
        assert not served

    def test_views(self, served):
        with xo.engines("torch"):
            assert np.shares_memory(xo.reshape(X, (36,)), X)
            assert np.shares_memory(xo.relayout(X, "a b -> a b"), X)
        assert not served

    def test_other_default_dtypes(self):
        with xo.engines("torch"):
            assert xo.add(np.asarray([1]), 1.5).dtype == np.float64
            assert xo.add(np.asarray([1]), np.asarray([1.5], dtype="float32")).dtype == np.float64
            assert xo.mean(np.arange(4)).dtype == np.float64
        with xo.engines("numpy"):
            assert xo.mean(torch.arange(4)).dtype is torch.float32
            with xo.use(dtype="float64"):
                assert xo.mean(torch.arange(4)).dtype is torch.float64

    def test_jax_without_64_bits(self):
        code = """
import numpy as np, jax, xarrayops as xo
assert not jax.config.jax_enable_x64
with xo.engines("jax"):
    assert xo.exp(np.ones(3)).dtype == np.float64
    assert xo.argmax(np.ones(3, dtype="float32")).dtype == np.int64
    assert xo.sum(np.ones(3, dtype="int8")).dtype == np.int64
    assert xo.exp(np.ones(3, dtype="float32")).dtype == np.float32
    assert xo.explain("exp", np.ones(3, dtype="float32")).chosen == "jax:exp"
    assert xo.explain("exp", np.ones(3)).chosen == "numpy:exp"
    assert "indexing" in xo.explain("argmax", np.ones(3, dtype="float32")).candidates[0].reason
with xo.engines("numpy"):
    assert xo.argmax(jax.numpy.ones(3)).dtype == "int32"
"""
        pytest.importorskip("jax", exc_type=ImportError)
        environment = os.environ | {"JAX_ENABLE_X64": "0"}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]


class TestErrors:
    """Users get the errors of their own library."""

    def test_they_are_those_of_the_own_library(self):
        calls = [
            lambda: xo.linalg.inv(np.zeros((2, 2))),
            lambda: xo.linalg.cholesky(-np.eye(2)),
            lambda: xo.take(X, np.asarray([9]), axis=0),
            lambda: xo.sum(X, axis=5),
            lambda: xo.matmul(X, X[:2]),
            lambda: xo.add(np.asarray([1], dtype="int8"), 1000),
        ]
        for call in calls:
            own = error_of(call)
            for engine in ("torch", "jax"):
                with xo.engines(engine):
                    served = error_of(call)
                assert (type(served), str(served)) == (type(own), str(own))

    def test_warnings_of_numpy_do_not_reach_torch(self, served):
        with xo.engines("numpy"):
            result = xo.log(torch.tensor([-1.0, 0.0]))
        assert served == ["log"]
        assert torch.isnan(result[0])

    def test_an_engine_that_is_not_installed(self, monkeypatch):
        from xarrayops._core.backends import find

        def missing(name):
            raise xo.BackendNotFound("cupy is not installed")

        monkeypatch.setattr(find, "named", missing)
        with xo.engines("cupy"), pytest.raises(xo.BackendNotFound):
            xo.exp(X)


def test_sparse_containers(served):
    pytest.importorskip("scipy")
    x = np.where(X > 0.5, X, 0)
    with xo.engines("torch"):
        s = xo.sparse.from_dense(x)
        product = xo.matmul(s, X)
        dense = xo.sparse.to_dense(s)
    assert served == ["sparse.from_dense", "matmul", "sparse.to_dense"]
    assert type(s).__module__.startswith("scipy.sparse")
    assert s.indices.dtype == xo.sparse.from_dense(x).indices.dtype
    np.testing.assert_array_equal(dense, x)
    np.testing.assert_allclose(product, x @ X)
    with xo.engines("numpy"):
        s = xo.sparse.from_dense(torch.from_numpy(x))
        assert s.layout is torch.sparse_csr
        np.testing.assert_allclose(xo.matmul(s, torch.from_numpy(X)).numpy(), x @ X)
    assert served[3:] == ["sparse.from_dense", "matmul"]


def test_coordinates_keep_their_width(served):
    """PyTorch has 64-bit coordinates only, so the result would be wider than NumPy's own."""
    pytest.importorskip("scipy")
    with xo.engines("torch"):
        assert xo.sparse.from_dense(X, format="coo").coords[0].dtype == np.int32
    assert not served
