"""The rules bound what a task of Dask receives from others, whose bytes are counted in the graph that Dask executes."""

from operator import attrgetter

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.plugin.nested import leaves

pytest.importorskip("dask")
from tests.unit.backends.dask.tasks import most_moved, split

RNG = np.random.default_rng(0)
MATRIX, VECTOR, CUBE = RNG.normal(size=(240, 64)), RNG.normal(size=4000), RNG.normal(size=(8, 8, 8, 8))
X, ROWS, OTHER, V = split(MATRIX, 8, 8), split(MATRIX, 240, 1), split(MATRIX[:96].T + 1, 8, 8), split(VECTOR, 8)
IDS, SMALL = split(RNG.integers(0, 900, 4000), 8), split(VECTOR[:30], 3)
QUERIES, KEYS, VALUES = (split(RNG.normal(size=(2, 4, 64, 16)), 2, 2, 8, 1) for _ in range(3))
NUMBERS = split(np.linspace(0, 1, 1000), 2)
EXACT = {
    "exp": ((X,), {}),
    "add": ((X, split(MATRIX + 1, 8, 8)), {}),
    "clip": ((X, split(MATRIX - 1, 8, 8), split(MATRIX + 1, 8, 8)), {}),
    "where": ((split(MATRIX > 0, 8, 8), X, split(MATRIX[0], 8)), {}),
    **{verb: ((X,), {"axis": 0}) for verb in ("sum", "max", "argmax", "mean", "logsumexp", "count_nonzero")},
    "prod": ((split(CUBE, 8, 8, 8, 8),), {}),
    "nansum": ((split(MATRIX.astype("complex64"), 8, 1),), {"axis": 0}),
    "trapezoid": ((ROWS,), {"axis": 0}),
    "topk": ((split(MATRIX, 8, 4), 5), {"axis": 0}),
    "bincount": ((IDS,), {"length": 1000, "weights": V}),
    **{f"segment_{verb}": ((V, IDS), {"num_segments": 1000}) for verb in ("sum", "mean", "max", "min")},
    "matmul": ((X, OTHER), {}),
    "tensordot": ((X, OTHER), {"axes": 1}),
    "einsum": (("ij,jk->ik", X, OTHER), {}),
    "cov": ((X,), {}),
    "tril": ((X,), {}),
    "searchsorted": ((split(np.sort(VECTOR), 8), V), {}),
    **{verb: ((X,), {}) for verb in ("flip", "matrix_transpose", "linalg.diagonal")},
    "stack": (([X, split(MATRIX, 5, 3)],), {}),
    "split": ((X, 4), {"axis": 0}),
}
"""The calls of which the rules state the bytes as they are counted."""
BOUNDED = {
    "softmax": ((X,), {"axis": 0}),
    "diff": ((X,), {"axis": 0}),
    "gradient": ((X,), {}),
    "histogram": ((X,), {"bins": 500}),
    "quantile": ((X, NUMBERS), {"axis": 0}),
    "median": ((X,), {"axis": 1}),
    "sort": ((split((MATRIX * 1j).astype("complex64"), 8, 8),), {"axis": 0}),
    "interp": ((X, split(np.sort(VECTOR), 2), V), {}),
    "digitize": ((X, split(np.sort(VECTOR[:200]), 2)), {}),
    "unique_all": ((split(VECTOR[:500], 4),), {}),
    "union1d": ((V, split(VECTOR[:1000] + 1, 4)), {}),
    "pad": ((X, 70), {"mode": "reflect"}),
    "convolve": ((V, SMALL), {}),
    "sliding_window_view": ((V, 300), {}),
    "reshape": ((X, (64, 240)), {}),
    "roll": ((X, 5), {}),
    "fill_diagonal": ((X, 1.0), {}),
    "nonzero": ((X,), {}),
    "compress": ((split(VECTOR > 0, 4), V), {"axis": 0}),
    "linalg.svd": ((split(MATRIX, 2, 1),), {"full_matrices": False}),
    "linalg.pinv": ((split(MATRIX, 2, 1),), {}),
    "linalg.qr": ((split(MATRIX, 2, 1),), {}),
    "linalg.lstsq": ((split(MATRIX, 2, 1), split(MATRIX[:, :3] + 1, 2, 1)), {}),
    "linalg.norm": ((X,), {"ord": 1}),
    "take": ((X, split(RNG.integers(0, 240, 100), 4)), {"axis": 0}),
    "one_hot": ((split(IDS[:40].compute(), 2), 1000), {}),
    "cumulative_sum": ((ROWS,), {"axis": 0}),
    "attention": ((QUERIES, KEYS, VALUES), {"causal": True}),
}


