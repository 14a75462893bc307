"""The dtype of new arrays without dtype=: by a floating-point like=, `use`, `set_default`, or the library."""

import threading

import array_api_strict as xps
import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.modes import defaults

N = np.ones(2)
S = xps.ones(2)


@pytest.fixture
def torch():
    library = pytest.importorskip("torch")
    pytest.importorskip("xarrayops_backends.torch")
    return library


FLOATING = (
    lambda **options: xo.zeros(3, **options),
    lambda **options: xo.ones((2, 3), **options),
    lambda **options: xo.empty((), **options),
    lambda **options: xo.full(2, 1.5, **options),
    lambda **options: xo.arange(3.0, **options),
    lambda **options: xo.arange(0, 1, 0.25, **options),
    lambda **options: xo.eye(2, 3, k=1, **options),
    lambda **options: xo.linspace(0, 1, 5, **options),
    lambda **options: xo.fft.fftfreq(4, **options),
    lambda **options: xo.fft.rfftfreq(4, d=2, **options),
    lambda **options: xo.asarray(3.0, **options),
    lambda **options: xo.asarray([[1, 2], [3, 0.1]], **options),
    lambda **options: xo.asarray((True, 0.5), **options),
    lambda **options: xo.asarray([], **options),
)
COMPLEX = (
    lambda **options: xo.full(2, 1j, **options),
    lambda **options: xo.linspace(0, 1j, 5, **options),
    lambda **options: xo.asarray([1.0, 1j], **options),
)
INTEGER = (
    lambda **options: xo.full(2, 7, **options),
    lambda **options: xo.arange(3, **options),
    lambda **options: xo.arange(0, 6, 2, **options),
    lambda **options: xo.asarray([1, 2], **options),
    lambda **options: xo.asarray([[1], [True]], **options),
)
BOOL = (
    lambda **options: xo.full(2, True, **options),
    lambda **options: xo.asarray([True, False], **options),
)
LIBRARIES = ("numpy", "torch", "jax", "dask")


def of(library, dtype):
    """An array of that library and dtype."""
    pytest.importorskip(library)
    return xo.zeros(2, dtype=dtype, backend=library)


def dtype_of(x):
    return xo.backend(x).functions["dtype_name"](x.dtype)


@pytest.fixture
def x64():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        yield


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("library", LIBRARIES)
class TestDefaultDtypes:
    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
    def test_like_gives_its_floating_dtype(self, library, dtype):
        x = of(library, dtype)
        assert {dtype_of(create(like=x)) for create in FLOATING} == {dtype}
        assert dtype_of(xo.full(2, np.float32(1.5), like=x)) == dtype

    @pytest.mark.parametrize(("dtype", "real"), [("complex64", "float32"), ("complex128", "float64")])
    def test_like_of_complex(self, library, dtype, real):
        x = of(library, dtype)
        assert {dtype_of(create(like=x)) for create in FLOATING} == {real}
        assert {dtype_of(create(like=x)) for create in COMPLEX} == {dtype}

    def test_complex_numbers_beside_floating_arrays(self, library):
        assert {dtype_of(create(like=of(library, "float32"))) for create in COMPLEX} == {"complex64"}
        assert {dtype_of(create(like=of(library, "float64"))) for create in COMPLEX} == {"complex128"}

    @pytest.mark.parametrize("dtype", ["float16", "complex64", "int8"])
    def test_integers_and_bools_stay(self, library, dtype):
        x = of(library, dtype)
        assert {dtype_of(create(like=x)) for create in INTEGER} == {"int64"}
        assert {dtype_of(create(like=x)) for create in BOOL} == {"bool"}

    @pytest.mark.parametrize("dtype", ["int8", "bool"])
    def test_like_of_integers_leaves_the_default(self, library, dtype):
        x = of(library, dtype)
        assert {dtype_of(create(like=x)) for create in FLOATING} == {dtype_of(xo.zeros(1, backend=library))}
        with xo.use(dtype="float16"):
            assert {dtype_of(create(like=x)) for create in FLOATING} == {"float16"}

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_use(self, library, dtype):
        pytest.importorskip(library)
        with xo.use(library, dtype=dtype):
            assert {dtype_of(create()) for create in FLOATING} == {dtype}
            assert {dtype_of(create()) for create in INTEGER} == {"int64"}
            assert dtype_of(xo.zeros(1, like=of(library, "float16"))) == "float16"
            assert dtype_of(xo.zeros(1, dtype="int8")) == "int8"
            assert dtype_of(xo.asarray(of(library, "float16"))) == "float16"
            assert xo.explain("zeros", 3).chosen.startswith(library)

    def test_values_are_not_rounded_to_another_dtype_first(self, library):
        assert float(xo.asarray([0.1], like=of(library, "float64"))[0]) == 0.1
        assert float(xo.full(1, 0.1, like=of(library, "float64"))[0]) == 0.1

    def test_set_default(self, library):
        pytest.importorskip(library)
        try:
            xo.set_default(library, dtype="float16")
            assert {dtype_of(create()) for create in FLOATING} == {"float16"}
            with xo.use(dtype="float32"):
                assert dtype_of(xo.zeros(1)) == "float32"
        finally:
            xo.set_default()
        assert type(xo.zeros(1)) is np.ndarray


