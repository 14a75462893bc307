"""The library and device of new arrays: like=, backend= and device=, `use`, the environment, or NumPy."""

import asyncio
import inspect
import threading

import array_api_strict as xps
import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.modes import defaults

N = np.ones(2)
S = xps.ones(2)
CREATORS = [
    lambda **options: xo.zeros(3, **options),
    lambda **options: xo.ones((2, 3), **options),
    lambda **options: xo.empty((), **options),
    lambda **options: xo.full(2, 7, **options),
    lambda **options: xo.arange(3, **options),
    lambda **options: xo.eye(2, 3, k=1, **options),
    lambda **options: xo.linspace(0, 1, 5, **options),
    lambda **options: xo.fft.fftfreq(4, **options),
    lambda **options: xo.fft.rfftfreq(4, **options),
    lambda **options: xo.asarray([1, 2], **options),
    lambda **options: xo.asarray(3.0, **options),
]


@pytest.fixture
def torch():
    library = pytest.importorskip("torch")
    pytest.importorskip("xarrayops_backends.torch")
    return library


@pytest.mark.parametrize("create", CREATORS)
class TestChoice:
    def test_numpy_is_the_default(self, create):
        assert type(create()) is np.ndarray

    def test_like(self, create):
        assert type(create(like=S)) is type(S)
        assert create(like=S).device == S.device
        assert type(create(like=np.float32(1))) is np.ndarray

    def test_like_gives_the_device(self, create):
        other = xps.Device("device1")
        x = xps.ones(2, device=other)
        assert create(like=x).device == other
        assert create(like=x, device=S.device).device == S.device

    def test_backend(self, create, torch):
        assert type(create(backend="torch")) is torch.Tensor
        assert type(create(backend="torch", device="cpu")) is torch.Tensor

    def test_use(self, create, torch):
        with xo.use("torch"):
            assert type(create()) is torch.Tensor
            assert type(create(backend="numpy")) is np.ndarray
            assert type(create(like=S)) is type(S)
        assert type(create()) is np.ndarray

    def test_dtypes(self, create):
        assert create(dtype="float32").dtype == np.float32
        assert create(dtype=np.float32).dtype == np.float32
        assert create(like=S, dtype="float32").dtype == xps.float32
        assert create(like=S, dtype=xps.float32).dtype == xps.float32

    def test_like_and_backend(self, create):
        with pytest.raises(TypeError, match="like= or backend=, not both"):
            create(like=N, backend="numpy")

    def test_unknown(self, create):
        with pytest.raises(xo.BackendNotFound, match=r"'nunpy': it has .*numpy"):
            create(backend="nunpy")
        with pytest.raises(xo.BackendNotFound, match="list"):
            create(like=[1.0])
        with pytest.raises(xo.Unsupported, match=r"numpy has no device 'cuda:7': it has cpu"):
            create(device="cuda:7")
        with pytest.raises(xo.Unsupported, match=r"numpy has no dtype 'float31'.*float32"):
            create(dtype="float31")
        with pytest.raises(xo.Unsupported, match=r"array_api_strict has no dtype 'float16'.*float32"):
            create(like=S, dtype="float16")

    def test_dtypes_of_another_library(self, create):
        for options in ({"dtype": xps.float32}, {"like": S, "dtype": np.float32}, {"like": S, "dtype": N.dtype}):
            with pytest.raises(xo.MixedBackends, match="name the dtype by the string"):
                create(**options)


def default_library():
    return xo.backend(xo.zeros(1)).name


