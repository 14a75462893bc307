"""What the page shows as plain data: the rows as they are, and what is said of them by the rules of every report."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from xarrayops.bench import breakeven, changes, compare, tables, winners
from xarrayops.bench.probed import device_name
from xarrayops.bench.results import Results
from xarrayops.bench.verdict import CellName, Verdict
from xarrayops.plugin import Device


def content(results: Results, baseline: Results | None) -> dict[str, Any]:
    """The data of the page; its "told" stands beside "rows", entry by entry."""
    known = results.environment
    verdicts = compare.compare(baseline, results) if baseline else []
    return {
        "rows": [asdict(row) for row in results.rows],
        "told": _told(results, {verdict.cell: verdict for verdict in verdicts}),
        "environment": known,
        "summary": tables.summary(results),
        "warnings": tables.warnings(results),
        "missing": {"columns": tables.MISSING_COLUMNS, "lines": tables.missing(results.rows)},
        "notes": tables.NOTES,
        "gpus": {"columns": tables.GPU_COLUMNS, "lines": tables.gpu_lines(known)},
        "comparison": _comparison(verdicts, baseline, results) if baseline else None,
    }


def _told(results: Results, verdicts: dict[CellName, Verdict]) -> list[dict[str, Any]]:
    """Of each row: whether it is the fastest, whose roofs are its, when it wins over NumPy, and what became of it."""
    resolution = results.environment.get("resolution")
    numpy = breakeven.baselines(results.rows)
    sizes = {
        (workload, dtype, place): size
        for workload, dtype, by_place in breakeven.sizes(results.rows, resolution or 0.0)
        for place, size in by_place.items()
    }
    told = []
    for head, rows in tables.groups(results.rows):
        marks = winners.fastest(rows, resolution)
        base = numpy.get((head.workload, head.dtype, head.size))
        told += [
            {
                "mark": marks.get(row.place, ""),
                "roof_device": device_name(row.device_kind, Device(row.device_kind, row.device, None).index),
                "ahead": breakeven.ahead(row, base),
                "wins_from": sizes.get((row.workload, row.dtype, row.place)),
                "earlier": _earlier(verdicts.get(CellName.of(row))),
            }
            for row in rows
        ]
    return told


def _earlier(verdict: Verdict | None) -> dict[str, Any] | None:
    if verdict is None:
        return None
    return {"outcome": verdict.outcome, "reason": verdict.reason, "ratio": verdict.ratio, "old_s": verdict.old_s}


def _comparison(verdicts: list[Verdict], old: Results, new: Results) -> dict[str, Any]:
    return {
        "columns": changes.COLUMNS,
        "lines": changes.lines(verdicts, same=compare.by_turns(old, new)),
        "differences": changes.environment_difference(old, new),
    }
