"""Functions under NumPy's names: our time over NumPy's own on NumPy, and the hand-written way over ours on PyTorch.

    python benchmarks/peers/extended.py [--rounds 15] [--sizes 10000,1000000] [--libraries numpy,torch] [--cases A,B]
                                        [--again 3] [--out FILE]

The contestants are interleaved; a ratio is that of the least times, and a case that misses its bar is measured
``--again`` times more, because a loaded machine only adds to times. Results are compared before timing. The ways
written by hand use the functions of the standard only, as code had to do before: concatenated flips for pad, xo.at for
bincount, a sort and an interpolation for quantiles, a gather by a matrix of indices for windows.

The bars: on NumPy at most 1.1 times NumPy's own time for each size, on PyTorch at least 3 times as quick as the way
written by hand, at the greatest size. Ends with 3 if one is missed. A pad of one axis has no bar, because no way is
quicker than a copy of x, which the way by hand is already. For 10^6 float32 and 1000 at both ends, on 2 loaded cores,
flips and a concatenation took 320 µs on one thread, a clone of x alone 309, writes to new memory 322, writes to memory
in use 545, torch.nn.functional.pad 922, a gather 942; on two threads 208, 278, 164, 251, 500 and 1203.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from measuring import MISSED, common_options, interleaved, machine

import xarrayops as xo

OF_NUMPY, OF_HAND = 1.1, 3.0
ROUND_S = 0.003
"""Calls that are shorter are repeated in a round until they take about so long."""
OF_ONE_COPY = ("pad",)
"""The cases without a bar on PyTorch: both contestants take the time of a copy of x."""
Pair = tuple[Callable[[], Any], Callable[[], Any]]


def of_numpy(name: str, *arguments: Any, **options: Any) -> Pair:
    """Our function and NumPy's of the same name, with their arguments."""
    return partial(getattr(xo, name), *arguments, **options), partial(getattr(np, name), *arguments, **options)