class TestUse:
    def test_nested(self, torch):
        with xo.use("torch"):
            with xo.use("numpy"):
                assert default_library() == "numpy"
            assert default_library() == "torch"
        assert default_library() == "numpy"

    def test_one_block_entered_twice(self, torch):
        block = xo.use("torch")
        with block:
            with block:
                assert default_library() == "torch"
            assert default_library() == "torch"
        assert default_library() == "numpy"

    def test_leaving_by_an_error(self, torch):
        with pytest.raises(ZeroDivisionError), xo.use("torch"):
            raise ZeroDivisionError
        assert default_library() == "numpy"
        assert defaults._place.open_blocks == 0

    def test_the_device(self):
        with xo.use("numpy", device="cpu"):
            assert default_library() == "numpy"
        with xo.use("numpy", device="tpu"), pytest.raises(xo.Unsupported, match="'tpu'"):
            xo.zeros(1)

    def test_an_explicit_backend_ignores_the_device_of_the_block(self, torch):
        with xo.use("torch", device="meta"):
            assert type(xo.zeros(1, backend="numpy")) is np.ndarray
            assert xo.zeros(1).device.type == "meta"
            assert xo.zeros(1, device="cpu").device.type == "cpu"

    def test_wrong_arguments_raise_at_once(self):
        for default in (xo.use, xo.set_default):
            with pytest.raises(xo.BackendNotFound, match=r"'nunpy'.*did you mean 'numpy'"):
                default("nunpy")
            verb = rf"^xo\.{default.__name__}"
            with pytest.raises(
                xo.BackendNotFound, match=verb + r": 'float64' is a dtype\. Instead: .*dtype=\"float64\""
            ):
                default("float64")
            with pytest.raises(TypeError, match=verb + r" has no like=\. Instead: "):
                default(like=N)
            with pytest.raises(TypeError, match=verb + r" takes device= and dtype= by keyword\. Instead: "):
                default("numpy", "float32")
            assert list(inspect.signature(default).parameters) == ["backend", "device", "dtype"]

    def test_each_thread_has_its_own_default(self, torch):
        seen = {}
        inside, done = threading.Event(), threading.Event()

        def other():
            inside.wait()
            seen["other"] = default_library()
            done.set()

        thread = threading.Thread(target=other)
        thread.start()
        with xo.use("torch"):
            inside.set()
            done.wait()
            seen["this"] = default_library()
        thread.join()
        assert seen == {"other": "numpy", "this": "torch"}

    def test_each_task_has_its_own_default(self, torch):
        async def task(name, gate, other):
            with xo.use(name):
                gate.set()
                await other.wait()
                return default_library()

        async def main():
            a, b = asyncio.Event(), asyncio.Event()
            return await asyncio.gather(task("torch", a, b), task("numpy", b, a))

        assert asyncio.run(main()) == ["torch", "numpy"]


class TestEnvironment:
    code = "import xarrayops as xo; print(xo.backend(xo.zeros(1)).name, xo.backend(xo.asarray(1)).name)"

    def test_the_variable_sets_the_default(self, run, torch):
        assert run(self.code, XARRAYOPS_BACKEND="torch") == "torch torch"

    def test_empty_means_numpy(self, run):
        assert run(self.code, XARRAYOPS_BACKEND="") == "numpy numpy"

    def test_use_has_priority(self, run):
        code = f"import xarrayops as xo\nwith xo.use('numpy'):\n    {self.code.partition('; ')[2]}"
        assert run(code, XARRAYOPS_BACKEND="nunpy") == "numpy numpy"

    def test_unknown(self, run):
        code = "import xarrayops as xo\ntry:\n    xo.zeros(1)\nexcept xo.BackendNotFound as e:\n    print(e)"
        assert "'nunpy': it has" in run(code, XARRAYOPS_BACKEND="nunpy")


class TestAsarray:
    def test_an_array_keeps_its_library(self, torch):
        assert xo.asarray(N) is N
        assert type(xo.asarray(S)) is type(S)
        with xo.use("torch"):
            assert xo.asarray(N) is N
        assert xo.asarray(N, copy=True) is not N

    def test_backend_and_like_convert(self, torch):
        assert type(xo.asarray(S, backend="numpy")) is np.ndarray
        assert type(xo.asarray(N, like=S)) is type(S)
        assert xo.asarray(N, backend="torch").data_ptr() == N.ctypes.data
        assert xo.asarray(N, backend="torch", copy=True).data_ptr() != N.ctypes.data
        assert xo.asarray(N, like=torch.ones(1), dtype="float32").dtype is torch.float32

    def test_lists_of_arrays_keep_their_library(self, torch):
        stacked = xo.asarray([torch.tensor(1.0), torch.tensor(2.0)])
        assert type(stacked) is torch.Tensor
        assert stacked.tolist() == [1.0, 2.0]
        assert xo.asarray([N, [3.0, 4.0]]).tolist() == [[1, 1], [3, 4]]

    def test_a_list_of_arrays_for_another_library(self):
        with pytest.raises(xo.MixedBackends, match=r"like: array_api_strict .*; obj\[0\]: numpy "):
            xo.asarray([N, N], like=S)

    def test_buffers(self):
        import array

        assert xo.asarray(memoryview(b"ab")).tolist() == [97, 98]
        assert xo.asarray(array.array("d", [1.5])).tolist() == [1.5]

    @pytest.mark.parametrize("bad", ["text", object(), {1}, {1: 2}, None, range(3), iter([1])])
    def test_objects_that_are_not_numbers(self, bad):
        name = type(bad).__name__
        advice = r"Instead: xo\.asarray\(list\(obj\)\)" if name == "range" else "takes a number, a nested list"
        with pytest.raises(xo.BackendNotFound, match=f"of class .*{name}.* {advice}"):
            xo.asarray(bad)

    @pytest.mark.parametrize("bad", [[None], ["a"], [["a"]], [object()], [np.datetime64("2020")], [1, "a"]])
    def test_sequences_with_items_that_are_not_numbers(self, bad):
        with pytest.raises((xo.Unsupported, xo.BackendNotFound)):
            xo.asarray(bad)


