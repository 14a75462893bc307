"""The files of `export`: written beside their place, compared, and moved."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from xarrayops._ops.compilation.failures import place_of, reason_of
from xarrayops._ops.export.comparison import Comparison
from xarrayops._ops.export.exported import Exported, Runner, is_wide, passed
from xarrayops._ops.export.report import ExportReport
from xarrayops._ops.export.request import Dynamic, Request
from xarrayops._ops.export.routes import Route, routes_to
from xarrayops._protocol.export_hooks import Program
from xarrayops.errors import Unsupported

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
    where = Path(path)
    if not where.parent.is_dir():
        raise FileNotFoundError(f"xo.export: the folder {where.parent} does not exist")
    if where.is_dir():
        raise IsADirectoryError(f"xo.export: {where} is a folder")
    request = Request(function, examples, dynamic)
    routes = routes_to(target, request.own)
    for text in dict.fromkeys(route.exporter.is_deprecated for route in routes):
        if text:
            warnings.warn(text, FutureWarning, stacklevel=3)
    comparison = Comparison(request, samples)
    refused: dict[str, str] = {}
    errors: list[Exception] = []
    for route in routes:
        reason = route.exporter.refusal()
        if reason is None:
            try:
                return _written(request, route, comparison, where, refused)
            except Exception as error:  # exporters raise anything
                reason = f"{reason_of(error)}{place_of(error, request.function)}"
                errors.append(error)
        refused[route.exporter.name] = reason
    listed = "".join(f"\n  {name}: {reason}" for name, reason in refused.items())
    advice = f"\n{ADVICE}" if errors else ""
    raise Unsupported(f"{request.call}: no exporter gave a file of {target} that agrees:{listed}{advice}") from (
        errors[-1] if errors else None
    )


def program_of(request: Request, route: Route) -> Program:
    """The function and its examples as arrays of the library that is traced."""
    arrays = tuple(passed(x, route.tracer) for x in request.arrays)
    return Program(request.program, arrays, request.inputs, request.outputs, request.axes)


def _written(request: Request, route: Route, comparison: Comparison, where: Path, refused: dict[str, str]) -> Exported:
    """Write a file, prove it and move it to its place."""
    exporter, tracer = route
    with TemporaryDirectory(dir=where.parent, prefix=f".{where.name}-") as folder:
        file = Path(folder) / f"program.{exporter.target}"
        with exporter.settings(is_wide(request.own)):
            exporter.write(program_of(request, route), file)
            details = exporter.details(file)
        runner = Runner(exporter, file, request)
        compared = comparison.compared(runner, exporter, tracer)
        size = file.stat().st_size
        file.replace(where)
    report = ExportReport(
        where,
        exporter.target,
        exporter.name,
        size,
        details,
        request.inputs,
        request.outputs,
        compared.differences,
        compared.notes,
        dict(refused),
    )
    return Exported(report, runner, request)
