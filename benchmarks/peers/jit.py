"""The time of functions that `xarrayops.jit` compiles, next to the library's own decorator and next to eager calls.

    python benchmarks/peers/jit.py [--rounds 15] [--size 1024] [--out FILE]

- *steady*: a function of a size by size array, next to `jax.jit` and `torch.compile` written by hand.
- *wrapper*: what `xo.jit` adds to a call of two small arrays, next to the same. The bar is scaled by the time of ten
  calls of an empty function, as on the machine of the first results.
- *interpolator*: radial basis functions at 500 points with 500 centres, of NumPy arrays, compiled by an engine, next to
  its eager call.
- *relaxation*: 300 calls of 20 sweeps of a 24 by 24 grid on JAX, next to 3 eager calls.
- *pays*: the total of 1 to 10 000 calls of three functions on JAX with ``when="pays"``, next to the better of always
  compiling and never. Every count uses new functions, so that each compiles again.

The results are equal before anything is measured. The bars: steady at most 1.05, the wrapper 2 us, the interpolator at
least 4 times as fast, the relaxation 300 times, and pays at most 2.5. Ends with 3 if one is missed.
"""

from __future__ import annotations

import json
import sys
import time
import timeit
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import jax
import numpy as np
import torch
from measuring import MISSED, common_options, interleaved, machine

import xarrayops as xo

STEADY, WRAPPER_NS, INTERPOLATOR, RELAXATION, PAYS = 1.05, 2000.0, 4.0, 300.0, 2.5
EMPTY_NS = 420.0
"""Ten calls of an empty function on the machine of the first results."""
COUNTS = (1, 10, 100, 1000, 10_000)
REPEATS, MANY = 3, 300
OURS, OWN = "ours", "own"


def standardised(x: Any) -> Any:
    """Columns of mean 0 and standard deviation 1, through a squashing function."""
    z = (x - xo.mean(x, axis=0, keepdims=True)) / xo.std(x, axis=0, keepdims=True)
    return xo.tanh(z) * xo.exp(-xo.square(z))


def small(x: Any, y: Any) -> Any:
    """Little work, so that the call itself takes the time."""
    return x * 2.0 + y


def interpolated(points: Any, centres: Any, weights: Any) -> Any:
    """A sum of thin-plate splines at points in space."""
    squares = xo.sum(xo.square(points[:, None, :] - centres[None, :, :]), axis=-1)
    return xo.matmul(squares * xo.log(squares + 1e-12) / 2, weights)


def relaxed(grid: Any) -> Any:
    """20 sweeps of Jacobi's method for Laplace's equation."""
    for _ in range(20):
        inner = (grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:]) / 4
        grid = xo.at(grid)[1:-1, 1:-1].set(inner)
    return grid


