"""The exporter of TensorRT, with a stand-in for torch_tensorrt and another device for the GPU."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

import xarrayops as xo

torch = pytest.importorskip("torch", exc_type=ImportError)
from xarrayops_backends.torch import _export  # noqa: E402

from xarrayops.plugin.export import Program  # noqa: E402


def test_a_function_is_traced_on_the_device_of_the_file(monkeypatch, tmp_path):
    """Traced with arrays in host memory, a function that asks for the device would give the file its other branch."""
    seen = {}

    def compiled(program, arg_inputs):
        seen.update(program=program, devices=[x.device.type for x in arg_inputs])
        return "an engine"

    tensorrt = ModuleType("torch_tensorrt")
    tensorrt.dynamo = SimpleNamespace(compile=compiled)
    tensorrt.save = lambda engine, path, output_format, arg_inputs: seen.update(saved=(engine, path))
    monkeypatch.setitem(sys.modules, "torch_tensorrt", tensorrt)
    monkeypatch.setattr(_export, "_on_gpu", lambda arrays: tuple(x.to("meta") for x in arrays))

    def function(x):
        return (xo.sin(x) if xo.device(x).type == "meta" else xo.cos(x),)

    program = Program(function, (torch.ones(3),), ("x",), ("y",), ({},))
    exporter = _export.TensorRT()
    with exporter.settings(False):
        exporter.write(program, tmp_path / "f.pt2")
    assert seen["devices"] == ["meta"]
    assert seen["saved"] == ("an engine", str(tmp_path / "f.pt2"))
    called = [str(node.target) for node in seen["program"].graph.nodes if node.op == "call_function"]
    assert "aten.sin.default" in called
    assert "aten.cos.default" not in called
