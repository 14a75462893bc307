"""Functions for dtypes, with names, native dtypes, arrays and scalars of one library."""

import array_api_strict as xps
import numpy as np
import pytest

import xarrayops as xo
from xarrayops.plugin import install_command

N = np.ones(2, dtype=np.float32)
S = xps.ones(2, dtype=xps.float32)
NAMES = ("int8", "uint8", "int16", "int32", "uint32", "int64", "float32", "float64", "complex64", "complex128", "bool")


@pytest.mark.parametrize("dtype", ["float32", np.float32, np.dtype("float32"), N, N[0], xps.float32, S])
def test_finfo(dtype):
    info, oracle = xo.finfo(dtype), np.finfo(np.float32)
    assert (info.bits, info.eps, info.max, info.min) == (32, oracle.eps, oracle.max, oracle.min)
    assert type(info.eps) is float


@pytest.mark.parametrize("dtype", ["uint8", np.uint8, np.dtype("uint8"), np.ones(1, dtype=np.uint8), xps.uint8])
def test_iinfo(dtype):
    info = xo.iinfo(dtype)
    assert (info.bits, info.min, info.max) == (8, 0, 255)


@pytest.mark.parametrize("a", NAMES)
@pytest.mark.parametrize("b", NAMES)
def test_promotion_of_names_equals_numpys(a, b):
    assert xo.result_type(a, b) == np.result_type(np.dtype(a), np.dtype(b))
    assert xo.can_cast(a, b) is np.can_cast(a, b)


def test_result_type_is_native():
    assert xo.result_type("int8", "int16") == np.int16
    assert xo.result_type(xps.int8, "int16") == xps.int16
    assert xo.result_type(S, 1.0) == xps.float32
    assert xo.result_type(N, 1.0) == np.float32
    assert xo.result_type(N, np.float64(1)) == np.float64
    assert xo.result_type(N.dtype, N, "float64", 2) == np.float64


def test_can_cast_takes_arrays():
    assert xo.can_cast(N, "float64") is True
    assert xo.can_cast(S, "float64") is True
    assert xo.can_cast(S, "int8") is False
    assert xo.can_cast(xps.int8, xps.int16) is True


@pytest.mark.parametrize("dtype", ["float32", np.float32, np.dtype("float32"), xps.float32])
def test_isdtype(dtype):
    assert xo.isdtype(dtype, "real floating") is True
    assert xo.isdtype(dtype, "numeric") is True
    assert xo.isdtype(dtype, ("bool", "integral")) is False
    assert xo.isdtype(dtype, ("bool", "float32")) is True
    assert xo.isdtype(dtype, "float64") is False
    assert xo.isdtype(dtype, "bool") is False


def test_isdtype_with_a_native_kind():
    assert xo.isdtype("float32", np.float32) is True
    assert xo.isdtype(xps.float32, (xps.bool, xps.float32)) is True
    with pytest.raises(ValueError, match="nope"):
        xo.isdtype("float32", "nope")


def test_names_use_the_default_library():
    torch = pytest.importorskip("torch")
    pytest.importorskip("xarrayops_backends.torch")
    with xo.use("torch"):
        assert xo.result_type("int8", "float32") is torch.float32
        assert xo.result_type(N, "float64") == np.float64
    assert xo.result_type(torch.int8, "int16") is torch.int16
    assert xo.isdtype(torch.bfloat16, "real floating") is True
    assert xo.finfo(torch.float16).bits == 16


@pytest.mark.parametrize(
    "call",
    [
        lambda: xo.result_type(N, S),
        lambda: xo.result_type(N.dtype, S.dtype),
        lambda: xo.result_type(S, N.dtype),
        lambda: xo.result_type(N, xps.int8),
        lambda: xo.can_cast(np.float32, xps.float32),
        lambda: xo.can_cast(S, np.dtype("int8")),
        lambda: xo.isdtype(xps.float32, np.float32),
        lambda: xo.astype(N, xps.float32),
        lambda: xo.astype(S, np.float32),
        lambda: xo.sum(N, dtype=xps.float32),
        lambda: xo.sum(S, dtype=np.dtype("float32")),
        lambda: xo.cumulative_sum(S, dtype=np.float32),
        lambda: xo.zeros(2, dtype=xps.float32),
    ],
)
def test_dtypes_of_several_libraries(call):
    with pytest.raises(xo.MixedBackends, match="numpy"):
        call()


@pytest.mark.parametrize("call", [xo.finfo, xo.iinfo, lambda x: xo.isdtype(x, "bool"), xo.result_type])
def test_arguments_that_are_not_dtypes(call):
    for bad in (1.0, float, [1], None):
        with pytest.raises(xo.BackendNotFound, match="needs an array, a dtype or the name of a dtype"):
            call(bad)
    with pytest.raises(xo.Unsupported, match="numpy has no dtype for object: arrays hold numbers"):
        xo.zeros(2, dtype=object, backend="numpy")
    with pytest.raises(xo.Unsupported, match="numpy has no dtype 'float31'"):
        call("float31")


def test_conversion_of_names_to_dtypes_and_back():
    """dtype_name(as_dtype(name)) == name."""
    pytest.importorskip("ml_dtypes")
    for library, names in ((np, [*NAMES, "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"]), (xps, NAMES)):
        hooks = xo.backend(library).functions
        for name in names:
            assert hooks["dtype_name"](hooks["as_dtype"](name)) == name
    assert xo.backend(np).functions["dtype_name"](np.dtype(">f4")) == "float32"
    assert xo.backend(np).functions["dtype_name"]("datetime64[s]") is None
    assert xo.backend(xps).functions["dtype_name"](np.dtype("float32")) is None


def test_low_precision_without_ml_dtypes(run):
    code = """
import sys; sys.modules["ml_dtypes"] = None
import xarrayops as xo
try:
    xo.zeros(2, dtype="bfloat16")
except xo.Unsupported as error:
    print(error)
"""
    assert install_command("lowp") in run(code)


@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "dask", "array_api_strict"])
def test_isdtype_accepts_the_names_of_all_dtypes(library):
    """isdtype is False for dtypes that the library lacks; other names in its namespace are not kinds."""
    import array_api_strict

    if library != "array_api_strict":
        pytest.importorskip(library)
    like = {"like": array_api_strict.ones(1)} if library == "array_api_strict" else {"backend": library}
    dtype = xo.zeros(1, dtype="float32", **like).dtype
    assert xo.isdtype(dtype, "float32")
    assert xo.isdtype(dtype, ("int8", "real floating"))
    for name in ("float16", "bfloat16", "float8_e5m2", "int8", "bool"):
        assert not xo.isdtype(dtype, name)
    with pytest.raises((ValueError, TypeError)) as error:
        xo.isdtype(dtype, "sum")
    assert "sum" in str(error.value)


@pytest.mark.parametrize(("dtype", "limits"), [("int2", (-2, 1)), ("int4", (-8, 7)), ("uint4", (0, 15))])
def test_iinfo_of_narrow_integers_of_jax(dtype, limits):
    jnp = pytest.importorskip("jax.numpy")
    for info in (xo.iinfo(jnp.zeros(2, dtype)), xo.backend("jax").namespace.iinfo(jnp.dtype(dtype))):
        assert (info.min, info.max) == limits
