"""Rows of SciPy's containers: SciPy's own kernel serves what it can, and the host kernel the rest."""

import numpy as np
import pytest
import scipy.sparse

import xarrayops as xo
from xarrayops.errors import InvalidSparse

RNG = np.random.default_rng(0)
DENSE = np.where(RNG.random((9, 7)) < 0.4, RNG.integers(1, 99, (9, 7)), 0)


def container(format="csr", dtype="float64", index="int32"):
    s = getattr(scipy.sparse, f"{format}_array")(DENSE.astype(dtype))
    s.indices, s.indptr = s.indices.astype(index), s.indptr.astype(index)
    return s


@pytest.mark.parametrize(
    ("s", "indices", "axis", "kernel"),
    [
        (container(), np.asarray([3, -1, 3, 0]), 0, "scipy"),
        (container(dtype="complex64"), np.asarray([], dtype=np.int64), 0, "scipy"),
        (container(dtype="bool"), DENSE[:, 0] > 0, 0, "scipy"),
        (container("csc", "int8"), np.asarray([6, -7], dtype=np.int32), 1, "scipy"),
        (container("csc"), np.asarray([1, 1, 0]), 0, "host"),
        (container(), np.asarray([1, 1, 0]), 1, "host"),
        (container(index="int64"), np.asarray([2, 1]), 0, "host"),
        (scipy.sparse.csr_matrix(container()), np.asarray([2, 1]), 0, "host"),
        (container(), np.asarray([2, 1], dtype=np.uint8), 0, "host"),
    ],
)
def test_kernel_and_result(s, indices, axis, kernel):
    assert xo.explain("sparse.take", s, indices, axis=axis).chosen == f"numpy:{kernel}"
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


def test_result_with_too_many_entries_is_left_to_the_host_kernel():
    s = scipy.sparse.csr_array(np.ones((2, 3)))
    indices = np.broadcast_to(np.int64(0), (1 << 30,))
    explained = xo.explain("sparse.take", s, indices)
    assert explained.candidates[0].reason == "the result may need int64 indices"


def test_operand_is_checked():
    s = container()
    s.indices[0] = 99
    with pytest.raises(InvalidSparse, match=r"indices\[0\]"):
        xo.sparse.take(s, np.asarray([1]))
    unsorted = container()
    unsorted.indices[:] = np.concatenate([part[::-1] for part in np.split(unsorted.indices, unsorted.indptr[1:-1])])
    made = xo.sparse.take(unsorted, np.arange(9))
    assert made.has_canonical_format
    np.testing.assert_array_equal(made.toarray(), unsorted.toarray())


def test_index_out_of_range_is_named():
    with pytest.raises(IndexError, match=r"indices\[1\] is 9, but the axis has 9 items"):
        xo.sparse.take(container(), np.asarray([0, 9]))
