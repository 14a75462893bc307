"""Label propagation and PageRank on a graph of handwritten digits.

    python examples/digits_graph.py [BACKEND ...]

The graph is a sparse matrix: each image is joined to the images that are most like it. One image in ten has a label.
The other images get theirs from their neighbours (Zhou et al. 2004, "Learning with local and global consistency").
PageRank (Brin and Page 1998) then finds the most central image of each digit.

The steps are in ``xarrayops/bench/workloads/graph.py``, written once for every library with sparse matrices; the
benchmark times them. The images come with scikit-learn.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench.workloads.graph import given_labels, neighbours, pagerank, propagate
from xarrayops.bench.workloads.pipeline import load_digits


def run(backend: str) -> tuple[float, int, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The fraction of new labels that are right, the number of edges, the ranks, and the most central images."""
    digits = load_digits()
    target, labels = digits.target, given_labels(digits.target).astype("float32")
    given = labels.any(axis=1)
    a = neighbours(xo.asarray(digits.data.astype("float32"), backend=backend))
    scores = xo.convert(propagate(a, xo.asarray(labels, backend=backend)), "numpy")
    rank = np.asarray(xo.convert(pagerank(a), "numpy"))
    right = float((np.argmax(scores, axis=1) == target)[~given].mean())
    centre = np.asarray([np.flatnonzero(target == d)[rank[target == d].argmax()] for d in range(10)])
    return right, int(xo.sparse.parts(a).data.shape[0]), rank, centre


def main() -> int:
    """Run on the named libraries, or on all installed ones that have sparse matrices."""
    names = sys.argv[1:] or [s.name for s in xo.backends() if s.available]
    first = None
    for name in names:
        try:
            right, edges, rank, centre = run(name)
        except xo.Unsupported as error:
            print(f"{name:16} {error}")
            continue
        first = rank if first is None else first
        spread = float(np.abs(rank - first).max() / first.max())
        print(f"{name:16} {edges} edges, {right:.1%} of the labels right, ranks within {spread:.0e}, centres {centre}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
