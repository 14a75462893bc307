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


def exported(function, *arrays, tmp_path):
    """The platforms of the file of a function."""
    exporter, _ = xo.backend("jax").functions["exporters"]()
    names = tuple(f"x{k}" for k in range(len(arrays)))
    program = mock.Mock(function=lambda *x: (function(*x),), arrays=arrays, axes=({},) * len(arrays), inputs=names)
    with exporter.settings(False):
        exporter.write(program, tmp_path / "f")
        (got,) = exporter.load(tmp_path / "f")(arrays)
    np.testing.assert_allclose(got, function(*arrays), rtol=1e-6)
    return jax.export.deserialize(bytearray((tmp_path / "f").read_bytes())).platforms


def test_a_file_runs_on_every_platform(tmp_path, monkeypatch):
    """Also one that was written on a machine with an accelerator."""
    x = jnp.ones((3, 4), "float32")
    everywhere = ("cpu", "cuda", "rocm", "tpu")
    monkeypatch.setattr("jax.export.default_export_platform", lambda: "cuda")
    assert exported(xo.sin, x, tmp_path=tmp_path) == everywhere
    q = jnp.ones((1, 2, 8, 64), "float32")
    assert exported(xo.attention, q, q, q, tmp_path=tmp_path) == everywhere
    unsigned = jnp.ones((512, 512), "uint8")
    assert exported(xo.matmul, unsigned, unsigned, tmp_path=tmp_path) == everywhere


def test_a_file_leaves_out_platforms_that_lack_a_function(tmp_path):
    """JAX has no eigenvalues of general matrices on TPUs."""
    platforms = exported(lambda x: xo.abs(xo.linalg.eigvals(x)), jnp.eye(3), tmp_path=tmp_path)
    assert platforms[0] == "cpu"
    assert "tpu" not in platforms


def test_what_a_file_needs_is_said(monkeypatch):
    """JAX does not depend on flatbuffers."""
    exporter, _ = xo.backend("jax").functions["exporters"]()
    assert exporter.refusal() is None
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "flatbuffers" in exporter.refusal()
