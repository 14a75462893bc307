"""A nearest-neighbour graph of real data: the handwritten digits of scikit-learn.

The labels of a few images spread along its edges (Zhou et al. 2004, "Learning with local and global consistency"), and
PageRank (Brin and Page 1998) finds the central images. `neighbours`, `propagate` and `pagerank` are ordinary
backend-agnostic code; ``examples/digits_graph.py`` uses them in a program.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench.workload import Arrays, MissingData, Workload
from xarrayops.bench.workloads.pipeline import load_digits
from xarrayops.plugin import Array, install_command
from xarrayops.plugin.sparse import Container

NEAREST = 10
KEEP = 0.8
"""The weight of a node's neighbours in each step; the rest is the weight of the initial value."""
STEPS = 20
LABELLED = 10
"""One image in this many has a label."""
_CLASSES = 10


def neighbours(images: Array) -> Container:
    """The symmetric adjacency matrix (n, n) of the nearest neighbours; weights are cosine similarities.

    An image that is all 0 is like no other, and one with NaN has no neighbours.
    """
    length = xo.linalg.vector_norm(images, axis=1, keepdims=True)
    unit = xo.divide(images, xo.where(xo.equal(length, 0), 1.0, length))
    similarity = xo.matmul(unit, xo.matrix_transpose(unit))
    itself = xo.multiply(xo.eye(images.shape[0], like=images), 2.0)
    similarity = xo.subtract(similarity, itself)  # no image is its own neighbour
    least = xo.sort(similarity, axis=1)[:, -NEAREST:][:, :1]
    near = xo.sparse.from_dense(similarity, where=xo.greater_equal(similarity, least))
    return xo.sparse.add(near, xo.sparse.convert(xo.sparse.transpose(near), "csr"))


def propagate(a: Container, labels: Array) -> Array:
    """The score (n, classes) of each class for each node, from the labels (n, classes) of a few nodes."""
    root = xo.divide(1.0, xo.sqrt(_or_one(xo.sparse.sum(a, axis=1))))
    a = xo.sparse.multiply(xo.sparse.multiply(a, root[:, None]), root[None, :])
    scores = labels
    for _ in range(STEPS):
        scores = xo.add(xo.multiply(xo.matmul(a, scores), KEEP), xo.multiply(labels, 1 - KEEP))
    return scores


def pagerank(a: Container) -> Array:
    """The share (n,) of time that a random walk along the edges spends at each node."""
    n, weights = max(a.shape[0], 1), xo.sparse.parts(a).data
    out = xo.divide(1.0, _or_one(xo.sparse.sum(a, axis=1)))
    walk = xo.sparse.transpose(xo.sparse.multiply(a, out[:, None]))
    rank = xo.full((a.shape[0],), 1 / n, dtype=weights.dtype, like=weights)
    for _ in range(STEPS):
        rank = xo.add(xo.multiply(xo.matmul(walk, rank), KEEP), (1 - KEEP) / n)
    return rank


def _or_one(weight: Array) -> Array:
    """The weight of each node, with 1 for a node without edges: its row is 0 in any case."""
    return xo.where(xo.equal(weight, 0), 1.0, weight)


def given_labels(target: Any) -> Any:
    """One label in ten of the classes (n,), as a one-hot NumPy array (n, classes); the other rows are 0."""
    given = np.arange(len(target)) % LABELLED == 0
    return np.eye(_CLASSES)[target] * given[:, None]


def spread_and_rank(a: Container, labels: Array, /) -> tuple[Array, Array]:
    """Label propagation and PageRank on one graph."""
    return propagate(a, labels), pagerank(a)


@cache
def _graph(n: int) -> Arrays:
    """The CSR parts of the graph of the first n images, computed with NumPy, and the given labels."""
    if find_spec("scipy") is None:
        raise MissingData("NumPy has no sparse matrices without SciPy", install_command("sparse"))
    digits = load_digits()
    p = xo.sparse.parts(neighbours(digits.data[:n]))
    return p.data, p.indices, p.indptr, given_labels(digits.target[:n])


def _as_csr(weights: Array, columns: Array, pointers: Array, labels: Array) -> Arrays:
    n = labels.shape[0]
    return xo.sparse.from_parts("csr", pointers, columns, weights, shape=(n, n)), labels


def _by_edges(weights: Any, columns: Any, pointers: Any, labels: Any) -> Arrays:
    """The expected results, edge by edge. The graph is symmetric, so the row of a node holds its incoming edges."""
    begin, rows = pointers[:-1], np.repeat(np.arange(len(labels)), np.diff(pointers))
    degree = np.add.reduceat(weights, begin)
    similarity = (weights / np.sqrt(degree[rows] * degree[columns]))[:, None]
    scores = labels
    for _ in range(STEPS):
        scores = KEEP * np.add.reduceat(similarity * scores[columns], begin) + (1 - KEEP) * labels
    step = weights / degree[columns]
    rank = np.full(len(labels), 1 / len(labels))
    for _ in range(STEPS):
        rank = KEEP * np.add.reduceat(step * rank[columns], begin) + (1 - KEEP) / len(labels)
    return scores, rank


def _operations(n: int) -> float:
    """The operations of the products: each step visits every edge once for each class and once for the rank."""
    return 2.0 * STEPS * len(_graph(n)[0]) * (_CLASSES + 1)


WORKLOADS = (
    Workload(
        "pipeline graph",
        spread_and_rank,
        inputs=lambda random, n: _graph(n),
        expected=_by_edges,
        sizes={"toy": (200,), "default": (1797,), "large": (1797,)},
        timed="a graph of scikit-learn's digits (1797 nodes): 20 steps of label propagation, 20 of PageRank",
        operations=_operations,
        tolerance=lambda n: 16.0,
        arrange=_as_csr,
    ),
)
