"""The dtypes at the top level are strings that are equal to the native dtypes that they name."""

import copy
import operator
import pickle
from contextlib import nullcontext

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.plugin.dtypes import DTYPE_NAMES

LIBRARIES = ("numpy", "torch", "jax", "dask")


def native(library, name):
    """The dtype of an array of that library."""
    module = pytest.importorskip(library)
    with module.enable_x64(True) if library == "jax" else nullcontext():
        return xo.zeros(1, dtype=name, backend=library).dtype


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", ["bool", "int8", "uint8", "int64", "float32", "float64", "complex128"])
def test_equal_to_the_native_dtype_of_the_name_alone(library, name):
    dtype = native(library, name)
    for other in DTYPE_NAMES:
        constant = getattr(xo, other)
        expected = other == name
        assert operator.eq(dtype, constant) is expected
        assert operator.eq(constant, dtype) is expected
        assert operator.ne(dtype, constant) is not expected
        assert operator.ne(constant, dtype) is not expected
        assert (dtype in (constant,)) is expected
        assert (constant in [dtype]) is expected


@pytest.mark.parametrize("library", ["torch", "jax"])
@pytest.mark.parametrize("name", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_low_precision(library, name):
    dtype = native(library, name)
    assert [other for other in DTYPE_NAMES if getattr(xo, other) == dtype] == [name]
    assert [other for other in DTYPE_NAMES if dtype == getattr(xo, other)] == [name]


@pytest.mark.parametrize("dtype", [np.float64, np.dtype("float64"), np.dtype("=f8")])
def test_classes_of_numpy(dtype):
    assert xo.float64 == dtype
    assert dtype == xo.float64
    assert xo.float32 != dtype
    assert dtype != xo.float32


def test_scalar_classes_of_jax():
    jnp = pytest.importorskip("jax.numpy")
    assert xo.float64 == jnp.float64
    assert jnp.float64 == xo.float64
    assert xo.float32 != jnp.float64
    assert jnp.float64 != xo.float32


@pytest.mark.parametrize(
    "other",
    [
        None,
        3,
        1.0,
        np,
        np.ndarray,
        object(),
        object,
        np.float64(3),
        np.dtype("O"),
        np.dtype(">f8"),
        [("a", "f8")],
        "f8",
    ],
    ids=lambda other: type(other).__name__,
)
def test_not_equal_to_other_objects(other):
    assert not operator.eq(xo.float64, other)
    assert not operator.eq(other, xo.float64)
    assert xo.float64 != other
    assert other != xo.float64


def test_comparison_with_an_array_is_that_of_the_array():
    assert (np.zeros(2) == xo.float64).tolist() == [False, False]
    assert (xo.float64 == np.zeros(2)).tolist() == [False, False]


def test_strings():
    assert isinstance(xo.float32, str)
    assert repr(xo.float32) == "'float32'"
    assert f"{xo.float32}" == "float32"
    assert xo.float32 == "float32"
    assert operator.eq("float32", xo.float32)
    assert xo.float32 != "float64"
    assert {"float32": 1}[xo.float32] == 1
    assert {xo.float32: 1}["float32"] == 1
    assert np.dtype(xo.float32) == np.float32
    assert np.zeros(1, dtype=xo.float32).dtype == np.float32


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_names_too(make):
    assert make(xo.int8) == np.int8
    assert make(xo.int8) != np.int16


COMPARISONS = (
    lambda x: x.dtype == xo.float64,
    lambda x: xo.float64 == x.dtype,
    lambda x: (x.dtype != xo.float64) is False,
    lambda x: (xo.float64 != x.dtype) is False,
    lambda x: x.dtype in (xo.float64, xo.int8),
    lambda x: x.dtype in [xo.float64],
    lambda x: x.dtype not in (xo.float32, xo.bfloat16),
    lambda x: xo.float64 in (x.dtype,),
    lambda x: xo.isdtype(x.dtype, xo.float64),
    lambda x: xo.isdtype(x.dtype, (xo.float64, "integral")),
    lambda x: xo.zeros(1, dtype=xo.float64, like=x).dtype == x.dtype,
    lambda x: xo.astype(x, xo.float64).dtype == x.dtype,
)


@pytest.mark.parametrize("is_float64", COMPARISONS)
@pytest.mark.parametrize("name", ["float64", "float32"])
def test_torch_compile(is_float64, name):
    torch = pytest.importorskip("torch")
    pytest.importorskip("xarrayops_backends.torch")
    x = torch.ones(2, dtype=getattr(torch, name))
    torch.compiler.reset()
    branch = torch.compile(lambda x: x + 1 if is_float64(x) else x - 1, fullgraph=True, backend="eager")
    assert is_float64(x) is (name == "float64")
    assert branch(x).tolist() == ([2, 2] if name == "float64" else [0, 0])
