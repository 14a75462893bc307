"""Exports to ONNX by torch.onnx."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch

from xarrayops.errors import Unsupported
from xarrayops.plugin import host
from xarrayops.plugin.export import Program, Run
from xarrayops_backends.torch._export.onnx_operators import replaced
from xarrayops_backends.torch._export.traced import TorchExporter, traced

_torch: Any = torch  # untyped: PyTorch does not annotate these functions
OPSET = 23
"""The first with the operator Attention."""
_MISSING = re.compile(r"No ONNX function found for <OpOverload\(op='([\w.]+)', overload='(\w+)'\)>")


class Onnx(TorchExporter):
    """ONNX files, whose arguments are NumPy arrays."""

    name = "torch.onnx"
    target = "onnx"
    library = "numpy"
    packages = ("onnx", "onnxscript")
    install = "xarrayops[export]"

    def obstacle(self, program: Program, /) -> str | None:
        """Why torch.onnx cannot translate the function."""
        _converted(program)
        return None

    def write(self, program: Program, path: Path, /) -> None:
        """See `Exporter`."""
        _converted(program).save(path, external_data=False)

    def load(self, path: Path, /) -> Run:
        """See `Exporter`."""
        return host.onnx.load(path)

    def details(self, path: Path, /) -> dict[str, object]:
        """The opset and the operators."""
        return host.onnx.describe(path)


def _converted(program: Program) -> Any:
    """The program of ONNX, with the user's names of arguments, results and axes."""
    try:
        converted = _torch.onnx.export(
            replaced(traced(program)),
            dynamo=True,
            opset_version=OPSET,
            input_names=list(program.inputs),
            output_names=list(program.outputs),
            verbose=False,
        )
    except _torch.onnx.OnnxExporterError as error:
        raise Unsupported(_reason(error)) from error
    symbols = {
        str(given.shape[axis].value): name
        for given, axes in zip(converted.model.graph.inputs, program.axes, strict=True)
        for axis, name in axes.items()
    }
    if hasattr(converted, "rename_axes"):  # since PyTorch 2.11
        converted.rename_axes(symbols)
        return converted
    for value in (*converted.model.graph.inputs, *converted.model.graph.outputs):
        dimensions = [getattr(each, "value", each) for each in value.shape]
        value.shape = type(value.shape)([symbols.get(str(each), each) for each in dimensions])
    return converted


def _reason(error: BaseException) -> str:
    """The first cause, which names the operator."""
    while error.__cause__ is not None:
        error = error.__cause__
    missing = _MISSING.search(str(error))
    return f"torch.onnx has no translation of {missing[1]}.{missing[2]}" if missing else str(error)
