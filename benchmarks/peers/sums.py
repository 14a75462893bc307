"""The time and the error of sums of narrow dtypes, compared with the library's own.

    python benchmarks/peers/sums.py [--count 4000000] [--rounds 7] [--libraries numpy,torch,dask] [--out FILE]

Both contestants are interleaved; the ratio is the minimum of our times divided by the minimum of the library's. Errors
are those of the greatest element, in eps times the sum of the absolute values, against sums in double precision; the
bound is 4 log2(n). An error of ours above the bound ends the run.

The bar: ours takes at most 3 times the library's time. Ends with 3 if it is missed.
"""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from measuring import MISSED, common_options, interleaved, machine

import xarrayops as xo

BAR = 3.0
EPS = {"float32": 2.0**-23, "float16": 2.0**-10, "complex64": 2.0**-23}
OURS: dict[str, Callable[..., Any]] = {
    "sum": xo.sum,
    "mean": xo.mean,
    "var": xo.var,
    "cumulative_sum": xo.cumulative_sum,
}


def native(library: str, verb: str, axis: int) -> Callable[[Any], Any]:
    """The library's own function, which computes at once."""
    if library == "torch":
        import torch

        functions = {"sum": torch.sum, "mean": torch.mean, "cumulative_sum": torch.cumsum}
        if verb == "var":
            return lambda x: torch.var(x, axis, correction=0)
        return lambda x: functions[verb](x, axis)
    name = {"cumulative_sum": "cumsum"}.get(verb, verb)
    if library == "dask":
        import dask.array as da

        return lambda x: getattr(da, name)(x, axis=axis).compute()
    return lambda x: getattr(np, name)(x, axis=axis)


def cases(count: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Shapes with the axis of the sum."""
    side = math.isqrt(count // 4)
    yield from [((count,), 0), ((count // 4, 4), 0), ((side, 4 * side), 0), ((4 * side, side), 1), ((4, side, side), 1)]


def error(verb: str, got: Any, x: Any, axis: int, dtype: str) -> float:
    """The greatest error, in eps times the sum of the absolute values, or their mean."""
    wide = x.astype("complex128" if dtype == "complex64" else "float64")
    function = {"sum": np.sum, "mean": np.mean, "var": np.var, "cumulative_sum": np.cumsum}[verb]
    want = function(wide, axis=axis)
    scale = function(np.abs(wide), axis=axis) if verb != "var" else want + np.mean(np.abs(wide), axis=axis) ** 2
    got = np.asarray(xo.convert(xo.compute(got), "numpy")).astype(want.dtype)
    return float(np.max(np.abs(got - want) / np.where(scale > 0, scale, 1.0)) / EPS[dtype])


def computed(function: Callable[..., Any], x: Any, axis: int) -> Any:
    """The result of one of our functions; Dask computes it."""
    return xo.compute(function(x, axis=axis))


def measure(library: str, count: int, rounds: int) -> Iterator[dict[str, Any]]:
    """A row for each dtype, shape and function."""
    rng = np.random.default_rng(0)
    for dtype in EPS:
        for shape, axis in cases(count):
            x = rng.uniform(0.5, 1.0, shape) / (shape[axis] if dtype == "float16" else 1)
            x = (x * (1 + 1j)).astype(dtype) if dtype == "complex64" else x.astype(dtype)
            a = xo.asarray(x, backend=library)
            for verb, ours in OURS.items():
                own = native(library, verb, axis)
                calls = {"library": partial(own, a), "ours": partial(computed, ours, a, axis)}
                errors = {name: error(verb, call(), x, axis, dtype) for name, call in calls.items()}
                bound = 4 * math.log2(max(2, shape[axis]))
                if errors["ours"] > bound and dtype != "float16":  # tiny float16 numbers have a greater eps
                    raise SystemExit(f"{library}, {verb} of {dtype} {shape}: the error of ours is {errors['ours']} eps")
                best = {name: min(times) for name, times in interleaved(calls, rounds, 0.0).items()}
                yield {
                    "library": library,
                    "case": f"{verb} of {dtype} {shape}, axis {axis}",
                    "ratio": round(best["ours"] / best["library"], 2),
                    "errors": {name: round(value, 2) for name, value in errors.items()},
                    "bound": round(bound, 1),
                }


def main() -> int:
    """Measure, print and write the results. Returns `MISSED` if the bar is missed."""
    parser = common_options(__doc__, rounds=7, libraries="numpy,torch,dask")
    parser.add_argument("--count", type=int, default=4_000_000)
    options = parser.parse_args()
    libraries = options.libraries.split(",")
    warnings.simplefilter("ignore")  # float16 overflows in the libraries' own functions
    rows = []
    for library in libraries:
        for row in measure(library, options.count, options.rounds):
            rows.append(row)
            print(
                f"{row['library']:6} {row['case']:50} {row['ratio']:5.2f} of its time, error "
                f"{row['errors']['ours']:.2f} eps (its own {row['errors']['library']:.2f}, bound {row['bound']})"
                f"{'' if row['ratio'] <= BAR else '  MISSED'}",
                flush=True,
            )
    if options.out:
        options.out.write_text(json.dumps({"machine": machine(libraries), "rows": rows}, indent=1) + "\n")
    return MISSED if any(row["ratio"] > BAR for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