WHOLE = [
    ("isin", (V, split(VECTOR[:500], 1)), {}),
    ("take", (split(MATRIX, 1, 8), split(RNG.integers(0, 240, 100), 4)), {"axis": 0}),
    ("take_along_axis", (split(MATRIX, 1, 8), split(RNG.integers(0, 240, (100, 64)), 1, 8)), {"axis": 0}),
    ("linalg.solve", (split(RNG.normal(size=(8, 9, 9)), 4, 1, 1), split(RNG.normal(size=(8, 9, 9)), 4, 1, 1)), {}),
    ("linalg.cross", (split(MATRIX[:, :3], 8, 1), split(MATRIX[:, 3:6], 8, 1)), {}),
    ("lexsort", ((split(MATRIX, 8, 1), split(MATRIX + 1, 8, 1)),), {}),
    ("setdiff1d", (split(VECTOR, 1), split(VECTOR[:500], 1)), {}),
    ("union1d", (split(VECTOR, 1), split(VECTOR[:500] + 1, 1)), {}),
    ("softmax", (split(MATRIX, 8, 1),), {"axis": 1}),
    ("log_softmax", (split(MATRIX, 8, 1),), {"axis": 1}),
    ("logsumexp", (split(MATRIX, 8, 1),), {"axis": 1}),
    ("var", (split(MATRIX, 8, 1),), {"axis": 1}),
    ("median", (split(MATRIX, 8, 1),), {"axis": 1}),
    ("fft.fft", (split(MATRIX, 8, 1),), {"axis": 1}),
    ("linalg.norm", (split(CUBE, 4, 1, 1, 1),), {"ord": np.inf, "axis": 0}),
    ("linalg.norm", (split(CUBE[0, 0], 4, 1),), {"ord": 1, "axis": (1, 0)}),
]
"""Calls of which the axes that are gathered are not split."""
TIMES, JOINING = 8, {"reshape", "roll", "fill_diagonal", "nonzero", "unique_all", "convolve"}
"""How many times the counted bytes are stated at most, and the functions that may join more chunks than here."""


def stated_and_counted(verb, args, options):
    stated = next(each.moves for each in xo.explain(verb, *args, **options).candidates if each.ok)
    results = attrgetter(verb)(xo)(*args, **options)
    return stated, most_moved(*(x for x in leaves(results) if hasattr(x, "persist")))


@pytest.mark.parametrize("verb", EXACT)
def test_stated_bytes_are_those_that_move(verb):
    stated, counted = stated_and_counted(verb, *EXACT[verb])
    assert stated == counted


@pytest.mark.parametrize("verb", BOUNDED)
def test_stated_bytes_bound_those_that_move(verb):
    stated, counted = stated_and_counted(verb, *BOUNDED[verb])
    assert 0 < counted <= stated
    assert stated <= TIMES * counted or verb in JOINING


@pytest.mark.parametrize(("verb", "args", "options"), WHOLE, ids=lambda x: x if isinstance(x, str) else "")
def test_axes_that_are_not_split_move_other_arrays(verb, args, options):
    stated, counted = stated_and_counted(verb, args, options)
    assert counted <= stated


@pytest.mark.parametrize("verb", ["sort", "median", "argsort"])
def test_small_rows_are_joined(verb):
    stated, counted = stated_and_counted(verb, (split(RNG.normal(size=(200, 1000)), 20, 10),), {"axis": 1})
    assert 80_000 < counted <= stated < 2 << 20


CUTS = [
    [(1, 1, 8, 4)] * 3,
    [(2, 4, 1, 1)] * 3,
    [(1, 2, 3, 1)] * 3,
    [(2, 4, 1, 1), (1, 1, 8, 1), (1, 1, 8, 1)],
    [(1, 1, 4, 1), (2, 4, 8, 1), (1, 2, 4, 1)],
]


@pytest.mark.parametrize("cuts", CUTS)
def test_attention_moves_keys_and_masks(cuts):
    q, k, v = (split(RNG.normal(size=(2, 4, 64, 16)), *counts) for counts in cuts)
    mask = split(RNG.random((2, 4, 64, 64)) > 0.3, 1, 1, 4, 4)
    for options in ({}, {"mask": mask}, {"causal": True, "return_lse": True}):
        stated, counted = stated_and_counted("attention", (q, k, v), options)
        assert counted <= stated <= 3 * counted + 4096


def test_moves_beyond_the_limit_are_refused_before_anything_runs():
    with xo.limits(moves="1 kB"):
        assert xo.sum(X, axis=0).shape == (64,)
        with pytest.raises(xo.Unsupported, match=r"xo\.matmul: it would move .* in one task \(limit 1.0 kB\)"):
            xo.matmul(X, OTHER)
