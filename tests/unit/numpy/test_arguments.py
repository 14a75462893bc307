"""NumPy's arguments: out=, where=, casting=, dtype=, like=; defaults, numbers and hostile values."""

import warnings

import numpy
import pytest

import xarrayops as xo
import xarrayops.numpy as np

MUTABLE = ("numpy", "torch")
IMMUTABLE = ("jax", "dask")


def of(library, values, dtype="float32"):
    pytest.importorskip(library)
    return xo.convert(numpy.asarray(values, dtype), library, copy=True)


def host(x):
    return numpy.asarray(xo.convert(xo.compute(x), "numpy"))


@pytest.mark.parametrize("library", MUTABLE)
def test_out_is_written_and_returned(library):
    x, out = of(library, [1, 4, 9]), of(library, [0, 0, 0])
    assert np.sqrt(x, out) is out
    assert host(out).tolist() == [1, 2, 3]
    assert np.add(x, out, out=(out,)) is out
    assert host(out).tolist() == [2, 6, 12]
    total = of(library, 0.0)
    assert np.sum(x, 0, None, total) is total
    assert float(total) == 14


@pytest.mark.parametrize("library", IMMUTABLE)
def test_out_that_cannot_be_written_raises_with_what_to_write(library):
    x = of(library, [1, 4, 9])
    with pytest.raises(xo.Unsupported, match=r"out = np\.sqrt"):
        np.sqrt(x, out=x)
    with pytest.raises(xo.Unsupported, match=r"dst = xo\.at"):
        np.copyto(x, 1)


def test_read_only_out_raises():
    x = numpy.ones(3)
    x.flags.writeable = False
    with pytest.raises(ValueError, match=r"np\.add writes"):  # NumPy's class of error
        np.add(x, 1, out=x)


@pytest.mark.parametrize("library", MUTABLE)
def test_where_keeps_the_other_elements_of_out(library):
    x, out = of(library, [1, 0, 4]), of(library, [7, 7, 7])
    with numpy.errstate(all="raise"):
        np.divide(2.0, x, out=out, where=x != 0)
    assert host(out).tolist() == [2, 7, 0.5]
    if library == "numpy":  # which leaves the other elements undefined
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # NumPy 2.4 warns
            assert np.divide(2.0, x, where=x != 0)[[0, 2]].tolist() == [2, 0.5]
        return
    with pytest.raises(xo.Unsupported, match=r"np\.where\(where"):
        np.divide(2.0, x, where=x != 0)


def test_out_of_another_shape_or_kind_is_refused():
    with pytest.raises(TypeError, match="cannot cast the result from float64 to int64"):
        np.add(numpy.ones(2), 0.5, out=numpy.zeros(2, int))
    assert np.add(numpy.ones(2), 0.5, out=numpy.zeros(2, int), casting="unsafe").tolist() == [1, 1]
    with pytest.raises(ValueError, match="broadcast"):
        np.add(numpy.ones(2), 0.5, out=numpy.zeros(3))
    with pytest.raises(ValueError, match="broadcast"):
        np.sum(numpy.ones((2, 3)), 0, out=numpy.zeros(2))
    with pytest.raises(ValueError, match="casting must be one of"):
        np.add(numpy.ones(2), 1, out=numpy.zeros(2), casting="no such")


def test_out_may_overlap_the_operands():
    x, y = numpy.arange(6.0), numpy.arange(6.0)
    np.add(x[:-1], x[1:], out=x[1:])
    numpy.add(y[:-1], y[1:], out=y[1:])
    assert x.tolist() == y.tolist()


WRITING = {
    "np.copyto(x, y)": "numpy",
    "np.put(x, [0, -1], [5.0, 6.0])": None,
    "np.place(x, x > 1, [8.0, 9.0])": None,
    "np.putmask(x, x > 1, [8.0, 9.0])": None,
    "np.fill_diagonal(x, 4.0)": None,
    "np.put_along_axis(x, np.argmax(x, 1)[:, None], 0.0, 1)": None,
    "np.add.at(x, ([0, 0], [1, 1]), 2.0)": None,
    "np.nan_to_num(x, False)": None,
}


