"""The regret of each library in the benchmark: as it is, with the best engine for each row, and by measured choice.

    python benchmarks/engine_regret.py [--budget 5m] [--tune 10m] [--keep DIR] [--out FILE]

The regret is that of `xarrayops.bench.compare.regret`: the geometric mean, over the rows of the benchmark, of the time
of a library over the time of the fastest, where a tie counts as 1. The benchmark runs once without engines, and once
with each library as the engine of the others (``XARRAYOPS_ENGINES``). In each row a library then has the shortest of
its times, as if the best engine had been chosen by hand, and the fastest library is that of the first run. A time
that is above the fastest by no more than the resolution of the run is a tie. With ``--keep`` a later call continues.
At last `python -m xarrayops.tune --from-bench` measures the calls of the benchmark, in a cache of its own, and the
benchmark runs with ``XARRAYOPS_MEASURED=1``: only choices whose values are those of the default serve.

The bars: `BARS` without engines, and `WITH_ENGINES` with them. Ends with 3 if one is missed. The runs follow each
other, so a machine that does other work misses them.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from xarrayops.bench.compare.ranking import fastest, regrets
from xarrayops.bench.report.tables import groups, title
from xarrayops.bench.results import Results, Row

MISSED = 3
BARS = {"numpy": 1.22, "jax": 1.40, "torch": 1.10}
WITH_ENGINES = {"numpy": 1.08, "jax": 1.25, "torch": 1.02}
PLAIN, MEASURED = "none", "measured"
Key = tuple[str, str, int, str]


def ran(folder: Path, engine: str, budget: str) -> Results:
    """The results of a run by `PLAIN`, by `MEASURED` or with an engine; a run that has ended is not repeated."""
    where = folder / engine
    environment = {**os.environ, "XARRAYOPS_ENGINES": engine if engine in BARS else ""}
    if engine == MEASURED:
        environment |= {"XARRAYOPS_MEASURED": "1", "XARRAYOPS_CACHE": str(folder / "cache")}
    command = [sys.executable, "-m", "xarrayops.bench", "--backends", ",".join(BARS), "--budget", budget]
    print(f"engine: {engine}", flush=True)
    subprocess.run([*command, "--all", "--resume", "--out", str(where)], env=environment, check=True)
    return Results.read(where)


def tuned(folder: Path, seconds: str) -> None:
    """Measure the calls of the benchmark in a cache of its own, if no earlier call did."""
    if not (folder / "cache").exists():
        command = [sys.executable, "-m", "xarrayops.tune", "--from-bench", "--backends", ",".join(BARS)]
        environment = {**os.environ, "XARRAYOPS_CACHE": str(folder / "cache")}
        subprocess.run([*command, "--seconds", seconds], env=environment, check=True)


def key(row: Row) -> Key:
    """What a cell has in common in all runs."""
    return row.workload, row.dtype, row.size, row.backend


def with_engines(plain: Results, others: dict[str, Results]) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """The regret of each library with the best engine for each row, and the rows in which it is behind.

    The times of measured choice are not a choice by hand, so its rows have no others.
    """
    resolution = plain.environment.get("resolution") or 0.0
    served = {engine: {key(row): row for row in found.rows if row.measured} for engine, found in others.items()}
    logs: dict[str, list[float]] = {name: [] for name in BARS}
    behind: list[dict[str, Any]] = []
    for head, rows in groups(plain.rows):
        marks = fastest(rows, plain.environment.get("resolution"))
        if not marks:
            continue
        best = min(row.median_s or 0.0 for row in rows if row.measured)
        for row in (row for row in rows if row.measured):
            times = {} if MEASURED in others else {PLAIN: best if row.place in marks else row.median_s or 0.0}
            times |= {name: cells[key(row)].median_s or 0.0 for name, cells in served.items() if key(row) in cells}
            if not times:
                continue
            engine = min(times, key=times.__getitem__)
            ratio = times[engine] / best
            ratio = 1.0 if ratio <= 1 + resolution else ratio
            logs[row.backend].append(math.log(ratio))
            if ratio > 1:
                behind.append({"library": row.backend, "row": title(head), "engine": engine, "times": round(ratio, 3)})
    factors = {name: math.exp(math.fsum(found) / len(found)) for name, found in logs.items() if found}
    return factors, sorted(behind, key=lambda each: -each["times"])


def main() -> int:
    """Run, print and write the results. Returns `MISSED` if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", default="5m", help="time limit of each of the five runs (default: 5m)")
    parser.add_argument("--tune", default="10m", metavar="TIME", help="time limit of tune (default: 10m)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="the folder of the runs")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        plain = ran(folder, PLAIN, options.budget)
        others = {engine: ran(folder, engine, options.budget) for engine in BARS}
        tuned(folder, options.tune)
        chosen = ran(folder, MEASURED, options.budget)
    own = {
        r.place.partition(" ")[0]: r
        for r in regrets((r for _, r in groups(plain.rows)), plain.environment["resolution"])
    }
    best, behind = with_engines(plain, others)
    measured, slower = with_engines(plain, {MEASURED: chosen})
    found = [
        {
            "library": name,
            "rows": own[name].rows,
            "regret": round(own[name].factor, 3),
            "bar": bar,
            "with engines": round(best[name], 3),
            "bar with engines": WITH_ENGINES[name],
            "measured": round(measured[name], 3),
        }
        for name, bar in BARS.items()
    ]
    for each in found:
        print("  ".join(f"{label}: {value}" for label, value in each.items()))
    for each in behind[:12]:
        print(f"{each['library']:6} {each['times']:6.2f} by {each['engine']:6} {each['row']}")
    if options.out:
        environment = plain.environment
        about = {name: environment[name] for name in ("machine", "versions") if name in environment}
        options.out.write_text(
            json.dumps({**about, "libraries": found, "behind": behind, "measured": slower}, indent=1) + "\n"
        )
    missed = any(each["regret"] > each["bar"] or each["with engines"] > each["bar with engines"] for each in found)
    return MISSED if missed else 0


if __name__ == "__main__":
    sys.exit(main())
