"""The helpers of `xarrayops.compat` answer as those of array-api-compat, and know all namespaces."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
import textwrap
from http import HTTPStatus
from importlib import import_module
from itertools import product
from types import ModuleType

import array_api_compat as theirs
import numpy as np
import pytest

import xarrayops as xo
from xarrayops import compat

NAMESPACES = sorted(
    name for name in theirs.common._helpers.__all__ if name.endswith("_namespace") and name.startswith("is_")
)
CHECKS = sorted(name for name in theirs.common._helpers.__all__ if name.startswith("is_") and name not in NAMESPACES)
LIBRARIES = {"numpy": "numpy", "torch": "torch", "dask": "dask.array", "jax": "jax.numpy"}


@pytest.fixture(params=LIBRARIES)
def library(request):
    pytest.importorskip(LIBRARIES[request.param])
    return request.param


@pytest.fixture
def array(library):
    return xo.asarray([1.0, 2.0, 3.0], dtype="float32", backend=library)


def test_every_public_name_of_array_api_compat_is_here():
    assert {*theirs.common._helpers.__all__} <= {*dir(compat)}
    assert compat.__all__ == theirs.common._helpers.__all__
    assert compat.get_namespace is compat.array_namespace
    assert compat.common._helpers._DASK_DEVICE is theirs.common._helpers._DASK_DEVICE
    assert compat.common._helpers._compat_module_name() == "xarrayops.compat"


@pytest.mark.parametrize("check", CHECKS)
def test_checks_of_arrays(check, array):
    for x in (array, 1.0, None, [1.0], "a", np.float32(1), np.ma.ones(2), math):
        assert getattr(compat, check)(x) is getattr(theirs, check)(x)


@pytest.mark.parametrize("check", NAMESPACES)
def test_checks_of_namespaces(check, library, array):
    modules = [import_module(LIBRARIES[library]), theirs.array_namespace(array), compat.array_namespace(array)]
    is_library = library in check
    for module in (*modules, xo.array_namespace(array)):
        assert getattr(compat, check)(module) is is_library
    assert getattr(compat, check)(math) is False
    assert getattr(compat, check)(array_api_strict()) is ("strict" in check)
    with pytest.raises(AttributeError, match="__name__"):
        getattr(compat, check)(None)


def array_api_strict():
    return pytest.importorskip("array_api_strict")


@pytest.mark.parametrize("vendor", ["scipy._lib", "sklearn.externals"])
def test_namespaces_of_other_vendors(vendor):
    pytest.importorskip(vendor)
    for library in ("numpy", "torch"):
        pytest.importorskip(library)
        module = import_module(f"{vendor}.array_api_compat.{library}")
        for check in NAMESPACES:
            assert getattr(compat, check)(module) is (library in check)


def test_a_namespace_with_the_name_of_another_and_a_prefix(monkeypatch):
    """As marray names its namespaces of masked arrays."""
    module = ModuleType("marray.scipy._lib.array_api_compat.numpy")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for check in NAMESPACES:
        assert getattr(compat, check)(module) is False


def test_array_namespace(library, array):
    xp = compat.array_namespace(array, 1.0, None, array)
    assert xp.__name__ == LIBRARIES[library]
    assert xp is compat.array_namespace(array, api_version="2024.12" if library == "jax" else "2025.12")
    assert compat.array_namespace(array, use_compat=False) is import_module(LIBRARIES[library])
    if library == "jax":
        with pytest.raises(ValueError, match="JAX does not have"):
            compat.array_namespace(array, use_compat=True)
    else:
        assert compat.array_namespace(array, use_compat=True) is xp


def named_by(package, *xs):
    """The namespace of the arguments by its name, or the class of the error."""
    try:
        return package.array_namespace(*xs).__name__.removeprefix("array_api_compat.")
    except Exception as error:
        return type(error)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_the_namespace_of_every_class_is_that_of_array_api_compat():
    strict = array_api_strict()
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    kinds = [
        *(np.float64(1), np.int8(1), np.bool_(True), np.ma.ones(2), np.asmatrix([[1.0]]), np.asarray(["a"])),
        *(np.asarray([None]), np.zeros(2, dtype=jax.float0), np.zeros(2, dtype="V4"), np.recarray(2, dtype="f4")),
        *(torch.ones(2), torch.nn.Parameter(torch.ones(2)), torch.nn.Buffer(torch.ones(2)), jax.numpy.ones(2)),
        *(strict.asarray([1.0]), 1, True, None, 1j, HTTPStatus.OK, "a", [1.0], pickle),
    ]
    for x, y in product(kinds, repeat=2):
        assert named_by(compat, x) == named_by(theirs, x)
        assert named_by(compat, x, y) == named_by(theirs, x, y), (x, y)
        assert named_by(compat, x, 1.0, y) == named_by(theirs, x, 1.0, y)


@pytest.mark.parametrize("xs", [(), (1.0,), (None,), ("a",), ([1.0],), (object(),)])
def test_no_array(xs):
    for package in (compat, theirs):
        with pytest.raises(TypeError):
            package.array_namespace(*xs)


def test_several_libraries():
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match="Multiple namespaces"):
        compat.array_namespace(torch.ones(2), np.ones(2))
    with pytest.raises(ValueError, match="version"):
        compat.array_namespace(torch.ones(2), api_version="1999.1")


def test_device_and_size(library, array):
    assert compat.device(array) == theirs.device(array)
    assert compat.size(array) == 3
    assert compat.is_lazy_array(array) is theirs.is_lazy_array(array)
    moved = compat.to_device(array, compat.device(array))
    assert theirs.is_array_api_obj(moved)


def test_a_vendored_package(tmp_path):
    place = tmp_path / "package" / "_lib" / "array_api_compat"
    place.mkdir(parents=True)
    for folder in (tmp_path / "package", tmp_path / "package" / "_lib"):
        (folder / "__init__.py").touch()
    (place / "__init__.py").write_text("from xarrayops.compat import vendor\n\nvendor(__name__)\n")
    program = """
        import pickle
        import numpy as np
        from package._lib import array_api_compat
        from package._lib.array_api_compat import is_numpy_namespace, numpy as np_compat
        import package._lib.array_api_compat.numpy.linalg
        from package._lib.array_api_compat.common._helpers import _compat_module_name
        from package._lib.array_api_compat.common._typing import Array
        from package._lib.array_api_compat._internal import get_xp
        import xarrayops as xo
        from xarrayops import compat

        x = np.asarray([3.0, 1.0])
        place = "package._lib.array_api_compat"
        assert _compat_module_name() == place
        assert array_api_compat.array_namespace(x) is np_compat
        assert np_compat.__name__ == place + ".numpy"
        assert np_compat.linalg.__name__ == place + ".numpy.linalg"
        assert pickle.loads(pickle.dumps(np_compat)) is np_compat
        assert pickle.loads(pickle.dumps(np_compat.sign)) is np_compat.sign
        ours = compat.array_namespace(x)
        assert ours is not np_compat and ours.__name__ == "numpy"
        for package in (compat, array_api_compat):
            for module in (np, ours, np_compat, xo.array_namespace(x)):
                assert package.is_numpy_namespace(module)
                assert not package.is_torch_namespace(module)
        assert xo.backend(np_compat).name == "numpy"
        assert np_compat.sign(x).tolist() == [1.0, 1.0]
        assert array_api_compat.__version__ == compat.__version__
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
