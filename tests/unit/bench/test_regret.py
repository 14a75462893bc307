"""The regret of each library, from made-up results whose regret is known."""

from __future__ import annotations

import json
import re
from io import StringIO

import pytest
from rich.console import Console

from xarrayops.bench.compare.ranking import regrets
from xarrayops.bench.report import markdown, page, rankings, terminal
from xarrayops.bench.results import Results, Row

KNOWN = {"command": "a test", "date": "today", "roofs": [], "versions": {}, "pools": {}, "resolution": 0.1}


def cell(backend, seconds, workload="w", **fields):
    """A cell whose eight rounds took the same time."""
    fields = {"low_s": seconds, "high_s": seconds, "medians_s": [[seconds] * 4] * 2, "size": 2, **fields}
    return Row(workload, backend, "cpu", "float32", status="ok", median_s=seconds, **fields)


def failed(backend, workload="w"):
    return Row(workload, backend, "cpu", "float32", 2, status="unsupported", reason="it cannot")


def results(*rows, **known):
    names = {row.workload: {"timed": "a thing", "code": ""} for row in rows}
    return Results(list(rows), KNOWN | {"workloads": names} | known)


def factors(*groups, resolution=0.1):
    return {found.place: (found.factor, found.rows) for found in regrets(groups, resolution)}


def test_the_geometric_mean_over_rows():
    groups = [cell("a", 1.0), cell("b", 2.0)], [cell("a", 3.0), cell("b", 24.0)], [cell("a", 2.0), cell("b", 1.0)]
    assert factors(*groups) == {"a cpu": (pytest.approx(2 ** (1 / 3)), 3), "b cpu": (pytest.approx(16 ** (1 / 3)), 3)}
    assert [found.place for found in regrets(groups, 0.1)] == ["a cpu", "b cpu"]
    assert [found.place for found in regrets([group[::-1] for group in groups], 0.1)] == ["a cpu", "b cpu"]


def test_a_tie_counts_as_one():
    assert factors([cell("a", 1.0), cell("b", 1.09)]) == {"a cpu": (1.0, 1), "b cpu": (1.0, 1)}
    assert factors([cell("a", 1.0), cell("b", 1.2)])["b cpu"] == (pytest.approx(1.2), 1)
    assert factors([cell("a", 1.0), cell("b", 1.2)], resolution=0.3)["b cpu"] == (1.0, 1)
    doubtful = cell("b", 1.2, medians_s=[[1.2] * 4, [1.2, 1.2, 1.2, 0.9]])
    assert factors([cell("a", 1.0), doubtful])["b cpu"] == (1.0, 1)


def test_rows_without_a_time_or_a_rival_are_not_counted():
    groups = (
        [cell("a", 1.0), cell("b", 4.0)],
        [cell("a", 1.0), failed("b")],
        [cell("a", 1.0), cell("c", 9.0), failed("b")],
    )
    assert factors(*groups) == {"a cpu": (1.0, 2), "b cpu": (pytest.approx(4.0), 1), "c cpu": (pytest.approx(9.0), 1)}
    assert factors([cell("a", 1.0)], [failed("a"), failed("b")], []) == {}
    unsure = cell("b", 4.0, low_s=None, high_s=None)
    assert factors([cell("a", 1.0), unsure]) == {}


def test_two_devices_of_a_library_are_apart():
    second = cell("a", 3.0)
    second.device = "cuda:0"
    assert factors([cell("a", 1.0), second]) == {"a cpu": (1.0, 1), "a cuda:0": (pytest.approx(3.0), 1)}


def test_the_row_that_is_farthest_behind():
    best, other = regrets([[cell("a", 1.0), cell("b", 2.0)], [cell("a", 1.0, "v"), cell("b", 50.0, "v")]], 0.1)
    assert (best.behind, best.most) == (None, 1.0)
    assert (other.behind.workload, other.most) == ("v", pytest.approx(50.0))


def test_every_report_shows_it():
    run = results(cell("a", 1.0), cell("b", 2.0), cell("a", 1.0, "v"), cell("b", 8.0, "v"), failed("b", "u"))
    lines = [("a cpu", "1.00", "2", ""), ("b cpu", "4.00", "2", "v float32 2 (8 times as long)")]
    assert rankings.regret_lines(run) == lines
    report = markdown.report(run)
    assert "## Regret\n" in report
    assert "| b cpu | 4.00 | 2 | v float32 2 (8 times as long) |" in report
    console = Console(width=100, file=StringIO())
    terminal.show(run, console)
    assert re.search(
        r"Regret\s.*\n.*\n.*b cpu +4\.00 +2 +v float32 2 \(8 times as long\)", console.file.getvalue(), re.S
    )
    data = json.loads(re.search(r'id="data">(.*?)</script>', page.html(run), re.S)[1])
    assert [tuple(line) for line in data["rankings"][0]["lines"]] == lines


def test_the_title_names_the_engines():
    rows = cell("a", 1.0), cell("b", 2.0)
    assert "## Regret with the engines jax,torch\n" in markdown.report(
        results(*rows, settings={"XARRAYOPS_ENGINES": "jax,torch"})
    )
    assert rankings.regret_title(results(*rows, settings={"XARRAYOPS_THREADS": "2"})) == "Regret"


def test_nothing_is_shown_without_a_ranking():
    run = results(cell("a", 1.0))
    assert "Regret" not in markdown.report(run)
    assert 'id="regret"' in page.html(run)
