"""A graph of handwritten digits, each joined to those most like it; labels that spread along it, and PageRank.

    python examples/digits_graph.py [BACKEND ...]

The images come with scikit-learn. One image of each ten has a label; the others take theirs from their neighbours:
label propagation after Zhou et al. 2004, "Learning with local and global consistency". PageRank (Brin and Page 1998)
then finds the image of each digit that is most at the centre of its kind. Written once, for every library with sparse
matrices.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import xarrayops as xo

NEIGHBOURS = 10
KEEP = 0.9
"""How much a node takes from its neighbours in each step, and how much it keeps of what it knew."""
STEPS = 50
LABELLED = 10
"""One image in so many."""
Array = Any
Sparse = Any


def graph(images: Array) -> Sparse:
    """The symmetric adjacency matrix (n, n) of the nearest neighbours: the cosine of the angle between images."""
    unit = xo.divide(images, xo.linalg.vector_norm(images, axis=1, keepdims=True))
    likeness = xo.matmul(unit, xo.matrix_transpose(unit))
    itself = xo.multiply(xo.eye(images.shape[0], like=images), 2.0)
    likeness = xo.subtract(likeness, itself)  # none is its own neighbour
    least = xo.sort(likeness, axis=1)[:, -NEIGHBOURS][:, None]
    near = xo.sparse.from_dense(likeness, where=xo.greater_equal(likeness, least))
    return xo.sparse.add(near, xo.sparse.convert(xo.sparse.transpose(near), "csr"))


def scaled_rows(a: Sparse, factors: Array) -> Sparse:
    """The matrix with each row multiplied by a number."""
    return xo.sparse.multiply(a, factors[:, None])


def propagate(a: Sparse, labels: Array) -> Array:
    """Scores (n, classes) of each class for each node, from the labels (n, classes) of a few."""
    degree = xo.sparse.sum(a, axis=1)
    root = xo.divide(1.0, xo.sqrt(degree))
    a = xo.sparse.multiply(scaled_rows(a, root), root[None, :])
    scores = labels
    for _ in range(STEPS):
        scores = xo.add(xo.multiply(xo.matmul(a, scores), KEEP), xo.multiply(labels, 1 - KEEP))
    return scores


def pagerank(a: Sparse) -> Array:
    """The share (n,) of its time that a walker along the edges spends at each node."""
    n = a.shape[0]
    walk = xo.sparse.transpose(scaled_rows(a, xo.divide(1.0, xo.sparse.sum(a, axis=1))))
    rank = xo.full((n,), 1 / n, dtype="float32", like=xo.sparse.parts(a).data)
    for _ in range(STEPS):
        rank = xo.add(xo.multiply(xo.matmul(walk, rank), KEEP), (1 - KEEP) / n)
    return rank


def run(backend: str) -> tuple[float, int, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The share of right labels among those that were not given, the edges, the ranks, and the best of each digit."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    target = digits.target
    given = np.arange(len(target)) % LABELLED == 0
    labels = np.eye(10, dtype="float32")[target] * given[:, None]
    a = graph(xo.asarray(digits.data.astype("float32"), backend=backend))
    scores = xo.convert(propagate(a, xo.asarray(labels, backend=backend)), "numpy")
    rank = np.asarray(xo.convert(pagerank(a), "numpy"))
    right = float((np.argmax(scores, axis=1) == target)[~given].mean())
    centre = np.asarray([np.flatnonzero(target == d)[rank[target == d].argmax()] for d in range(10)])
    return right, int(xo.sparse.parts(a).data.shape[0]), rank, centre


def main() -> int:
    """Run on the libraries that were named, or on all that are here and have sparse matrices."""
    names = sys.argv[1:] or [s.name for s in xo.backends() if s.available]
    first = None
    for name in names:
        try:
            right, edges, rank, centre = run(name)
        except xo.Unsupported as error:
            print(f"{name:16} {error}")
            continue
        first = rank if first is None else first
        apart = float(np.abs(rank - first).max() / first.max())
        print(f"{name:16} {edges} edges, {right:.1%} of the labels right, ranks within {apart:.0e}, centres {centre}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
