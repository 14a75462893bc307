"""Every function that orders elements gives NumPy's answer for complex numbers, or one error, on every library."""

import importlib.util
from contextlib import nullcontext
from itertools import product

import numpy as np
import pytest

import xarrayops as xo
import xarrayops.numpy as xnp
from tests import programs
from tests.fuzz.complex_order import CASES, DTYPES, SHAPES, drawn, fault, found, serves, wanted

LIBRARIES = ("numpy", "torch", "dask", "array_api_strict", "jax")
SEEDS = range(1, 3)
"""The seeds of the arrays: one draws few NaN, one many. Sweeps draw more, of more shapes and dtypes."""
MODULES = {"xo": xo, "numpy": xnp}


def _shapes(library, sweeping):
    """The shapes of the arrays; JAX compiles each function for each shape, and Dask is slow."""
    if library == "jax":
        return SHAPES[:5] if sweeping else SHAPES[:1]
    return SHAPES if sweeping else (SHAPES[0], SHAPES[5])


def _made(library, x):
    """An array of the library, in several chunks if it has chunks."""
    if library == "dask":
        return xo.convert(x, "dask").rechunk(tuple(max(1, (n + 1) // 2) for n in x.shape))
    return xo.convert(x, importlib.import_module(library) if library == "array_api_strict" else library, copy=True)


def _host(x):
    return np.asarray(xo.convert(xo.compute(x), "numpy"))


@pytest.mark.more_in_sweeps
@pytest.mark.parametrize("library", LIBRARIES)
def test_the_order_is_that_of_numpy(library, sweeping):
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    faults, calls = [], 0
    with importlib.import_module("jax").enable_x64(True) if library == "jax" else nullcontext():
        for dtype, shape in product(DTYPES if sweeping else DTYPES[:1], _shapes(library, sweeping)):
            if sweeping:
                programs.forget()  # those of one shape and dtype fill a GiB
            for seed in range(12) if sweeping else SEEDS[:1] if library == "jax" else SEEDS:
                x, y = drawn(seed, dtype, shape)
                for case in (case for case in CASES if serves(case, shape)):
                    want = wanted(case, x, y)
                    if library == "dask" and want is ValueError and case.name.startswith("nanarg"):
                        continue  # slices without numbers raise only where values are known
                    for name in ("xo", "numpy") if case.module == "both" else (case.module,):
                        got = found(case, MODULES[name], _made(library, x), _made(library, y), _host)
                        why = fault(case, want, got)
                        calls += 1
                        if why is not None:
                            faults.append(f"{name}.{case.name} of {shape} {dtype}, seed {seed}: {why}")
    assert not faults, f"{len(faults)} of {calls} calls:\n" + "\n".join(faults[:20])
