"""The report as one self-contained HTML file without scripts: the source with its findings."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from importlib.resources import files
from itertools import groupby

from xarrayops._system.texts import counted
from xarrayops.bench.report.page import csp_hash
from xarrayops.port.checking import LineOfRun, Report
from xarrayops.port.checking.verdict import READY, SMALL_FIXES, Verdict
from xarrayops.port.findings import Finding, alike, times, unless

_CLASSES = {READY: "ready", SMALL_FIXES: "fixes"}


def html(report: Report) -> str:
    """The report as one HTML file."""
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    policy = f"default-src 'none'; style-src '{csp_hash(style)}'"
    title = escape(report.source.path)
    parts = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title><style>{style}</style></head><body>",
        f"<h1>{title}</h1><p>{escape(report.summary())}</p>",
        "<h2>Verdicts</h2>",
        _table(("backend", "verdict", "reasons"), map(_verdict, report.verdicts)),
        *_forecasts(report),
        "<h2>Source</h2>",
        _source(report),
        "</body></html>",
    )
    return "\n".join(parts)


def _table(columns: tuple[str, ...], lines: Iterable[str]) -> str:
    head = "".join(f"<th>{column}</th>" for column in columns)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _verdict(verdict: Verdict) -> str:
    reasons = "<br>".join(map(escape, verdict.reasons))
    style = _CLASSES.get(verdict.verdict, "stop")
    return f'<tr><td>{escape(verdict.backend)}</td><td class="{style}">{verdict.verdict}</td><td>{reasons}</td></tr>'


def _forecasts(report: Report) -> tuple[str, ...]:
    notes = (f"<p>{escape(note)}</p>" for note in report.notes)
    if not report.forecasts:
        return tuple(notes)
    columns = ("library and device", "forecast for the call")
    lines = (
        f"<tr><td>{escape(f'{each.backend} {each.device}')}</td><td>{escape(each.text())}</td></tr>"
        for each in report.forecasts
    )
    return ("<h2>Forecast</h2>", _table(columns, lines), *notes)


def _source(report: Report) -> str:
    """The lines of the program, each with its findings and its counts in the run."""
    findings = sorted((*report.findings, *report.unreached))
    found = {line: [*group] for line, group in groupby(findings, key=lambda finding: finding.line)}
    runs, unreached = {line.line: line for line in report.run}, {finding.line for finding in report.unreached}
    lines = (
        _line(i, text, found.get(i, []), "not reached by the call" if i in unreached else _counts(runs.get(i)))
        for i, text in enumerate(report.source.lines, 1)
    )
    columns = '<colgroup><col class="line"><col class="code"><col><col class="run"></colgroup>'
    return f'<table class="source">{columns}<tbody>{"".join(lines)}</tbody></table>'


def _line(number: int, text: str, findings: list[Finding], run: str) -> str:
    style = ' class="found"' if findings else ""
    notes = "".join(_finding(finding, count) for finding, count in alike(findings).items())
    return (
        f'<tr{style} id="L{number}"><td class="number">{number}</td><td><pre>{escape(text)}</pre></td>'
        f"<td>{notes}</td><td>{escape(run)}</td></tr>"
    )


def _finding(finding: Finding, count: int) -> str:
    style = "finding" if finding.certain else "finding guess"
    return (
        f'<div class="{style}"><span class="kind">{finding.kind}</span> <span class="backends">'
        f"[{', '.join(finding.backends)}]{unless(finding)}</span> {escape(finding.what)}<br>Instead: "
        f"<code>{escape(finding.instead)}</code>{times(count)}</div>"
    )


def _counts(run: LineOfRun | None) -> str:
    """What a line did in the run."""
    if run is None:
        return ""
    numbers = f"; {counted(run.numbers, 'number')} taken" if run.numbers else ""
    calls = f"; {counted(run.foreign_calls, 'foreign call')}, {run.foreign_bytes / 1e6:.3g} MB"
    foreign = calls if run.foreign_calls else ""
    return f"{counted(run.operations, 'operation')}, {run.bytes / 1e6:.3g} MB{numbers}{foreign}"
