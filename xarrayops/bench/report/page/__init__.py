"""The report as one self-contained HTML file: the matrix, plots, and the details of each cell."""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from importlib.resources import files
from typing import Any

from xarrayops.bench.compare import break_even, compare, ranking
from xarrayops.bench.compare.environments import differences
from xarrayops.bench.compare.verdict import CellName, Verdict
from xarrayops.bench.measure.roofline import device_name
from xarrayops.bench.report import comparison, rankings, tables
from xarrayops.bench.results import Results, Row, labelled
from xarrayops.plugin import Device

_SCRIPTS = ("dom", "numbers", "model", "matrix", "detail", "chart", "sizes", "roofline", "facts", "start")
"""In the order of their dependencies."""


def html(results: Results, baseline: Results | None = None) -> str:
    """The report as one HTML file that opens from disk.

    Parameters
    ----------
    results : Results
        The results to show.
    baseline : Results, optional
        An earlier run. Each cell then also shows its change, as `xarrayops.bench.compare.compare` judges it, and a
        table shows the differences between the two environments.
    """
    script = "\n".join(_text(f"{name}.js") for name in _SCRIPTS)
    script, style = f"(() => {{\n{script}\n}})();", _text("page.css")
    page = _text("page.html")
    for mark, text in (
        ("@STYLE_HASH@", csp_hash(style)),
        ("@SCRIPT_HASH@", csp_hash(script)),
        ("@STYLE@", style),
        ("@SCRIPT@", script),
        ("@DATA@", _embedded(_content(results, baseline))),  # last, so that nothing in the data is replaced
    ):
        page = page.replace(mark, text)
    return page


def _content(results: Results, baseline: Results | None) -> dict[str, Any]:
    """The data of the page. The entries of "derived" correspond to those of "rows"."""
    known = results.environment
    verdicts = compare.compare(baseline, results) if baseline else []
    return {
        "rows": [asdict(row) for row in results.rows],
        "derived": _derived(results, verdicts),
        "environment": known,
        "summary": tables.summary(results),
        "warnings": tables.warnings(results),
        "rankings": [
            dict(zip(("title", "columns", "lines"), table, strict=True)) for table in rankings.rankings(results)
        ],
        "missing": {"columns": tables.MISSING_COLUMNS, "lines": tables.missing(results.rows)},
        "notes": tables.notes(results),
        "gpus": {"columns": tables.GPU_COLUMNS, "lines": tables.gpu_lines(known)},
        "comparison": None
        if baseline is None
        else {
            "columns": comparison.COLUMNS,
            "lines": comparison.lines(verdicts, same=compare.is_interleaved(baseline, results)),
            "differences": differences([baseline.environment, results.environment]),
        },
    }


def _derived(results: Results, verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """For each row: its rank, the device of its roofline, its break-even points, and its change."""
    changes = {v.cell: {name: getattr(v, name) for name in ("outcome", "reason", "ratio", "old_s")} for v in verdicts}
    resolution = results.environment.get("resolution")
    numpy = break_even.baselines(results.rows)
    sizes = {
        (workload, dtype, place): size
        for workload, dtype, by_place in break_even.sizes(results.rows, resolution or 0.0)
        for place, size in by_place.items()
    }
    derived = []
    for _, rows in tables.groups(results.rows):
        marks = ranking.fastest(rows, resolution)
        derived += [
            {
                "mark": marks.get(row.place, ""),
                "roof_device": labelled(
                    row.label, device_name(row.device_kind, Device(row.device_kind, row.device, None).index)
                ),
                "ahead": break_even.ahead(row, numpy.get(break_even.baseline_of(row))),
                "wins_from": sizes.get((row.workload, row.dtype, row.place)),
                "earlier": changes.get(CellName.of(row)),
            }
            for row in rows
        ]
    return derived


def _roof_device(row: Row) -> str:
    return device_name(row.device_kind, Device(row.device_kind, row.device, None).index)


def _embedded(data: Any) -> str:
    """JSON for a script element: without "<", which could end the element, and with null for NaN and infinity."""
    text = json.dumps(_finite(data), allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def csp_hash(text: str) -> str:
    """The hash of a style or script for the content security policy of the page."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _text(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
