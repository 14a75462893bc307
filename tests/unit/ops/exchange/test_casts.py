"""convert with a dtype: who casts, what is copied, and what explain says before."""

import array_api_strict as xps
import numpy as np
import pytest

import xarrayops as xo

X = np.asarray([[0.0, 1.5], [-2.25, 2.0**24 + 1]])
LIBRARIES = ("numpy", "torch", "jax", "dask", "array_api_strict")


def of(library):
    pytest.importorskip(library)
    return xps if library == "array_api_strict" else library


def name_of(x):
    return xo.backend(x).functions["dtype_name"](x.dtype)


@pytest.fixture(params=LIBRARIES)
def library(request):
    return of(request.param)


@pytest.fixture
def without_64_bits():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(False):
        yield


@pytest.mark.parametrize("source", LIBRARIES)
@pytest.mark.parametrize("dtype", ["float32", "int16", "complex64", "bool"])
def test_the_values_are_those_of_astype(source, library, dtype):
    x = xo.convert(X[:1].astype("float32"), of(source))
    found = xo.convert(x, library, dtype=dtype)
    explained = xo.explain("convert", x, library, dtype=dtype)
    assert name_of(found) == dtype
    assert xo.backend(found).name == xo.backend(library).name
    np.testing.assert_array_equal(xo.convert(found, "numpy"), X[:1].astype("float32").astype(dtype))
    assert explained.action == "copy" or dtype == "float32"


def test_wide_values_get_into_jax_without_64_bits(without_64_bits):
    with pytest.raises(xo.ExchangeError, match="cast to float32 first"):
        xo.convert(X, "jax")
    for source in ("numpy", "torch", "dask"):
        x = xo.convert(X, of(source))
        for dtype in ("float32", float, np.float32):
            found = xo.convert(x, "jax", dtype=dtype)
            assert found.dtype == "float32"
            np.testing.assert_array_equal(found, X.astype("float32"))
        explained = xo.explain("convert", x, "jax", dtype="float32")
        assert explained.action == "copy"
        assert explained.reason.startswith(f"{source} casts float64 to float32; ")
        assert explained.nbytes in (16, 32)
    keys = xo.convert(np.asarray([3, 2**31 - 1]), "jax", dtype=int)
    assert (keys.dtype, keys.tolist()) == ("int32", [3, 2**31 - 1])
    with pytest.raises(xo.ExchangeError, match="64-bit types are off"):
        xo.convert(X, "jax", dtype="float64")
    narrow = xo.convert(X.astype("float32"), "jax")
    assert xo.convert(narrow, "numpy", dtype="float64").dtype == "float64"
    assert xo.explain("convert", narrow, "numpy", dtype="float64").reason.endswith("numpy casts float32 to float64")


def test_a_cast_is_a_copy(library):
    x = xo.convert(X[:1].astype("float32"), library)
    assert xo.convert(x, library, dtype="float32") is x
    assert xo.explain("convert", x, library, dtype="float32").action == "zero-copy"
    assert xo.explain("convert", x, library, dtype="int8", copy=False).action == "refuse"
    with pytest.raises(xo.ExchangeError, match="the cast from float32 to int8 is a copy"):
        xo.convert(x, library, dtype="int8", copy=False)
    host = xo.convert(x, "numpy", dtype="float16", copy=True)
    assert host.flags.writeable
    before = np.array(xo.convert(x, "numpy"))
    host[:] = 7
    np.testing.assert_array_equal(xo.convert(x, "numpy"), before)


def test_bytes_are_those_of_the_cast_and_of_the_transfer():
    assert xo.explain("convert", X, "numpy", dtype="float32").nbytes == 16
    assert xo.explain("convert", X, "numpy", dtype="float32").reason == "numpy casts float64 to float32"
    torch = of("torch")
    assert xo.explain("convert", X, torch, dtype="float32").nbytes == 16
    assert xo.explain("convert", X, torch, dtype="float32", copy=True).nbytes == 32


def test_dtypes_that_the_target_lacks_are_refused(library):
    with pytest.raises((xo.Unsupported, xo.ExchangeError, ValueError), match="no such"):
        xo.convert(X.astype("float32"), library, dtype="no such")
    with pytest.raises((xo.Unsupported, xo.ExchangeError), match="complex"):
        xo.convert(xo.convert((X + 0j).astype("complex64"), library), "numpy", dtype="float32")


def test_values_of_sparse_containers_are_cast(without_64_bits):
    scipy = pytest.importorskip("scipy.sparse")
    s = scipy.csr_array(np.asarray([[0.0, 1.5], [2.5, 0.0]]))
    found = xo.convert(s, "jax", dtype="float32")
    assert found.data.dtype == "float32"
    np.testing.assert_array_equal(xo.sparse.to_dense(found), s.toarray())
    assert xo.convert(s, "numpy", dtype="float32").data.dtype == np.float32
    assert xo.explain("convert", s, "jax", dtype="float32").action == "copy"
