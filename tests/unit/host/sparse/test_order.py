"""Sorting and canonical format of sparse matrices, compared with NumPy and SciPy, with and without compiled loops."""

import ml_dtypes
import numpy as np
import pytest
from scipy.sparse import bsr_array, coo_array, csr_array

from xarrayops._host import compiled, threads
from xarrayops._host.sparse import order
from xarrayops._host.sparse.compressed import Compressed

DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", ml_dtypes.bfloat16]
SHAPES = [(1, 1), (7, 5), (40, 3), (200, 150), (3000, 1), (1, 3000), (500, 2500)]


@pytest.fixture(params=["compiled", "plain"])
def engine(request, monkeypatch):
    """Small limits, so that small matrices are split into pieces; with the compiled loops or without them."""
    if request.param == "plain":
        monkeypatch.setattr(compiled, "loops", lambda package: None)
    elif compiled.loops("sparse") is None:
        pytest.skip("numba is not installed")
    for limit, small in {"COMPILED": 1, "SPREAD_ENTRIES": 1, "STREAM": 1 << 12, "PARTS": 4}.items():
        monkeypatch.setattr(order, limit, small)
    return request.param


def values(random, size, dtype):
    """Small integers, whose sums are exact in every dtype and any order."""
    drawn = random.integers(-2, 3, size) if np.dtype(dtype).kind not in "bu" else random.integers(0, 2, size)
    return (drawn + 1j * random.integers(-2, 3, size) if np.dtype(dtype).kind == "c" else drawn).astype(dtype)


def entries(random, shape, dtype, size=None):
    """Rows, columns and data in any order, with zeros, duplicates and empty rows."""
    size = int(random.integers(0, 3 * max(shape))) if size is None else size
    row, column = (np.sort(random.integers(0, extent, size)) for extent in shape)
    row, column = row[random.permutation(size)], column[random.permutation(size)]
    return row, column, values(random, size, dtype)


def dense_of(row, column, data, shape):
    """The dense array, with duplicates summed by NumPy."""
    wide = np.zeros(shape, bool if data.dtype == bool else np.result_type(data, np.float64))
    np.add.at(wide, (row, column), data.astype(wide.dtype))
    return wide.astype(data.dtype)


def unsorted_matrix(random, shape, dtype, index=np.int32, size=None):
    """A matrix with unsorted rows, and the same matrix as a dense array."""
    row, column, data = entries(random, shape, dtype, size)
    stable = np.argsort(row, kind="stable")
    indptr = np.searchsorted(row[stable], np.arange(shape[0] + 1)).astype(index)
    made = Compressed(indptr, column[stable].astype(index), data[stable], *shape)
    return made, dense_of(row, column, data, shape)


def strided(array):
    """The same values, in a strided read-only array."""
    wide = np.zeros((*array.shape, 2), array.dtype)
    wide[..., 0] = array
    wide.flags.writeable = False
    return wide[..., 0]


def assert_new(c, *arrays):
    """Check that the arrays are contiguous and writable, and share no memory with others."""
    assert all(a.flags.c_contiguous and a.flags.writeable for a in c[:3])
    assert not any(np.shares_memory(a, b) for a in c[:3] for b in arrays)


def assert_canonical(c, dense, index=None):
    """Check that a matrix is canonical and equals a dense array, item by item."""
    assert (c.rows, c.columns) == dense.shape
    assert c.indptr.dtype == c.indices.dtype == (index or c.indices.dtype)
    assert c.indptr.shape == (c.rows + 1,)
    assert c.indptr[0] == 0
    assert c.indptr[-1] == c.indices.size == c.data.size
    row = np.repeat(np.arange(c.rows), np.diff(c.indptr))
    assert (np.diff(row * c.columns + c.indices) > 0).all()
    assert c.data.dtype == dense.dtype
    found = np.zeros_like(dense)
    found[row, c.indices] = c.data
    np.testing.assert_array_equal(found, dense)


