"""Functions of `jit` and `operation` through pickle, cloudpickle and copies, also into another program."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import cloudpickle
import numpy as np
import pytest

import xarrayops as xo

MODULE = """
import numpy as np
import xarrayops as xo

SCALE = 3.0


@xo.operation("pickled::scaled")
def scaled(x, *, by=2.0):
    return x * by


@scaled.kernel("numpy:own", dtypes=("float64",))
def _(x, *, by):
    return np.multiply(x, by)


@scaled.gradient
def _(g, x, *, by):
    return g * by


@xo.jit
def waves(x):
    return xo.sin(x) + 1


def plain(x):
    return x * SCALE


renamed = xo.jit(plain, when="pays", limit=3)


class Model:
    factor = 4.0

    @xo.jit
    def apply(self, x):
        return x * self.factor


def user(x):
    return scaled(x) + waves(x) + renamed(x)
"""
MAIN = """
if __name__ == "__main__":
    import sys, cloudpickle

    f = globals()[sys.argv[1]]
    arrays = np.arange(3.0), np.arange(3.0, dtype="float32")
    if "used" in sys.argv:
        print(cloudpickle.dumps((f, [f(x) for x in arrays])[0]).hex())
    else:
        print(cloudpickle.dumps(f).hex())
    print([f(x).tolist() for x in arrays])
"""
NAMES = ("scaled", "waves", "renamed", "user")
LOAD = """
import pickle, sys
import numpy as np, xarrayops as xo
f = pickle.loads(bytes.fromhex(sys.argv[1]))
print([np.asarray(f(x)).tolist() for x in (np.arange(3.0), np.arange(3.0, dtype="float32"))])
print(xo.explain(f, np.arange(3.0)).chosen if hasattr(f, "operation") else "")
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "pickled_program.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield __import__("pickled_program")
    sys.modules.pop("pickled_program")


def in_another_process(pickled, folder=None):
    environment = None if folder is None else {"PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", LOAD, pickled.hex()], capture_output=True, text=True, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", NAMES)
def test_functions_of_an_importable_module(module, name, tmp_path):
    f = getattr(module, name)
    expected = [f(x).tolist() for x in (np.arange(3.0), np.arange(3.0, dtype="float32"))]
    for protocol in range(2, 6):
        pickled = pickle.dumps(f, protocol=protocol)
        assert pickle.loads(pickled) is f or name == "renamed"
    assert copy.copy(f) is copy.deepcopy(f) is f
    assert cloudpickle.loads(cloudpickle.dumps(f)) is f or name == "renamed"
    assert in_another_process(pickled, tmp_path)[0] == str(expected)


def test_a_renamed_function_keeps_its_options(module):
    other = pickle.loads(pickle.dumps(module.renamed))
    assert other(np.arange(3.0)).tolist() == [0.0, 3.0, 6.0]
    assert (other.programs._options, other.__wrapped__) == (module.renamed.programs._options, module.plain)


@pytest.mark.parametrize("is_used", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_functions_of_a_program_by_cloudpickle(name, is_used, tmp_path):
    """The process that loads them does not have the program: it gets the kernels and the gradient too."""
    program = tmp_path / "program.py"
    program.write_text(MODULE + MAIN)
    command = [sys.executable, str(program), name, *(["used"] if is_used else [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    pickled, expected = done.stdout.splitlines()
    found, chosen = in_another_process(bytes.fromhex(pickled))
    assert found == expected
    assert chosen == ("numpy:own" if name == "scaled" else "")


def cubes(x):
    return xo.sum(x**3)


@pytest.mark.parametrize("make", [xo.grad, xo.value_and_grad, xo.vmap, xo.checkpoint, xo.no_grad()])
def test_other_transformations(make):
    torch = pytest.importorskip("torch")
    f, x = make(cubes), torch.arange(6.0).reshape(2, 3)
    for other in (pickle.loads(pickle.dumps(f)), cloudpickle.loads(cloudpickle.dumps(f)), copy.deepcopy(f)):
        assert str(other(x)) == str(f(x))
    with pytest.raises(AttributeError, match="local object"):
        pickle.dumps(make(lambda x: x))


def test_a_ledger_keeps_its_entries(module):
    module.waves(np.arange(3.0))
    ledger = module.waves.ledger
    shown = str(ledger)
    others = (pickle.loads(pickle.dumps(ledger)), copy.deepcopy(ledger))
    module.waves(np.arange(4.0))
    assert [(len(each), str(each)) for each in others] == [(1, shown)] * 2
    assert len(ledger) == 2


def test_methods(module):
    model = module.Model()
    assert model.apply(np.ones(2)).tolist() == [4.0, 4.0]
    assert pickle.loads(pickle.dumps(model.apply))(np.ones(2)).tolist() == [4.0, 4.0]
    assert pickle.loads(pickle.dumps(module.Model.apply)) is module.Model.apply
    assert repr(module.Model.apply) == "<Jitted pickled_program.Model.apply>"
