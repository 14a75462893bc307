"""Python's classes of numbers as dtypes: int is the default integer dtype, and the others NumPy's."""

import array_api_strict as xps
import numpy as np
import pytest

import xarrayops as xo

LIBRARIES = ("numpy", "torch", "jax", "dask", "array_api_strict")
CALLS = (
    lambda x, cls: xo.astype(x, cls),
    lambda x, cls: xo.zeros(2, dtype=cls, like=x),
    lambda x, cls: xo.asarray([1, 0], dtype=cls, like=x),
    lambda x, cls: xo.full((2,), 1, dtype=cls, like=x),
    lambda x, cls: xo.ones_like(x, dtype=cls),
    lambda x, cls: xo.convert(np.ones(2, "float32"), x, dtype=cls),
)
OF_NUMBERS = (
    lambda x, cls: xo.sum(x, dtype=cls),
    lambda x, cls: xo.cumulative_sum(x, dtype=cls),
    lambda x, cls: xo.arange(3, dtype=cls, like=x),
)


def of(library):
    pytest.importorskip(library)
    return xo.ones(2, dtype="float32", backend=xps if library == "array_api_strict" else library)


def name_of(x):
    return xo.backend(x).functions["dtype_name"](x.dtype)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("is_wide", [True, False])
def test_classes_are_dtypes(library, is_wide):
    jax = pytest.importorskip("jax")
    with jax.enable_x64(is_wide):
        x = of(library)
        narrow = library == "jax" and not is_wide
        names = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
        if narrow:
            names |= {int: "int32", float: "float32", complex: "complex64"}
        for cls, name in names.items():
            for call in CALLS if cls is bool else (*CALLS, *OF_NUMBERS[: 2 if cls is complex else 3]):
                assert name_of(call(x, cls)) == name, (cls, library)
        if library != "array_api_strict":
            assert name_of(xo.random.default_rng(0, like=x).integers(5, size=2, dtype=int)) == names[int]
            assert name_of(xo.random.default_rng(0, like=x).random(2, dtype=float)) == names[float]
