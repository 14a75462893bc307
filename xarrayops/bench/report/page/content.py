"""The content of the page as plain data: the rows, and what is derived from them for all reports."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from xarrayops.bench.compare import break_even, compare, ranking
from xarrayops.bench.compare.verdict import CellName, Verdict
from xarrayops.bench.report import comparison, tables
from xarrayops.bench.results import Results
from xarrayops.bench.run.rooflines import device_name
from xarrayops.plugin import Device


def content(results: Results, baseline: Results | None) -> dict[str, Any]:
    """The data of the page. The entries of "derived" correspond to those of "rows"."""
    known = results.environment
    verdicts = compare.compare(baseline, results) if baseline else []
    return {
        "rows": [asdict(row) for row in results.rows],
        "derived": _derived(results, {verdict.cell: verdict for verdict in verdicts}),
        "environment": known,
        "summary": tables.summary(results),
        "warnings": tables.warnings(results),
        "regret": {
            "title": tables.regret_title(results),
            "columns": tables.REGRET_COLUMNS,
            "lines": tables.regret_lines(results),
        },
        "missing": {"columns": tables.MISSING_COLUMNS, "lines": tables.missing(results.rows)},
        "notes": tables.NOTES,
        "gpus": {"columns": tables.GPU_COLUMNS, "lines": tables.gpu_lines(known)},
        "comparison": _comparison(verdicts, baseline, results) if baseline else None,
    }


def _derived(results: Results, verdicts: dict[CellName, Verdict]) -> list[dict[str, Any]]:
    """For each row: its rank, the device of its roofline, its break-even points, and its change."""
    resolution = results.environment.get("resolution")
    numpy = break_even.baselines(results.rows)
    sizes = {
        (workload, dtype, place): size
        for workload, dtype, by_place in break_even.sizes(results.rows, resolution or 0.0)
        for place, size in by_place.items()
    }
    derived = []
    for head, rows in tables.groups(results.rows):
        marks = ranking.fastest(rows, resolution)
        base = numpy.get((head.workload, head.dtype, head.size))
        derived += [
            {
                "mark": marks.get(row.place, ""),
                "roof_device": device_name(row.device_kind, Device(row.device_kind, row.device, None).index),
                "ahead": break_even.ahead(row, base),
                "wins_from": sizes.get((row.workload, row.dtype, row.place)),
                "earlier": _earlier(verdicts.get(CellName.of(row))),
            }
            for row in rows
        ]
    return derived


def _earlier(verdict: Verdict | None) -> dict[str, Any] | None:
    if verdict is None:
        return None
    return {"outcome": verdict.outcome, "reason": verdict.reason, "ratio": verdict.ratio, "old_s": verdict.old_s}


def _comparison(verdicts: list[Verdict], old: Results, new: Results) -> dict[str, Any]:
    return {
        "columns": comparison.COLUMNS,
        "lines": comparison.lines(verdicts, same=compare.is_interleaved(old, new)),
        "differences": comparison.environment_difference(old, new),
    }
