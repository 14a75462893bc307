"""A graph of real data: the handwritten digits of scikit-learn, each joined to those most like it.

Labels of a few spread along its edges (Zhou et al. 2004, "Learning with local and global consistency"), and PageRank
(Brin and Page 1998) finds what is at its centre. `neighbours`, `propagate` and `pagerank` are ordinary backend-agnostic
code; ``examples/digits_graph.py`` uses them in a program.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench.workload import Arrays, MissingData, Workload
from xarrayops.bench.workloads.pipeline import load_digits
from xarrayops.plugin import Array
from xarrayops.plugin.sparse import Container

NEAREST = 10
KEEP = 0.8
"""How much a node takes from its neighbours in each step, and how much it keeps of what it knew."""
STEPS = 20
LABELLED = 10
"""One image in so many."""
_CLASSES = 10


def neighbours(images: Array) -> Container:
    """The symmetric adjacency matrix (n, n) of the nearest neighbours: the cosine of the angle between images."""
    unit = xo.divide(images, xo.linalg.vector_norm(images, axis=1, keepdims=True))
    likeness = xo.matmul(unit, xo.matrix_transpose(unit))
    itself = xo.multiply(xo.eye(images.shape[0], like=images), 2.0)
    likeness = xo.subtract(likeness, itself)  # none is its own neighbour
    least = xo.sort(likeness, axis=1)[:, -NEAREST][:, None]
    near = xo.sparse.from_dense(likeness, where=xo.greater_equal(likeness, least))
    return xo.sparse.add(near, xo.sparse.convert(xo.sparse.transpose(near), "csr"))


def propagate(a: Container, labels: Array) -> Array:
    """Scores (n, classes) of each class for each node, from the labels (n, classes) of a few."""
    root = xo.divide(1.0, xo.sqrt(xo.sparse.sum(a, axis=1)))
    a = xo.sparse.multiply(xo.sparse.multiply(a, root[:, None]), root[None, :])
    scores = labels
    for _ in range(STEPS):
        scores = xo.add(xo.multiply(xo.matmul(a, scores), KEEP), xo.multiply(labels, 1 - KEEP))
    return scores


def pagerank(a: Container) -> Array:
    """The share (n,) of its time that a walker along the edges spends at each node."""
    n, weights = a.shape[0], xo.sparse.parts(a).data
    out = xo.divide(1.0, xo.sparse.sum(a, axis=1))
    walk = xo.sparse.transpose(xo.sparse.multiply(a, out[:, None]))
    rank = xo.full((n,), 1 / n, dtype=weights.dtype, like=weights)
    for _ in range(STEPS):
        rank = xo.add(xo.multiply(xo.matmul(walk, rank), KEEP), (1 - KEEP) / n)
    return rank


def given_labels(target: Any) -> Any:
    """The classes (n,) of which one in ten is told, as NumPy's scores (n, classes)."""
    given = np.arange(len(target)) % LABELLED == 0
    return np.eye(_CLASSES)[target] * given[:, None]


def spread_and_rank(a: Container, labels: Array, /) -> tuple[Array, Array]:
    """What is timed: both on one graph."""
    return propagate(a, labels), pagerank(a)


@cache
def _graph(n: int) -> Arrays:
    """The parts of the graph of the first n images, which NumPy's side of the pipeline makes, and the given labels."""
    if find_spec("scipy") is None:
        raise MissingData("NumPy has no sparse matrices without SciPy", "pip install 'xarrayops[sparse]'")
    digits = load_digits()
    p = xo.sparse.parts(neighbours(digits.data[:n]))
    return p.data, p.indices, p.indptr, given_labels(digits.target[:n])


def _as_csr(weights: Array, columns: Array, pointers: Array, labels: Array) -> Arrays:
    n = labels.shape[0]
    return xo.sparse.from_parts("csr", pointers, columns, weights, shape=(n, n)), labels


def _by_edges(weights: Any, columns: Any, pointers: Any, labels: Any) -> Arrays:
    """Edge by edge; as the graph is symmetric, what comes in at a node is what stands in its row."""
    begin, rows = pointers[:-1], np.repeat(np.arange(len(labels)), np.diff(pointers))
    degree = np.add.reduceat(weights, begin)
    likeness = (weights / np.sqrt(degree[rows] * degree[columns]))[:, None]
    scores = labels
    for _ in range(STEPS):
        scores = KEEP * np.add.reduceat(likeness * scores[columns], begin) + (1 - KEEP) * labels
    step = weights / degree[columns]
    rank = np.full(len(labels), 1 / len(labels))
    for _ in range(STEPS):
        rank = KEEP * np.add.reduceat(step * rank[columns], begin) + (1 - KEEP) / len(labels)
    return scores, rank


def _operations(n: int) -> float:
    """Those of the products: each step takes every edge to every class, and once more for the rank."""
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
