"""Statistics: moments, histograms, ranks, missing values."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


@dataclass
class Summary:
    mean: object
    deviation: object
    count: int
    name: str = "summary"


class Fit(NamedTuple):
    slope: object
    intercept: object


def standardised(x):
    return (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)


def summary(x):
    return Summary(x.mean(axis=1), x.std(axis=1), len(x))


def moments(x):
    c = x - x.mean()
    return {"mean": x.mean(), "variance": x.var(), "skewness": (c**3).mean() / x.std() ** 3}


def covariance(x):
    c = x - np.mean(x, axis=0)
    return c.T @ c / (x.shape[0] - 1)


def line_fit(x, y):
    slope = ((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum()
    return Fit(slope, y.mean() - slope * x.mean())


def histogram_counts(x, bins):
    counts, edges = np.histogram(x, bins=bins)
    return counts, edges[:-1] + np.diff(edges) / 2


def ranks(x):
    order = np.argsort(x, kind="stable")
    result = np.empty(len(x), dtype=np.int64)
    result[order] = np.arange(len(x))
    return result


def without_nan(x):
    return np.nanmean(x, axis=0), np.isnan(x).sum(axis=0)


def filled(x, value):
    return np.where(np.isnan(x), value, x)


def winsorised(x, low, high):
    a, b = np.quantile(x, [low, high])
    return np.clip(x, a, b)


def largest(x, k):
    order = np.argsort(x)[::-1]
    return x[order[:k]], order[:k]


def label_counts(labels, k):
    counts = np.bincount(labels, minlength=k)
    return counts / counts.sum()


def group_means(x, groups):
    return [x[groups == g].mean(axis=0) for g in range(3)]


def unique_values(x):
    values, counts = np.unique(x, return_counts=True)
    return values, counts


def entropy(p):
    q = p / p.sum()
    return float(-(q * np.log(q)).sum())


def median_deviation(x):
    m = np.median(x)
    return np.median(np.abs(x - m))


def bootstrap(x, n, seed):
    rng = np.random.default_rng(seed)
    return np.array([x[rng.integers(0, len(x), size=len(x))].mean() for _ in range(n)])


def chunks(x, n):
    for i in range(0, len(x), n):
        yield x[i : i + n].sum()


X = "np.sin(np.arange(24.0) ** 1.5).reshape(6, 4)"
V = "np.sin(np.arange(20.0) ** 1.5)"
CALLS = {
    "standardised": f"standardised({X})",
    "summary": f"summary({X})",
    "moments": f"moments({V})",
    "covariance": f"covariance({X})",
    "line_fit": f"line_fit(np.arange(20.0), {V})",
    "histogram_counts": f"histogram_counts({V}, 5)",
    "ranks": f"ranks({V}.round(1))",
    "without_nan": "without_nan(np.array([[1.0, np.nan, 3.0], [4.0, 5.5, np.nan]]))",
    "filled": "filled(np.array([1.0, np.nan, 3.0]), 0.5)",
    "winsorised": f"winsorised({V}, 0.1, 0.8)",
    "largest": f"largest({V}, 5)",
    "label_counts": "label_counts(np.array([0, 2, 2, 1, 0, 2]), 4)",
    "group_means": f"group_means({X}, np.array([0, 1, 2, 1, 0, 2]))",
    "unique_values": "unique_values(np.array([3, 1, 3, 2, 1]))",
    "entropy": f"entropy(np.abs({V}) + 0.1)",
    "median_deviation": f"median_deviation({V})",
    "bootstrap": f"bootstrap({V}, 4, 7)",
    "chunks": f"chunks({V}, 6)",
}
