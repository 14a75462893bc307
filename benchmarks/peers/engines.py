"""The time of calls that engines serve, divided by the time of the own library of the arrays.

    python benchmarks/peers/engines.py [--sizes 4,1000000] [--rounds 9] [--libraries numpy,torch,jax] [--only sort]
                                       [--out FILE]

A size is a number of elements; arrays are square matrices of float32. The own library and the engines are interleaved,
and each time is the mean of several calls in one block; the ratio is the median over the rounds. Results are compared
first: an engine whose result differs by more than rounding ends the run. A call that an engine does not serve has a
reason instead of a ratio. ``us`` is the least time of a call.

The bar: what an engine adds to a call on four elements, between NumPy and PyTorch, is at most 10 times the time of the
engine's own call and 10 microseconds. Ends with 3 if it is missed.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from measuring import MISSED, common_options, interleaved, machine, over

import xarrayops as xo

CALLS: dict[str, Callable[[Any], Any]] = {
    "add": lambda x: xo.add(x, x),
    "exp": xo.exp,
    "sum": lambda x: xo.sum(x, axis=0),
    "mean": lambda x: xo.mean(x, axis=1),
    "std": lambda x: xo.std(x, axis=0),
    "argmax": lambda x: xo.argmax(x, axis=1),
    "sort": xo.sort,
    "argsort": xo.argsort,
    "cumulative_sum": lambda x: xo.cumulative_sum(x, axis=1),
    "median": lambda x: xo.median(x, axis=0),
    "softmax": xo.softmax,
    "matmul": lambda x: xo.matmul(x, x),
    "einsum": lambda x: xo.einsum("ij,jk->ik", x, x),
    "fft.rfft": xo.fft.rfft,
    "linalg.solve": lambda x: xo.linalg.solve(x, x),
    "relayout": lambda x: xo.relayout(x, "a b -> b a"),
}
VERBS = {"linalg.solve": 250_000, "einsum": 1_000_000}
"""The greatest size of the calls whose time grows faster than the size."""
ADDED_US = 10.0


def repeated(call: Callable[[Any], Any], x: Any, number: int, engine: str | None = None) -> Any:
    """The last result of several calls, in a block if an engine is named; the work of devices is waited for."""
    if engine is None:
        for _ in range(number):
            result = call(x)
        xo.synchronize(result)
        return result
    with xo.engines(engine):
        return repeated(call, x, number)


def host(x: Any) -> Any:
    """The values in double precision."""
    return np.asarray(xo.convert(x, "numpy")).astype("complex128")


def refusal(verb: str, x: Any, call: Callable[[Any], Any], engine: str) -> str | None:
    """Why an engine does not serve a call; None if it does."""
    arguments = {"add": (x, x), "matmul": (x, x), "linalg.solve": (x, x), "einsum": ("ij,jk->ik", x, x)}
    options = {"relayout": (x, "a b -> b a")}
    with xo.engines(engine):
        found = xo.explain(verb, *(options.get(verb) or arguments.get(verb, (x,))))
    first = found.candidates[0]
    return None if first.ok and first.name.startswith(engine) else first.reason


def measure(library: str, engines: list[str], size: int, rounds: int, only: str) -> Iterator[dict[str, Any]]:
    """A row for each function."""
    side = max(2, round(size**0.5))
    x = np.random.default_rng(0).standard_normal((side, side)).astype("float32") + 4 * np.eye(side, dtype="float32")
    x = xo.convert(x, library, copy=True)
    for verb, call in CALLS.items():
        if only not in verb or size > VERBS.get(verb, size):
            continue
        number = 100 if size < 1000 else 1
        reasons = {engine: refusal(verb, x, call, engine) for engine in engines}
        serving = [engine for engine, reason in reasons.items() if reason is None]
        want = host(call(x))
        for engine in serving:
            got = host(repeated(call, x, 1, engine))
            if verb != "argmax" and not np.allclose(got, want, rtol=1e-3, atol=1e-3 * np.max(np.abs(want))):
                raise SystemExit(f"{library}, {verb} of {size} by {engine}: the result is wrong")
        calls = {"own": partial(repeated, call, x, number)}
        calls |= {engine: partial(repeated, call, x, number, engine) for engine in serving}
        times = interleaved(calls, rounds, 0.0)
        ratios = {engine: round(ratio, 2) for engine, ratio in over(times, "own").items()}
        microseconds = {name: round(min(each) / number * 1e6, 2) for name, each in times.items()}
        yield {
            "case": f"{library} {verb} {size}",
            "library": library,
            "verb": verb,
            "size": size,
            "engine / own": ratios,
            "us": microseconds,
            "not served": {engine: reason for engine, reason in reasons.items() if reason is not None},
        }


def misses(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The calls between NumPy and PyTorch to which an engine adds too much."""
    own = {(row["library"], row["verb"], row["size"]): row["us"]["own"] for row in rows}
    for row in rows:
        for engine, time in row["us"].items():
            direct = own.get((engine, row["verb"], row["size"]))
            is_bound = row["size"] < 1000 and {row["library"], engine} == {"numpy", "torch"}
            if is_bound and direct is not None and time - direct > max(ADDED_US, 10 * direct):
                yield f"{row['case']} by {engine}: {time - direct:.1f} us more than {engine} alone"


def main() -> int:
    """Measure, print and write the results. Returns `MISSED` if the bar is missed."""
    parser = common_options(__doc__, rounds=9, libraries="numpy,torch,jax", only=True)
    parser.add_argument("--sizes", default="4,10000,1000000")
    options = parser.parse_args()
    libraries = options.libraries.split(",")
    warnings.simplefilter("ignore")
    rows = []
    for size in map(int, options.sizes.split(",")):
        for library in libraries:
            engines = [name for name in libraries if name != library]
            for row in measure(library, engines, size, options.rounds, options.only):
                rows.append(row)
                ratios = ", ".join(f"{engine} {ratio:.2f}" for engine, ratio in row["engine / own"].items())
                print(f"{row['case']:30} own {row['us']['own']:10.1f} us; {ratios}", flush=True)
    for miss in misses(rows):
        print("MISSED", miss)
    if options.out:
        options.out.write_text(json.dumps({"machine": machine(libraries), "rows": rows}, indent=1) + "\n")
    return MISSED if any(misses(rows)) else 0


if __name__ == "__main__":
    os.environ.setdefault("JAX_ENABLE_X64", "1")
    sys.exit(main())
