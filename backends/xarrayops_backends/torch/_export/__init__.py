"""Exports by PyTorch: ONNX, programs of torch.export (pt2), TorchScript and TensorRT engines.

PyTorch writes all its formats except TorchScript from programs of torch.export.
"""

from __future__ import annotations

import inspect
import logging
import re
import sys
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, redirect_stderr
from importlib import import_module
from io import StringIO
from itertools import takewhile
from pathlib import Path
from typing import Any

import torch

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, host
from xarrayops.plugin.export import Exporter, Program, Run
from xarrayops_backends.torch._compilation import exporting_thread
from xarrayops_backends.torch._export.onnx_operators import replaced

_torch: Any = torch  # untyped: PyTorch does not annotate these functions
_FROM_SOME_NUMBER = re.compile(r"= Dim\('\w+', min=\d+\)$")
_MISSING = re.compile(r"No ONNX function found for <OpOverload\(op='([\w.]+)', overload='(\w+)'\)>")
_OPSET = 23
"""The first with the operator Attention."""


def _module_of(program: Program) -> Any:
    """The program as a module, which the exporters of PyTorch take; its parameters have the names of the arguments."""

    def forward(self: Any, *arrays: Array) -> tuple[Array, ...]:
        return program.function(*arrays)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind) for name in ("self", *program.inputs)]
    forward.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return type("Function", (torch.nn.Module,), {"forward": forward})()


def _examples(program: Program) -> tuple[Array, ...]:
    """Copies of the examples: torch.export merges two arguments that are the same tensor."""
    return tuple(x.detach().clone() for x in program.arrays)


def _traced(program: Program) -> Any:
    """The program of torch.export for all lengths above a minimum. Raises if it serves only some lengths."""
    sizes = {name: _torch.export.Dim(name) for axes in program.axes for name in axes.values()}
    shapes = tuple({axis: sizes[name] for axis, name in axes.items()} for axes in program.axes)
    try:
        return _exported(program, shapes)
    except _torch._dynamo.exc.UserError as error:
        reason, fixes, lines = str(error).partition("Suggested fixes:\n")
        if not fixes:
            raise
        needed = list(takewhile(lambda line: " = " in line, lines.splitlines()))
        limits = [each.strip() for each in needed if not _FROM_SOME_NUMBER.search(each)]
        if limits:
            raise Unsupported(f"it depends on the lengths, and serves only {'; '.join(limits)}") from error
        refine = _torch.export.dynamic_shapes.refine_dynamic_shapes_from_suggested_fixes
        return _exported(program, refine(reason + fixes + "\n".join(needed), shapes))


def _exported(program: Program, shapes: Any) -> Any:
    with redirect_stderr(StringIO()):  # it prints the graph before it raises
        return _torch.export.export(_module_of(program), _examples(program), dynamic_shapes=shapes, strict=False)


def _runner(module: Any) -> Run:
    """The calls of a loaded module."""

    def run(arrays: Sequence[Array]) -> Sequence[Array]:
        return [y.clone() for y in module(*arrays)]  # a constant of the file may be among them

    return run


class TorchExporter(Exporter):
    """What the exporters of PyTorch share."""

    library = "torch"

    def converted(self, program: Program) -> Any:
        """What is saved in the file: a program of torch.export, in most formats."""
        return _traced(program)

    def obstacle(self, program: Program, /) -> str | None:
        """Why PyTorch cannot convert the function."""
        self.converted(program)
        return None

    def settings(self, is_wide: bool, /) -> AbstractContextManager[object]:
        """No gradients, and no warnings about parts of PyTorch that PyTorch itself calls."""
        stack = ExitStack()
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.callback(logging.disable, logging.root.manager.disable)
        logging.disable(logging.ERROR)  # PyTorch also raises the errors that it logs
        stack.enter_context(torch.no_grad())
        stack.callback(setattr, exporting_thread, "is_exporting", exporting_thread.is_exporting)
        exporting_thread.is_exporting = True
        return stack

    def running(self, is_wide: bool, /) -> AbstractContextManager[object]:
        """No gradients."""
        return torch.no_grad()


class Onnx(host.onnx.OnnxExporter, TorchExporter):
    """ONNX files, whose arguments are NumPy arrays."""

    name = "torch.onnx"
    packages = ("onnx", "onnxscript")
    install = "xarrayops[export]"

    def converted(self, program: Program) -> Any:
        """The program of ONNX, with the user's names of arguments, results and axes."""
        try:
            converted = _torch.onnx.export(
                replaced(_traced(program)),
                dynamo=True,
                opset_version=_OPSET,
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

    def write(self, program: Program, path: Path, /) -> None:
        """See `Exporter`."""
        self.converted(program).save(path, external_data=False)


def _reason(error: BaseException) -> str:
    """The first cause, which names the operator."""
    while error.__cause__ is not None:
        error = error.__cause__
    missing = _MISSING.search(str(error))
    return f"torch.onnx has no translation of {missing[1]}.{missing[2]}" if missing else str(error)


class Pt2(TorchExporter):
    """Programs of torch.export in a file."""

    name = "torch.export"
    target = "pt2"

    def write(self, program: Program, path: Path, /) -> None:
        """See `Exporter`."""
        _torch.export.save(self.converted(program), path)

    def load(self, path: Path, /) -> Run:
        """See `Exporter`."""
        return _runner(_torch.export.load(path).module())

    def details(self, path: Path, /) -> dict[str, object]:
        """The number of operators."""
        nodes = _torch.export.load(path).graph.nodes
        return {"nodes": sum(node.op == "call_function" for node in nodes)}


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

    def converted(self, program: Program) -> Any:
        """The traced module."""
        return _torch.jit.trace(_module_of(program), _examples(program), check_trace=False)

    def write(self, program: Program, path: Path, /) -> None:
        """See `Exporter`."""
        _torch.jit.save(self.converted(program), str(path))

    def load(self, path: Path, /) -> Run:
        """See `Exporter`."""
        return _runner(_torch.jit.load(str(path)))


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
        program = program._replace(arrays=_on_gpu(program.arrays))  # the function may branch on the device
        inputs = _examples(program)
        compiled = tensorrt.dynamo.compile(self.converted(program), arg_inputs=inputs)
        tensorrt.save(compiled, str(path), output_format="exported_program", arg_inputs=inputs)

    def load(self, path: Path, /) -> Run:
        """See `Exporter`."""
        import_module("torch_tensorrt")  # registers the operators in the file
        module = _runner(_torch.export.load(path).module())

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
