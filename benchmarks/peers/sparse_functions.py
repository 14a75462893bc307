"""Functions of sparse matrices: xarrayops compared with SciPy and scikit-learn, in one run.

    python benchmarks/peers/sparse_functions.py [--rounds 15] [--only TEXT] [--entries 1000000] [--out FILE]

Contestants are interleaved within each round. Ratios are medians of our time divided by the other's within a round. The
results are compared before the first timing. The exit status is 3 if a ratio is above its bar.

SciPy copies selected rows in about the time in which every index of the operand can be read twice. Therefore `take`
checks the rows that it has copied and no others, and large results are copied on all cores.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from measuring import MISSED, Calls, common_options, interleaved, machine

import xarrayops as xo

SEED = np.random.default_rng(0)
BAR = 1.3
"""The largest ratio of our time to the other's."""
DOCUMENTS, WORDS = 5000, 2000


def matrix(entries: int) -> Any:
    """A square CSR matrix of float64 with about this number of entries, 50 per row."""
    side = max(2, entries // 50)
    coords = tuple(SEED.integers(0, side, entries, dtype=np.int32) for _ in range(2))
    s = scipy.sparse.coo_array((SEED.random(entries) - 0.5, coords), shape=(side, side)).tocsr()
    s.sum_duplicates()
    return s


def square(entries: int) -> Calls:
    """A matrix times itself, elementwise."""
    s = matrix(entries)
    return {"ours": partial(xo.sparse.multiply, s, s), "scipy": partial(s.multiply, s)}


def product(entries: int) -> Calls:
    """Two matrices with few common entries."""
    s, other = matrix(entries), matrix(entries)
    return {"ours": partial(xo.sparse.multiply, s, other), "scipy": partial(s.multiply, other)}


def total(entries: int) -> Calls:
    """The sum of two matrices."""
    s, other = matrix(entries), matrix(entries)
    return {"ours": partial(xo.sparse.add, s, other), "scipy": lambda: s + other}


def larger(entries: int) -> Calls:
    """The larger values of two matrices."""
    s, other = matrix(entries), matrix(entries)
    return {"ours": partial(xo.sparse.maximum, s, other), "scipy": partial(s.maximum, other)}


def positive(entries: int) -> Calls:
    """The absolute values."""
    s = matrix(entries)
    return {"ours": partial(xo.sparse.abs, s), "scipy": lambda: abs(s)}


def rows(entries: int) -> Calls:
    """All rows in random order."""
    s = matrix(entries)
    indices = SEED.permutation(s.shape[0])
    return {"ours": partial(xo.sparse.take, s, indices), "scipy": lambda: s[indices]}


def some_rows(entries: int) -> Calls:
    """Half of the rows, by a mask."""
    s = matrix(entries)
    mask = SEED.random(s.shape[0]) < 0.5
    return {"ours": partial(xo.sparse.take, s, mask), "scipy": lambda: s[mask]}


def some_columns(entries: int) -> Calls:
    """Half of the columns, by a mask."""
    s = matrix(entries)
    mask = SEED.random(s.shape[1]) < 0.5
    return {"ours": partial(xo.sparse.take, s, mask, axis=1), "scipy": lambda: s[:, mask]}


def scaled_rows(entries: int) -> Calls:
    """Factors of the rows; SciPy by a product with a column, which is faster than one with a diagonal matrix."""
    s = matrix(entries)
    factors = SEED.random(s.shape[0])
    return {
        "ours": partial(xo.sparse.scale, s, rows=factors),
        "scipy": lambda: s.multiply(factors[:, None]).tocsr(),
    }


def scaled(entries: int) -> Calls:
    """Factors of the rows and of the columns."""
    s = matrix(entries)
    left, right = (SEED.random(extent) for extent in s.shape)
    return {
        "ours": partial(xo.sparse.scale, s, left, right),
        "scipy": lambda: s.multiply(left[:, None]).multiply(right).tocsr(),
    }


def joined(entries: int) -> Calls:
    """One matrix below another."""
    s, other = matrix(entries // 2), matrix(entries // 2)
    return {
        "ours": partial(xo.sparse.concat, [s, other]),
        "scipy": lambda: scipy.sparse.vstack([s, other], format="csr"),
    }


def norms(entries: int) -> Calls:
    """The norm of each row."""
    s = matrix(entries)
    return {"ours": partial(xo.sparse.norm, s, axis=1), "scipy": partial(scipy.sparse.linalg.norm, s, axis=1)}


def tfidf(entries: int) -> Calls:
    """Counts of words in documents, weighted as scikit-learn's TfidfTransformer does by default."""
    used = SEED.random((DOCUMENTS, WORDS)) < entries / (DOCUMENTS * WORDS)
    s = scipy.sparse.csr_array(np.where(used, 1.0 + SEED.poisson(1.0, (DOCUMENTS, WORDS)), 0.0))
    calls: Calls = {"ours": partial(weighted, s)}
    if importlib.util.find_spec("sklearn"):
        from sklearn.feature_extraction.text import TfidfTransformer

        calls["sklearn"] = lambda: TfidfTransformer().fit_transform(s)
    return calls


def weighted(counts: Any) -> Any:
    """Each count times the inverse document frequency of its word, in rows of norm 1."""
    documents = counts.shape[0]
    frequency = xo.log((1 + documents) / (1 + xo.sparse.count(counts, axis=0))) + 1
    found = xo.sparse.scale(counts, columns=frequency)
    size = xo.sparse.norm(found, axis=1)
    return xo.sparse.scale(found, rows=1 / xo.where(size == 0, 1.0, size))


class Case(NamedTuple):
    """Contestants, and the largest allowed ratio of our time to the others' times; None if there is no bar."""

    name: str
    contestants: Callable[[int], Calls]
    bar: float | None = None


CASES = (
    Case("multiply by itself", square, BAR),
    Case("multiply", product),
    Case("add", total),
    Case("maximum", larger),
    Case("abs", positive),
    Case("take rows", rows, BAR),
    Case("take rows by a mask", some_rows, BAR),
    Case("take columns by a mask", some_columns),
    Case("scale rows", scaled_rows, BAR),
    Case("scale rows and columns", scaled, BAR),
    Case("concat", joined),
    Case("norm of rows", norms),
    Case("tf-idf", tfidf, BAR),
)


def check(name: str, results: dict[str, Any]) -> None:
    """Compare all results with ours, up to rounding."""
    for other, result in results.items():
        difference = result - results["ours"]
        largest = abs(difference).max() if difference.size else 0.0
        assert result.shape == results["ours"].shape, f"{name}: {other} has another shape"
        assert largest < 1e-12, f"{name}: {other} differs by {largest}"


def measure(case: Case, rounds: int, pause: float, entries: int) -> dict[str, Any]:
    """Milliseconds by contestant, and the ratios of our time to the others'."""
    calls = case.contestants(entries)
    check(case.name, {name: call() for name, call in calls.items()})
    times = interleaved(calls, rounds, pause)
    ratios = {
        other: round(median(a / b for a, b in zip(times["ours"], each, strict=True)), 3)
        for other, each in times.items()
        if other != "ours"
    }
    milliseconds = {name: round(median(each) * 1e3, 4) for name, each in times.items()}
    return {"case": case.name, "ms": milliseconds, "ratios": ratios, "bar": case.bar}


def main() -> int:
    """Measure, print and write the results."""
    parser = common_options(__doc__, rounds=15, pause=0.05, only=True)
    parser.add_argument("--entries", type=int, default=1_000_000, help="the number of entries of each matrix")
    options = parser.parse_args()
    found, missed = [], False
    for case in CASES:
        if options.only not in case.name:
            continue
        row = measure(case, options.rounds, options.pause, options.entries)
        found.append(row)
        missed |= case.bar is not None and any(ratio > case.bar for ratio in row["ratios"].values())
        shown = ", ".join(f"{ratio:.2f} of the time of {other}" for other, ratio in row["ratios"].items())
        bar = "" if case.bar is None else f" (at most {case.bar})"
        print(f"{case.name:24} ours {row['ms']['ours']:8.3f} ms; {shown or 'no other library'}{bar}", flush=True)
    if options.out:
        described = machine(("numpy", "scipy", "scikit-learn", "numba"))
        options.out.write_text(json.dumps({"machine": described, "rows": found}, indent=1) + "\n")
    return MISSED if missed else 0


if __name__ == "__main__":
    sys.exit(main())
