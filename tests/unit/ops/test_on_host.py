"""xo.on_host: functions of NumPy's arrays with the arrays of every library."""

import pickle
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import xarrayops as xo

LIBRARIES = ("torch", "jax", "dask")
X = np.asarray([3.0, 1.0, 2.0], dtype="float32")


class Pair(NamedTuple):
    first: object
    second: object


@dataclass(frozen=True)
class Record:
    values: object
    name: str


@pytest.fixture(params=LIBRARIES)
def library(request):
    pytest.importorskip(request.param)
    return request.param


def made(library, x=X):
    return xo.convert(x, library, copy=True)


def host(x):
    return np.asarray(xo.convert(xo.compute(x), "numpy"))


def is_of(x, library):
    return xo.backend(x).name == library


def test_arguments_and_results_move(library):
    seen = []

    def function(x, options, *, scale):
        seen.extend([x, options["y"], options["z"][1], scale])
        return x * scale

    given = made(library)
    found = xo.on_host(function)(given, {"y": given, "z": ["a", given]}, scale=2.0)
    assert [type(each) for each in seen] == [np.ndarray] * 3 + [float]
    assert is_of(found, library)
    assert np.array_equal(host(found), X * 2)
    assert found.dtype == given.dtype


def test_nested_results_move(library):
    def function(x):
        return Pair(x, {"sum": x.sum()}), Record(x + 1, "r"), [x > 2, "text", None, 3], np.asarray(["a"])

    pair, record, listed, text = xo.on_host(function)(made(library))
    assert is_of(pair.first, library)
    assert host(pair.second["sum"]) == 6
    assert is_of(pair.second["sum"], library)
    assert (type(record), record.name) == (Record, "r")
    assert np.array_equal(host(record.values), X + 1)
    assert host(listed[0]).tolist() == [True, False, False]
    assert listed[1:] == ["text", None, 3]
    assert type(text) is np.ndarray


def test_results_of_scipy_keep_their_class(library):
    stats = pytest.importorskip("scipy.stats")
    wanted = stats.ttest_1samp(X, 0.0)
    found = xo.on_host(stats.ttest_1samp)(made(library), 0.0)
    assert type(found) is type(wanted)
    assert np.isclose(host(found.pvalue), wanted.pvalue)
    assert is_of(found[0], library)


def test_an_object_that_can_be_called_is_a_function():
    torch = pytest.importorskip("torch")
    line = xo.on_host(np.poly1d([2.0, 1.0]))
    assert line(torch.ones(2)).tolist() == [3, 3]
    assert "poly1d" in repr(line)
    with pytest.raises(TypeError, match="takes a function, not int"):
        xo.on_host(3)


def test_numpys_arrays_and_numbers_are_given_as_they_are():
    function = xo.on_host(lambda *args: args)
    assert function(X, 1)[0] is X
    assert function(2, "a") == (2, "a")


def test_numpys_arrays_beside_others_are_allowed(library):
    found = xo.on_host(np.add)(made(library), X)
    assert is_of(found, library)
    assert np.array_equal(host(found), X + X)


def test_a_write_into_an_argument_is_not_lost(library):
    x = made(library)
    if library == "torch":
        xo.on_host(np.ndarray.sort)(x)
        assert x.tolist() == [1, 2, 3]
        return
    with pytest.raises(xo.Unsupported, match=r"wrote into args\[0\]"):
        xo.on_host(np.ndarray.sort)(x)
    assert host(x).tolist() == X.tolist()


def test_two_libraries_are_refused():
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    with pytest.raises(xo.MixedBackends, match="on_host"):
        xo.on_host(np.add)(torch.ones(2), jax.numpy.ones(2))


def test_a_gradient_is_not_lost():
    torch = pytest.importorskip("torch")
    with pytest.raises(xo.ExchangeError, match="detach"):
        xo.on_host(np.sin)(torch.ones(2, requires_grad=True))


def test_profile_counts_and_strict_names_each_call(library):
    x = made(library)
    with xo.profile(show=False) as counted:
        xo.on_host(np.sort)(x)
        np.sort(X)
    assert [each.what for each in counted.crossings] == ["xo.on_host(sort)"]
    assert counted.computes + counted.transfers == 1
    with pytest.raises(xo.CrossingError, match=r"xo\.on_host\(sort\)"), xo.strict(transfers=0, waits=0, computes=0):
        xo.on_host(np.sort)(x)


def test_jit_needs_the_shape_of_the_result():
    jax = pytest.importorskip("jax")
    x = jax.numpy.asarray(X)
    with pytest.raises(xo.Unsupported, match="result="):
        jax.jit(xo.on_host(np.sort))(x)
    of_arguments = xo.on_host(np.sort, result=lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype))
    assert jax.jit(of_arguments)(x).tolist() == [1, 2, 3]
    several = xo.on_host(lambda x: (np.sort(x), x.sum()), result=(x, jax.ShapeDtypeStruct((), "float32")))
    ordered, total = jax.jit(several)(x)
    assert (ordered.tolist(), float(total)) == ([1, 2, 3], 6)
    assert jax.vmap(of_arguments)(jax.numpy.stack([x, -x])).tolist() == [[1, 2, 3], [-3, -2, -1]]
    assert of_arguments(x).tolist() == [1, 2, 3]


def test_it_pickles_and_has_the_name_of_the_function():
    function = xo.on_host(np.linalg.norm)
    assert function.__name__ == "norm"
    assert float(pickle.loads(pickle.dumps(function))([3.0, 4.0])) == 5
