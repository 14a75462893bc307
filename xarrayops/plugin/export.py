"""What exporters are made of.

- ``Exporter``: the base class; ``Program``: the function to export; ``Run``: the class of loaded files.
- ``run_onnx`` and ``describe_onnx``: run an ONNX file, and what is in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xarrayops._protocol.export_hooks import Exporter as Exporter, Program as Program, Run as Run

if TYPE_CHECKING:
    from pathlib import Path


def run_onnx(path: Path) -> Run:
    """See `xarrayops._host.onnx`."""
    from xarrayops._host.onnx import load

    return load(path)


def describe_onnx(path: Path) -> dict[str, object]:
    """See `xarrayops._host.onnx`."""
    from xarrayops._host.onnx import describe

    return describe(path)
