"""``check``: what prevents a program from running on each library, line by line, with a verdict for each.

The rules have one file for each topic; `verdict` summarizes the findings; `page` and `Report.as_dict` show the report.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from xarrayops._system.texts import counted
from xarrayops.plugin.arrays import Record
from xarrayops.port.annotations import note_on_annotations
from xarrayops.port.checking import creation, dtypes, indices, methods, names, operators, scalars, unknown, writes
from xarrayops.port.checking.reached import reached
from xarrayops.port.checking.verdict import Verdict, verdicts, with_forecasts
from xarrayops.port.findings import ALL, Finding, Kind
from xarrayops.port.source import PortError, Program, Source
from xarrayops.port.trace.forecast import Forecast, forecasts, kinds_of
from xarrayops.port.trace.functions import as_dict, functions_of
from xarrayops.port.trace.model import Machine, Modelled, of_functions
from xarrayops.port.trace.rates import Rates, measured, of_results
from xarrayops.port.trace.record import Trace
from xarrayops.port.trace.run import run

__all__ = ["Report", "check"]

RULES: dict[type[ast.AST], tuple[Callable[[Program, Any], Iterable[Finding]], ...]] = {
    ast.Attribute: (names.of_name, methods.of_use, dtypes.of_attribute),
    ast.BinOp: (operators.of_operator,),
    ast.Call: (
        *(names.of_arguments, names.of_foreign, creation.of_call, operators.of_call, indices.of_call),
        *(writes.of_update, scalars.of_call, scalars.of_iteration, dtypes.of_dtype, unknown.of_call),
    ),
    ast.Compare: (operators.of_comparison, dtypes.of_test),
    ast.FunctionDef: (names.of_compiled,),
    ast.Name: (names.of_name,),
    ast.Subscript: (indices.of_dtype, indices.of_index),
    **dict.fromkeys((ast.For, ast.AsyncFor), (scalars.of_loop,)),
    **dict.fromkeys((ast.While, ast.If, ast.IfExp, ast.Assert), (scalars.of_test,)),
}
"""The rules by the class of the node."""
WHOLE = (
    unknown.of_imports,
    names.of_stars,
    names.of_generators,
    creation.of_module,
    writes.of_writes,
    dtypes.of_float64,
)
"""The rules for the whole program."""
FORECAST = ("numpy", "torch", "jax", "cupy")
"""The libraries that have a forecast."""
_NEVER = {"dask": "it computes at the end, and its time depends on the chunks and on what is computed together"}
"""The libraries without a forecast, with the reason."""
_MANY = 10
"""The minimum of numbers read from arrays in one line: fewer cost less than a transfer."""


class LineOfRun(Record):
    """What a line did: operations with their bytes, numbers read from arrays, calls of other packages."""

    line: int
    operations: int
    bytes: int
    numbers: int
    views_written: int
    duplicates: int
    data_dependent: int
    foreign_calls: int
    foreign_bytes: int


class Report(Record):
    """The findings and verdicts of `check` on a program.

    Attributes
    ----------
    source : Source
        The program.
    findings : tuple of Finding
        What differs by library, in the order of the source; with a call, in the lines that it reached.
    verdicts : tuple of Verdict
        For each backend: "ready", "unknown", "small fixes", "redesign" or "stay on the CPU", with reasons.
    forecasts : tuple of Forecast
        With a call: the time of the call on each library.
    run : tuple of LineOfRun
        With a call: what each line did in the run.
    notes : tuple of str
        Which parameters have no annotation, if findings are guesses. With a call: which backends have no forecast,
        which forecasts are coarse, when the rates were measured, and whether other programs used the CPUs.
    unreached : tuple of Finding
        With a call: what differs in the lines that it did not reach, which the verdicts leave out.
    models : tuple of Modelled
        With a device: the model of the call and of each function on it.
    """

    source: Source
    findings: tuple[Finding, ...]
    verdicts: tuple[Verdict, ...]
    forecasts: tuple[Forecast, ...] = ()
    run: tuple[LineOfRun, ...] = ()
    notes: tuple[str, ...] = ()
    unreached: tuple[Finding, ...] = ()
    models: tuple[Modelled, ...] = ()

    def summary(self) -> str:
        """The numbers of findings and of lines with findings."""
        lines = len({finding.line for finding in self.findings})
        text = f"{counted(len(self.findings), 'finding')} in {lines} of {counted(len(self.source.lines), 'line')}"
        apart = len(self.unreached)
        return f"{text}; {counted(apart, 'finding')} in lines that the call did not reach" if apart else text

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "path": self.source.path,
            "lines": len(self.source.lines),
            "findings": [*map(self._placed, self.findings)],
            "verdicts": [verdict._asdict() for verdict in self.verdicts],
            "forecasts": [{**forecast._asdict(), "bound": forecast.bound} for forecast in self.forecasts],
            "run": [line._asdict() for line in self.run],
            "notes": list(self.notes),
            "unreached": [*map(self._placed, self.unreached)],
            **as_dict(self.models),
        }

    def _placed(self, finding: Finding) -> dict[str, Any]:
        return {**finding._asdict(), "place": self.source.place(finding.line)}


def check(
    path: str | Path,
    call: str | None = None,
    *,
    machine: str | Path | None = None,
    backends: Sequence[str] = FORECAST,
    remeasure: bool = False,
    device: str | None = None,
    script: bool = False,
) -> Report:
    r"""Report what prevents a NumPy program from running on each library. Without a call, nothing is executed.

    Parameters
    ----------
    path : str or path
        A Python file or a notebook.
    call : str, optional
        A call such as ``"f(np.ones(1000))"``. The program is then executed once on NumPy with counting arrays, and
        the report forecasts the time on each library.
    machine : str or path, optional
        A folder of results of ``python -m xarrayops.bench`` for the forecast; by default this machine is measured.
    backends : sequence of str, optional
        The libraries to measure for the forecast; those that are not installed are ignored.
    remeasure : bool, optional
        Whether to measure this machine again. By default, rates that were measured in the last 30 days serve again.
    device : str, optional
        A device that this machine does not have, such as "h100": the report has a model of the call on it instead of
        the forecast for the libraries of this machine.
    script : bool, optional
        Whether to run the file as a script, or the cells of a notebook in order, in place of a call.

    Returns
    -------
    Report

    Raises
    ------
    PortError
        The file cannot be read, it has a syntax error, the call raises, or the folder has no results.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from xarrayops.port import check
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "program.py")
    ...     _ = path.write_text("import numpy as np\ndef f():\n    return np.zeros((2, 3)).std(axis=0)\n")
    ...     report = check(path)
    >>> [(finding.line, finding.kind, finding.instead) for finding in report.findings if "torch" in finding.backends]
    [(3, 'method', 'np.std(np.zeros((2, 3)), axis=0)')]
    """
    if call is None and not script and device is not None:
        raise PortError("a model of a device needs a run. Instead: --run, or --call 'f(np.ones(10))', with --for")
    program = Program.read(path)
    found = findings(program)
    guesses = (each.line for each in found if not each.certain and each.kind != "unknown")
    notes = note_on_annotations(program, guesses)
    if call is None and not script:
        return Report(program.source, found, verdicts(found), notes=notes)
    of_machine = None if machine is None else of_results(Path(machine), backends)
    trace = run(program, call)
    if device is None:
        rates, missing = of_machine or measured(backends, kinds_of(trace), anew=remeasure)
    else:
        rates, missing = (), {}
    predicted = forecasts(trace, rates, is_here=machine is None)
    found = tuple(each._replace(certain=each.certain or _is_seen(each, trace)) for each in found)
    found = tuple(sorted({*found, *of_trace(program.source, trace, found)}))
    is_reached = reached(program, trace.reached)
    unreached = tuple(each for each in found if not is_reached(each.line))
    found = tuple(each for each in found if is_reached(each.line))
    judged = with_forecasts(verdicts(found), predicted)
    models: tuple[Modelled, ...] = ()
    if device is not None:
        models = of_functions(trace, Machine.published(device), functions_of(program.source.tree))
    notes += (*_notes(rates, missing), *trace.notes)
    return Report(program.source, found, judged, predicted, by_line(trace), notes, unreached, models)


def findings(program: Program) -> tuple[Finding, ...]:
    """What differs by library, in the order of the source, without repetitions at the same place."""
    of_nodes = (rule(program, node) for node in program.places for rule in RULES.get(type(node), ()))
    return tuple(sorted(set(chain(*of_nodes, *(rule(program) for rule in WHOLE)))))


def _notes(rates: Sequence[Rates], missing: Mapping[str, str]) -> tuple[str, ...]:
    """Which backends have no forecast, which forecasts are coarse, and when this machine was measured."""
    reasons = {**missing, **_NEVER}
    coarse = dict.fromkeys(each.backend for each in rates if each.is_coarse)
    notes = [f"{backend}: no forecast, because {reason}" for backend, reason in reasons.items()]
    if days := sorted({each.measured for each in rates} - {""}):
        notes.append(f"this machine was measured on {' and '.join(days)}; use --remeasure to measure it again")
    if coarse:
        notes.append(
            f"coarse forecasts for {', '.join(coarse)}: these results have the time of the smallest call and the "
            f"roofline only, the same for all kinds of operations. Instead: run python -m xarrayops.bench --all again"
        )
    return tuple(notes)


def by_line(trace: Trace) -> tuple[LineOfRun, ...]:
    """The counts of a run, by line."""
    found = []
    for line in sorted({*(operation.line for operation in trace.operations), *trace.numbers, *trace.foreign}):
        here = [(count, each.bytes) for each, count in trace.operations.items() if each.line == line]
        operations, nbytes = sum(count for count, _ in here), sum(count * size for count, size in here)
        counts = trace.numbers[line], trace.views_written[line], trace.duplicates[line], trace.data_dependent[line]
        found.append(LineOfRun(line, operations, nbytes, *counts, *trace.foreign.get(line, (0, 0))))
    return tuple(found)


def _is_seen(finding: Finding, trace: Trace) -> bool:
    """Whether the run shows that a guess is right: another package got or gave arrays in the line."""
    return finding.kind == "foreign call" and finding.line in trace.foreign


def of_trace(source: Source, trace: Trace, known: Sequence[Finding]) -> Iterator[Finding]:
    """Findings that only a run can show, for lines that have no such finding from the source."""
    found = {(finding.line, finding.kind) for finding in known if finding.certain and finding.kind != "index"}
    found |= {(line, "view") for line, kind in found if kind == "in place"}
    for line, kind, what, instead, backends in _of_lines(trace):
        if line and (line, kind) not in found:
            text = source.lines[line - 1]
            column = len(text) - len(text.lstrip()) + 1
            yield Finding(line, column, line, len(text) + 1, kind, what, instead, backends)


def _of_lines(trace: Trace) -> Iterator[tuple[int, Kind, str, str, tuple[str, ...]]]:
    """What a run shows: the line, the kind, the text, what to do instead, and the backends."""
    for line, count in trace.duplicates.items():
        what = f"an index names an element twice ({counted(count, 'assignment')} of the run)"
        what += ": the library decides which value remains"
        yield line, "index", what, "np.add.at for sums, or indices that are unique", ALL
    for line in trace.views_written:
        what = "the run changes an array through a view of a part of it: on JAX and Dask views are copies"
        yield line, "view", what, "xo.at on the array itself", ("jax", "dask")
    for line in trace.foreign:
        instead = "xo.convert for its arguments and its results"
        yield line, "foreign call", "another package uses NumPy arrays here", instead, ALL
    many = ((line, count) for line, count in trace.numbers.items() if count >= _MANY)
    for line, count in many:
        what = f"the run reads {count} numbers from arrays here: each one waits for the device, and computes on Dask"
        yield line, "scalar", what, "keep them as arrays, or read them all at once", ALL