@pytest.mark.parametrize("dtype", DTYPES)
def test_from_coo(engine, dtype):
    random = np.random.default_rng(1)
    for shape in SHAPES:
        row, column, data = entries(random, shape, dtype)
        kept = row.copy(), column.copy(), data.copy()
        for index in (np.int32, np.int64):
            made = order.from_coo(row.astype(index), strided(column.astype(index)), strided(data), *shape)
            assert_canonical(made, dense_of(row, column, data, shape), np.int32)
            assert_new(made, row, column, data)
            assert made.data.size == np.unique(row * shape[1] + column).size
        for before, after in zip(kept, (row, column, data), strict=True):
            np.testing.assert_array_equal(before, after)
        again = order.from_coo(order.rows_of(made), made.indices, made.data, *shape)
        assert_new(again, *made[:3])
        for a, b in zip(made, again, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_transposed_canonical_dense(engine, dtype, index):
    random = np.random.default_rng(2)
    for shape in SHAPES:
        c, dense = unsorted_matrix(random, shape, dtype, index)
        c = c._replace(indices=strided(c.indices), data=strided(c.data))
        transposed = order.transposed(c)
        assert_canonical(transposed, dense.T, index)
        assert_new(transposed, *c[:3])
        canonical = order.canonical(c)
        assert_canonical(canonical, dense, index)
        assert order.canonical(canonical) is canonical
        assert (canonical is c) == (order.is_canonical(c) == (True, True))
        if canonical is not c:
            assert_new(canonical, *c[:3])
        assert order.is_canonical(canonical) == (True, True)
        np.testing.assert_array_equal(order.to_dense(c), dense)
        assert order.to_dense(c).dtype == dense.dtype
        np.testing.assert_array_equal(order.rows_of(c), np.repeat(np.arange(shape[0]), np.diff(c.indptr)))
        assert order.rows_of(c).dtype == index


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (4, 0), (4, 6)])
@pytest.mark.parametrize("dtype", ["?", "f2", "f4", "c16"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_empty_matrices(engine, shape, dtype, index):
    none, data = np.zeros(0, index), np.zeros(0, dtype)
    empty = Compressed(np.zeros(shape[0] + 1, index), none, data, *shape)
    dense = np.zeros(shape, dtype)
    assert_canonical(order.from_coo(none, none, data, *shape), dense, np.int32)
    assert_canonical(order.transposed(empty), dense.T, index)
    assert order.canonical(empty) is empty
    assert order.rows_of(empty).shape == (0,)
    np.testing.assert_array_equal(order.to_dense(empty), dense, strict=True)
    indptr, indices, blocks = order.to_blocks(empty, (2, 2))
    assert blocks.shape == (0, 2, 2)
    assert indptr.tolist() == [0] * (shape[0] // 2 + 1)
    assert_canonical(order.from_blocks(indptr, indices, blocks, *shape), dense, index)


@pytest.mark.parametrize(
    ("indices", "expected"),
    [([0, 2, 1], (True, True)), ([2, 0, 1], (False, True)), ([1, 1, 0], (True, False)), ([], (True, True))],
)
def test_is_canonical(engine, indices, expected):
    indices = np.array(indices, np.int32)
    c = Compressed(np.array([0, min(2, indices.size), indices.size], np.int32), indices, np.ones(indices.size), 2, 3)
    assert order.is_canonical(c) == expected
    c = Compressed(np.array([0, 3], np.int64), np.array([1, 0, 1]), np.ones(3), 1, 2)
    assert order.is_canonical(c) == (False, False)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("block", [(1, 1), (2, 3), (4, 1)])
def test_blocks(engine, dtype, block):
    random = np.random.default_rng(3)
    for shape in [(4, 3), (8, 12), (60, 45)]:
        c, dense = unsorted_matrix(random, shape, dtype, np.int64)
        indptr, indices, data = order.to_blocks(c, block)
        assert indptr.dtype == indices.dtype == np.int64
        assert data.flags.c_contiguous
        stored = {(int(r) // block[0], int(j) // block[1]) for r, j in zip(order.rows_of(c), c.indices, strict=True)}
        assert data.shape == (len(stored), *block)
        found = np.zeros_like(dense)
        for i in range(shape[0] // block[0]):
            columns = indices[indptr[i] : indptr[i + 1]]
            assert (np.diff(columns) > 0).all()
            for j, values in zip(columns, data[indptr[i] : indptr[i + 1]], strict=True):
                found[i * block[0] : (i + 1) * block[0], j * block[1] : (j + 1) * block[1]] = values
        np.testing.assert_array_equal(found, dense)
        made = order.from_blocks(indptr, indices, strided(data), *shape)
        assert_canonical(made, dense, np.int64)
        assert made.data.size == data.size  # explicit zeros in blocks are kept


def test_unsorted_blocks(engine):
    indptr, indices = np.array([0, 3], np.int32), np.array([1, 0, 1], np.int32)
    data = np.arange(12.0).reshape(3, 2, 2)
    made = order.from_blocks(indptr, indices, data, 2, 4)
    assert_canonical(made, bsr_array((data, indices, indptr), shape=(2, 4)).toarray(), np.int32)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16", ml_dtypes.bfloat16])
def test_values_keep_their_bits(engine, dtype):
    """NaNs with a payload, infinities and negative zeros, which an addition could change."""
    random = np.random.default_rng(4)
    drawn = random.integers(0, 256, (400, np.dtype(dtype).itemsize), dtype=np.uint8)
    row, column = (a.astype(np.int32) for a in np.unravel_index(random.choice(2500, 400, replace=False), (50, 50)))
    made = order.from_coo(row, column, drawn.view(dtype)[:, 0], 50, 50)
    sort = np.lexsort((column, row))
    np.testing.assert_array_equal(made.data.view(np.uint8), drawn[sort].reshape(-1))
    transposed = order.transposed(made)
    np.testing.assert_array_equal(transposed.data.view(np.uint8), drawn[np.lexsort((row, column))].reshape(-1))


def test_duplicates_of_narrow_floats_are_rounded_once(engine):
    data = np.array([2048, 1, 1, 60000, 60000], np.float16)  # 2048 + 1 is 2048 in float16
    position = np.array([0, 0, 0, 1, 1], np.int32)
    made = order.from_coo(position, position, data, 2, 2)
    assert made.data.tolist() == [2050, np.inf]
    assert np.diagonal(order.to_dense(Compressed(np.array([0, 3, 5], np.int32), position, data, 2, 2))).tolist() == [
        2050,
        np.inf,
    ]


def test_small_integers_wrap(engine):
    position = np.zeros(3, np.int64)
    made = order.from_coo(position, position, np.full(3, 100, np.int8), 1, 1)
    assert made.data.tolist() == [44]


def test_results_equal_scipys(engine):
    random = np.random.default_rng(5)
    row, column, data = entries(random, (3000, 70_000), "f8", 30_000)
    column[:5000] = 17  # one column, and so one part, has more entries than others
    ours, theirs = order.from_coo(row, column, data, 3000, 70_000), coo_array((data, (row, column)), (3000, 70_000))
    matrix = theirs.tocsr()
    for found, expected in [
        (ours, matrix),
        (order.transposed(ours), matrix.T.tocsr()),
        (order.canonical(Compressed(matrix.indptr, matrix.indices, matrix.data, 3000, 70_000)), matrix),
    ]:
        np.testing.assert_array_equal(found.indptr, expected.indptr)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.data, expected.data)
    assert isinstance(matrix, csr_array)


def test_results_are_independent_of_the_thread_count(engine, monkeypatch):
    random = np.random.default_rng(6)
    row, column, _ = entries(random, (500, 400), "f4", 20_000)
    data = random.standard_normal(20_000).astype(np.float32)  # sums that depend on their order
    made = []
    for count in ("1", "2", "5"):
        monkeypatch.setenv("XARRAYOPS_THREADS", count)
        assert threads.thread_count() == int(count)
        c = order.from_coo(row, column, data, 500, 400)
        transposed = order.transposed(Compressed(c.indptr, c.indices[::-1], c.data, 500, 400))
        made.append([*c[:3], *transposed[:3], order.to_dense(transposed)])
    for other in made[1:]:
        for a, b in zip(made[0], other, strict=True):
            np.testing.assert_array_equal(a, b)
