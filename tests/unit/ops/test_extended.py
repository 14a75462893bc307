"""Functions under NumPy's names where a kernel serves some calls, or a compiler traces them."""

import math
import warnings

import numpy as np
import pytest

import xarrayops as xo

RANDOM = np.random.default_rng(0)


class TestLengthsThatDependOnValues:
    CALLS = (
        ("length=", lambda x, **given: xo.bincount(x, **given), {"length": 4}),
        ("length=", lambda x, **given: xo.bincount(x, x * 1.0, **given), {"length": 4}),
        ("num_segments=", lambda x, **given: xo.segment_sum(x, x, **given), {"num_segments": 4}),
        ("num_segments=", lambda x, **given: xo.segment_mean(x, x, **given), {"num_segments": 4}),
        ("num_segments=", lambda x, **given: xo.segment_max(x, x, **given), {"num_segments": 4}),
    )

    @pytest.mark.parametrize(("option", "function", "given"), CALLS)
    def test_of_tracers(self, option, function, given):
        jax = pytest.importorskip("jax")
        x = jax.numpy.asarray([1, 2, 2])
        with pytest.raises(xo.Unsupported, match=f"Instead: give {option}"):
            jax.jit(function)(x)
        np.testing.assert_array_equal(jax.jit(lambda x: function(x, **given))(x), function(x, **given))

    @pytest.mark.parametrize(("option", "function", "given"), CALLS)
    def test_of_fake_tensors(self, option, function, given):
        pytest.importorskip("torch", exc_type=ImportError)
        fake = pytest.importorskip("torch._subclasses.fake_tensor")
        import torch

        xo.backend("torch")  # imported here, where tensors have values
        with fake.FakeTensorMode():
            x = torch.empty(3, dtype=torch.int64)
            with pytest.raises(xo.Unsupported, match=f"Instead: give {option}"):
                function(x)
            assert function(x, **given).shape == (4,)

    @pytest.mark.parametrize("dtype", ["int64", "uint16", "float32", "float16", "bool"])
    @pytest.mark.parametrize("verb", ["segment_max", "segment_mean", "segment_min", "segment_sum"])
    def test_of_segments_that_dynamo_compiles(self, verb, dtype):
        """Dynamo's own error, of a guard on data, names no option. Its message has that of our error."""
        torch = pytest.importorskip("torch", exc_type=ImportError)
        x, ids = torch.ones(3).to(getattr(torch, dtype)), torch.asarray([0, 2, 2])
        with pytest.raises(torch._dynamo.exc.TorchDynamoException, match="Instead: give num_segments="):
            torch.compile(lambda x, ids: getattr(xo, verb)(x, ids), fullgraph=True, backend="eager")(x, ids)

    def test_of_counts_that_dynamo_compiles(self):
        torch = pytest.importorskip("torch", exc_type=ImportError)
        with pytest.raises(torch._dynamo.exc.TorchDynamoException, match="Instead: give length="):
            torch.compile(lambda x: xo.bincount(x), fullgraph=True, backend="eager")(torch.asarray([0, 2, 2]))

    def test_of_a_device_without_values(self):
        torch = pytest.importorskip("torch", exc_type=ImportError)
        x = torch.empty(3, dtype=torch.int64, device="meta")
        with pytest.raises(xo.Unsupported, match="Instead: give length="):
            xo.bincount(x)
        assert xo.bincount(x, length=5).shape == (5,)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int8"])
def test_means_of_long_segments(dtype):
    """The number of elements is counted as an integer: ones of a narrow dtype would stop at 256 or 2048."""
    torch = pytest.importorskip("torch", exc_type=ImportError)
    x = torch.zeros(5000, dtype=getattr(torch, dtype))
    x[::1000] = 100
    assert xo.segment_mean(x, torch.zeros(5000, dtype=torch.int64), 1).tolist() == pytest.approx([0.1], rel=2**-8)


def test_apply_where_takes_arrays_of_one_library():
    torch = pytest.importorskip("torch", exc_type=ImportError)
    x = np.asarray([4.0, -1.0])
    for args in (torch.asarray(x), (x, torch.asarray(x)), [torch.asarray(x)]):
        with pytest.raises(xo.MixedBackends, match="args"):
            xo.apply_where(x > 0, args, lambda *given: given[0], fill_value=0.0)
    np.testing.assert_array_equal(xo.apply_where(x > 0, [x, 2 * x], xo.add, fill_value=0.0), [12.0, 0.0])


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap"])
def test_pad_of_any_axes(library, mode):
    shapes = [(5,), (4, 5), (3, 4, 5), (2, 3, 4, 5)]
    for shape in shapes if library.name != "jax" else shapes[1:2]:
        x = RANDOM.normal(size=shape)[..., ::-1]
        for ends in ((1, 2), (0, 3), (9, 0)):
            width = [(0, 0)] * (len(shape) - 2) + [(1, 0), ends][-len(shape) :]
            np.testing.assert_array_equal(
                library.host(xo.pad(library.array(x), width, mode)), np.pad(x, width, mode), err_msg=f"{shape} {width}"
            )


