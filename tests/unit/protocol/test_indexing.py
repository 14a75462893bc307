"""The steps of a selection give what NumPy's indexing gives."""

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.plugin import Index
from xarrayops.testing._suite.operations.index_fuzz import cases

FUNCTIONS = xo.backend("numpy").functions


def read(index):
    """An Index with arrays instead of lists and Python bools."""
    entries = index if isinstance(index, tuple) else (index,)
    return Index(tuple(np.asarray(e) if isinstance(e, (list, bool)) else e for e in entries), FUNCTIONS, is_basic=False)


def steps(x, index):
    """The elements, by the steps of a selection."""
    selection = index.selection(x.shape)
    y = x[selection.basic].transpose(selection.order)
    if selection.arrays:
        y = y[index.integers(selection)]
    return index.restored(selection, y), selection


@pytest.mark.parametrize("seed", range(20))
def test_steps_of_random_indices(seed):
    for case in cases(seed, 100, frozenset({"int64", "float64"})):
        index = read(case.index)
        x = np.arange(case.x.size).reshape(case.x.shape)
        if case.want is None:
            with pytest.raises(IndexError):
                steps(x, index)
            continue
        got, selection = steps(x, index)
        want = x[case.index]
        assert np.array_equal(got, want), case
        assert all(extent in (None, n) for extent, n in zip(selection.shape, np.shape(want), strict=True)), case
        arranged = index.arranged(selection, np.asarray(want))
        assert np.array_equal(index.restored(selection, arranged), want), case


def test_what_a_selection_holds():
    selection = Index((1, slice(None, None, -2), None, ...), FUNCTIONS, is_basic=True).selection((2, 5, 3))
    assert selection.basic == (1, slice(0, 5, 2), None, slice(None))
    assert selection.shape == selection.rest == (3, 1, 3)
    assert selection.flipped == (0,)
    rows, mask = np.asarray([[0], [1]]), np.ones((5, 3), dtype=bool)
    together = Index((slice(None), rows, 1), FUNCTIONS, is_basic=False).selection((2, 5, 3))
    assert (together.first, together.batch, together.shape) == (1, (2, 1), (2, 2, 1))
    assert (together.inward, together.outward) == ((1, 2, 0), (2, 0, 1))
    separated = Index((rows, slice(None), 1), FUNCTIONS, is_basic=False).selection((2, 5, 3))
    assert (separated.first, separated.shape) == (0, (2, 1, 5))
    masked = Index((slice(None), mask), FUNCTIONS, is_basic=False).selection((2, 5, 3))
    assert masked.shape == (2, None)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ((5,), r"5 is out of bounds for axis 0 of x, of shape \(2, 5\)"),
        ((0, 0, 0), r"the index has 3 axes, and x, of shape \(2, 5\), has 2"),
        ((..., ...), "only one ellipsis"),
        ((np.ones(3, dtype=bool),), r"a mask of shape \(3,\) does not index axes of shape \(2,\)"),
        ((np.zeros(2, int), np.zeros(3, int)), r"shapes \(2,\), \(3,\), which do not broadcast"),
    ],
    ids=str,
)
def test_indices_that_do_not_fit(entries, message):
    with pytest.raises(IndexError, match=message):
        Index(entries, FUNCTIONS, is_basic=False).selection((2, 5))


def test_slices_that_are_none():
    with pytest.raises(ValueError, match="cannot be 0"):
        Index((slice(None, None, 0),), FUNCTIONS, is_basic=True).selection((3,))
    with pytest.raises(xo.Unsupported, match=r"bounds of a slice must be integers.*Instead: an array of indices"):
        Index((slice(0.5, None),), FUNCTIONS, is_basic=True).selection((3,))


def test_values_that_do_not_broadcast():
    selection = Index((slice(1, None),), FUNCTIONS, is_basic=True).selection((3, 4))
    assert selection.padded((4,)) == (1, 4)
    assert selection.padded((1, 1, 2, 4)) == (2, 4)
    for shape in ((3,), (2, 1, 4), (2, 2, 4)):
        with pytest.raises(ValueError, match=r"does not broadcast to the shape of the elements, \(2, 4\)"):
            selection.padded(shape)
