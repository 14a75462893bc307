"""NumPy memory becomes that of JAX arrays, also where JAX guards transfers or traces a function."""

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.plugin.host import views

jax = pytest.importorskip("jax")


@pytest.fixture
def aligned():
    a = views.aligned((3, 5), np.dtype("float32"))
    a[...] = np.arange(15).reshape(3, 5)
    return a


def is_alias(x, a):
    """Whether x has the values and the memory of a, on the first CPU."""
    assert x.committed
    assert x.devices() == {jax.devices("cpu")[0]}
    np.testing.assert_array_equal(np.asarray(x), a)
    return x.unsafe_buffer_pointer() == a.ctypes.data


def test_device_put_is_not_called(aligned, monkeypatch):
    """It takes twice the time."""
    monkeypatch.setattr(jax, "device_put", None)
    assert is_alias(xo.convert(aligned, "jax"), aligned)
    assert not is_alias(xo.convert(aligned, "jax", copy=True), aligned)


@pytest.mark.parametrize("level", ["disallow", "log"])
def test_a_transfer_guard_allows_conversions(aligned, level):
    with jax.transfer_guard(level):
        x = xo.convert(aligned, "jax")
    assert is_alias(x, aligned)


def test_a_traced_function_gets_an_array(aligned):
    found = []

    @jax.jit
    def shifted(x):
        found.append(xo.convert(aligned, "jax"))
        return x + found[0]

    np.testing.assert_array_equal(np.asarray(shifted(np.float32(1))), aligned + 1)
    assert is_alias(found[0], aligned)


@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (7, 1, 2)])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", "float32", "complex64"])
def test_shapes_and_dtypes(shape, dtype):
    a = np.array(np.arange(np.prod(shape)).reshape(shape) % 3, dtype)
    x = xo.convert(a, "jax", copy=True)
    assert (x.shape, x.dtype) == (shape, a.dtype)
    before = a.copy()
    a[...] = 2
    np.testing.assert_array_equal(np.asarray(x), before)


@pytest.mark.parametrize("engine", ["numpy", "torch"])
def test_results_of_engines_keep_their_memory(engine):
    """Each result has memory of its own, which stays while the array is used."""
    pytest.importorskip(engine)
    x = xo.asarray(np.arange(5000.0, dtype="float32"), backend="jax")
    with xo.engines(engine):
        results = [xo.add(x, float(i)) for i in range(20)]
    assert len({each.unsafe_buffer_pointer() for each in results}) == 20
    for i, each in enumerate(results):
        np.testing.assert_array_equal(np.asarray(each), np.arange(5000) + i)
