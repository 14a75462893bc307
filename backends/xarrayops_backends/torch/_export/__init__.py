"""Exports by PyTorch: ONNX, programs of torch.export (pt2), TorchScript and TensorRT engines."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from xarrayops.plugin import Array
from xarrayops.plugin.export import Exporter, Program, Run
from xarrayops_backends.torch._export.onnx import Onnx
from xarrayops_backends.torch._export.traced import Pt2, TorchExporter, examples, module_of, runner, traced

_torch: Any = torch  # untyped: PyTorch does not annotate these functions


class TorchScript(TorchExporter):
    """Files of TorchScript, by tracing."""

    name = "torch.jit.trace"
    target = "torchscript"
    is_deprecated = (
        "TorchScript is deprecated since PyTorch 2.11, and does not support Python 3.14. Instead: target='pt2'"
    )

    def refusal(self) -> str | None:
        """TorchScript ends with Python 3.13."""
        return "TorchScript does not support Python 3.14" if sys.version_info >= (3, 14) else None

    def obstacle(self, program: Program, /) -> str | None:
        """Why the function cannot be traced."""
        _scripted(program)
        return None

    def write(self, program: Program, path: Path, /) -> None:
        """See `Exporter`."""
        _torch.jit.save(_scripted(program), str(path))

    def load(self, path: Path, /) -> Run:
        """See `Exporter`."""
        return runner(_torch.jit.load(str(path)))


def _scripted(program: Program) -> Any:
    return _torch.jit.trace(module_of(program), examples(program), check_trace=False)


class TensorRT(TorchExporter):
    """Modules with engines of TensorRT, by torch_tensorrt. Not yet run on a GPU."""

    name = "torch_tensorrt"
    target = "tensorrt"
    packages = ("torch_tensorrt",)
    install = "torch-tensorrt"

    def refusal(self) -> str | None:
        """TensorRT needs a GPU, also to write a file."""
        return super().refusal() or (None if torch.cuda.is_available() else "no CUDA device")

    def write(self, program: Program, path: Path, /) -> None:
        """See `Exporter`."""
        tensorrt = import_module("torch_tensorrt")
        inputs = _on_gpu(examples(program))
        compiled = tensorrt.dynamo.compile(traced(program), arg_inputs=inputs)
        tensorrt.save(compiled, str(path), output_format="exported_program", arg_inputs=inputs)

    def load(self, path: Path, /) -> Run:
        """See `Exporter`."""
        import_module("torch_tensorrt")  # registers the operators in the file
        module = runner(_torch.export.load(path).module())

        def run(arrays: Sequence[Array]) -> Sequence[Array]:
            device = arrays[0].device
            return [y.to(device) for y in module(_on_gpu(arrays))]

        return run


def _on_gpu(arrays: Sequence[Array]) -> tuple[Array, ...]:
    return tuple(x.cuda() for x in arrays)


_EXPORTERS = (Onnx(), Pt2(), TorchScript(), TensorRT())


def exporters() -> tuple[Exporter, ...]:
    """The exporters of functions of tensors."""
    return _EXPORTERS
