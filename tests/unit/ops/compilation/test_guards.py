"""What torch.compile compares at each call of a compiled function: not the variables of xarrayops, but the user's."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import xarrayops as xo
import xarrayops.numpy as xnp
from xarrayops.numpy import _ufunc

torch = pytest.importorskip("torch", exc_type=ImportError)


class Scaled(torch.nn.Module):
    """Twice the values while it is trained."""

    def forward(self, x):
        return x * 2 if self.training else x


def programs():
    return xo.backend("torch").functions["compilations"]()


def test_variables_of_xarrayops_are_not_compared(monkeypatch):
    f = xo.jit(lambda x: xnp.add(xnp.square(x), 1.0))
    x = torch.asarray([1.0, 2.0])
    f(x)
    before, loop = programs(), _ufunc.loop
    monkeypatch.setattr(_ufunc, "loop", lambda *args: loop(*args))
    assert f(x).tolist() == [2.0, 5.0]
    assert programs() == before


def test_variables_of_the_user_are_compared():
    module = Scaled()
    f = xo.jit(lambda x: xnp.add(module(x), 1.0))
    x = torch.asarray([1.0, 2.0])
    assert f(x).tolist() == [3.0, 5.0]
    module.eval()
    assert f(x).tolist() == [2.0, 3.0]


def test_variables_of_other_packages_are_compared(tmp_path, monkeypatch):
    (tmp_path / "xarrayops_lab.py").write_text("SCALE = 2.0\n\n\ndef scaled(x):\n    return x * SCALE\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import xarrayops_lab

    f = xo.jit(lambda x: xarrayops_lab.scaled(x))
    x = torch.asarray([1.0, 2.0])
    assert f(x).tolist() == [2.0, 4.0]
    xarrayops_lab.SCALE = 5.0
    assert f(x).tolist() == [5.0, 10.0]


def test_libraries_of_blocks_are_compared():
    jax = pytest.importorskip("jax", exc_type=ImportError)
    f = xo.jit(lambda x: xo.ones(2))
    for name in ("jax", "numpy", "jax"):
        with xo.use(name):
            assert xo.backend(f(jax.numpy.ones(2))).name == name
    assert xo.backend(f(jax.numpy.ones(2))).name == "numpy"


def test_devices_of_blocks_are_compared():
    f = xo.jit(lambda x: xo.ones(2), check=False)  # values of meta tensors cannot be compared

    def device_of_result():
        return str(xo.device(f(torch.ones(2, device="cpu"))))

    for name in ("cpu", "meta", "cpu"):
        with xo.use("torch", device=name):
            assert device_of_result() == name
            with ThreadPoolExecutor(1) as pool:
                assert pool.submit(xo.carried(device_of_result)).result() == name


@pytest.mark.parametrize("engine", [None, "torch"])
def test_captured_arrays_of_numpy(engine):
    table = np.arange(3.0)
    f = xo.jit(lambda x: x * xo.asarray(table, like=x), engine=engine)
    x = np.ones(3) if engine else torch.ones(3, dtype=torch.float64)
    for _ in range(2):
        assert f(x).tolist() == [0.0, 1.0, 2.0]
        table += 1
        assert f(x).tolist() == [1.0, 2.0, 3.0]
        table -= 1
