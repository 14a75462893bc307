"""Dask arrays whose chunks are neither NumPy's nor CuPy's are refused, and the error says what works."""

import numpy as np
import pytest

import xarrayops as xo

da = pytest.importorskip("dask.array")
X = np.arange(12, dtype="float32").reshape(4, 3)
PLAIN = da.from_array(X, chunks=2)


def of_torch():
    torch = pytest.importorskip("torch")
    return PLAIN.map_blocks(torch.asarray, meta=torch.empty(0, 0))


def of_jax():
    jnp = pytest.importorskip("jax.numpy")
    return PLAIN.map_blocks(jnp.asarray, meta=jnp.zeros((0, 0), "float32"))


def of_sparse():
    return PLAIN.map_blocks(pytest.importorskip("sparse").COO)


def of_scipy():
    return PLAIN.map_blocks(pytest.importorskip("scipy.sparse").csr_array)


MADE = {"torch.Tensor": of_torch, "jaxlib.ArrayImpl": of_jax, "sparse.COO": of_sparse, "scipy.csr_array": of_scipy}
CALLS = {
    "sum": xo.sum,
    "add": lambda x: xo.add(1, x),
    "concat": lambda x: xo.concat([PLAIN, x]),
    "matmul": lambda x: xo.matmul(PLAIN, x),
    "histogram": lambda x: xo.histogram(x, 3),
    "astype": lambda x: xo.astype(x, "float64"),
    "at": lambda x: xo.at(x)[0].set(1.0),
    "attention": lambda x: xo.attention(x, x, x),
    "einsum": lambda x: xo.einsum("ij->i", x),
    "convert": lambda x: xo.convert(x, "numpy"),
    "compute": xo.compute,
    "explain": lambda x: xo.explain("sum", x),
    "default_rng": lambda x: xo.random.default_rng(0, like=x),
    "namespace": lambda x: xo.array_namespace(x).sum(x),
}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.filterwarnings("ignore:Explicitly requested dtype")  # Dask asks JAX for float64
def test_refused(name, call):
    x = MADE[name]()
    with pytest.raises(xo.Unsupported, match="chunks of a Dask array must be NumPy or CuPy arrays") as error:
        CALLS[call](x)
    assert f"these are {name}. Instead: " in str(error.value)


@pytest.mark.parametrize("name", MADE)
def test_what_the_error_says_works(name):
    x = MADE[name]()
    with pytest.raises(xo.Unsupported) as error:
        xo.sum(x)
    instead = str(error.value).partition("Instead: ")[2].rstrip(".")
    found = eval(instead, {"x": x, "xo": xo, "numpy": np})
    np.testing.assert_array_equal(xo.compute(xo.add(found, 1)), X + 1)
    assert (type(found._meta), found.dtype) == (np.ndarray, X.dtype)


def test_numbers_and_subclasses_as_chunks_stay():
    total = PLAIN.sum()
    total._meta = np.float32(0)
    assert float(xo.add(total, 1)) == 67.0
