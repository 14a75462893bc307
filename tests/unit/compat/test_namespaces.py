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
    special = {*ours, "linalg", "fft", "__array_namespace_info__"}
    different = {name for name in dir(theirs) if getattr(xp, name) is not getattr(theirs, name)}
    assert different <= special
    assert not extension or not different - ours


def test_functions_with_a_reason_are_ours(library, xp):
    theirs = import_module(f"array_api_compat.{library}")
    for name in compat.REASONS[library]:
        assert lookup(xp, name) is not lookup(theirs, name)
        assert lookup(xp, name).__name__ == name.rpartition(".")[2]


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


CALLS = {
    "sign": lambda xp, x: xp.sign(x),
    "unique_values": lambda xp, x: xp.unique_values(x),
}


@pytest.mark.parametrize("name", CALLS)
def test_subclasses_and_other_arrays_get_the_answer_of_array_api_compat(name):
    """A masked array keeps its mask, and a matrix its class."""
    import array_api_compat.numpy as theirs

    import xarrayops.compat.numpy as xp

    masked = np.ma.masked_array([3.0, -2.0, 3.0], [False, True, False])
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([[3.0, -2.0, 3.0]])
    for x in (masked, matrix, np.asarray(["b", "a"]), [3.0, -2.0]):
        try:
            want = CALLS[name](theirs, x)
        except Exception as error:
            with pytest.raises(type(error)):
                CALLS[name](xp, x)
            continue
        got = CALLS[name](xp, x)
        assert type(got) is type(want)
        np.testing.assert_array_equal(got, want)
        if isinstance(got, np.ma.MaskedArray):
            np.testing.assert_array_equal(got.mask, want.mask)


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


def test_inside_torch_compile():
    torch = pytest.importorskip("torch")

    @torch.compile(fullgraph=True, backend="eager")
    def function(x):
        xp = compat.array_namespace(x)
        assert compat.is_torch_namespace(xp)
        return xp.clip(xp.sum(x, axis=0), 0, 1), xp.vecdot(x, x), xp.matmul(x, x.mT)

    with pytest.warns(UserWarning, match="lru_cache"):  # of array-api-compat
        clipped, products, matrix = function(torch.ones(3, 2))
    assert clipped.tolist() == [1, 1]
    assert products.tolist() == [2, 2, 2]
    assert matrix.tolist() == [[2, 2, 2]] * 3


def test_the_namespace_of_jax_is_its_own():
    jnp = pytest.importorskip("jax.numpy")
    assert compat.array_namespace(jnp.ones(2)) is jnp
    assert array_api_compat.array_namespace(jnp.ones(2)) is jnp


ARRAYS = [
    *(np.zeros(0), np.asarray(2.5), np.float64(2.5), np.int8(3), np.asarray([3, 1, 2, 1]), np.asarray([True, False])),
    *(np.asarray([200, 100, 200], "uint8"), np.asarray([1.5, np.nan, -0.0, 0.0], "float16"), np.arange(12.0)[::-2]),
    *(np.asfortranarray(np.arange(12.0).reshape(3, 4)), np.asarray([1 + 2j, 3 - 1j]), np.asarray(["b", "a", "b"])),
    *(np.asarray([3, 1], "M8[s]"), np.asarray([1, None], object), np.zeros(2, "i4,f4"), np.asarray([2**63], "uint64")),
]


@pytest.mark.parametrize("name", compat.REASONS["numpy"])
def test_functions_of_numpy_agree_with_those_of_array_api_compat(name):
    """Ours may give an answer where those raise."""
    import array_api_compat.numpy as theirs

    import xarrayops.compat.numpy as xp

    count = 0
    for x in ARRAYS:
        try:
            want = getattr(theirs, name)(x)
        except Exception:
            continue
        got = getattr(xp, name)(x)
        parts = zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]
        assert getattr(got, "_fields", None) == getattr(want, "_fields", None)
        for each, expected in parts:
            assert (type(each), each.dtype, each.shape) == (type(expected), expected.dtype, expected.shape)
            np.testing.assert_array_equal(each, expected)
            count += 1
    assert count > 8
