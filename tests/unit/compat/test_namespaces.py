"""What the namespaces of `xarrayops.compat` contain, and which function serves a call."""

from __future__ import annotations

import copy
import operator
import pickle
from importlib import import_module

import array_api_compat
import numpy as np
import pytest

from xarrayops import compat
from xarrayops._core.backends.namespace import lookup

LIBRARIES = ("numpy", "torch", "dask.array")
EXTENSIONS = ("", ".linalg", ".fft")


@pytest.fixture(params=LIBRARIES)
def library(request):
    pytest.importorskip(request.param)
    return request.param


@pytest.fixture
def xp(library):
    return import_module(f"xarrayops.compat.{library}")


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_every_name_is_that_of_array_api_compat(library, extension):
    xp, theirs = (
        import_module(f"{package}.{library}{extension}") for package in ("xarrayops.compat", "array_api_compat")
    )
    assert dir(xp) == dir(theirs)
    ours = {name.rpartition(".")[2] for name in compat.REASONS[library]}
    if extension == ".linalg":
        main = import_module(f"xarrayops.compat.{library}")
        shared = ours & {"matmul", "tensordot", "vecdot"}
        assert all(getattr(xp, name) is getattr(main, name) for name in shared)
    special = {*ours, "linalg", "fft", "__array_namespace_info__"}
    different = {name for name in dir(theirs) if getattr(xp, name) is not getattr(theirs, name)}
    assert different <= special
    assert not extension or not different - ours


def test_functions_with_a_reason_are_ours(library, xp):
    theirs = import_module(f"array_api_compat.{library}")
    for name in compat.REASONS[library]:
        assert lookup(xp, name) is not lookup(theirs, name)
        assert lookup(xp, name).__name__.removeprefix("linalg_") == name.rpartition(".")[2]


def test_private_names_are_those_of_array_api_compat(library, xp):
    assert xp._aliases is import_module(f"array_api_compat.{library}")._aliases
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        xp.no_such_name  # noqa: B018


def test_modules_and_functions_are_copied_and_pickled_as_themselves(library, xp):
    cloudpickle = pytest.importorskip("cloudpickle")
    functions = [lookup(xp, name) for name in compat.REASONS[library]]
    for x in (xp, xp.linalg, xp.fft, *functions):
        assert copy.deepcopy(x) is x
        assert pickle.loads(pickle.dumps(x)) is x
        assert pickle.loads(cloudpickle.dumps(x)) is x


def test_a_list_can_be_added_to_the_devices(xp):
    devices = xp.__array_namespace_info__().devices()
    assert operator.add(devices, [None]) == [*devices, None]
    assert operator.add(devices, (None,)) == (*devices, None)


def test_keywords_of_the_library_are_served():
    import xarrayops.compat.numpy as xp

    x, out = np.arange(4.0), np.zeros(4)
    assert xp.sign(x, where=x > 1, out=out) is out
    np.testing.assert_array_equal(out, [0, 0, 1, 1])


def test_errors_are_those_of_array_api_compat():
    import array_api_compat.numpy as theirs

    import xarrayops.compat.numpy as xp

    errors = []
    for namespace in (xp, theirs):
        with pytest.raises(TypeError) as caught:
            namespace.unique_values(np.arange(3.0), no_such_keyword=1)
        errors.append(caught.value)
    assert str(errors[0]) == str(errors[1])
    assert errors[0].__context__ is errors[1].__context__ is None


@pytest.mark.filterwarnings("ignore:.*lru_cache:UserWarning")  # of array-api-compat
def test_inside_torch_compile():
    torch = pytest.importorskip("torch")

    @torch.compile(fullgraph=True, backend="eager")
    def function(x):
        xp = compat.array_namespace(x)
        assert compat.is_torch_namespace(xp)
        dtype = xp.result_type(x, xp.float32, 1.0)
        variance = xp.std(x, axis=0, keepdims=True, correction=0.5)  # array-api-compat refuses fractions
        return xp.clip(xp.sum(x, axis=0, dtype=dtype), 0, 1), xp.vecdot(x, x), xp.matmul(x, x.mT), variance

    x = torch.ones(3, 2)
    clipped, products, matrix, variance = function(x)
    assert clipped.tolist() == [1, 1]
    assert products.tolist() == [2, 2, 2]
    assert matrix.tolist() == [[2, 2, 2]] * 3
    assert variance.tolist() == [[0, 0]]


@pytest.mark.filterwarnings("ignore:.*lru_cache:UserWarning")  # of array-api-compat
def test_keywords_of_the_library_inside_torch_compile():
    torch = pytest.importorskip("torch")

    @torch.compile(fullgraph=True, backend="eager")
    def function(x):
        xp = compat.array_namespace(x)
        return xp.maximum(x, x, out=None), xp.sum(x, axis=0, dtype=None), xp.add(x, 1.0), xp.matmul(x, x.mT, out=None)

    x = torch.ones(3, 2)
    largest, sums, more, products = function(x)
    assert largest.tolist() == x.tolist()
    assert sums.tolist() == [3, 3]
    assert more.tolist() == [[2, 2]] * 3
    assert products.tolist() == [[2, 2, 2]] * 3


def test_a_ufunc_keeps_its_methods():
    import xarrayops.compat.numpy as xp

    x = np.asarray([7.0, 2.0, np.inf])
    assert xp.floor_divide(x[:2], 2.0).tolist() == [3, 1]
    assert xp.floor_divide(x, np.full(3, 2.0)).tolist() == [3, 1, np.inf]
    assert xp.floor_divide.reduce(x[:2]) == 3
    assert xp.floor_divide.outer(x[:2], x[:2]).shape == (2, 2)
    assert xp.floor_divide.nin == 2
    out = np.zeros(2)
    assert xp.floor_divide(x[:2], x[:2], out=out) is out


def test_limits_have_the_attributes_of_pytorch():
    torch = pytest.importorskip("torch")
    xp = compat.array_namespace(torch.ones(1))
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64):
        ours, theirs = xp.finfo(dtype), torch.finfo(dtype)
        for name in ("bits", "eps", "max", "min", "resolution", "smallest_normal", "tiny"):
            assert getattr(ours, name) == getattr(theirs, name)
    for dtype in (torch.int8, torch.uint16, torch.int64):
        assert (xp.iinfo(dtype).min, xp.iinfo(dtype).max) == (torch.iinfo(dtype).min, torch.iinfo(dtype).max)
        assert xp.iinfo(dtype).dtype is dtype


def test_the_namespace_of_jax_is_its_own():
    jnp = pytest.importorskip("jax.numpy")
    assert compat.array_namespace(jnp.ones(2)) is jnp
    assert array_api_compat.array_namespace(jnp.ones(2)) is jnp