@pytest.mark.parametrize("method", ["linear", "higher", "weibull"])
def test_quantiles_of_long_rows_with_nan(library, method):
    """PyTorch selects from rows of many elements, and sorts others. A compiler takes its time, so JAX has few."""
    for shape in ((3, 5000), (3, 50))[library.name == "jax" :]:
        x = RANDOM.normal(size=shape)
        x[1, ::7] = np.nan
        x[2] = np.nan
        for host in (x, x[:1], x[:, ::-1])[: 1 if library.name == "jax" else None]:
            with warnings.catch_warnings(action="ignore"):  # NumPy's, of rows of NaN
                want = np.nanquantile(host, 0.3, axis=1, method=method)
                got = library.host(xo.nanquantile(library.array(host), 0.3, axis=1, method=method))
            np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize("count", [3000, 100_000])
def test_means_of_many_narrow_numbers(library, count):
    """float16 cannot count them."""
    host = np.where(np.arange(count) % 2, 0.25, np.nan).astype("float16")
    host[1::4] *= 3
    x = library.array(host)
    for verb, want in (("nanmean", 0.5), ("nanvar", 0.0625), ("nanstd", 0.25)):
        got = getattr(xo, verb)(x)
        assert got.dtype == xo.float16
        assert float(library.host(got)) == pytest.approx(want, rel=2**-8)


def test_scales_of_integers(library):
    """The dtype is that of the result, not of the exponents."""
    like = library.array(np.zeros(1))
    np.testing.assert_array_equal(library.host(xo.logspace(0, 3, 4, dtype="int64", like=like)), [1, 10, 100, 1000])
    got = library.host(xo.geomspace(1, 81, 5, dtype="float32", like=like))
    np.testing.assert_allclose(got, [1, 3, 9, 27, 81], rtol=1e-6)
    assert got.dtype == np.float32
    assert library.host(xo.geomspace(2, 9, 1, like=like)).tolist() == [2.0]
    assert library.host(xo.geomspace(-2, -8, 3, like=like)).tolist() == pytest.approx([-2, -4, -8])
    first, base = np.float64(1), like[0] * 0 + 2
    assert library.host(xo.geomspace(first, 4.0, 3, like=like)).tolist() == pytest.approx([1, 2, 4])
    assert library.host(xo.logspace(first, 3, 3, base=base, like=like)).tolist() == pytest.approx([2, 4, 8])
    assert library.host(xo.kaiser(3, np.float64(0), like=like)).tolist() == pytest.approx([1, 1, 1])
    with pytest.raises(ValueError, match="both ends"):
        xo.geomspace(-1, 1, 3, like=like)


def test_convolutions_of_values_that_are_not_finite(library):
    """They reach the elements that they overlap with only."""
    x, kernel = np.asarray([1.0, 2.0, 3.0, 4.0]), np.asarray([np.inf, 1.0, np.nan])
    for mode in ("full", "same", "valid"):
        with np.errstate(all="ignore"):
            convolved, correlated = np.convolve(x, kernel, mode), np.correlate(x, kernel, mode)
        np.testing.assert_array_equal(
            library.host(xo.convolve(library.array(x), library.array(kernel), mode)), convolved
        )
        np.testing.assert_array_equal(
            library.host(xo.correlate(library.array(x), library.array(kernel), mode)), correlated
        )