def test_blocks_are_nested(torch):
    with xo.use("torch", dtype="float64"):
        with xo.use(dtype=np.float16):
            assert xo.zeros(1).dtype is torch.float16
        with xo.use("numpy"):
            assert xo.zeros(1).dtype == np.float64
        assert xo.zeros(1).dtype is torch.float64
    with xo.use("torch", device="meta"):
        with xo.use(dtype="float64"):
            assert xo.zeros(1).device.type == "meta"
        with xo.use("numpy"):
            assert xo.zeros(1).device == "cpu"


def test_backends_namespaces_and_arrays_name_a_library(torch):
    t = torch.zeros(1, device="meta")
    for library in ("torch", torch, xo.backend("torch"), t, xo.array_namespace(t)):
        with xo.use(library):
            assert type(xo.zeros(1)) is torch.Tensor
        assert type(xo.zeros(1, backend=library)) is torch.Tensor
        assert type(xo.asarray([1], backend=library)) is torch.Tensor
        assert type(xo.convert(N, library, device="cpu")) is torch.Tensor
        assert xo.backend(library).name == "torch"
    assert xo.zeros(1, backend=t).device.type == "meta"
    with xo.use(S):
        assert type(xo.zeros(1)) is type(S)
    assert type(xo.asarray([1.0], backend=xps)) is type(S)


@pytest.mark.parametrize("set_it", [xo.use, xo.set_default])
@pytest.mark.parametrize("dtype", ["int8", "f8", "complex64", 3, np.ndarray, "float8_e5m2"])
def test_not_a_floating_dtype(set_it, dtype):
    with pytest.raises(TypeError, match="dtype must be one of float16, bfloat16, float32, float64"):
        set_it(dtype=dtype)


def test_the_float_of_python_is_float64(torch):
    with xo.use("torch", dtype=float):
        assert xo.zeros(1).dtype == xo.astype(torch.ones(1), float).dtype == torch.float64


def test_set_default_checks_and_changes_nothing_when_it_fails():
    with pytest.raises(xo.BackendNotFound, match="nunpy"):
        xo.set_default("nunpy")
    with pytest.raises(xo.Unsupported, match="no device"):
        xo.set_default(device="cuda:7")
    jax = pytest.importorskip("jax")
    with jax.enable_x64(False), pytest.raises(xo.Unsupported, match="jax_enable_x64"):
        xo.set_default("jax", dtype="float64")
    assert defaults.of_new_arrays()[:2] == defaults.ENVIRONMENT


def test_set_default_is_for_all_threads_and_torch_itself(torch):
    seen = []
    try:
        xo.set_default(dtype="float64")
        thread = threading.Thread(target=lambda: seen.append(xo.zeros(1, backend="torch").dtype))
        thread.start()
        thread.join()
        assert seen == [torch.float64]
        assert (torch.arange(3) / 2).dtype is torch.float64
        xo.set_default(dtype="float16")
        assert torch.get_default_dtype() is torch.float16
    finally:
        xo.set_default()
    assert torch.get_default_dtype() is torch.float32


def test_defaults_under_torch_compile(torch):
    x = torch.ones(2, dtype=torch.float64)
    created = torch.compile(
        lambda x: (
            xo.zeros(2, like=x),
            xo.asarray([0.1, 2], like=x),
            xo.full(2, 7, like=x),
            xo.linspace(0, 1, 3, like=x),
        ),
        fullgraph=True,
        backend="eager",
    )(x)
    assert [y.dtype for y in created] == [torch.float64, torch.float64, torch.int64, torch.float64]
    assert created[1][0].item() == 0.1
