"""The false positives and the power of the benchmark's comparison, on this machine.

    python benchmarks/null_test.py [--runs 20] [--budget 300] [--backends numpy,torch] [--keep DIR] [--out FILE]

Runs the command line of the benchmark repeatedly on workloads of a few milliseconds, each also with 1.25 and 1.5 times
the work. The rounds are interleaved with those of an environment that does the same work in all three. It compares

- interleaved: the two environments of a run, one of which does 1, 1.25 and 1.5 times the work of the other;
- sequential: each run with the next, unchanged, and with one workload at a time replaced by the variant with more work,
  under its old name.

Run it on an otherwise idle machine. With --keep, runs that are already in the folder are not repeated, so that a study
can be continued or evaluated again.
"""

from __future__ import annotations

import argparse
import json
import math
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from xarrayops._cli.arguments import seconds
from xarrayops.bench.__main__ import AGAINST
from xarrayops.bench.compare import compare
from xarrayops.bench.compare.verdict import Outcome, Verdict
from xarrayops.bench.results import Results

KINDS = ("null-matmul", "null-elementwise", "null-transpose", "null-reduction")
FACTORS = (1.25, 1.5)
LEAST_S = 1e-3
"""The bars apply to cells of at least a millisecond."""
BARS = {"unchanged code": 0.01, "1.25 times the work": 0.9, "1.5 times the work": 0.99}
"""The largest rate of false positives, and the smallest rates of detected slowdowns."""
OLD = "XARRAYOPS_NULL_TEST_OLD"
"""Set in the environment that does the same work for all variants of a workload."""
VERDICTS = (0, 1, 3)
"""The exit statuses of a run whose comparison was completed."""
WORKLOAD_FILE = '''
import os

import numpy as np

import xarrayops as xo
from xarrayops.bench import Workload

PIECES = 4
"""How often the unchanged workload repeats its work."""
WORK = {
    "null-matmul": (lambda x: xo.matmul(x, x), lambda x: x @ x, 384),
    "null-elementwise": (lambda x: xo.exp(xo.multiply(x, 0.5)), lambda x: np.exp(x * 0.5), 1152),
    "null-transpose": (lambda x: xo.asarray(xo.matrix_transpose(x), copy=True), lambda x: x.T.copy(), 1536),
    "null-reduction": (lambda x: xo.sum(xo.abs(x), axis=1), lambda x: np.sum(np.abs(x), axis=1), 1536),
}


def repeated(work, times):
    def function(x):
        for _ in range(times):
            result = work(x)
        return result

    return function


WORKLOADS = tuple(
    Workload(
        kind + ("" if times == PIECES else f" x{times / PIECES:g}"),
        repeated(work, PIECES if "XARRAYOPS_NULL_TEST_OLD" in os.environ else times),
        inputs=lambda random, n: (random.standard_normal((n, n)),),
        expected=expected,
        sizes=(n,),
        timed=f"the same work, repeated {times} times",
    )
    for kind, (work, expected, n) in WORK.items()
    for times in (PIECES, 5, 6)
)
'''


def named(kind: str, factor: float) -> str:
    """The name of the workload with this factor of work."""
    return kind if factor == 1 else f"{kind} x{factor:g}"


def changed(results: Results, kind: str, factor: float) -> Results:
    """The results as if one workload had become slower by that factor: the variant with more work gets its name."""
    slower, variants = named(kind, factor), {named(kind, each) for each in (1.0, *FACTORS)}
    rows = [replace(row, workload=kind) for row in results.rows if row.workload == slower]
    return Results([*rows, *(row for row in results.rows if row.workload not in variants)], results.environment)


def interleaved(runs: Iterable[tuple[Results, Results]]) -> dict[str, dict[str, Any]]:
    """The rates of reported differences between the two environments of each run, for unchanged and for more work."""
    verdicts = [verdict for old, new in runs for verdict in compare.compare(old, new)]
    found = {}
    for name, factor in zip(BARS, (1.0, *FACTORS), strict=True):
        names = {named(kind, factor) for kind in KINDS}
        outcomes: Sequence[Outcome] = ("slower", "faster") if factor == 1 else ("slower",)
        found[name] = _counted([v for v in verdicts if v.cell.workload in names], outcomes)
    return found


