"""A library with a backend, for tests that compare the libraries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import xarrayops as xo


class Library(NamedTuple):
    """One library, by name: its arrays are made from NumPy arrays, and compared as NumPy arrays."""

    name: str

    def array(self, host: Any) -> Any:
        """The values as an array of the library."""
        return xo.convert(np.asarray(host), self.name)

    def host(self, x: Any) -> Any:
        """The values of an array of the library."""
        assert xo.backend(x).name == self.name
        return np.asarray(xo.convert(xo.compute(x), "numpy"))


@pytest.fixture(params=["numpy", "torch", "jax", "dask"])
def library(request: pytest.FixtureRequest) -> Iterator[Library]:
    """Each library that is installed; JAX with 64 bits."""
    module = pytest.importorskip(request.param)
    pytest.importorskip(f"xarrayops_backends.{request.param}")
    if request.param == "jax":
        with module.enable_x64(True):
            yield Library("jax")
    else:
        yield Library(request.param)
