"""How often the benchmark tells the same code to differ, and how often it tells a change, on this machine.

    python benchmarks/null_test.py [--runs 20] [--budget 60] [--backends numpy,torch] [--keep DIR] [--out FILE]

Runs the command line of the benchmark again and again on pieces of work of a few milliseconds, each also with 1.25 and
1.5 times as much of it, and compares each run with the next: as they are, and with one workload at a time changed for
the same with more work, under its old name. Run it on a machine that does nothing else. With --keep, runs that are in
the folder already are not repeated, so that a study can be cut short and gone on with, or counted anew.
"""

from __future__ import annotations

import argparse
import json
import math
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

from xarrayops.bench import compare
from xarrayops.bench.results import ROWS, Results

KINDS = ("null-matmul", "null-elementwise", "null-transpose", "null-reduction")
FACTORS = (1.25, 1.5)
LEAST_S = 1e-3
"""The bars are for cells of a millisecond and more."""
BARS = {"same code": 0.01, "1.25 times the work": 0.9, "1.5 times the work": 0.99}
"""At most the first, at least the others."""
WORKLOAD_FILE = '''
import numpy as np

import xarrayops as xo
from xarrayops.bench import Workload

PIECES = 4
"""How often the work is done in the time that the others are compared with."""
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
        repeated(work, times),
        inputs=lambda random, n: (random.standard_normal((n, n)),),
        expected=expected,
        sizes=(n,),
        timed=f"{times} times the same piece of work",
    )
    for kind, (work, expected, n) in WORK.items()
    for times in (PIECES, 5, 6)
)
'''


def named(kind: str, factor: float) -> str:
    """The workload that does so many times the work."""
    return kind if factor == 1 else f"{kind} x{factor:g}"


def changed(results: Results, kind: str, factor: float) -> Results:
    """The results as if one workload had become slower by that factor: the one with more work bears its name."""
    slower, kin = named(kind, factor), {named(kind, each) for each in (1.0, *FACTORS)}
    rows = [replace(row, workload=kind) for row in results.rows if row.workload == slower]
    return Results([*rows, *(row for row in results.rows if row.workload not in kin)], results.environment)


def rates(runs: Sequence[Results]) -> dict[str, dict[str, Any]]:
    """What was told of the same code and of more work, over the pairs of consecutive runs."""
    same = [verdict for old, new in pairwise(runs) for verdict in compare.compare(old, new)]
    found = {"same code": _counted(same, ("slower", "faster"))}
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


def _counted(verdicts: Iterable[compare.Verdict], outcomes: Sequence[compare.Outcome]) -> dict[str, Any]:
    """Of the cells of `LEAST_S` and more in both runs: the part of each outcome, how far they moved, the threshold."""
    compared = [v for v in verdicts if v.ratio is not None and min(v.old_s or 0.0, v.new_s or 0.0) >= LEAST_S]
    counts = Counter(verdict.outcome for verdict in compared)
    thresholds = [verdict.threshold for verdict in compared if verdict.threshold is not None]
    return {
        "cells": len(compared),
        "told": sum(counts[outcome] for outcome in outcomes) / len(compared) if compared else math.nan,
        "outcomes": dict(counts),
        "ratio": median(verdict.ratio for verdict in compared if verdict.ratio) if compared else math.nan,
        "threshold": median(thresholds) if thresholds else math.nan,
    }


def met(found: dict[str, dict[str, Any]]) -> dict[str, bool]:
    """Which bars hold."""
    return {name: (each["told"] <= BARS[name]) == (name == "same code") for name, each in found.items()}


def measured(folder: Path, workloads: Path, options: argparse.Namespace) -> Results:
    """One run through the command line, unless its results are there."""
    if not (folder / ROWS).exists():
        command = [
            *(sys.executable, "-m", "xarrayops.bench", "--workload-file", str(workloads)),
            *("--workloads", ",".join(KINDS), "--backends", options.backends),
            *("--budget", str(options.budget), "--out", str(folder)),
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return Results.read(folder)


def main() -> int:
    """Measure what is not there yet, print the rates, and end with 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20, help="%(default)s")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of a run (%(default)s)")
    parser.add_argument("--backends", default="numpy,torch", help="%(default)s")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where the runs stay")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the rates as JSON")
    options = parser.parse_args()
    if options.runs < 2:
        parser.error("--runs must be 2 at least: each run is compared with the next")
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        workloads = folder / "null_workloads.py"
        workloads.write_text(WORKLOAD_FILE, encoding="utf-8")
        runs = []
        for i in range(options.runs):
            print(f"run {i + 1} of {options.runs}", file=sys.stderr)
            runs.append(measured(folder / f"run-{i:02}", workloads, options))
    found = rates(runs)
    bars = met(found)
    for name, each in found.items():
        held = "as wanted" if bars[name] else f"MISSED: {BARS[name]:.0%} is the bar"
        print(f"{name}: {each['told']:.1%} of {each['cells']} told to differ, {held}; {each['outcomes']}")
    if options.out:
        first = runs[0].environment
        rounds = median(len(process) for run in runs for row in run.rows for process in row.medians_s)
        report = {
            "machine": first["machine"],
            "versions": first["versions"],
            "runs": len(runs),
            "budget_s": options.budget,
            "rounds of a process": rounds,
            "shortest_s": min(compare.steady(row) for run in runs for row in run.rows if row.measured),
            "bars": BARS,
            "rates": found,
        }
        options.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0 if all(bars.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
