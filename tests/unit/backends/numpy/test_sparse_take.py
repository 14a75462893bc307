"""Rows and columns of SciPy's containers. Along the compressed axis only the selected ones are copied and checked."""

import numpy as np
import pytest
import scipy.sparse

import xarrayops as xo
from xarrayops._host import threads
from xarrayops._host.sparse import order
from xarrayops.errors import InvalidSparse

RNG = np.random.default_rng(0)
DENSE = np.where(RNG.random((9, 7)) < 0.4, RNG.integers(1, 99, (9, 7)), 0)


def container(format="csr", dtype="float64", index="int32"):
    s = getattr(scipy.sparse, f"{format}_array")(DENSE.astype(dtype))
    s.indices, s.indptr = s.indices.astype(index), s.indptr.astype(index)
    return s


@pytest.mark.parametrize(
    ("s", "indices", "axis"),
    [
        (container(), np.asarray([3, -1, 3, 0]), 0),
        (container(dtype="complex64"), np.asarray([], dtype=np.int64), 0),
        (container(dtype="bool"), DENSE[:, 0] > 0, 0),
        (container("csc", "int8"), np.asarray([6, -7], dtype=np.int32), 1),
        (container("csc"), np.asarray([1, 1, 0]), 0),
        (container(), np.asarray([1, 1, 0]), 1),
        (container(index="int64"), np.asarray([2, 1]), 0),
        (scipy.sparse.csr_matrix(container()), np.asarray([2, 1]), 0),
        (container(), np.asarray([2, 1], dtype=np.uint8), 0),
        (container(), np.asarray([2, 1, 0])[::-1], 0),
    ],
)
def test_result(s, indices, axis):
    assert xo.explain("sparse.take", s, indices, axis=axis).chosen == "numpy:host"
    made = xo.sparse.take(s, indices, axis=axis)
    assert isinstance(made, scipy.sparse.sparray)
    assert (made.format, made.dtype, made.indices.dtype) == (s.format, s.dtype, np.int32)
    np.testing.assert_array_equal(
        made.toarray(),
        np.compress(indices, s.toarray(), axis)
        if indices.dtype == bool
        else np.take(s.toarray(), indices.astype(int), axis),
    )
    xo.sparse.validate(made)
    assert not any(np.shares_memory(a, b) for a in (made.data, made.indices) for b in (s.data, s.indices))


def test_large_results_are_copied_by_several_threads():
    s = scipy.sparse.random_array((3000, 400), density=0.3, format="csr", rng=RNG)
    rows = RNG.permutation(3000)
    made = xo.sparse.take(s, rows)
    assert made.nnz > order.SPREAD_ENTRIES
    expected = s[rows]
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(made, name), getattr(expected, name))


def test_the_work_of_many_threads_exceeds_int32(monkeypatch):
    """The number of entries times the number of threads does not overflow, whatever the dtype of the indices."""
    s = scipy.sparse.random_array((3000, 800), density=0.4, format="csr", rng=RNG)
    monkeypatch.setattr(threads, "thread_count", lambda: 3000)
    monkeypatch.setattr(threads, "run", lambda work, tasks: work(iter(tasks)))
    assert s.nnz * 3000 > np.iinfo(np.int32).max
    rows = RNG.permutation(3000)
    np.testing.assert_array_equal(xo.sparse.take(s, rows).indices, s[rows].indices)


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_only_the_taken_lines_are_read(format):
    s, axis = container(format), int(format == "csc")
    s.indices[0] = 99
    with pytest.raises(InvalidSparse, match=r"indices\[0\]"):
        xo.sparse.take(s, np.asarray([1, 0]), axis=axis)
    with pytest.raises(InvalidSparse, match=r"indices\[0\]"):
        xo.sparse.take(s, np.asarray([1]), axis=1 - axis)
    expected = container(format).toarray().take([1], axis)
    np.testing.assert_array_equal(xo.sparse.take(s, np.asarray([1]), axis=axis).toarray(), expected)


@pytest.mark.parametrize("pointers", [[0, 9, 2, 4], [0, -1, 2, 4], [0, 2, 3, 5], [0, 2, 2**31 - 1, 4]])
def test_invalid_pointers_are_named(pointers):
    s = scipy.sparse.csr_array((3, 5))
    s.data, s.indices, s.indptr = np.ones(4), np.asarray([0, 1, 2, 3], np.int32), np.asarray(pointers, np.int32)
    with pytest.raises(InvalidSparse, match="indptr"):
        xo.sparse.take(s, np.asarray([0, 1, 2]))


def test_unsorted_entries_and_duplicates_become_canonical():
    unsorted = container()
    unsorted.indices[:] = np.concatenate([part[::-1] for part in np.split(unsorted.indices, unsorted.indptr[1:-1])])
    made = xo.sparse.take(unsorted, np.arange(9))
    assert made.has_canonical_format
    np.testing.assert_array_equal(made.toarray(), unsorted.toarray())
    twice = scipy.sparse.csr_array((np.ones(4), np.asarray([1, 1, 0, 2]), np.asarray([0, 2, 4])), shape=(2, 3))
    np.testing.assert_array_equal(xo.sparse.take(twice, np.asarray([0])).toarray(), [[0, 2, 0]])


def test_index_out_of_range_is_named():
    with pytest.raises(IndexError, match=r"indices\[1\] is 9, but the axis has 9 items"):
        xo.sparse.take(container(), np.asarray([0, 9]))
