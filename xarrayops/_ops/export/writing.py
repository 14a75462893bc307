"""Write the files of `export` next to their path, compare them, and move them there."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from shutil import copymode
from tempfile import TemporaryDirectory
from threading import RLock
from typing import Any

from xarrayops._ops.compilation.failures import place_of, reason_of
from xarrayops._ops.export.comparison import Comparison
from xarrayops._ops.export.exported import Exported, ExportReport, Runner, is_wide, passed
from xarrayops._ops.export.exporting import Tracing, exporters_to
from xarrayops._ops.export.request import Dynamic, Request
from xarrayops.errors import Unsupported
from xarrayops.plugin.export import Program

_alone = RLock()
"""Held while a file is written: the settings of exporters apply to the whole process."""
ADVICE = (
    "Instead: functions of xarrayops for those of NumPy and for methods of arrays; weights as arguments, or by "
    "xo.convert(w, x); xo.where, xo.cond, xo.while_loop or xo.scan where values decide; no branch on a dynamic length"
)


def exported(
    function: Callable[..., Any],
    examples: tuple[Any, ...],
    target: str,
    path: str | os.PathLike[str],
    dynamic: Dynamic,
    samples: tuple[tuple[Any, ...], ...],
) -> Exported:
    """See `export`."""
    where = Path(os.path.realpath(path))
    if not where.parent.is_dir():
        raise FileNotFoundError(f"xo.export: the folder {where.parent} does not exist")
    if where.is_dir():
        raise IsADirectoryError(f"xo.export: {where} is a folder")
    request = Request(function, examples, dynamic)
    tracings = exporters_to(target, request.own)
    for text in dict.fromkeys(tracing.exporter.is_deprecated for tracing in tracings):
        if text:
            warnings.warn(text, FutureWarning, stacklevel=3)
    comparison = Comparison(request, samples)
    refused: dict[str, str] = {}
    errors: list[Exception] = []
    with _alone, TemporaryDirectory(dir=where.parent, prefix=".xo-") as folder:
        for tracing in tracings:
            reason = tracing.exporter.refusal()
            if reason is None:
                file = Path(folder) / tracing.exporter.name / f"program.{target}"
                try:
                    file.parent.mkdir()
                    report, runner = _written(request, tracing, comparison, file, refused)
                except Exception as error:  # exporters may raise anything
                    reason = f"{reason_of(error)}{place_of(error, request.function)}"
                    errors.append(error)
                else:
                    if where.exists():
                        copymode(where, file)
                    file.replace(where)
                    return Exported(report._replace(path=Path(path)), runner, request)
            refused[tracing.exporter.name] = reason
    listed = "".join(f"\n  {name}: {reason}" for name, reason in refused.items())
    advice = f"\n{ADVICE}" if errors else ""
    raise Unsupported(f"{request.call}: no exporter gave a {target} file that agrees:{listed}{advice}") from (
        errors[-1] if errors else None
    )


def program_of(request: Request, tracing: Tracing) -> Program:
    """The function and its examples, with arrays of the traced library."""
    arrays = tuple(passed(x, tracing.tracer) for x in request.arrays)
    return Program(request.program, arrays, request.inputs, request.outputs, request.axes)


def _written(
    request: Request, tracing: Tracing, comparison: Comparison, file: Path, refused: dict[str, str]
) -> tuple[ExportReport, Runner]:
    """Write a file and verify it."""
    exporter, tracer = tracing
    with exporter.settings(is_wide(request.own)):
        exporter.write(program_of(request, tracing), file)
        details = exporter.details(file)
        runner = Runner(exporter, file, request)
        compared = comparison.compared(runner, tracer)
    others = [each.name for each in file.parent.iterdir() if each != file]
    if others:
        raise Unsupported(f"it writes further files: {', '.join(others)}")
    report = ExportReport(
        file,
        exporter.target,
        exporter.name,
        file.stat().st_size,
        details,
        request.inputs,
        request.outputs,
        compared.differences,
        compared.notes,
        dict(refused),
    )
    return report, runner
