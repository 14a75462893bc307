"""Products and sums of sparse matrices, compared with dense NumPy, with and without compiled loops."""

import warnings

import ml_dtypes
import numpy as np
import pytest

from xarrayops._host import compiled
from xarrayops._host.sparse import elementwise, order, products
from xarrayops._host.sparse.compressed import Compressed

DTYPES = ["?", "i1", "u1", "i2", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", ml_dtypes.bfloat16]
PAIRS = [(d, d) for d in DTYPES] + [("i1", "?"), ("f4", "f8"), ("i8", "f4"), ("u8", "i8"), ("f2", "c8"), ("i1", "u1")]
SHAPES = [(1, 1), (7, 5), (40, 3), (3, 40), (150, 120)]


def sampled_product(pattern, a, b):
    return products.sddmm(order.rows_of(pattern), pattern.indices, a, b)


def times_dense(c, dense):
    data = elementwise.multiply_dense(c, dense, order.rows_of(c))
    return c._replace(indptr=c.indptr.copy(), indices=c.indices.copy(), data=data)


@pytest.fixture(params=["compiled", "plain"])
def engine(request, monkeypatch):
    """Small limits, so that small matrices are split into pieces; with the compiled loops or without them."""
    if request.param == "plain":
        monkeypatch.setattr(compiled, "loops", lambda package: None)
    elif compiled.loops("sparse") is None:
        pytest.skip("numba is not installed")
    for module, limits in [
        (order, ("COMPILED", "SPREAD_ENTRIES", "STREAM")),
        (products, ("COMPILED", "WIDE", "GATHERED", "CHUNK")),
        (elementwise, ("STEP", "SUMMED")),
    ]:
        for limit in limits:
            monkeypatch.setattr(module, limit, 1)
    return request.param


def values(random, shape, dtype):
    """Small integers, whose sums are exact in every dtype and any order."""
    dtype = np.dtype(dtype)
    drawn = random.integers(0, 2, shape) if dtype.kind in "bu" else random.integers(-2, 3, shape)
    return (drawn + 1j * random.integers(-2, 3, shape) if dtype.kind == "c" else drawn).astype(dtype)


def sparse(random, shape, dtype, index=np.int32, canonical=False):
    """A matrix with unsorted rows, duplicates, zeros and empty rows, and the same matrix as a dense array."""
    size = int(random.integers(0, 4 * max(shape)))
    row, column = (random.integers(0, random.integers(1, extent + 1), size) for extent in shape)
    if canonical:
        row, column = np.divmod(np.unique(row * shape[1] + column), shape[1])
    data = values(random, row.size, dtype)
    row = np.sort(row)
    indptr = np.searchsorted(row, np.arange(shape[0] + 1)).astype(index)
    dense = np.zeros(shape, bool if data.dtype == bool else np.result_type(data, np.float64))
    np.add.at(dense, (row, column), data.astype(dense.dtype))
    for array in (indptr, column, data):
        array.flags.writeable = False
    return Compressed(indptr, column.astype(index), data, *shape), dense.astype(dtype)


def strided(random, array):
    """The same values in a random memory layout, read-only."""
    layout = random.integers(3)
    if layout == 0:
        array = np.asfortranarray(array)
    elif layout == 1:
        array = np.repeat(array, 2, axis=-1)[..., ::2]
    array = array.view()
    array.flags.writeable = False
    return array


def exact(product, dtype):
    """A product or sum of integers, converted to a dtype: integers wrap."""
    if dtype.kind == "b":
        return product != 0
    wrapped = product.astype(np.int64) if dtype.kind in "iu" else product
    return wrapped.astype(dtype)


def wide(dense):
    return dense.astype(np.result_type(dense.dtype, np.float64))


def dense_of(c):
    """A matrix as a dense array, computed with NumPy; checks that it is canonical."""
    row = np.repeat(np.arange(c.rows), np.diff(c.indptr))
    assert c.indptr[0] == 0
    assert c.indptr[-1] == c.indices.size == c.data.size
    assert (np.diff(row * c.columns + c.indices) > 0).all()
    assert all(a.flags.c_contiguous and a.flags.writeable for a in c[:3])
    dense = np.zeros((c.rows, c.columns), c.data.dtype)
    dense[row, c.indices] = c.data
    return dense


@pytest.mark.parametrize(("left", "right"), PAIRS)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_products_with_dense(engine, left, right, index):
    random = np.random.default_rng(1)
    for shape in SHAPES:
        c, dense = sparse(random, shape, left, index)
        dtype = np.result_type(np.dtype(left), np.dtype(right))
        for columns in [(), (0,), (1,), (3,), (33,)]:
            b = values(random, (shape[1], *columns), right)
            expected = exact(wide(dense) @ wide(b), dtype)
            np.testing.assert_array_equal(products.spmm(c, strided(random, b)), expected, strict=True)
            b = values(random, (shape[0], *columns), right)
            expected = exact(wide(dense).T @ wide(b), dtype)
            np.testing.assert_array_equal(products.spmm_transposed(c, strided(random, b)), expected, strict=True)


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (4, 0), (4, 6)])
def test_empty_matrices(engine, shape):
    c = Compressed(np.zeros(shape[0] + 1, np.int32), np.zeros(0, np.int32), np.zeros(0, "f4"), *shape)
    transposed = Compressed(np.zeros(shape[1] + 1, np.int32), c.indices, c.data, *shape[::-1])
    dense = np.zeros(shape, "f4")
    for n in (0, 2):
        np.testing.assert_array_equal(products.spmm(c, np.ones((shape[1], n), "f4")), np.zeros((shape[0], n), "f4"))
        found = products.spmm_transposed(c, np.ones((shape[0], n), "f4"))
        np.testing.assert_array_equal(found, np.zeros((shape[1], n), "f4"), strict=True)
        assert sampled_product(c, np.ones((shape[0], n)), np.ones((n, shape[1]))).shape == (0,)
    np.testing.assert_array_equal(dense_of(products.spgemm(c, transposed)), np.zeros((shape[0], shape[0]), "f4"))
    for found in (elementwise.add(c, c), elementwise.multiply(c, c), times_dense(c, dense)):
        np.testing.assert_array_equal(dense_of(found), dense, strict=True)
    np.testing.assert_array_equal(elementwise.sum_rows(c), dense.sum(axis=1), strict=True)
    np.testing.assert_array_equal(elementwise.sum_columns(c), dense.sum(axis=0), strict=True)