class TestFromDlpack:
    def test_into_the_default_library(self, torch):
        assert type(xo.from_dlpack(S)) is np.ndarray
        with xo.use("torch"):
            assert xo.from_dlpack(N).data_ptr() == N.ctypes.data
        assert type(xo.from_dlpack(N, like=S)) is type(S)
        assert xo.from_dlpack(N, backend="torch").data_ptr() == N.ctypes.data

    def test_any_producer(self):
        class Producer:
            def __dlpack__(self, **options):
                return N.__dlpack__(**options)

            def __dlpack_device__(self):
                return N.__dlpack_device__()

        assert xo.from_dlpack(Producer()).ctypes.data == N.ctypes.data

    def test_no_producer(self):
        with pytest.raises(xo.ExchangeError, match=r"xo\.from_dlpack needs .*__dlpack__.*xo\.asarray"):
            xo.from_dlpack([1.0])


@pytest.mark.parametrize("create", [xo.zeros_like, xo.ones_like, xo.empty_like, lambda x, **o: xo.full_like(x, 7, **o)])
def test_creation_like_an_array(create):
    assert type(create(S)) is type(S)
    assert create(S, dtype="int8").dtype == xps.int8
    assert create(N, dtype="int8").dtype == np.int8
    with xo.use("torch"):
        assert type(create(N, device="cpu")) is np.ndarray
    with pytest.raises(xo.Unsupported, match="'gpu'"):
        create(N, device="gpu")
    with pytest.raises(xo.MixedBackends):
        create(N, dtype=xps.int8)


def test_from_dlpack_with_like_and_backend():
    for x in (N, memoryview(b"ab")):
        with pytest.raises(TypeError, match=r"xo\.from_dlpack takes like= or backend=, not both"):
            xo.from_dlpack(x, like=S, backend="numpy")


@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "dask"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_linspace_has_the_numbers_of_numpy(library, dtype):
    """Bit for bit, so that a value at an edge is in the same bin on every library."""
    pytest.importorskip("dask.array" if library == "dask" else library)
    for start, stop, num in ((-1, 1, 11), (-3, 3.0, 21), (0, 1, 42), (-1, 1, 7), (5, 5, 3), (2, 1, 1), (0, 1, 0)):
        for endpoint in (True, False):
            found = xo.linspace(start, stop, num, endpoint=endpoint, dtype=dtype, backend=library)
            want = np.linspace(start, stop, num, endpoint=endpoint).astype(dtype)
            np.testing.assert_array_equal(np.asarray(found), want)


@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "dask"])
def test_bins_of_a_range_are_those_of_numpy(library):
    pytest.importorskip("dask.array" if library == "dask" else library)
    x = np.round(np.random.default_rng(0).normal(size=1000), 1).astype("float32")
    counts, edges = xo.histogram(xo.convert(x, library), 20, range=(-3, 3))
    want = np.histogram(x, 20, range=(-3, 3))
    np.testing.assert_array_equal(np.asarray(counts), want[0])
    np.testing.assert_array_equal(np.asarray(edges), want[1])


@pytest.mark.parametrize("library", ["torch", "jax", "dask"])
@pytest.mark.parametrize("number", [np.int64, np.float32, np.float64])
def test_linspace_of_numpys_scalars(library, number):
    pytest.importorskip("dask.array" if library == "dask" else library)
    found = xo.linspace(number(-1), number(1), 11, dtype="float32", backend=library)
    np.testing.assert_array_equal(np.asarray(xo.compute(found)), np.linspace(-1, 1, 11).astype(np.float32))
