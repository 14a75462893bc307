"""Right ports and ports with a planted fault, given to ``python -m xarrayops.port verify``: no fault may pass.

    python benchmarks/verify_faults [--only NAME,...] [--per-kind N] [--processes N] [--out FILE]

The right ports are what the rewriter makes of the programs in ``programs/``, with the edits in ``ports.py``. Faults are
planted by ``mutations.py``. ``oracle.py`` finds without `verify` whether a fault changes anything on a library: a
value beyond rounding, a dtype, a class, an array's library, an argument, or an error. Ends with 3 if a fault passes or
more than 2 right ports are refused.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

from examine import Row, examined, programs

MISSED = 3
MOST_REFUSED = 2
VERSIONS = ("numpy", "scipy", "torch", "jax", "dask", "array-api-strict")


def main() -> int:
    """Run, print and write the result."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--per-kind", type=int, default=1, help="the faults of a kind in a program (default: 1)")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    start, rows = time.perf_counter(), []
    chosen = [each for each in programs() if not given.only or each[1] in given.only.split(",")]
    with ProcessPoolExecutor(given.processes, get_context("spawn")) as pool:
        for each in as_completed([pool.submit(examined, file, name, given.per_kind) for file, name in chosen]):
            rows.append(each.result())
            report(rows[-1])
    result = {
        "versions": {name: version(name) for name in VERSIONS},
        "seconds": round(time.perf_counter() - start),
        "right_ports": len(rows),
        "refused": {row.program: row.refused for row in rows if row.refused},
        "faults": dict(sorted(sum((row.faults for row in rows), Counter()).items())),
        "equivalent_faults_left_out": sum(row.equivalent for row in rows),
        "passed": [each for row in rows for each in row.passed],
    }
    if given.out is not None:
        given.out.write_text(json.dumps(result, indent=1) + "\n")
    print(
        f"{len(rows)} right ports, {len(result['refused'])} refused; {sum(result['faults'].values())} faults", end=", "
    )
    print(f"{len(result['passed'])} passed; {result['seconds']} s")
    return MISSED if result["passed"] or len(result["refused"]) > MOST_REFUSED else 0


def report(row: Row) -> None:
    """Print a program."""
    print(f"{row.program}: {sum(row.faults.values())} faults, {len(row.passed)} passed", flush=True)
    for each in row.passed:
        print(f"    {each['kind']}: {each['fault']}", flush=True)
    if row.refused:
        print(f"    the right port is refused:\n{row.refused}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
