"""The peak memory of functions of Dask arrays, next to Dask's own functions, and on a cluster of small workers.

    python benchmarks/peers/dask_memory.py [--rounds 1] [--rows 6500000] [--columns 18] [--only median] [--out FILE]

Each call runs in a process of its own with two threads, on random float64 numbers in 26 chunks, 0.94 GB. The values of
each function are first compared with those of NumPy on a small array. The peak is that of the resident memory, without
what the process held before. The bar: at most 1.3 times the peak of Dask's own function, or four chunks for each
thread, whichever is more.

The median and the histogram of a vector with a third of the elements, 0.31 GB, also run on two workers of 450 MB with
one thread each, which Dask would end beyond that. Ends with 3 if a bar is missed.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import dask
import dask.array as da
import numpy as np
from measuring import MISSED, common_options, machine, resident

import xarrayops as xo

THREADS, CHUNKS, FACTOR, OF_CHUNKS, IDS = 2, 26, 1.3, 4, 1000
WORKERS, WORKER_MB = 2, 450
Function = Callable[[Any, Any], Any]


def added(x: Any, ids: Any) -> Any:
    """The sums of the rows of each id, by updates."""
    zeros = np.zeros if isinstance(x, np.ndarray) else da.zeros
    return xo.at(zeros((IDS, x.shape[1])))[ids].add(x)


def sums(x: Any, ids: Any) -> Any:
    """The sums of the rows of each id, by NumPy."""
    found = np.zeros((IDS, x.shape[1]))
    np.add.at(found, ids, x)
    return found


CASES: dict[str, tuple[Function, Function, Function | None]] = {
    "segment_sum": (lambda x, ids: xo.segment_sum(x, ids, IDS), sums, None),
    "at(...).add": (added, sums, None),
    "nanvar": (lambda x, _: xo.nanvar(x), lambda x, _: np.var(x), lambda x, _: da.nanvar(x)),
    "quantile": (lambda x, _: xo.quantile(x, 0.3, axis=0), lambda x, _: np.quantile(x, 0.3, axis=0), None),
    "nanmedian": (
        lambda x, _: xo.nanmedian(x, axis=0),
        lambda x, _: np.median(x, axis=0),
        lambda x, _: da.nanmedian(x, axis=0),
    ),
    "lstsq": (
        lambda x, _: xo.linalg.lstsq(x, x[:, :1])[0],
        lambda x, _: np.linalg.lstsq(x, x[:, :1])[0],
        lambda x, _: da.linalg.lstsq(x, x[:, :1])[0],
    ),
    "logsumexp": (lambda x, _: xo.logsumexp(x), lambda x, _: np.log(np.sum(np.exp(x))), None),
    "sort": (lambda x, _: xo.sum(xo.sort(x[:, 0])[:9]), lambda x, _: np.sum(np.sort(x[:, 0])[:9]), None),
    "permutation": (
        lambda x, _: xo.sum(xo.random.default_rng(0, backend="dask").permutation(x.shape[0]) ** 2),
        lambda x, _: np.sum(np.arange(x.shape[0]) ** 2),
        None,
    ),
}
ON_CLUSTER: dict[str, Function] = {
    "median": lambda x, _: xo.median(x),
    "histogram": lambda x, _: xo.histogram(x, 100, range=(0.0, 1.0))[0],
}


def arrays(rows: int, columns: int) -> tuple[Any, Any]:
    """Random numbers and ids, which tasks draw."""
    chunk, random = -(-rows // CHUNKS), da.random.default_rng(0)
    return random.random((rows, columns), chunks=(chunk, columns)), random.integers(0, IDS, rows, chunks=chunk)


def computed(function: Function, x: Any, ids: Any) -> Any:
    """The values of a result."""
    found = function(x, ids)
    return found.compute() if isinstance(found, da.Array) else found


def peak_mb(name: str, who: str, rows: int, columns: int) -> float:
    """The peak of one call in this process."""
    function = CASES[name][0 if who == "ours" else 2]
    assert function is not None
    with dask.config.set(scheduler="threads", num_workers=THREADS):
        computed(function, *arrays(100 * CHUNKS, columns))  # libraries and code
        gc.collect()
        before = resident("VmRSS")
        computed(function, *arrays(rows, columns))
    return resident("VmHWM") - before


def in_processes(name: str, who: str, options: Any) -> int:
    """The peak of one call in a process of its own, the median over the rounds."""
    given = ["--measure", name, "--who", who, "--rows", str(options.rows), "--columns", str(options.columns)]
    command = [sys.executable, __file__, *given]
    done = [subprocess.run(command, check=True, capture_output=True, text=True) for _ in range(options.rounds)]
    return round(median(float(each.stdout) for each in done))


def row(name: str, options: Any) -> dict[str, Any]:
    """The peaks of a case, after the comparison of its values."""
    ours, oracle, own = CASES[name]
    x, ids = (np.asarray(each) for each in arrays(1000, options.columns))
    lazy = [da.from_array(each, chunks=(100, *each.shape[1:])) for each in (x, ids)]
    np.testing.assert_allclose(computed(ours, *lazy), oracle(x, ids), rtol=1e-9, atol=1e-12)
    chunk_mb = options.rows * options.columns * 8 / CHUNKS / 2**20
    found = {"function": name, "ours_mb": in_processes(name, "ours", options)}
    most = OF_CHUNKS * THREADS * chunk_mb
    if own is not None:
        found["dask_mb"] = in_processes(name, "dask", options)
        most = max(most, FACTOR * found["dask_mb"])
    return found | {"at most": round(most)}


def on_cluster(name: str, options: Any) -> dict[str, Any]:
    """The greatest peak of a worker. Dask ends a worker that exceeds its memory, and then the call raises."""
    from distributed import Client, LocalCluster

    n = options.rows * options.columns // 3
    x = da.random.default_rng(0).random(n, chunks=-(-n // CHUNKS))
    workers: dict[str, Any] = {"n_workers": WORKERS, "threads_per_worker": 1, "memory_limit": f"{WORKER_MB}MB"}
    with LocalCluster(dashboard_address=":0", **workers) as cluster, Client(cluster) as client:
        found = computed(ON_CLUSTER[name], x, None)
        status = client.run(lambda: Path("/proc/self/status").read_text())
    peaks = [int(line.split()[1]) / 1024 for each in status.values() for line in each.splitlines() if "VmHWM" in line]
    assert abs(found - 0.5) < 0.01 if name == "median" else found.sum() == n
    return {"function": name, "workers_mb": round(max(peaks)), "at most": WORKER_MB}


def main() -> int:
    """Measure, print and write the results. Returns `MISSED` if a bar is missed."""
    parser = common_options(__doc__, rounds=1, only=True)
    parser.add_argument("--rows", type=int, default=6_500_000)
    parser.add_argument("--columns", type=int, default=18)
    parser.add_argument("--measure", help="measure one function in this process")
    parser.add_argument("--who", default="ours")
    options = parser.parse_args()
    if options.measure:
        print(peak_mb(options.measure, options.who, options.rows, options.columns))
        return 0
    found = []
    for names, measured in ((CASES, row), (ON_CLUSTER, on_cluster)):
        for name in names:
            if options.only in name:
                found.append(measured(name, options))
                print(json.dumps(found[-1]), flush=True)
    if options.out:
        data = {"machine": machine(("numpy", "dask", "distributed")), "rows": found}
        options.out.write_text(json.dumps(data, indent=1) + "\n")
    is_missed = any(each.get("ours_mb", each.get("workers_mb")) > each["at most"] for each in found)
    return MISSED if is_missed else 0


if __name__ == "__main__":
    sys.exit(main())
