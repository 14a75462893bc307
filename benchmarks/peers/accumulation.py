"""The price of sums that do not overflow or stagnate: our functions of float32 and float64, before and after a change.

    python benchmarks/peers/accumulation.py --before FOLDER [--rounds 15] [--sizes 100,10000,1000000]
                                            [--libraries numpy,torch,jax] [--only TEXT] [--out FILE]

``--before`` is a checkout of an earlier commit. One process runs this checkout, one the other, and two of this one
measure the resolution, the ratio of their times. The measurements are interleaved; a ratio is that of the least times.

The bar, for arrays of `ORDINARY` elements or more: no ratio of after to before is above 1.1 times the resolution, the
ratio of the two equal processes that 95 % of the calls stay below. Calls of fewer elements are measured, too: the look
at a result costs about as much as an operation of the library. Ends with 3 if the bar is missed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np
from measuring import MISSED, common_options, machine

import xarrayops as xo

BAR = 1.1
ORDINARY = 10_000
ROUND_S = 0.003
"""Calls that are shorter are repeated in a round until they take about so long."""
HERE = Path(__file__).parents[2]
ONE_ARRAY = (
    *("mean", "std", "var", "cumulative_sum", "prod", "nansum", "nanmean", "nanstd", "median", "softmax", "logsumexp"),
    *("average", "trapezoid", "ptp", "gradient"),
)


def calls(library: str, dtype: str, size: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The calls to time, with their names."""
    rng = np.random.default_rng(0)
    x = xo.asarray(rng.uniform(0.5, 1.5, size).astype(dtype), backend=library)
    rows = xo.reshape(x, (-1, 4))
    ids = xo.asarray(rng.integers(0, 10, size).astype("int32"), backend=library)
    for name in ONE_ARRAY:
        yield name, lambda name=name: getattr(xo, name)(x)
    for name in ("mean", "std", "nanmean", "trapezoid"):
        yield f"{name}, axis 0", lambda name=name: getattr(xo, name)(rows, axis=0)
    for name in ("norm", "vector_norm"):
        yield name, lambda name=name: getattr(xo.linalg, name)(x)
        yield f"{name}, axis 0", lambda name=name: getattr(xo.linalg, name)(rows, axis=0)
    yield "vecdot", lambda: xo.vecdot(x, x)
    yield "quantile", lambda: xo.quantile(x, 0.3)
    yield "average, weights", lambda: xo.average(x, weights=x)
    yield "segment_sum", lambda: xo.segment_sum(x, ids, 10)
    yield "segment_mean", lambda: xo.segment_mean(x, ids, 10)
    yield "bincount, weights", lambda: xo.bincount(ids, x, length=10)
    yield "histogram", lambda: xo.histogram(x, 10)
    yield "cov", lambda: xo.cov(x)
    yield "interp", lambda: xo.interp(x, xo.cumulative_sum(x), x)


def finish(result: Any) -> None:
    """Wait for a result, or for several."""
    xo.synchronize(*result) if isinstance(result, tuple | list) else xo.synchronize(result)


def serve(library: str, sizes: list[int]) -> None:
    """A process that times: it answers each line, the number of a call, with a time in seconds."""
    listed = [
        (f"{name} of {dtype}, {size}", call)
        for dtype in ("float32", "float64")
        for size in sizes
        if library != "jax" or dtype == "float32"
        for name, call in calls(library, dtype, size)
    ]
    print(json.dumps([name for name, _ in listed]), flush=True)
    numbers: dict[int, int] = {}
    for line in sys.stdin:
        which = int(line)
        call = listed[which][1]
        if which not in numbers:
            finish(call())
            start = time.perf_counter()
            finish(call())
            numbers[which] = max(1, int(ROUND_S / (time.perf_counter() - start)))
        start = time.perf_counter()
        for _ in range(numbers[which]):
            result = call()
        finish(result)
        print((time.perf_counter() - start) / numbers[which], flush=True)


def started(folder: Path, library: str, sizes: str) -> subprocess.Popen[str]:
    """A process that times the functions of a checkout."""
    # Threads that spin while they wait would disturb the other processes.
    waiting = {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}
    environment = {**os.environ, **waiting, "PYTHONPATH": os.pathsep.join((str(folder), str(folder / "backends")))}
    command = [sys.executable, __file__, "--serve", "--libraries", library, "--sizes", sizes]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def answer(process: subprocess.Popen[str], line: str | None = None) -> Any:
    """What a process answers to a line."""
    assert process.stdin is not None
    assert process.stdout is not None
    if line is not None:
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
    return json.loads(process.stdout.readline())


def measure(options: Any, library: str) -> Iterator[dict[str, Any]]:
    """A row for each call."""
    folders = {"before": options.before, "after": HERE, "again": HERE}
    processes = {name: started(folder, library, options.sizes) for name, folder in folders.items()}
    try:
        names = next(iter([answer(process) for process in processes.values()]))
        for number, name in enumerate(names):
            if options.only not in name:
                continue
            times: dict[str, list[float]] = {each: [] for each in processes}
            for _ in range(options.rounds):
                for each, process in processes.items():
                    times[each].append(answer(process, str(number)))
            before, after, again = (min(times[each]) for each in processes)
            ratio, resolution = min(after, again) / before, max(after, again) / min(after, again)
            size = int(name.rpartition(" ")[2])
            yield {
                "library": library,
                "call": name,
                "size": size,
                "before_us": before * 1e6,
                "ratio": ratio,
                "equal": resolution,
            }
    finally:
        for process in processes.values():
            process.kill()


def main() -> int:
    """Measure, print and write the results. Returns `MISSED` if the bar is missed."""
    parser = common_options(__doc__, rounds=15, libraries="numpy,torch,jax", only=True)
    parser.add_argument("--before", type=Path, default=HERE, help="a checkout of an earlier commit")
    parser.add_argument("--sizes", default="100,10000,1000000")
    parser.add_argument("--serve", action="store_true", help="be one of the processes that time")
    options = parser.parse_args()
    if options.serve:
        serve(options.libraries, [int(size) for size in options.sizes.split(",")])
        return 0
    rows = []
    for library in options.libraries.split(","):
        for row in measure(options, library):
            rows.append(row)
            print(f"{library:6} {row['call']:40} {row['before_us']:10.1f} us, {row['ratio']:.2f}", flush=True)
    ordinary, small = ([row for row in rows if (row["size"] >= ORDINARY) is large] for large in (True, False))
    limit = BAR * (quantiles([row["equal"] for row in ordinary], n=20)[-1] if len(ordinary) > 1 else 1.0)
    missed = [row for row in ordinary if row["ratio"] > limit]
    print(
        f"resolution {limit / BAR:.2f}; {len(missed)} of {len(ordinary)} calls are slower than {limit:.2f} times before"
    )
    if small:
        print(f"fewer than {ORDINARY} elements: {median(row['ratio'] for row in small):.2f} times before, the median")
    if options.out:
        found = {"machine": machine(options.libraries.split(",")), "limit": limit, "rows": rows}
        options.out.write_text(json.dumps(found, indent=1) + "\n")
    return MISSED if missed else 0


if __name__ == "__main__":
    sys.exit(main())
