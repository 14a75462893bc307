"""Coo matrices with far more lines than entries: the cost depends on the entries, and the result is that of SciPy."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse

import xarrayops as xo

ENTRIES = 400
MOST = 1_000_000 + 200 * ENTRIES
"""The bytes that a function may take."""
FACTORS = np.asarray([2.0, -1.0, 0.5, 3.0])


def places(seed):
    """Rows below 50 and columns below 4, with duplicates."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 50, ENTRIES), rng.integers(0, 4, ENTRIES), rng.integers(-9, 9, ENTRIES).astype(float)


def far(rows, extent):
    """Fifty rows of an axis of that extent, spread from the first to the last."""
    return rows * ((extent - 1) // 49)


def made(seed, extent, *, wide=False):
    """A coo matrix (extent, 4), or with ``wide`` its transpose."""
    row, column, data = places(seed)
    coords, shape = np.stack((far(row, extent), column)), (extent, 4)
    coords, shape = (coords[::-1].copy(), shape[::-1]) if wide else (coords, shape)
    return xo.sparse.from_parts("coo", coords, data, shape=shape, canonicalize=True)


def small(seed, *, wide=False):
    """The same matrix as a dense one without the rows between."""
    row, column, data = places(seed)
    dense = scipy.sparse.coo_array((data, (row, column)), shape=(50, 4)).toarray()
    return dense.T if wide else dense


def without_lines_between(s, extent):
    """The dense matrix with only the fifty lines of each axis of that extent."""
    p = xo.sparse.parts(xo.sparse.convert(s, "coo"))
    step = (extent - 1) // 49
    coords, kept = [], []
    for axis, n in zip(p.coords, p.shape, strict=True):
        is_far = n == extent
        assert not is_far or not (axis % step).any()
        coords.append(axis // step if is_far else axis)
        kept.append(50 if is_far else n)
    return scipy.sparse.coo_array((p.data, tuple(coords)), shape=tuple(kept)).toarray()


CONTAINERS = {
    "transpose": (lambda a, b: xo.sparse.transpose(a), lambda a, b: a.T),
    "add": (xo.sparse.add, np.add),
    "multiply": (xo.sparse.multiply, np.multiply),
    "maximum": (xo.sparse.maximum, np.maximum),
    "itself": (lambda a, b: xo.sparse.add(a, a), lambda a, b: a + a),
    "number": (lambda a, b: xo.sparse.multiply(a, 3), lambda a, b: a * 3),
    "abs": (lambda a, b: xo.sparse.abs(a), lambda a, b: np.abs(a)),
    "square": (lambda a, b: xo.sparse.square(a), lambda a, b: a * a),
}
TALL = {
    "dense": (lambda a, b: xo.sparse.multiply(a, FACTORS), lambda a, b: a * FACTORS),
    "scale": (lambda a, b: xo.sparse.scale(a, columns=FACTORS), lambda a, b: a * FACTORS),
    "csc": (lambda a, b: xo.sparse.convert(a, "csc"), lambda a, b: a),
    "concat": (lambda a, b: xo.sparse.concat([a, b], axis=1), lambda a, b: np.concatenate([a, b], axis=1)),
    "take": (lambda a, b: xo.sparse.take(a, np.asarray([3, -4, 3]), axis=1), lambda a, b: a[:, [3, 0, 3]]),
}
ARRAYS = {
    "sum": (xo.sparse.sum, np.sum),
    "sum of columns": (lambda a: xo.sparse.sum(a, axis=0), lambda a: a.sum(axis=0)),
    "count": (xo.sparse.count, np.count_nonzero),
    "count of columns": (lambda a: xo.sparse.count(a, axis=0), lambda a: np.count_nonzero(a, axis=0)),
    "norm": (xo.sparse.norm, np.linalg.norm),
    "norm of columns": (lambda a: xo.sparse.norm(a, axis=0), lambda a: np.linalg.norm(a, axis=0)),
    "product": (
        lambda a: xo.sparse.to_dense(xo.matmul(xo.sparse.transpose(a), a)),
        lambda a: a.T @ a,
    ),
}


def result_and_bytes(function, *args):
    """The result, and the bytes that were allocated meanwhile."""
    function(*args)  # imports, and memory that is kept
    tracemalloc.start()
    try:
        result = function(*args)
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("extent", [10**8, 2**62])
@pytest.mark.parametrize(
    ("name", "wide"), [*((name, False) for name in (*CONTAINERS, *TALL)), *((name, True) for name in CONTAINERS)]
)
def test_containers(name, wide, extent):
    function, expected = (CONTAINERS | TALL)[name]
    operands = [made(seed, extent, wide=wide) for seed in (1, 2)]
    result, nbytes = result_and_bytes(function, *operands)
    xo.sparse.validate(result, canonical=True)
    np.testing.assert_array_equal(
        without_lines_between(result, extent), expected(*(small(seed, wide=wide) for seed in (1, 2)))
    )
    assert nbytes < MOST


@pytest.mark.parametrize("extent", [10**8, 2**62])
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(name, extent):
    function, expected = ARRAYS[name]
    result, nbytes = result_and_bytes(function, made(1, extent))
    np.testing.assert_allclose(result, expected(small(1)), rtol=1e-14)
    assert nbytes < MOST


@pytest.mark.parametrize("extent", [10**8, 2**61])
def test_concat_of_long_axes(extent):
    result, nbytes = result_and_bytes(lambda *s: xo.sparse.concat(s), made(1, extent), made(2, extent))
    assert result.shape == (2 * extent, 4)
    halves = [xo.sparse.parts(result).coords[0] < extent, xo.sparse.parts(result).coords[0] >= extent]
    for seed, half in zip((1, 2), halves, strict=True):
        coords, data = xo.sparse.parts(result).coords[:, half], xo.sparse.parts(result).data[half]
        expected = xo.sparse.parts(made(seed, extent))
        np.testing.assert_array_equal(coords - [[extent * (seed == 2)], [0]], expected.coords)
        np.testing.assert_array_equal(data, expected.data)
    assert nbytes < MOST


@pytest.mark.parametrize("axis", [0, 1])
def test_concat_beyond_an_index(axis):
    s = made(1, 2**62, wide=axis == 1)
    with pytest.raises(OverflowError, match="9223372036854775808 lines"):
        xo.sparse.concat([s, s], axis=axis)


def test_take_of_rows_with_and_without_entries():
    extent = 2**62
    chosen = np.asarray([-1, 5, 0, far(7, extent), 5, far(7, extent)])
    result, nbytes = result_and_bytes(lambda s: xo.sparse.take(s, chosen), made(1, extent))
    dense = small(1)
    last = dense[49] if far(49, extent) == extent - 1 else np.zeros(4)
    empty = np.zeros(4)
    np.testing.assert_array_equal(xo.sparse.to_dense(result), [last, empty, dense[0], dense[7], empty, dense[7]])
    assert nbytes < MOST


def test_diagonal():
    s = xo.sparse.from_parts("coo", np.asarray([[0, 2, 3], [0, 1, 3]]), np.arange(1.0, 4.0), shape=(2**62, 4))
    result, nbytes = result_and_bytes(xo.sparse.diagonal, s)
    np.testing.assert_array_equal(result, [1.0, 0.0, 0.0, 3.0])
    assert nbytes < MOST


def test_sampled_product():
    extent = 10**6
    a = np.broadcast_to(np.arange(3.0), (extent, 3))
    b = np.arange(12.0).reshape(3, 4)
    row, column, _ = places(1)
    stored = scipy.sparse.coo_array((np.ones(ENTRIES), (row, column)), shape=(50, 4)).toarray() > 0
    result, nbytes = result_and_bytes(lambda s: xo.sparse.sddmm(a, b, s), made(1, extent))
    np.testing.assert_array_equal(without_lines_between(result, extent), np.where(stored, a[:50] @ b, 0))
    assert nbytes < MOST + extent * 3 * 8  # a is contiguous for the product


def test_no_entries():
    s = xo.sparse.from_parts("coo", np.zeros((2, 0), np.int64), np.zeros(0), shape=(2**62, 4))
    assert xo.sparse.sum(s) == 0
    assert xo.sparse.transpose(s).shape == (4, 2**62)
    np.testing.assert_array_equal(xo.sparse.to_dense(xo.sparse.take(s, np.asarray([7, -1]))), np.zeros((2, 4)))
    np.testing.assert_array_equal(without_lines_between(xo.sparse.add(s, made(1, 2**62)), 2**62), small(1))


def test_more_axes_than_a_flat_index_holds():
    coords = np.asarray([[2**40, 5, 2**40], [1, 7, 1], [2**40, 2, 2**40]])
    s = xo.sparse.from_parts("coo", coords, np.asarray([1.0, 2.0, 4.0]), shape=(2**41, 9, 2**41), canonicalize=True)
    p = xo.sparse.parts(s)
    np.testing.assert_array_equal(p.coords, [[5, 2**40], [7, 1], [2, 2**40]])
    np.testing.assert_array_equal(p.data, [2.0, 5.0])


@pytest.mark.parametrize("name", ["dense", "scale", "take", "add", "multiply", "itself", "number"])
def test_csc_with_many_rows(name):
    """Its rows have no pointers either."""
    function, expected = (CONTAINERS | TALL)[name]
    operands = [xo.sparse.convert(made(seed, 10**8), "csc") for seed in (1, 2)]
    result, nbytes = result_and_bytes(function, *operands)
    assert (result.format, result.shape[0]) == ("csc", 10**8)
    np.testing.assert_array_equal(without_lines_between(result, 10**8), expected(small(1), small(2)))
    assert nbytes < MOST
