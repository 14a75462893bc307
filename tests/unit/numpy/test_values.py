"""Every function, called as NumPy's, returns what NumPy returns: on NumPy, PyTorch, JAX and Dask."""

import runpy
from pathlib import Path

import pytest

CALLS = runpy.run_path(str(Path(__file__).parent / "expressions.py"))
FAMILIES = CALLS["FAMILIES"]
EACH = {"dask": 3, "jax": 16}
"""Of how many calls one is tested. Dask makes a graph for each, and JAX compiles it."""


@pytest.mark.parametrize("family", FAMILIES)
def test_functions_return_what_numpys_do(family, library, same):
    same(FAMILIES[family][:: EACH.get(library, 1)])


@pytest.mark.parametrize("library", ["numpy", "torch"], indirect=True)
def test_functions_of_memory_and_values_return_what_numpys_do(library, same):
    same(CALLS["HOST"])