@pytest.mark.parametrize("library", MUTABLE)
@pytest.mark.parametrize("call", WRITING)
def test_functions_that_write_in_place(call, library):
    values = numpy.asarray([[0.5, 2.0, numpy.nan], [3.0, 1.5, 0.25], [7.0, 0.0, 1.0]])
    wanted, x = values.copy(), of(library, values, "float64")
    eval(call, {"np": numpy, "x": wanted, "y": values[::-1]})
    eval(call, {"np": np, "x": x, "y": of(library, values[::-1], "float64")})
    numpy.testing.assert_array_equal(host(x), wanted)


def test_new_arrays_follow_use_with_numpys_dtypes():
    torch = pytest.importorskip("torch")
    with xo.use("torch"):
        assert np.zeros(3).dtype == torch.float64
        assert np.asarray([1, 2]).dtype == torch.int64
        assert np.linspace(0, 1, 3).dtype == torch.float64
        assert np.sqrt([1, 2]).dtype == torch.float64
    with xo.use("torch", dtype="float32"):
        assert np.zeros(3).dtype == torch.float32
        assert np.asarray([1.0, 2]).dtype == torch.float32
        assert np.asarray([1j]).dtype == torch.complex64
        assert np.arange(3).dtype == torch.int64
    like = np.ones((2, 2), like=torch.zeros(1))
    assert isinstance(like, torch.Tensor)
    assert like.dtype == torch.float64


def test_64_bits_on_jax_without_them_raise_unless_a_dtype_is_set():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(False), xo.use("jax"):
        with pytest.raises(xo.Unsupported, match="64"):
            np.zeros(3)
        with xo.use(dtype="float32"):
            assert np.zeros(3).dtype == "float32"


def test_limits_of_clip_stay_numbers():
    jax = pytest.importorskip("jax")
    x = of("jax", [-1, 0.5, 2])
    with jax.enable_x64(False):
        assert host(np.clip(x, 0, 1)).tolist() == [0, 0.5, 1]
        assert host(np.clip(x, max=1)).tolist() == [-1, 0.5, 1]
    assert np.clip(3, numpy.float32(0), None) == 3


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_densities_have_numpys_dtype(dtype):
    x, edges = numpy.asarray([0, 1, 1], dtype), numpy.asarray([0, 0.5, 1])
    found, wanted = (module.histogram(x, edges, density=True)[0] for module in (np, numpy))
    assert found.dtype == wanted.dtype
    numpy.testing.assert_allclose(found, wanted)


def test_broadcast_arrays_takes_no_arrays_and_unknown_lengths():
    assert np.broadcast_arrays() == ()
    x = of("dask", [1, 2, 3])
    assert host(np.broadcast_arrays(x[x > 1], 2)[0]).tolist() == [2, 3]


PROMOTIONS = """
    bool bool bool, bool int8 int8, int8 uint8 int16, int16 uint8 int16, int64 uint8 int64, uint8 uint16 uint16
    uint32 int32 int64, uint64 int64 float64, float16 bool float16, float16 int8 float16, float16 int16 float32
    float16 int32 float64, float32 float16 float32, float32 int16 float32, float32 int32 float64
    float64 float32 float64, float32 complex64 complex64, float64 complex64 complex128
    int32 complex64 complex128, int16 complex64 complex64
"""


def test_promotion_is_numpys():
    names = iter(PROMOTIONS.replace(",", "").split())
    for first, second, wanted in zip(names, names, names, strict=True):
        assert np.result_type(first, second) == np.result_type(second, first) == wanted, (first, second)
    for first, number, wanted in (("int8", 1, "int8"), ("int8", 0.5, "float64"), ("float32", 1j, "complex64")):
        assert np.result_type(first, number) == wanted
    x, y = of("torch", [1, 2], "int32"), of("torch", [0.5, 0.5], "float16")
    assert np.multiply(x, y).dtype == np.concatenate([x, y]).dtype == np.float64


