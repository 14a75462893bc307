"""Every function, called as NumPy's, returns what NumPy returns: on NumPy, PyTorch, JAX and Dask."""

import runpy
from pathlib import Path

import pytest

import xarrayops.numpy as np

CALLS = runpy.run_path(str(Path(__file__).parent / "expressions.py"))
FAMILIES = CALLS["FAMILIES"]
EACH = {"dask": 3, "jax": 16}
"""One of this many calls is tested, because Dask makes a graph for each, and JAX compiles it."""


@pytest.mark.parametrize("family", FAMILIES)
def test_functions_return_what_numpys_do(family, library, same):
    same(FAMILIES[family][:: EACH.get(library, 1)])


@pytest.mark.parametrize("library", ["numpy", "torch"], indirect=True)
def test_functions_of_memory_and_values_return_what_numpys_do(library, same):
    same(CALLS["HOST"])


def test_integers_stay_float64_when_the_default_dtype_of_torch_changes():
    """A function that was found with one default must not be kept for another."""
    torch = pytest.importorskip("torch")
    before = torch.get_default_dtype()
    try:
        for dtype in (torch.float64, torch.float32):
            torch.set_default_dtype(dtype)
            assert np.sqrt(torch.tensor([4, 9], dtype=torch.int64)).dtype == torch.float64
            assert np.sqrt(torch.tensor([4, 9], dtype=torch.int16)).dtype == torch.float32  # as in NumPy
            assert np.maximum(torch.tensor([4, 9], dtype=torch.int16), 0.5).dtype == torch.float64
    finally:
        torch.set_default_dtype(before)
