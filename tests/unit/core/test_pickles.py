"""Every public object comes back from pickle, cloudpickle, copy and deepcopy as itself, also in a fresh process."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from types import ModuleType

import cloudpickle
import numpy as np
import pytest

import xarrayops as xo
import xarrayops.numpy as xnp
from xarrayops._core.backends.namespace import lookup

PROTOCOLS = range(2, 6)
MODULES = {"xarrayops": xo, "xarrayops.numpy": xnp}
NAMES = [
    (module, f"{of}{name}")
    for module, contents in MODULES.items()
    for of in ("", *(f"{name}." for name in dir(contents) if isinstance(getattr(contents, name), ModuleType)))
    for name in dir(lookup(contents, of[:-1]) if of else contents)
    if not name.startswith("_") and not isinstance(lookup(contents, f"{of}{name}"), ModuleType)
]
"""All public names but those of modules, which Python's pickle does not take."""
LOAD = """
import pickle, sys
from importlib import import_module
from operator import attrgetter
different = []
for module, name, pickles in pickle.load(open(sys.argv[1], "rb")):
    own = attrgetter(name)(import_module(module))
    for each in pickles:
        found = pickle.loads(each)
        if found is not own and (type(found) is not type(own) or repr(found) != repr(own)):
            different.append((module, name, found))
print(different)
"""


def same(x, y):
    return x is y or (type(x) is type(y) and repr(x) == repr(y))  # NaN differs from itself


def test_public_objects(tmp_path):
    rows = []
    for module, name in NAMES:
        own = lookup(MODULES[module], name)
        assert same(copy.copy(own), own), name
        assert same(copy.deepcopy(own), own), name
        pickles = [*(pickle.dumps(own, protocol=n) for n in PROTOCOLS), cloudpickle.dumps(own)]
        assert all(same(pickle.loads(each), own) for each in pickles), name
        rows.append((module, name, pickles))
    assert len(rows) > 800
    file = tmp_path / "pickles"
    file.write_bytes(pickle.dumps(rows))
    done = subprocess.run([sys.executable, "-c", LOAD, str(file)], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stdout + done.stderr


@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "dask", "array_api_strict"])
def test_backends_and_namespaces(library):
    module = pytest.importorskip(library)
    backend = xo.backend(module if library == "array_api_strict" else library)
    for x in (backend, backend.namespace, backend.namespace.linalg, backend.namespace.fft):
        assert copy.copy(x) is copy.deepcopy(x) is x
        assert all(pickle.loads(pickle.dumps(x, protocol=n)) is x for n in PROTOCOLS)
        assert pickle.loads(cloudpickle.dumps(x)) is x
    program = f"import pickle; print(pickle.loads({pickle.dumps(backend.namespace.linalg)!r}).__name__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == f"xarrayops.namespaces.{library}.linalg\n", done.stderr


@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "dask"])
@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_of_a_generator_continues_alone(library, native, copied):
    pytest.importorskip(library)
    if native and library == "jax":
        pytest.skip("JAX has no generators")
    rng = xo.random.default_rng(3, backend=library, native=native)
    rng.random(3)
    other = copied(rng)
    drawn = [np.asarray(each.random(4)) for each in (rng, other, rng, other)]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    np.testing.assert_array_equal(drawn[2], drawn[3])
    assert not np.array_equal(drawn[0], drawn[2])