def positions(c):
    """The rows and columns of the entries, including explicit zeros."""
    return set(zip(np.repeat(np.arange(c.rows), np.diff(c.indptr)).tolist(), c.indices.tolist(), strict=True))


@pytest.mark.parametrize(("left", "right"), PAIRS)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_products_and_sums_of_sparse(engine, left, right, index):
    random = np.random.default_rng(2)
    dtype = np.result_type(np.dtype(left), np.dtype(right))
    for shape in SHAPES:
        a, dense_a = sparse(random, shape, left, index)
        b, dense_b = sparse(random, (shape[1], 60), right, index)
        made = products.spgemm(a, b)
        np.testing.assert_array_equal(dense_of(made), exact(wide(dense_a) @ wide(dense_b), dtype), strict=True)
        assert made.indptr.dtype == made.indices.dtype == index
        b, dense_b = sparse(random, shape, right, index)
        a, b = order.canonical(a), order.canonical(b)
        made = elementwise.add(a, b)
        np.testing.assert_array_equal(dense_of(made), exact(wide(dense_a) + wide(dense_b), dtype), strict=True)
        assert made.indptr.dtype == made.indices.dtype == index
        made = elementwise.multiply(a, b)
        np.testing.assert_array_equal(dense_of(made), exact(wide(dense_a) * wide(dense_b), dtype), strict=True)
        assert made.data.size == len(positions(a) & positions(b))


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_products_at_the_stored_entries(engine, left, right):
    random = np.random.default_rng(3)
    dtype = np.result_type(np.dtype(left), np.dtype(right))
    for shape in SHAPES:
        c, _ = sparse(random, shape, left)
        row = np.repeat(np.arange(shape[0]), np.diff(c.indptr))
        for k in (0, 1, 9):
            a, b = values(random, (shape[0], k), left), values(random, (k, shape[1]), right)
            expected = exact(wide(a) @ wide(b), dtype)[row, c.indices]
            found = sampled_product(c, strided(random, a), strided(random, b))
            np.testing.assert_array_equal(found, expected, strict=True)
        c, dense = sparse(random, shape, left, canonical=True)
        for extents in [shape, (1, shape[1]), (shape[0], 1), (shape[1],), ()]:
            b = np.asarray(values(random, extents, right))
            made = times_dense(c, strided(random, b) if extents else b)
            np.testing.assert_array_equal(dense_of(made), exact(wide(dense) * wide(b), dtype), strict=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_over_axes(engine, dtype):
    random = np.random.default_rng(4)
    for shape in SHAPES:
        c, dense = sparse(random, shape, dtype)
        c = order.canonical(c)
        np.testing.assert_array_equal(elementwise.sum_rows(c), dense.sum(axis=1), strict=True)
        np.testing.assert_array_equal(elementwise.sum_columns(c), dense.sum(axis=0), strict=True)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c16"])
def test_nan_and_infinity(engine, dtype):
    """Only stored entries, including explicit zeros, take part in products."""
    data = np.array([np.inf, 0.0, np.nan, 1.0, 1.0], dtype)
    c = Compressed(np.array([0, 1, 2, 3, 5]), np.array([0, 1, 2, 0, 1]), data, 4, 3)
    b = np.array([[1.0, 2.0], [np.inf, 1.0], [0.0, np.nan]], dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = products.spmm(c, b)
        scaled = times_dense(c, np.array([[0.0, np.inf, 1.0]], dtype))
        narrow = products.spmm(c._replace(data=np.full(5, 300, np.float16)), np.full((3, 2), 300, np.float16))
        sampled = sampled_product(c, np.full((4, 1), np.inf, dtype), np.zeros((1, 3), dtype))
    assert np.isnan(sampled).all()
    assert np.isinf(narrow).all()
    assert np.isinf(found[0]).all()
    assert np.isnan(found[1, 0])
    assert found[1, 1] == 0
    assert np.isnan(found[2]).all()
    assert np.isinf(found[3, 0])
    assert found[3, 1] == 3
    assert np.isnan(scaled.data[:3]).all()
    assert scaled.data[3] == 0
    assert np.isinf(scaled.data[4])


def test_sums_that_cancel_are_not_stored():
    a = Compressed(np.array([0, 2]), np.array([0, 1]), np.array([1.0, 1.0]), 1, 2)
    b = Compressed(np.array([0, 1, 2]), np.array([0, 0]), np.array([1.0, -1.0]), 2, 1)
    assert products.spgemm(a, b).indices.size == 0


def test_a_product_larger_than_the_memory_raises(monkeypatch):
    n = 1000
    column = Compressed(np.arange(n + 1), np.zeros(n, int), np.ones(n), n, 1)
    row = Compressed(np.array([0, n]), np.arange(n), np.ones(n), 1, n)
    monkeypatch.setattr(products, "LARGE", 0)
    monkeypatch.setattr(products, "available_bytes", lambda: 10 * n * n)
    with pytest.raises(MemoryError, match=rf"\(1000, 1\).* 1000 entries.* {n * n} multiplications.* Instead: "):
        products.spgemm(column, row)
    monkeypatch.setattr(products, "CHUNK", 1)
    monkeypatch.setattr(products, "available_bytes", lambda: 17 * n * n)
    assert products.spgemm(column, row).data.size == n * n
    monkeypatch.setattr(products, "available_bytes", lambda: None)
    assert products.spgemm(row, column).data.tolist() == [n]


def test_results_are_independent_of_the_thread_count(engine, monkeypatch):
    random = np.random.default_rng(5)
    a, _ = sparse(random, (300, 200), "f4")
    a = a._replace(data=random.standard_normal(a.data.size).astype("f4"))
    b, c = random.standard_normal((200, 33)).astype("f4"), random.standard_normal((300, 33)).astype("f4")
    made = []
    for count in ("1", "2", "5"):
        monkeypatch.setenv("XARRAYOPS_THREADS", count)
        joined = [*products.spgemm(a, order.transposed(a))[:3], *elementwise.add(*[order.canonical(a)] * 2)[:3]]
        sampled = sampled_product(a, c, np.ascontiguousarray(b.T))
        made.append([*joined, sampled, products.spmm(a, b), products.spmm_transposed(a, c), elementwise.sum_rows(a)])
    for other in made[1:]:
        for x, y in zip(made[0], other, strict=True):
            np.testing.assert_array_equal(x, y)
