"""ONNX files: run by ONNX Runtime if it is installed, else by the reference implementation of the package onnx."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from xarrayops.errors import Unsupported
from xarrayops.plugin.export import Exporter, Run


class OnnxExporter(Exporter):
    """What the exporters of ONNX share."""

    target = "onnx"
    library = "numpy"

    def load(self, path: Path, /) -> Run:
        """The function in the file, for NumPy arrays. ml_dtypes provides the types that NumPy lacks."""
        return _by_runtime(path) if find_spec("onnxruntime") else _by_reference(path)

    def details(self, path: Path, /) -> dict[str, object]:
        """The opset and the operators of the graph, with the number of each, including its functions and branches."""
        model = import_module("onnx").load(str(path))
        counts: Counter[str] = Counter()
        graphs = [model.graph.node, *(function.node for function in model.functions)]
        while graphs:
            for node in graphs.pop():
                counts[node.op_type] += 1
                graphs += [attribute.g.node for attribute in node.attribute if attribute.HasField("g")]
        opset = next((each.version for each in model.opset_import if each.domain in ("", "ai.onnx")), 0)
        return {"opset": opset, "nodes": sum(counts.values()), "operators": dict(sorted(counts.items()))}


def _by_runtime(path: Path) -> Run:
    runtime = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 4  # errors are raised
    session = runtime.InferenceSession(path.read_bytes(), options, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]
    outputs = [each.name for each in session.get_outputs()]

    def run(arrays: Sequence[Any]) -> Sequence[Any]:
        if any(x.dtype.kind == "c" for x in arrays):
            raise Unsupported("ONNX Runtime has no complex numbers")
        given = {name: runtime.OrtValue.ortvalue_from_numpy(_plain(x)) for name, x in zip(names, arrays, strict=True)}
        return [each.numpy() for each in session.run_with_ort_values(outputs, given)]

    return run


def _plain(x: Any) -> Any:
    """The values in C order and in the byte order of the machine."""
    return np.ascontiguousarray(x, dtype=x.dtype.newbyteorder("=")).reshape(x.shape)


def _by_reference(path: Path) -> Run:
    evaluator = import_module("onnx.reference").ReferenceEvaluator(str(path))

    def run(arrays: Sequence[Any]) -> Sequence[Any]:
        found: Sequence[Any] = evaluator.run(None, dict(zip(evaluator.input_names, arrays, strict=True)))
        return found

    return run
