"""The report about a program, and `check`, which makes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xarrayops.plugin.arrays import Record
from xarrayops.port.checking import creation, dtypes, foreign, indices, methods, names, operators, scalars, writes
from xarrayops.port.checking.traced import LineOfRun, by_line, of_trace
from xarrayops.port.checking.verdict import Verdict, verdicts, with_forecasts
from xarrayops.port.findings import Finding
from xarrayops.port.source import Program, Source
from xarrayops.port.trace.forecast import Forecast, forecasts, kinds_of
from xarrayops.port.trace.rates import Rates, measured, of_results
from xarrayops.port.trace.run import run

TOPICS = (names, creation, methods, operators, indices, writes, scalars, dtypes, foreign)
"""One file for each topic, each with a function ``rules``."""
FORECAST = ("numpy", "torch", "jax", "cupy")
"""The libraries that have a forecast."""
_NEVER = {"dask": "it computes at the end, and its time depends on the chunks and on what is computed together"}
"""The libraries without a forecast, with the reason."""


class Report(Record):
    """The findings and verdicts of `check` on a program.

    Attributes
    ----------
    source : Source
        The program.
    findings : tuple of Finding
        What differs by library, in the order of the source.
    verdicts : tuple of Verdict
        For each backend: "ready", "small fixes", "redesign" or "stay on the CPU", with reasons.
    forecasts : tuple of Forecast
        With a call: the time of the call on each library.
    run : tuple of LineOfRun
        With a call: what each line did in the run.
    notes : tuple of str
        With a call: which backends have no forecast, and which forecasts are coarse.
    """

    source: Source
    findings: tuple[Finding, ...]
    verdicts: tuple[Verdict, ...]
    forecasts: tuple[Forecast, ...] = ()
    run: tuple[LineOfRun, ...] = ()
    notes: tuple[str, ...] = ()

    def summary(self) -> str:
        """The numbers of findings and of lines with findings."""
        lines = len({finding.line for finding in self.findings})
        count = "1 finding" if len(self.findings) == 1 else f"{len(self.findings)} findings"
        return f"{count} in {lines} of {len(self.source.lines)} lines"

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "path": self.source.path,
            "lines": len(self.source.lines),
            "findings": [{**finding._asdict(), "place": self.source.place(finding.line)} for finding in self.findings],
            "verdicts": [verdict._asdict() for verdict in self.verdicts],
            "forecasts": [{**forecast._asdict(), "bound": forecast.bound} for forecast in self.forecasts],
            "run": [line._asdict() for line in self.run],
            "notes": list(self.notes),
        }


def check(
    path: str | Path, call: str | None = None, *, machine: str | Path | None = None, backends: Sequence[str] = FORECAST
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
    program = Program.read(path)
    found = findings(program)
    if call is None:
        return Report(program.source, found, verdicts(found))
    of_machine = None if machine is None else of_results(Path(machine), backends)
    trace = run(program, call)
    rates, missing = of_machine or measured(backends, kinds_of(trace))
    predicted = forecasts(trace, rates, is_here=machine is None)
    found = tuple(sorted({*found, *of_trace(program.source, trace, found)}))
    judged = with_forecasts(verdicts(found), predicted)
    return Report(program.source, found, judged, predicted, by_line(trace), _notes(rates, missing))


def findings(program: Program) -> tuple[Finding, ...]:
    """What differs by library, in the order of the source, without repetitions at the same place."""
    return tuple(sorted({finding for topic in TOPICS for finding in topic.rules(program)}))


def _notes(rates: Sequence[Rates], missing: Mapping[str, str]) -> tuple[str, ...]:
    """Which backends have no forecast, and which forecasts are coarse."""
    reasons = {**missing, **_NEVER}
    coarse = dict.fromkeys(each.backend for each in rates if each.is_coarse)
    notes = [f"{backend}: no forecast, because {reason}" for backend, reason in reasons.items()]
    if coarse:
        notes.append(
            f"coarse forecasts for {', '.join(coarse)}: these results have the time of the smallest call and the "
            f"roofline only, the same for all kinds of operations. Instead: run python -m xarrayops.bench --all again"
        )
    return tuple(notes)