@pytest.mark.parametrize("call", ["np.reshape(x, (3, -1))", "np.ravel(x)", "np.size(x, 0)", "np.resize(x, (2, 5))"])
def test_functions_of_shapes_compile_to_one_graph(call):
    torch = pytest.importorskip("torch")
    x = torch.arange(6.0).reshape(2, 3)
    found = torch.compile(eval(f"lambda x: {call}", {"np": np}), backend="eager", fullgraph=True)(x)
    numpy.testing.assert_array_equal(found, eval(call, {"np": numpy, "x": x.numpy()}))


def test_arrays_of_two_libraries_are_refused():
    torch = pytest.importorskip("torch")
    for call in (np.add, np.dot, lambda a, b: np.concatenate([a, b]), lambda a, b: np.where(a > 0, a, b)):
        with pytest.raises(xo.MixedBackends):
            call(torch.ones(2), numpy.ones(2))


@pytest.mark.parametrize("call", ["np.array_equiv(None, x)", "np.heaviside(x, None)"])
def test_none_as_an_array_is_refused(call):
    torch = pytest.importorskip("torch")
    with pytest.raises(xo.BackendNotFound, match=r"(class NoneType|argument \w+ is None)"):
        eval(call, {"np": np, "x": torch.ones(2)})


def test_errors_say_what_numpy_needs():
    with pytest.raises(ValueError, match="same size"):
        np.vdot(numpy.ones(2), numpy.ones((1, 3)))
    with pytest.raises(ValueError, match=r"atleast_1d"):
        np.nonzero(numpy.ones(()))


HOSTILE = {
    "np.sum('abc')": xo.BackendNotFound,
    "np.sum(np.ones(3), 5)": ValueError,
    "np.sum(np.ones(3), axis=[0])": TypeError,
    "np.reshape(np.ones(6), (4, -1))": ValueError,
    "np.reshape(np.ones(6), (2, 3), 'X')": ValueError,
    "np.concatenate([])": ValueError,
    "np.concatenate(3)": TypeError,
    "np.take(np.ones(3), 7)": IndexError,
    "np.take(np.ones(3), [0.5])": TypeError,
    "np.zeros(3, 'no such')": TypeError,
    "np.zeros(-1)": ValueError,
    "np.linspace(0, 1, -1)": ValueError,
    "np.split(np.ones(5), 2)": ValueError,
    "np.max(np.ones(3), where=np.ones(3) > 0)": ValueError,
    "np.max(np.zeros(0))": ValueError,
    "np.sort(np.ones(3), order='x')": ValueError,
    "np.quantile(np.ones(3), 0.5, weights=np.ones(3))": ValueError,
    "np.histogram(np.ones(3), 'no such rule')": ValueError,
    "np.power(np.asarray([2]), -1)": ValueError,
    "np.ndarray((2,))": TypeError,
    "np.dtype('no such')": TypeError,
    "np.sin.reduce(np.ones(3))": ValueError,
    "np.asarray_chkfinite([np.nan])": ValueError,
    "np.unravel_index(7, (2, 3))": ValueError,
    "np.nonzero(3)": ValueError,
    "np.var(np.ones(3), ddof=1, correction=1)": ValueError,
    "np.clip(np.ones(3), 1)": TypeError,
    "np.insert(np.ones(3), np.asarray([0.5]), 1)": IndexError,
    "np.delete(np.ones(3), np.zeros(0))": IndexError,
    "np.delete(np.ones(3), [True, False])": ValueError,
    "np.pad(np.ones(3), 1, 'edge', constant_values=1)": ValueError,
    "np.put_along_axis(np.ones((2, 2)), np.asarray([[0]]), 1, None)": ValueError,
    "np.ravel_multi_index(([0], [0]), (0, 2), 'clip')": ValueError,
    "np.unravel_index([0], ())": ValueError,
    "np.rollaxis(np.ones((2, 2)), 0, -3)": IndexError,
    "np.arange('a')": TypeError,
    "np.linspace(0, 1, 2.5)": TypeError,
    "np.geomspace([1, 0], 2, 3)": ValueError,
    "np.linalg.cond(np.ones((0, 0)))": ValueError,
    "np.linalg.norm(np.ones((2, 2)), axis=(0, 5))": IndexError,
    "np.nanmean(np.ones(3), dtype=int)": TypeError,
    "np.convolve(np.ones(3), np.ones(3), 'v')": ValueError,
    "np.sum(np.ones(3), axis='x')": TypeError,
}


