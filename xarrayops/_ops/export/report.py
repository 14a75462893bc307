"""The report about an exported file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xarrayops.plugin.arrays import Record

if TYPE_CHECKING:
    from pathlib import Path


class ExportReport(Record):
    """What was exported and how it was checked. ``str()`` gives text, ``as_dict()`` gives plain data.

    Attributes
    ----------
    path : Path
        The file.
    target, route : str
        The format, and the exporter that wrote the file, such as "torch.onnx".
    nbytes : int
        The size of the file.
    details : dict
        The contents of the file; for ONNX the opset, the number of nodes and the number of each operator.
    inputs, outputs : tuple of str
        The names of the arguments and of the results in the file.
    compared : dict
        For each call that was compared with the function, the largest difference, relative to the largest value.
    notes : tuple of str
        Further findings, such as results for NaN that differ.
    refused : dict
        The exporters that were tried before, with the reason why each failed.
    """

    path: Path
    target: str
    route: str
    nbytes: int
    details: dict[str, object]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    compared: dict[str, float]
    notes: tuple[str, ...]
    refused: dict[str, str]

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return self._asdict() | {"path": str(self.path)}

    def __str__(self) -> str:
        checks = ", ".join(f"{label} ({difference:.1e})" for label, difference in self.compared.items())
        lines = [f"{self.path}: {self.target} by {self.route}, {self.nbytes} bytes"]
        if self.details:
            lines.append(f"  contains: {', '.join(_shown(name, value) for name, value in self.details.items())}")
        lines.append(f"  arguments: {', '.join(self.inputs)}; results: {', '.join(self.outputs)}")
        lines.append(f"  agrees with the function, with the largest difference: {checks}")
        lines += [f"  note: {note}" for note in self.notes]
        lines += [f"  {name} was not used: {reason}" for name, reason in self.refused.items()]
        return "\n".join(lines)


def _shown(name: str, value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{count} {each}" for each, count in value.items())
    if name == "opset":
        return f"opset {value}"
    return "1 node" if (name, value) == ("nodes", 1) else f"{value} {name}"
