"""A namespace module is recognised by the arrays that it makes: packages contain copies of array-api-compat."""

import shutil
import sys
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType

import array_api_compat
import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.backends import entry_points, registry
from xarrayops._surface import BACKENDS

LIBRARIES = ("numpy", "torch", "dask.array")
PLACES = ("vendored_by_a_stranger.externals.array_api_compat", "scipy_like._lib.compat", "torch_tools.namespaces")
"""Packages into which array-api-compat is copied. The root of some names is like that of a library."""


@pytest.fixture(params=PLACES)
def place(request, tmp_path, monkeypatch, registry_memory):
    """An importable copy of array-api-compat; the registry knows nothing at first."""
    folder = tmp_path.joinpath(*request.param.split("."))
    shutil.copytree(Path(array_api_compat.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.syspath_prepend(tmp_path)
    before = {*sys.modules}
    for memory in registry_memory:
        memory.clear()
    yield request.param
    for name in {*sys.modules} - before:
        if name.startswith(request.param.partition(".")[0]):
            del sys.modules[name]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_copy_of_array_api_compat(place, library):
    pytest.importorskip(library)
    namespace = import_module(f"{place}.{library}")
    name = library.partition(".")[0]
    x = xo.zeros(2, backend=namespace)
    assert type(x).__module__.partition(".")[0] == name
    assert xo.backend(namespace).name == name
    assert xo.backend(x).name == name
    assert xo.backend(import_module(library).ones(1)).name == name
    assert type(xo.convert(np.ones(2), namespace)) is type(x)


def test_a_module_with_the_name_of_another_library(registry_memory):
    """The name of a module says nothing."""
    import array_api_strict

    liar = ModuleType("torch.but_not_really")
    vars(liar).update(vars(array_api_strict), __name__="torch.but_not_really")
    assert xo.backend(liar).name == "array_api_strict"
    assert type(xo.zeros(2, backend=liar)) is type(array_api_strict.zeros(2))
    assert xo.backend(array_api_strict.ones(2)).name == "array_api_strict"


@pytest.mark.parametrize("module", ["numpy.fft", "numpy.ma", "math", "scipy.ndimage"])
def test_a_module_that_is_no_namespace(module):
    given = pytest.importorskip(module)
    with pytest.raises(xo.BackendNotFound, match=f"module {module} is not a namespace"):
        xo.backend(given)


def test_a_namespace_that_cannot_make_arrays():
    """CuPy without a GPU."""
    broken = ModuleType("broken_library")

    def empty(shape):
        raise RuntimeError("no driver")

    vars(broken).update(empty=empty, __array_namespace_info__=None)
    with pytest.raises(xo.BackendNotFound, match="module broken_library cannot make an array: no driver"):
        xo.backend(broken)


def test_without_the_metadata_of_the_distribution(entries, monkeypatch):
    """Frozen, zipped and vendored copies may lack it: the built-in backends are found nevertheless."""

    def missing(name):
        raise metadata.PackageNotFoundError(name)

    entries()
    monkeypatch.setattr(metadata, "distribution", missing)
    monkeypatch.setattr(entry_points, "BACKENDS", BACKENDS)
    assert xo.backend("numpy").name == "numpy"
    assert float(xo.sum(np.ones(3))) == 3.0
    assert {status.name for status in xo.backends()} >= {"numpy", "torch", "jax", "cupy", "dask"}


def test_a_claim_to_a_library_of_ours(monkeypatch, claim):
    """Ours are known without the entry points, which take milliseconds to read. A list of them shows the conflict."""
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: claims)
    claims = [claim("numpy", "fast_numpy", "fastnumpy"), claim("numpy", "xarrayops_backends.numpy", "xarrayops")]
    registry.entry_points.cache_clear()
    try:
        assert xo.backend("numpy").module.__name__ == "xarrayops_backends.numpy"
        with pytest.raises(xo.InvalidBackend, match="fastnumpy and xarrayops"):
            xo.backends()
    finally:
        monkeypatch.undo()
        registry.entry_points.cache_clear()
