"""Functions of SciPy and scikit-learn on small arrays, with array-api-compat and with `xarrayops.compat` in its place.

    python benchmarks/peers/chains.py [--rounds 40] [--libraries numpy,torch] [--out FILE]

Each function calls many functions of a namespace, and the arrays have 100 elements, so that the cost of the namespace
counts. ``base`` is the copy of array-api-compat inside SciPy and scikit-learn; ``again`` is a second process of the
same, whose ratio to ``base`` is the resolution of the run, and ``compat`` is the installed array-api-compat. A process
for each holds its own SciPy; they are timed interleaved, in CPU time, and their results are compared first.
`make peers` has the environment with both packages.

The bar: the geometric mean of the ratios of ours to base is at most 1.0 within the resolution, for each library. Ends
with 3 if it is missed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import numpy as np
from measuring import MISSED, common_options, machine

CLIENTS = Path(__file__).parent.parent / "clients"
PLACES = ("scipy._lib.array_api_compat", "sklearn.externals.array_api_compat")
CONTESTANTS = ("base", "again", "compat", "ours")


def chains(library: str) -> dict[str, Callable[[], Any]]:
    """The calls, on arrays of the library."""
    from array_api_compat import array_namespace
    from scipy import special, stats
    from sklearn import config_context, metrics
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    import xarrayops as xo

    rng = np.random.default_rng(0)
    x, y, table = (xo.convert(rng.random(shape), library) for shape in (100, 100, (20, 5)))
    xp = array_namespace(x)

    def dispatched(call: Callable[[], Any]) -> Callable[[], Any]:
        def function() -> Any:
            with config_context(array_api_dispatch=True):
                return call()

        return function

    with config_context(array_api_dispatch=True):
        scaler = StandardScaler().fit(table)
        pca = PCA(n_components=2, svd_solver="full").fit(table)
    return {
        "stats.zscore": lambda: stats.zscore(x),
        "stats.gmean": lambda: stats.gmean(x),
        "stats.skew": lambda: stats.skew(x),
        "stats.kurtosis": lambda: stats.kurtosis(x),
        "stats.pearsonr": lambda: stats.pearsonr(x, y).pvalue,
        "stats.ttest_ind": lambda: stats.ttest_ind(x, y).pvalue,
        "special.logsumexp": lambda: special.logsumexp(x),
        "StandardScaler.fit": dispatched(lambda: StandardScaler().fit(table).mean_),
        "StandardScaler.transform": dispatched(lambda: scaler.transform(table)),
        "MinMaxScaler.fit": dispatched(lambda: MinMaxScaler().fit(table).scale_),
        "PCA.fit": dispatched(lambda: PCA(n_components=2, svd_solver="full").fit(table).explained_variance_),
        "PCA.transform": dispatched(lambda: pca.transform(table)),
        "metrics.r2_score": dispatched(lambda: xp.asarray(metrics.r2_score(x, y))),
    }


def serve(modules: str) -> None:
    """Answer requests, one JSON list in a line: the results of all chains of a library, or the time of one."""
    os.environ.update(SCIPY_ARRAY_API="1", CLIENT_MODULES="base" if modules == "again" else modules)
    sys.path.insert(0, str(CLIENTS))
    import client_plugin

    if modules in ("ours", "compat"):
        sys.meta_path[:0] = [client_plugin.Replacement(place) for place in PLACES]
    calls: dict[str, dict[str, Callable[[], Any]]] = {}
    for line in sys.stdin:
        library, chain, number = json.loads(line)
        if library not in calls:
            calls[library] = chains(library)
        if chain is None:
            answer: Any = {name: np.asarray(call()).tolist() for name, call in calls[library].items()}
        else:
            start = time.process_time()
            for _ in range(number):
                calls[library][chain]()
            answer = (time.process_time() - start) / number
        print(json.dumps(answer), flush=True)


class Process:
    """A process with one of the contestants."""

    def __init__(self, modules: str) -> None:
        command = [sys.executable, __file__, "--serve", modules]
        one_thread = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        pipe = subprocess.PIPE
        self.pipe = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=one_thread)

    def ask(self, library: str, chain: str | None = None, number: int = 1) -> Any:
        """The answer to a request."""
        assert self.pipe.stdin is not None
        assert self.pipe.stdout is not None
        print(json.dumps([library, chain, number]), file=self.pipe.stdin, flush=True)
        return json.loads(self.pipe.stdout.readline())


def measure(processes: dict[str, Process], library: str, rounds: int) -> list[dict[str, Any]]:
    """Microseconds of each chain, and its ratios to base: the minima over the rounds."""
    results = {who: process.ask(library) for who, process in processes.items()}
    rows = []
    for chain, expected in results["base"].items():
        for who, found in results.items():
            if not np.allclose(found[chain], expected, rtol=1e-10):
                raise SystemExit(f"{library} {chain}: {who} has {found[chain]}, and base {expected}")
        number = max(1, math.ceil(0.02 / processes["base"].ask(library, chain, 5)))
        times = {who: [] for who in processes}  # type: dict[str, list[float]]
        for _ in range(rounds):
            for who, process in processes.items():
                times[who].append(process.ask(library, chain, number))
        best = {who: min(each) for who, each in times.items()}
        row = {
            "library": library,
            "chain": chain,
            "us": {who: round(seconds * 1e6, 1) for who, seconds in best.items()},
            "ratio": {who: round(best[who] / best["base"], 3) for who in CONTESTANTS[1:]},
        }
        print(f"{library:8} {chain:26} {row['us']['base']:9.1f} us {row['ratio']}", flush=True)
        rows.append(row)
    return rows


def main() -> int:
    """Measure, print and write the results. Returns `MISSED` if the bar is missed."""
    parser = common_options(__doc__, rounds=40, libraries="numpy,torch")
    parser.add_argument("--serve", choices=CONTESTANTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return 0
    processes = {who: Process(who) for who in CONTESTANTS}
    rows, means = [], {}
    for library in options.libraries.split(","):
        own = measure(processes, library, options.rounds)
        rows += own
        means[library] = {who: round(geometric_mean(row["ratio"][who] for row in own), 3) for who in CONTESTANTS[1:]}
        print(f"{library:8} {'geometric mean':26} {means[library]}")
    if options.out:
        facts = machine(("numpy", "torch", "scipy"))
        facts["versions"] |= {name: version(name) for name in ("scikit-learn", "array-api-compat")}
        options.out.write_text(json.dumps({"machine": facts, "means": means, "rows": rows}, indent=1) + "\n")
    return MISSED if any(each["ours"] > 1 + abs(each["again"] - 1) for each in means.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
