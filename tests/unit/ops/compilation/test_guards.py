"""What torch.compile compares at each call of a compiled function: not the variables of xarrayops, but the user's."""

from __future__ import annotations

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