def numpy_cases(n: int) -> dict[str, Pair]:
    """Ours and NumPy's own, by the call."""
    random = np.random.default_rng(0)
    x, y = random.normal(size=n), random.normal(size=n)
    single = x.astype(np.float32)
    ids, edges, kernel = random.integers(0, 1000, n), np.linspace(-3, 3, 50), random.normal(size=16)
    holes = np.where(random.random(n) < 0.1, np.nan, x)
    matrix = x[: n // 100 * 100].reshape(-1, 100)
    columns, square = matrix[:, :5], matrix[: len(matrix) // 10 * 10].reshape(-1, 10, 10)

    def filled() -> Any:
        copy = matrix.copy()
        np.fill_diagonal(copy, 0.0)
        return copy

    same = {
        "pad": (x, 100),
        "bincount": (ids,),
        "median": (x,),
        "percentile": (x, 30),
        "quantile": (x, 0.3),
        "nanmedian": (holes,),
        "nanpercentile": (holes, 30),
        "nanquantile": (holes, 0.3),
        "allclose": (x, x),
        "array_equal": (x, x),
        "isclose": (x, y),
        "compress": (x > 0, x),
        "delete": (x, 5),
        "insert": (x, 5, 1.0),
        "kron": (x[: n // 16], kernel),
        "outer": (x[: n // 16], kernel),
        "nan_to_num": (holes,),
        **dict.fromkeys(("nanmax", "nanmean", "nanmin", "nanstd", "nansum", "nanvar"), (holes,)),
        "average": (x,),
        "digitize": (x, edges),
        "histogram": (x, 50),
        "ptp": (x,),
        "convolve": (x, kernel),
        "correlate": (x, kernel),
        "gradient": (x,),
        "interp": (x, edges, edges),
        "polyval": (kernel, x),
        "trapezoid": (x,),
        "argpartition": (x, 50),
        "lexsort": ((ids, ids),),
        "partition": (x, 50),
        **dict.fromkeys(("intersect1d", "setdiff1d", "setxor1d", "union1d"), (ids, ids[::2])),
        "cbrt": (x,),
        **dict.fromkeys(("bartlett", "blackman", "hamming", "hanning"), (n,)),
        "kaiser": (n, 14.0),
        "geomspace": (1.0, 1e3, n),
        "logspace": (0.0, 3.0, n),
    }
    return {
        **{name: of_numpy(name, *arguments) for name, arguments in same.items()},
        "pad, reflect": of_numpy("pad", matrix, 3, "reflect"),
        "bincount, weights": of_numpy("bincount", ids, x),
        "median, axis": of_numpy("median", matrix, axis=0),
        "quantile, axis": of_numpy("quantile", matrix, 0.3, axis=0),
        "nansum, axis": of_numpy("nansum", matrix, axis=0),
        "average, weights": of_numpy("average", x, weights=y),
        "cov": of_numpy("cov", columns, rowvar=False),
        "corrcoef": of_numpy("corrcoef", columns, rowvar=False),
        "interp, float32": (
            partial(xo.interp, single, edges.astype(np.float32), edges.astype(np.float32)),
            lambda: np.interp(single, edges.astype(np.float32), edges.astype(np.float32)).astype(np.float32),
        ),
        "fill_diagonal": (partial(xo.fill_diagonal, matrix, 0.0), filled),
        "norm": (partial(xo.linalg.norm, x), partial(np.linalg.norm, x)),
        "norm, axis": (partial(xo.linalg.norm, matrix, axis=1), partial(np.linalg.norm, matrix, axis=1)),
        "cond": (partial(xo.linalg.cond, square), partial(np.linalg.cond, square)),
        "lstsq": (partial(xo.linalg.lstsq, columns, matrix[:, 5]), partial(np.linalg.lstsq, columns, matrix[:, 5])),
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

    image = x[: int(n**0.5) ** 2].reshape(int(n**0.5), -1)

    def framed() -> Any:
        rows = xo.concat([xo.flip(image[1:4], axis=0), image, xo.flip(image[-4:-1], axis=0)])
        return xo.concat([xo.flip(rows[:, 1:4], axis=1), rows, xo.flip(rows[:, -4:-1], axis=1)], axis=1)

    def counted() -> Any:
        return xo.at(xo.zeros(count, dtype="int64", like=ids))[ids].add(1)

    return {
        "pad": (lambda: xo.pad(x, width, "reflect"), mirrored),
        "pad, two axes": (lambda: xo.pad(image, 3, "reflect"), framed),
        "bincount": (lambda: xo.bincount(ids, length=count), counted),
        "quantile": (lambda: xo.quantile(x, 0.3), lambda: sorted_quantile(x, 0.3)),
        "nanmedian": (lambda: xo.nanmedian(holes), lambda: sorted_quantile(holes[~xo.isnan(holes)], 0.5)),
        "sliding windows": (lambda: xo.sliding_window_view(x, length, step=step), windows),
    }


CASES = {"numpy": numpy_cases, "torch": torch_cases}


def check(case: str, pair: Pair) -> None:
    """Compare the results of both."""
    results = [call() for call in pair]
    members = [each if isinstance(each, tuple) else (each,) for each in results]
    for mine, theirs in zip(*members, strict=True):
        if not np.allclose(np.asarray(mine), np.asarray(theirs), rtol=1e-4, atol=1e-5, equal_nan=True):
            raise SystemExit(f"{case}: the contestants disagree: {mine} and {theirs}")


def measure(library: str, n: int, case: str, pair: Pair, rounds: int) -> dict[str, Any]:
    """The row of a case: the least times in ms, and the ratio of the other contestant's time to ours."""
    start = time.perf_counter()
    pair[0]()
    number = max(1, int(ROUND_S / (time.perf_counter() - start)))
    times = interleaved({"ours": pair[0], "other": pair[1]}, rounds, 0.0, number=number)
    return {"library": library, "case": case, "n": n, **{f"{name}_ms": min(each) * 1e3 for name, each in times.items()}}


def better(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """The row with the least times of two measurements."""
    return {**first, **{name: min(first[name], second[name]) for name in ("ours_ms", "other_ms")}}


def finished(row: dict[str, Any]) -> dict[str, Any]:
    """The row with its ratio, rounded."""
    times = {name: round(row[name], 4) for name in ("ours_ms", "other_ms")}
    return {**row, **times, "other / ours": round(ratio(row), 3)}


def ratio(row: dict[str, Any]) -> float:
    """The other contestant's time over ours."""
    return float(row["other_ms"] / row["ours_ms"])


def is_missed(row: dict[str, Any], greatest: int) -> bool:
    """Whether a row misses its bar."""
    if row["library"] == "numpy":
        return ratio(row) < 1 / OF_NUMPY
    return row["n"] == greatest and row["case"] not in OF_ONE_COPY and ratio(row) < OF_HAND


def measure_all(options: argparse.Namespace, libraries: list[str], sizes: list[int]) -> list[dict[str, Any]]:
    """A row for each case of each library and size."""
    chosen = set(options.cases.split(",")) if options.cases else None
    rows = []
    for library in libraries:
        for n in sizes:
            for case, pair in CASES[library](n).items():
                if chosen is not None and case not in chosen:
                    continue
                check(f"{library}, {case}", pair)
                row = measure(library, n, case, pair, options.rounds)
                for _ in range(options.again):
                    if is_missed(row, sizes[-1]):
                        row = better(row, measure(library, n, case, pair, options.rounds))
                rows.append(row)
    return rows


def main() -> int:
    """Measure, print and write the results. Returns `MISSED` if a bar is missed."""
    parser = common_options(__doc__, rounds=15, libraries="numpy,torch")
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--cases", help="only these, separated by commas")
    parser.add_argument("--again", type=int, default=3, help="further measurements of a case that misses its bar")
    options = parser.parse_args()
    libraries, sizes = options.libraries.split(","), [int(size) for size in options.sizes.split(",")]
    rows = measure_all(options, libraries, sizes)
    for row in map(finished, rows):
        missed = "  MISSED" if is_missed(row, sizes[-1]) else ""
        print(
            f"{row['library']:6} {row['case']:18} {row['n']:8} ours {row['ours_ms']:9.3f} ms, other "
            f"{row['other_ms']:9.3f} ms, other / ours {row['other / ours']:8.2f}{missed}"
        )
    if options.out:
        options.out.write_text(
            json.dumps({"machine": machine(libraries), "rows": [*map(finished, rows)]}, indent=1) + "\n"
        )
    return MISSED if any(is_missed(row, sizes[-1]) for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
