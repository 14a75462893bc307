"""An export by jax2onnx, which replaces functions of JAX while it traces, changes nothing for later calls."""

import sys
from types import ModuleType
from unittest import mock

import numpy as np
import pytest

import xarrayops as xo

jax = pytest.importorskip("jax")
from jax import numpy as jnp  # noqa: E402
from jax.extend.core import Primitive  # noqa: E402

replacement = Primitive("a stranger's expm1")
replacement.def_abstract_eval(lambda x: x)


@pytest.fixture
def replaced(monkeypatch):
    """A stand-in for jax2onnx that traces with another expm1 and writes no file."""
    module = ModuleType("jax2onnx")

    def to_onnx(function, inputs, **options):
        with mock.patch.object(jnp, "expm1", replacement.bind):
            jaxpr = jax.make_jaxpr(function)(*inputs)
        assert "stranger" in str(jaxpr)
        raise ValueError("jax2onnx has no translation")

    module.to_onnx = to_onnx
    monkeypatch.setitem(sys.modules, "jax2onnx", module)


def test_a_refused_export(replaced, tmp_path):
    @jax.jit
    def inner(x):
        return jnp.expm1(x)

    x = jnp.asarray([1e-8], "float32")
    _, exporter = xo.backend("jax").functions["exporters"]()
    program = mock.Mock(function=inner, arrays=(x,), axes=({},), inputs=("x",), outputs=("y",))
    with pytest.raises(ValueError, match="no translation"):
        exporter.write(program, tmp_path / "f")
    np.testing.assert_allclose(inner(x), [1e-8])
    np.testing.assert_allclose(xo.expm1(x), [1e-8])
