"""export: write a function to a file that other programs run, and verify the file before it is kept.

Files are written next to their path, compared, and moved there. `explain_export` traces the function with each exporter
of the format, and writes nothing.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shutil import copymode
from tempfile import TemporaryDirectory
from threading import RLock
from typing import Any, get_args

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._ops.compilation.compilers import place_of, reason_of
from xarrayops._ops.explanation import Candidate, Explanation, chosen_name
from xarrayops._ops.export.comparison import Comparison
from xarrayops._ops.export.exported import Exported, ExportReport, Runner, is_wide, passed
from xarrayops._ops.export.request import Dynamic, Request
from xarrayops._ops.transformations.arguments import name_of
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Record
from xarrayops.plugin.export import Exporter, Program, Target

_alone = RLock()
"""Held while a file is written: the settings of exporters apply to the whole process."""
ADVICE = (
    "Instead: functions of xarrayops for those of NumPy and for methods of arrays; weights as arguments, or by "
    "xo.convert(w, x); xo.where, xo.cond, xo.while_loop or xo.scan where values decide; no branch on a dynamic length"
)


def export(
    function: Callable[..., Any],
    /,
    *examples: Any,
    target: Target,
    path: str | os.PathLike[str],
    dynamic: Dynamic | None = None,
    samples: Sequence[tuple[Any, ...]] = (),
) -> Exported:
    """Write a function to a file of another format; the file is loaded, run and compared before it is kept.

    The exporters of the format are tried in order, and the first whose file agrees with the function is used. Files are
    written next to ``path`` and moved there once they agree, so an existing file is only replaced by a verified one.

    A file is compared at the examples, with their values in another order and with the opposite sign, and at further
    lengths of each dynamic axis. The allowed difference is the same as for `jit`, for each element: sixteen times the
    rounding. NaN, infinities and axes of length one and two are tried too; differences there are noted in the report.

    Parameters
    ----------
    function : callable
        A function of positional arguments that returns a pytree of arrays. It must be written for arrays of any
        library: NumPy arrays, for example, are exported as PyTorch tensors.
    *examples
        The arguments of a call, of one library. The file gets the shapes and dtypes of the arrays; all other arguments
        are constants of the file.
    target : {"onnx", "stablehlo", "pt2", "torchscript", "tensorrt"}
        "onnx" is written by ``torch.onnx`` with opset 23, or by jax2onnx; "stablehlo" by ``jax.export``; "pt2" by
        ``torch.export``; "torchscript" by ``torch.jit.trace``, which is deprecated; "tensorrt" by torch_tensorrt, which
        was never run on hardware by the developers.
    path : path
        The file to write. Its folder must exist.
    dynamic : dict
        The axes whose length may change: ``{"x": {0: "n"}}`` is axis 0 of argument x. Equal names mean equal lengths.
        Arrays in nested arguments are named by their path, as in the file: ``params["layers"][1]`` is
        ``"params_layers_1"``.
    samples : sequence of tuples
        Further arguments to compare at. They are needed if the function rejects all generated arguments, for example
        because a matrix must be positive definite.

    Returns
    -------
    Exported
        A function that runs the file, for arrays of any library. Its ``report`` has the exporter, the operators in the
        file, and each comparison.

    Raises
    ------
    Unsupported
        No exporter wrote a file that agrees; the message has the reason for each. The function writes to its arguments,
        is random, or does not return arrays.
    ValueError
        An option is invalid, or the examples have no array.
    FileNotFoundError
        The folder of ``path`` does not exist.

    Notes
    -----
    Law: ``export(f, *a, ...)(*a)`` equals ``f(*a)`` within rounding, and no other file is left.

    The arguments of the file are only the arrays, in the order of ``report.inputs``; likewise for the results. Load the
    files with ``onnxruntime.InferenceSession``, ``jax.export.deserialize``, ``torch.export.load`` or
    ``torch.jit.load``. With ONNX, `attention` is the one operator Attention where that operator can express the call.

    Examples
    --------
    >>> import tempfile, numpy as np, xarrayops as xo
    >>> def centred(x):
    ...     return x - xo.mean(x, axis=0)
    >>> x = np.random.default_rng(0).random((6, 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = xo.export(centred, x, target="pt2", dynamic={"x": {0: "n"}}, path=f"{folder}/centred.pt2")
    >>> list(file.report.compared)
    ['the examples', 'other values', 'opposite signs', 'n = 3', 'n = 13', 'n = 59']
    >>> bool(np.allclose(file(x[:5]), centred(x[:5])))
    True
    """
    where = Path(os.path.realpath(path))
    if not where.parent.is_dir():
        raise FileNotFoundError(f"xo.export: the folder {where.parent} does not exist")
    if where.is_dir():
        raise IsADirectoryError(f"xo.export: {where} is a folder")
    request = Request(function, examples, dynamic or {})
    tracings = exporters_to(target, request.own)
    for text in dict.fromkeys(tracing.exporter.is_deprecated for tracing in tracings):
        if text:
            warnings.warn(text, FutureWarning, stacklevel=2)
    comparison = Comparison(request, tuple(samples))
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


class Tracing(Record):
    """An exporter, and the library whose arrays it traces."""

    exporter: Exporter
    tracer: Backend


def exporters_to(target: str, own: Backend) -> tuple[Tracing, ...]:
    """The exporters of a format: exporters of the arrays' own library first, then by rank.

    Raises
    ------
    ValueError
        No format has the name.
    Unsupported
        No library that exports to it is installed.
    """
    if target not in get_args(Target):
        raise ValueError(f"xo.export: target must be one of {get_args(Target)}, not {target!r}")
    found = [
        Tracing(exporter, backend)
        for backend in dict.fromkeys((own, *find.installed()))
        for exporter in backend.functions["exporters"]()
        if exporter.target == target
    ]
    if not found:
        library = "jax" if target == "stablehlo" else "torch"
        raise Unsupported(
            f"xo.export: no installed library exports to {target!r}. Instead: pip install 'xarrayops[{library},export]'"
        )
    return tuple(sorted(found, key=lambda tracing: (tracing.tracer is not own, tracing.exporter.rank)))


def explain_export(
    verb: str,
    function: Callable[..., Any],
    /,
    *examples: Any,
    target: str | None = None,
    dynamic: Mapping[str, Mapping[int, str]] | None = None,
    path: object = None,
    samples: object = (),
) -> Explanation:
    """The exporters in the order in which they are tried, and what they cannot express."""
    if target is None:
        raise TypeError("xo.export: missing a required argument: 'target'")
    request = Request(function, examples, dynamic or {})
    listed = tuple(_candidate(request, tracing) for tracing in exporters_to(target, request.own))
    chosen = chosen_name(listed)
    name = name_of(function)
    summary = f"{name} cannot be exported to {target}" if chosen is None else f"{name} is exported to {target}"
    return Explanation(verb, summary, listed, chosen)


def _candidate(request: Request, tracing: Tracing) -> Candidate:
    exporter = tracing.exporter
    reason = exporter.refusal()
    if reason is None:
        try:
            with exporter.settings(is_wide(request.own)):
                reason = exporter.obstacle(program_of(request, tracing))
        except Exception as error:  # exporters may raise anything
            reason = f"{reason_of(error)}{place_of(error, request.function)}"
    return Candidate(exporter.name, reason is None, reason or "the file is compared after it is written")


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
