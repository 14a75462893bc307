"""Compiled functions are right or raise: values that change between calls are never treated as constants."""

from __future__ import annotations

import importlib.util
import warnings

import numpy as np
import pytest

import xarrayops as xo
from tests.unit.ops.compilation import cases_of_arrays, cases_of_constants, cases_of_objects
from xarrayops.errors import XArrayOpsError

CASES = cases_of_constants.CASES | cases_of_objects.CASES | cases_of_arrays.CASES
LIBRARIES = {"torch": None, "jax": None, "numpy": "jax", "numpy by torch": "torch"}
REFUSED = {
    "branch_on_values",
    "count_of_calls",
    "exception_of_the_function",
    "mode_inside",
    "number_of_an_array",
    "numbers_of_numpy",
    "writes_its_argument",
}
"""The cases in which a compiler may refuse."""

OTHER_DTYPES = {
    (library, name) for library in ("numpy", "numpy by torch") for name in ("mode_outside", "subclass_of_a_number")
}
"""NumPy's default dtype is float64, and it promotes subclasses of float to float64; its engines here do not."""


@pytest.mark.usefixtures("without_inductor")
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_compiled_function_is_right_or_raises(library, name):
    engine, own = LIBRARIES[library], library.partition(" ")[0]
    for each in filter(None, (own, engine)):
        if importlib.util.find_spec(each) is None:
            pytest.skip(f"{each} is not installed")

    def make(x):
        x = np.asarray(x, "int32" if np.asarray(x).dtype.kind == "i" else "float32")
        return xo.convert(x, own, copy=True)

    def jit(function):
        return xo.jit(function, engine=engine)

    served = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # compilers warn of their own parts
        warnings.filterwarnings("error", message="xo.jit")
        for function, args, kwargs in CASES[name](make, jit):
            plain = getattr(function, "__wrapped__", None) or type(function).__call__.__wrapped__
            given = args if hasattr(function, "__wrapped__") else (function, *args)
            want = outcome(plain, copied(given), copied(kwargs))
            for _ in range(2):
                got = outcome(function, args, kwargs)
                if isinstance(got, XArrayOpsError):
                    assert name in REFUSED or (library, name) in OTHER_DTYPES, got
                    break
                assert_same(got, want)
                served += 1
    assert served or name in REFUSED or (library, name) in OTHER_DTYPES


def outcome(function, args, kwargs):
    try:
        return function(*args, **kwargs)
    except (XArrayOpsError, KeyError) as error:
        return error


def copied(values):
    from xarrayops._ops.agreement import copied as of_arrays

    return of_arrays(values)


def assert_same(got, want):
    if isinstance(want, Exception):
        assert type(got) is type(want)
    elif isinstance(want, dict):
        assert list(got) == list(want)
        for name in want:
            assert_same(got[name], want[name])
    elif isinstance(want, (tuple, list)) and not hasattr(want, "shape"):
        assert isinstance(got, type(want))  # PyTorch's shapes are a class of tuples
        assert len(got) == len(want)
        for x, y in zip(got, want, strict=True):
            assert_same(x, y)
    elif hasattr(want, "dtype"):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-5, atol=1e-5)
    else:
        assert got == want