@pytest.mark.parametrize("call", HOSTILE)
def test_hostile_arguments_raise(call):
    with pytest.raises(HOSTILE[call]):
        eval(call)


def test_dtypes_cast_and_compare():
    assert np.float32(2.5) == numpy.float32(2.5)
    assert np.dtype("f4") == np.float32 == numpy.dtype("float32")
    assert np.dtype(float).itemsize == 8
    assert isinstance(numpy.float64(3), np.floating)
    assert isinstance(numpy.int8(3), np.integer)
    assert not isinstance(3, np.integer)
    assert issubclass(numpy.float32, np.floating)
    assert not isinstance(numpy.float64(3), np.ndarray)
    assert isinstance(numpy.ones(2), np.ndarray)
    assert np.float64([1, 2]).tolist() == [1.0, 2.0]


def test_random_numbers_have_numpys_methods():
    rng, again = np.random.default_rng(5), np.random.default_rng(5)
    assert rng.random((2, 3)).tolist() == again.random((2, 3)).tolist()
    assert rng.normal([0.0, 10.0], 1.0).shape == (2,)
    assert rng.uniform(2, 3, size=4).min() >= 2
    assert rng.integers(5, size=20).max() < 5
    assert sorted(rng.permutation(4).tolist()) == [0, 1, 2, 3]
    assert sorted(rng.choice(5, 5, replace=False).tolist()) == [0, 1, 2, 3, 4]
    assert sorted(rng.permuted([3, 1, 2]).tolist()) == [1, 2, 3]
    assert rng.beta([0.5, 2.0], 3).shape == (2,)
    assert rng.exponential(2.0, 3).shape == rng.lognormal(size=3).shape == rng.standard_normal(3).shape
    x = numpy.arange(5)
    assert rng.shuffle(x) is None
    assert sorted(x.tolist()) == [0, 1, 2, 3, 4]
    assert rng.standard_normal(out=numpy.zeros(3)).shape == (3,)
    assert len(rng.spawn(2)) == 2
    with pytest.raises(AttributeError, match="NumPy's generator has this distribution"):
        rng.gamma(1, 2)


@pytest.mark.parametrize("library", ["torch", "jax", "dask"])
def test_random_numbers_are_of_the_default_library(library):
    pytest.importorskip(library)
    with xo.use(library, dtype="float32"):
        rng = np.random.default_rng(5)
    x = rng.normal(0.0, 1.0, 3)
    assert xo.backend(x).name == library


def test_errors_of_numpy_are_silenced():
    with np.errstate(divide="ignore"):
        assert np.divide(numpy.ones(1), 0.0)[0] == np.inf
    assert np.seterr() == np.geterr() == numpy.geterr()


@pytest.mark.parametrize("library", [*MUTABLE, *IMMUTABLE])
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum", "logical_and", "logical_or"])
def test_an_initial_value_of_each_reduction(name, library):
    values = numpy.asarray([[0, 0, 2], [3, 1, 1]], "float32")
    for initial in (0, 1):
        found = getattr(np, name).reduce(of(library, values), axis=1, initial=initial)
        assert host(found).tolist() == getattr(numpy, name).reduce(values, axis=1, initial=initial).tolist()