def test_indices_have_the_dtype_of_the_library():
    """JAX has no int64 while its 64-bit types are off, which is its default."""
    jax = pytest.importorskip("jax")
    x, ids = RANDOM.normal(size=(4, 5)).astype("float32"), np.asarray([3, 0, 1, 3], dtype="int32")
    calls = {
        "delete": ((x, list(range(20))),),
        "histogram": ((x, 3),),
        "insert": ((x[0], [3, 1], x[0, :2]),),
        "pad": ((x, 12, "reflect"),),
        "quantile": ((x, np.asarray([0.1, 0.6], dtype="float32")),),
        "nanquantile": ((x, 0.3),),
    }
    with jax.enable_x64(False):
        for verb, every in calls.items():
            for args in every:
                arrays = [jax.numpy.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
                got = jax.eval_shape(lambda verb=verb, arrays=arrays: getattr(xo, verb)(*arrays))
                want = getattr(np, verb)(*args)
                shapes = [[each.shape for each in (r if isinstance(r, tuple) else (r,))] for r in (got, want)]
                assert shapes[0] == shapes[1], verb
        ids, x = jax.numpy.asarray(ids), jax.numpy.asarray(x)
        assert xo.bincount(ids).tolist() == [1, 1, 0, 2]
        assert jax.eval_shape(lambda: xo.one_hot(ids, 4)).shape == (4, 4)
        assert jax.eval_shape(lambda: xo.sliding_window_view(ids, 2)).shape == (3, 2)
        np.testing.assert_allclose(xo.segment_sum(x, ids, 4)[3], x[0] + x[3], rtol=1e-6)


@pytest.mark.parametrize("p", [None, 2, -2, 1, -1, math.inf, -math.inf, "fro", "nuc"])
def test_condition_numbers_of_singular_matrices(library, p):
    """Libraries raise for them in linalg.inv; their condition number is huge or infinite, for p=-2 near 0."""
    matrices = np.stack([np.eye(2), np.ones((2, 2)), np.asarray([[1.0, 1.0], [2.0, 2.0]]), np.zeros((2, 2))])
    regular, *singular, zeros = library.host(xo.linalg.cond(library.array(matrices), p=p)).tolist()
    assert regular == pytest.approx({"fro": 2.0, "nuc": 4.0}.get(p, 1.0))
    assert all(value < 1e-15 if p == -2 else value > 1e15 for value in singular)
    assert zeros == math.inf
    with pytest.raises(ValueError, match="empty"):
        xo.linalg.cond(library.array(np.ones((0, 0))), p=p)


@pytest.mark.parametrize("largest", [True, False])
def test_topk_orders_as_a_sort(library, largest):
    """NaN is the greatest, infinities and equal elements are in order, also of k = 0 and of all elements."""
    x = RANDOM.integers(-5, 5, (3, 40)).astype(float)
    x[0, ::7], x[1, 3], x[2, 5], x[0, 20] = np.nan, np.inf, -np.inf, -np.nan
    x[0, 22] = np.inf
    for host in (x, x.astype("float32").T, np.nan_to_num(x, posinf=9, neginf=-9).astype("int64"), x[:, :1]):
        axis = 0 if host.shape[0] > host.shape[1] else 1
        for k in (0, 1, 3, host.shape[axis]):
            values, indices = (library.host(a) for a in xo.topk(library.array(host), k, axis=axis, largest=largest))
            ordered = np.sort(host, axis=axis)
            want = np.take(np.flip(ordered, axis) if largest else ordered, range(k), axis=axis)
            np.testing.assert_array_equal(values, want)
            np.testing.assert_array_equal(np.take_along_axis(host, indices, axis), want)
            assert all(len(set(row)) == k for row in np.moveaxis(indices, axis, -1))
    with pytest.raises(ValueError, match="k=41 is larger than the axis, which has 40 elements"):
        xo.topk(library.array(x), 41)
    with pytest.raises(ValueError, match="k=-1 is negative"):
        xo.topk(library.array(x), -1)


def test_topk_of_numpy_sorts_k_elements_only(monkeypatch):
    x, sort, sizes = RANDOM.normal(size=20_000), np.argsort, []
    monkeypatch.setattr(np, "argsort", lambda a, *rest: (sizes.append(a.size), sort(a, *rest))[1])
    values, _ = xo.topk(x, 10)
    assert sizes == [10]
    np.testing.assert_array_equal(values, np.sort(x)[:-11:-1])


def test_empty_segments_are_left_out_of_topk(library):
    with np.errstate(invalid="ignore"):
        means = xo.segment_mean(library.array([1.0, 5.0, 3.0]), library.array([0, 2, 2]), 4)
        values, indices = xo.topk(xo.where(xo.isnan(means), -xo.inf, means), 2)
        assert (library.host(values).tolist(), library.host(indices).tolist()) == ([4.0, 1.0], [2, 0])


@pytest.mark.parametrize("name", ["hanning", "hamming", "blackman", "bartlett"])
def test_windows_take_a_whole_number(library, name):
    with pytest.raises(TypeError, match=r"n must be an integer, but it is 4\.0"):
        getattr(xo, name)(4.0, like=library.array([1.0]))


@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "dask"])
@pytest.mark.filterwarnings("error")
def test_no_warnings(library):
    """An empty segment, whose mean is NaN; and a column, which PyTorch would copy with a warning."""
    pytest.importorskip("dask.array" if library == "dask" else library)
    x = xo.convert(np.arange(12.0, dtype="float32").reshape(4, 3), library)
    means = np.asarray(xo.segment_mean(x, xo.asarray([0, 2, 2, 0], like=x, dtype="int32"), 3))
    assert np.isnan(means[1]).all()
    np.testing.assert_array_equal(means[::2], [[4.5, 5.5, 6.5], [4.5, 5.5, 6.5]])
    found = xo.digitize(x[:, 0], xo.asarray([1.0, 5.0], like=x, dtype="float32"))
    np.testing.assert_array_equal(np.asarray(found), [0, 1, 2, 2])


@pytest.mark.parametrize("values", [[1.0, 3.0, 2.0], [math.nan, 3.0], [math.nan]])
@pytest.mark.parametrize("name", ["nanargmax", "nanargmin"])
def test_the_index_of_a_vector_has_the_type_of_other_reductions(library, name, values):
    x = library.array(values)
    assert type(getattr(xo, name)(x)) is type(xo.argmax(x))