def own(library: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The library's own decorator."""
    if library == "jax":
        found: Callable[..., Any] = jax.jit(function)
        return found
    return torch.compile(function, fullgraph=True, dynamic=False)


def waited(function: Callable[..., Any], *args: Any) -> Any:
    """The result with its values."""
    result = function(*args)
    return result.block_until_ready() if isinstance(result, jax.Array) else result


def settled(function: Callable[..., Any], *args: Any) -> Any:
    """The result after the calls that are timed."""
    for _ in range(6):
        result = waited(function, *args)
    return result


def steady(size: int, rounds: int) -> list[dict[str, Any]]:
    """The ratio of our time to that of the library's own decorator, over several pairs of functions in both orders."""
    found = []
    for library in ("jax", "torch"):
        x = xo.convert(np.random.default_rng(0).standard_normal((size, size), np.float32), library)
        ratios = []
        for order in ((OURS, OWN), (OWN, OURS)) * REPEATS:
            functions = {OURS: xo.jit(standardised), OWN: own(library, standardised)}
            results = {name: settled(function, x) for name, function in functions.items()}
            np.testing.assert_allclose(results[OURS], results[OWN], rtol=1e-6, atol=1e-6)
            calls = {name: partial(waited, functions[name], x) for name in order}
            times = interleaved(calls, max(1, rounds // 4), 0.02, number=10)
            ratios += [a / b for a, b in zip(times[OURS], times[OWN], strict=True)]
        found.append({"case": f"steady {library}", "ratio": round(median(ratios), 3), "at most": STEADY})
    return found


def wrapper(rounds: int) -> list[dict[str, Any]]:
    """The nanoseconds that our decorator adds."""
    number, found = 2000, []
    empty = min(timeit.repeat("f()" + ";f()" * 9, globals={"f": lambda: None}, number=20_000, repeat=9)) / 20_000 * 1e9
    bar = WRAPPER_NS * max(1.0, empty / EMPTY_NS)
    for library in ("jax", "torch"):
        x, y = (xo.convert(np.ones((3, 4), np.float32), library, copy=True) for _ in range(2))
        ours, theirs = xo.jit(small), own(library, small)
        np.testing.assert_allclose(settled(ours, x, y), settled(theirs, x, y))
        added = []
        for _ in range(rounds):
            seconds = [min(timeit.repeat(partial(f, x, y), number=number, repeat=3)) for f in (ours, theirs)]
            added.append((seconds[0] - seconds[1]) / number * 1e9)
        found.append({"case": f"wrapper {library}", "added ns": round(median(added)), "at most": round(bar)})
    return found


def interpolator(rounds: int) -> list[dict[str, Any]]:
    """How many times as fast an engine is, for NumPy arrays."""
    random = np.random.default_rng(0)
    arrays = (random.random((500, 3)), random.random((500, 3)), random.random((500, 4)))
    found = []
    with jax.enable_x64(True):
        for engine in ("jax", "torch"):
            functions = {OURS: xo.jit(interpolated, engine=engine), OWN: interpolated}
            results = {name: settled(function, *arrays) for name, function in functions.items()}
            np.testing.assert_allclose(results[OURS], results[OWN], rtol=1e-9, atol=1e-9)
            times = interleaved({name: partial(f, *arrays) for name, f in functions.items()}, rounds, 0.02, number=3)
            ratio = median(b / a for a, b in zip(times[OURS], times[OWN], strict=True))
            found.append({"case": f"interpolator {engine}", "times as fast": round(ratio, 2)})
    best = max(found, key=lambda each: float(each["times as fast"]))
    best["at least"] = INTERPOLATOR
    return found


def repeated(function: Callable[..., Any], grid: Any, count: int) -> Any:
    """Calls, each on the result of the one before it."""
    for _ in range(count):
        grid = function(grid)
    return grid.block_until_ready()


def relaxation(rounds: int) -> list[dict[str, Any]]:
    """How many times as fast as eager calls on JAX."""
    start = np.zeros((24, 24), np.float32)
    start[0] = 1.0
    grid = xo.convert(start, "jax", copy=True)
    functions = {OURS: xo.jit(relaxed), OWN: relaxed}
    results = {name: settled(function, grid) for name, function in functions.items()}
    np.testing.assert_allclose(results[OURS], results[OWN], rtol=1e-5, atol=1e-6)
    counts = {OURS: MANY, OWN: MANY // 100}
    times = interleaved({name: partial(repeated, f, grid, counts[name]) for name, f in functions.items()}, rounds, 0.02)
    ratio = 100 * median(b / a for a, b in zip(times[OURS], times[OWN], strict=True))
    return [{"case": "relaxation jax", "times as fast": round(ratio), "at least": RELAXATION}]


def pays(size: int) -> list[dict[str, Any]]:
    """The total of several counts of calls, over the better of two fixed choices."""
    x = xo.convert(np.random.default_rng(0).standard_normal((size // 8, size // 8), np.float32), "jax")
    grid = xo.convert(np.ones((24, 24), np.float32), "jax")
    cases: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        "standardised": (standardised, (x,)),
        "small": (small, (x, x)),
        "relaxed": (relaxed, (grid,)),
    }
    found = []
    for name, (function, args) in cases.items():
        waited(function, *args)  # JAX compiles each operation of an eager call once
        for count in COUNTS:
            if name == "relaxed" and count > 100:
                continue  # eager calls would take minutes, and never serve then
            choices = ("now", "never", "pays")
            runs = [{when: total(function, args, when, count) for when in choices} for _ in range(REPEATS)]
            totals = {when: median(run[when] for run in runs) for when in choices}
            ratio = totals["pays"] / min(totals["now"], totals["never"])
            found.append({"case": f"pays {name} {count}", "ratio": round(ratio, 2), "at most": PAYS})
    return found


def total(function: Callable[..., Any], args: tuple[Any, ...], when: Any, count: int) -> float:
    """The seconds of some calls of a new function, which is compiled again."""
    fresh = partial(function)
    compiled = xo.jit(lambda *given: fresh(*given), when=when, check=False)
    start = time.perf_counter()
    for _ in range(count):
        result = compiled(*args)
    waited(lambda: result)
    return time.perf_counter() - start


def missed(row: dict[str, Any]) -> bool:
    """Whether a bar is missed."""
    value = float(next(row[name] for name in ("ratio", "added ns", "times as fast") if name in row))
    return value > row.get("at most", float("inf")) or value < row.get("at least", 0.0)


def main() -> int:
    """Measure, print and write the results. Returns `MISSED` if a bar is missed."""
    parser = common_options(__doc__, rounds=15)
    parser.add_argument("--size", type=int, default=1024)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for part in (
        partial(steady, options.size, options.rounds),
        partial(wrapper, options.rounds),
        partial(interpolator, options.rounds),
        partial(relaxation, options.rounds),
        partial(pays, options.size),
    ):
        for row in part():
            rows.append(row)
            print("  ".join(f"{name}: {value}" for name, value in row.items()), "  MISSED" * missed(row), flush=True)
    if options.out:
        text = {"machine": machine(("jax", "numpy", "torch")), "rows": rows}
        options.out.write_text(json.dumps(text, indent=1) + "\n")
    return MISSED if any(map(missed, rows)) else 0


if __name__ == "__main__":
    sys.exit(main())
