"""Functions under NumPy's names: our time over NumPy's own on NumPy, and the hand-written way over ours on PyTorch.

    python benchmarks/peers/extended.py [--rounds 15] [--sizes 10000,1000000] [--libraries numpy,torch] [--out FILE]

The contestants are interleaved; a ratio is the median over the rounds. Results are compared before timing. The ways
written by hand use the functions of the standard only, as code had to do before: concatenated flips for pad, xo.at for
bincount, a sort and an interpolation for quantiles, a gather by a matrix of indices for windows.

The bars: on NumPy at most 1.1 times NumPy's own time for each size, on PyTorch at least 3 times as quick as the way
written by hand, at the greatest size. Ends with 3 if one is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from measuring import MISSED, interleaved, machine

import xarrayops as xo

OF_NUMPY, OF_HAND = 1.1, 3.0
ROUND_S = 0.003
"""Calls that are shorter are repeated in a round until they take about so long."""
Pair = tuple[Callable[[], Any], Callable[[], Any]]


def numpy_cases(n: int) -> dict[str, Pair]:
    """Ours and NumPy's own, by the call."""
    random = np.random.default_rng(0)
    x, y = random.normal(size=n), random.normal(size=n)
    ids, edges, kernel = random.integers(0, 1000, n), np.linspace(-3, 3, 50), random.normal(size=16)
    holes = np.where(random.random(n) < 0.1, np.nan, x)
    matrix = x[: n // 100 * 100].reshape(-1, 100)
    return {
        "pad, constant": (lambda: xo.pad(x, 100), lambda: np.pad(x, 100)),
        "pad, reflect": (lambda: xo.pad(matrix, 3, "reflect"), lambda: np.pad(matrix, 3, "reflect")),
        "bincount": (lambda: xo.bincount(ids), lambda: np.bincount(ids)),
        "bincount, weights": (lambda: xo.bincount(ids, x), lambda: np.bincount(ids, x)),
        "median": (lambda: xo.median(x), lambda: np.median(x)),
        "quantile": (lambda: xo.quantile(x, 0.3), lambda: np.quantile(x, 0.3)),
        "nanmedian": (lambda: xo.nanmedian(holes), lambda: np.nanmedian(holes)),
        "nanmean": (lambda: xo.nanmean(holes), lambda: np.nanmean(holes)),
        "nansum": (lambda: xo.nansum(holes), lambda: np.nansum(holes)),
        "nanstd": (lambda: xo.nanstd(holes), lambda: np.nanstd(holes)),
        "nan_to_num": (lambda: xo.nan_to_num(holes), lambda: np.nan_to_num(holes)),
        "isclose": (lambda: xo.isclose(x, y), lambda: np.isclose(x, y)),
        "allclose": (lambda: xo.allclose(x, x), lambda: np.allclose(x, x)),
        "array_equal": (lambda: xo.array_equal(x, x), lambda: np.array_equal(x, x)),
        "insert": (lambda: xo.insert(x, 5, 1.0), lambda: np.insert(x, 5, 1.0)),
        "delete": (lambda: xo.delete(x, 5), lambda: np.delete(x, 5)),
        "gradient": (lambda: xo.gradient(x), lambda: np.gradient(x)),
        "interp": (lambda: xo.interp(x, edges, edges), lambda: np.interp(x, edges, edges)),
        "cbrt": (lambda: xo.cbrt(x), lambda: np.cbrt(x)),
        "histogram": (lambda: xo.histogram(x, 50), lambda: np.histogram(x, 50)),
        "digitize": (lambda: xo.digitize(x, edges), lambda: np.digitize(x, edges)),
        "cov": (lambda: xo.cov(matrix[:, :5], rowvar=False), lambda: np.cov(matrix[:, :5], rowvar=False)),
        "convolve": (lambda: xo.convolve(x, kernel), lambda: np.convolve(x, kernel)),
        "trapezoid": (lambda: xo.trapezoid(x), lambda: np.trapezoid(x)),
        "partition": (lambda: xo.partition(x, 50), lambda: np.partition(x, 50)),
        "lexsort": (lambda: xo.lexsort((ids, ids)), lambda: np.lexsort((ids, ids))),
        "intersect1d": (lambda: xo.intersect1d(ids, ids), lambda: np.intersect1d(ids, ids)),
        "norm": (lambda: xo.linalg.norm(x), lambda: np.linalg.norm(x)),
    }


def sorted_quantile(x: Any, q: float) -> Any:
    """A quantile by functions of the standard: the elements at both sides in a sorted vector, interpolated."""
    ordered, place = xo.sort(x), q * (x.shape[0] - 1)
    low = int(place)
    high = min(low + 1, x.shape[0] - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def torch_cases(n: int) -> dict[str, Pair]:
    """Ours and the way written by hand, by the function."""
    import torch

    torch.manual_seed(0)
    x, ids = torch.randn(n), torch.randint(0, min(1000, n), (n,))
    holes = torch.where(torch.rand(n) < 0.1, torch.nan, x)
    width, length, step = min(1000, n // 4), min(400, n // 4), max(n // 6000, 1)
    count = int(ids.max()) + 1

    def windows() -> Any:
        starts = xo.arange(0, n - length + 1, step, like=ids)
        return xo.take(x, xo.reshape(starts[:, None] + xo.arange(length, like=ids), (-1,))).reshape(-1, length)

    def mirrored() -> Any:
        return xo.concat([xo.flip(x[1 : width + 1]), x, xo.flip(x[-width - 1 : -1])])

    def counted() -> Any:
        return xo.at(xo.zeros(count, dtype="int64", like=ids))[ids].add(1)

    return {
        "pad": (lambda: xo.pad(x, width, "reflect"), mirrored),
        "bincount": (lambda: xo.bincount(ids, length=count), counted),
        "quantile": (lambda: xo.quantile(x, 0.3), lambda: sorted_quantile(x, 0.3)),
        "nanmedian": (lambda: xo.nanmedian(holes), lambda: sorted_quantile(holes[~xo.isnan(holes)], 0.5)),
        "sliding windows": (lambda: xo.sliding_window_view(x, length)[::step], windows),
    }


CASES = {"numpy": numpy_cases, "torch": torch_cases}


def check(case: str, pair: Pair) -> None:
    """Compare the results of both."""
    results = [call() for call in pair]
    members = [each if isinstance(each, tuple) else (each,) for each in results]
    for mine, theirs in zip(*members, strict=True):
        if not np.allclose(np.asarray(mine), np.asarray(theirs), rtol=1e-4, atol=1e-5, equal_nan=True):
            raise SystemExit(f"{case}: the contestants disagree: {mine} and {theirs}")


def measure(library: str, n: int, rounds: int) -> list[dict[str, Any]]:
    """A row for each case: the median times in ms, and the ratio of the other contestant's time to ours."""
    rows = []
    for case, pair in CASES[library](n).items():
        check(f"{library}, {case}", pair)
        start = time.perf_counter()
        pair[0]()
        number = max(1, int(ROUND_S / (time.perf_counter() - start)))
        times = interleaved({"ours": pair[0], "other": pair[1]}, rounds, 0.0, number=number)
        ratios = [b / a for a, b in zip(times["ours"], times["other"], strict=True)]
        ours, other = (median(times[name]) * 1e3 for name in ("ours", "other"))
        rows.append(
            {
                "library": library,
                "case": case,
                "n": n,
                "ours_ms": round(ours, 4),
                "other_ms": round(other, 4),
                "other / ours": round(median(ratios), 3),
            }
        )
    return rows


def is_missed(row: dict[str, Any], greatest: int) -> bool:
    """Whether a row misses its bar."""
    if row["library"] == "numpy":
        return row["other / ours"] < 1 / OF_NUMPY
    return row["n"] == greatest and row["other / ours"] < OF_HAND


def main() -> int:
    """Measure, print and write the results. Returns `MISSED` if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--libraries", default="numpy,torch")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    libraries, sizes = options.libraries.split(","), [int(size) for size in options.sizes.split(",")]
    rows = [row for library in libraries for n in sizes for row in measure(library, n, options.rounds)]
    for row in rows:
        missed = "  MISSED" if is_missed(row, sizes[-1]) else ""
        print(
            f"{row['library']:6} {row['case']:18} {row['n']:8} ours {row['ours_ms']:9.3f} ms, other "
            f"{row['other_ms']:9.3f} ms, other / ours {row['other / ours']:8.2f}{missed}"
        )
    if options.out:
        options.out.write_text(json.dumps({"machine": machine(libraries), "rows": rows}, indent=1) + "\n")
    return MISSED if any(is_missed(row, sizes[-1]) for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
