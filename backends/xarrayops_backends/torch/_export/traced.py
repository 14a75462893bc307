"""Programs of torch.export, from which PyTorch writes all its formats except TorchScript."""

from __future__ import annotations

import inspect
import logging
import re
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, redirect_stderr
from io import StringIO
from itertools import takewhile
from pathlib import Path
from typing import Any

import torch

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array
from xarrayops.plugin.export import Exporter, Program, Run
from xarrayops_backends.torch._export.flag import thread

_FROM_SOME_NUMBER = re.compile(r"= Dim\('\w+', min=\d+\)$")
_torch: Any = torch  # untyped: PyTorch does not annotate these functions


def module_of(program: Program) -> Any:
    """The program as a module, which the exporters of PyTorch take; its parameters have the names of the arguments."""

    def forward(self: Any, *arrays: Array) -> tuple[Array, ...]:
        return program.function(*arrays)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind) for name in ("self", *program.inputs)]
    forward.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return type("Function", (torch.nn.Module,), {"forward": forward})()


def examples(program: Program) -> tuple[Array, ...]:
    """Copies of the examples: torch.export merges two arguments that are the same tensor."""
    return tuple(x.detach().clone() for x in program.arrays)


def traced(program: Program) -> Any:
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
        return _torch.export.export(module_of(program), examples(program), dynamic_shapes=shapes, strict=False)


class TorchExporter(Exporter):
    """What the exporters of PyTorch share."""

    library = "torch"

    def settings(self, is_wide: bool, /) -> AbstractContextManager[object]:
        """No gradients, and no warnings about parts of PyTorch that PyTorch itself calls."""
        stack = ExitStack()
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.callback(logging.disable, logging.root.manager.disable)
        logging.disable(logging.ERROR)  # PyTorch also raises the errors that it logs
        stack.enter_context(torch.no_grad())
        stack.callback(setattr, thread, "is_exporting", thread.is_exporting)
        thread.is_exporting = True
        return stack

    def running(self, is_wide: bool, /) -> AbstractContextManager[object]:
        """No gradients."""
        return torch.no_grad()

    def obstacle(self, program: Program, /) -> str | None:
        """Why torch.export cannot trace the function."""
        traced(program)
        return None


class Pt2(TorchExporter):
    """Programs of torch.export in a file."""

    name = "torch.export"
    target = "pt2"

    def write(self, program: Program, path: Path, /) -> None:
        """See `Exporter`."""
        _torch.export.save(traced(program), path)

    def load(self, path: Path, /) -> Run:
        """See `Exporter`."""
        return runner(_torch.export.load(path).module())

    def details(self, path: Path, /) -> dict[str, object]:
        """The number of operators."""
        nodes = _torch.export.load(path).graph.nodes
        return {"nodes": sum(node.op == "call_function" for node in nodes)}


def runner(module: Any) -> Run:
    """The calls of a loaded module."""

    def run(arrays: Sequence[Array]) -> Sequence[Array]:
        return [y.clone() for y in module(*arrays)]  # a constant of the file may be among them

    return run