def sequential(runs: Sequence[Results]) -> dict[str, dict[str, Any]]:
    """The rates of reported differences between consecutive runs."""
    same = [verdict for old, new in pairwise(runs) for verdict in compare.compare(old, new)]
    found = {"unchanged code": _counted(same, ("slower", "faster"))}
    for factor in FACTORS:
        more = [
            verdict
            for old, new in pairwise(runs)
            for kind in KINDS
            for verdict in compare.compare(old, changed(new, kind, factor))
            if verdict.cell.workload == kind
        ]
        found[f"{factor} times the work"] = _counted(more, ("slower",))
    return found


def _counted(verdicts: Iterable[Verdict], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The outcomes, the median ratio and the median threshold of the cells of at least `LEAST_S` in both runs."""
    compared = [v for v in verdicts if v.ratio is not None and min(v.old_s or 0.0, v.new_s or 0.0) >= LEAST_S]
    counts = Counter(verdict.outcome for verdict in compared)
    thresholds = [verdict.threshold for verdict in compared if verdict.threshold is not None]
    return {
        "cells": len(compared),
        "reported": sum(counts[outcome] for outcome in outcomes) / len(compared) if compared else math.nan,
        "outcomes": dict(counts),
        "ratio": median(verdict.ratio for verdict in compared if verdict.ratio) if compared else math.nan,
        "threshold": median(thresholds) if thresholds else math.nan,
    }


def met(found: dict[str, dict[str, Any]]) -> dict[str, bool]:
    """Which bars are met."""
    return {name: (each["reported"] <= BARS[name]) == (name == "unchanged code") for name, each in found.items()}


def old_python(folder: Path) -> Path:
    """An interpreter of this environment that sets `OLD`."""
    path = folder / "old-python"
    path.write_text(f'#!/bin/sh\n{OLD}=1 exec {shlex.quote(sys.executable)} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return path


def measured(folder: Path, workloads: Path, old: Path, options: argparse.Namespace) -> tuple[Results, Results]:
    """The old and the new results of one run of the command line, which is skipped if its results exist."""
    if not (folder / "done").exists():
        command = [
            *(sys.executable, "-m", "xarrayops.bench", "--workload-file", str(workloads)),
            *("--workloads", ",".join(KINDS), "--backends", options.backends),
            *("--budget", str(options.budget), "--against", str(old), "--out", str(folder)),
        ]
        status = subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode
        if status not in VERDICTS:
            raise SystemExit(f"{shlex.join(command)} ended with {status}")
        (folder / "done").touch()
    return Results.read(folder / AGAINST), Results.read(folder)


def main() -> int:
    """Measure the missing runs and print the rates. Returns 1 if a bar (except sequential power) is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20, help="number of runs (default: %(default)s)")
    parser.add_argument(
        "--budget", type=seconds, default=300.0, metavar="TIME", help="time limit of a run (default: %(default)g s)"
    )
    parser.add_argument("--backends", default="numpy,torch", help="backends to measure (default: %(default)s)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="folder for the results of all runs")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the rates as JSON")
    options = parser.parse_args()
    if options.runs < 2:
        parser.error("--runs must be at least 2: each run is compared with the next")
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        workloads = folder / "null_workloads.py"
        workloads.write_text(WORKLOAD_FILE, encoding="utf-8")
        runs = []
        for i in range(options.runs):
            print(f"run {i + 1} of {options.runs}", file=sys.stderr)
            runs.append(measured(folder / f"run-{i:02}", workloads, old_python(folder), options))
    news = [new for _, new in runs]
    found = {"interleaved": interleaved(runs), "sequential": sequential(news)}
    for method, rates in found.items():
        bars = met(rates)
        for name, each in rates.items():
            met_text = "bar met" if bars[name] else f"BAR MISSED ({BARS[name]:.0%})"
            share = f"{each['reported']:.1%} of {each['cells']} cells reported as different"
            print(f"{method}, {name}: {share}, {met_text}; {each['outcomes']}")
    if options.out:
        first = news[0].environment
        rounds = median(len(process) for run in news for row in run.rows for process in row.medians_s)
        report = {
            "machine": first["machine"],
            "versions": first["versions"],
            "runs": len(runs),
            "budget_s": options.budget,
            "rounds of a process": rounds,
            "shortest_s": min(row.best_s for run in news for row in run.rows if row.measured),
            "bars": BARS,
            "rates": found,
        }
        options.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0 if all(met(found["interleaved"]).values()) and met(found["sequential"])["unchanged code"] else 1


if __name__ == "__main__":
    sys.exit(main())
