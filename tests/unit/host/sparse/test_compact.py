"""Dense to sparse: bitwise equal to np.nonzero and SciPy, for all spans, thread counts and memory layouts."""

import math
import threading
import tracemalloc
from unittest.mock import Mock

import numpy as np
import pytest
import scipy.sparse

from xarrayops._host import compiled, threads
from xarrayops._host.sparse import compact, compressed

DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", "c8", "c16", "G", ">f4", ">i8"]
SHAPES = [(1, 1), (1, 300), (300, 1), (7, 9), (64, 64), (3, 129), (100, 3), (0, 0), (0, 5), (5, 0)]
DENSITIES = [0.0, 0.03, 0.15, 0.6, 1.0]
NUMBERS = [0.0, 1.0, 2.5, -1.0, 1e300, math.inf, -math.inf, math.nan]
SPANS = [7, 64, 200, 1 << 18]


@pytest.fixture(params=["numpy", "compiled"])
def engine(request, monkeypatch):
    """NumPy's functions or the compiled loops, for arrays of any size."""
    if request.param == "compiled":
        pytest.importorskip("numba")
        monkeypatch.setattr(compact, "COMPILED", 0)
    else:
        monkeypatch.setattr(compiled, "loops", lambda package: None)
    return request.param


@pytest.fixture
def random():
    return np.random.default_rng(7)


def numbers(random, shape, dtype, density):
    """Random numbers with this share of nonzeros; floats include zeros of both signs, NaN and infinities."""
    dtype = np.dtype(dtype)
    size = math.prod(shape)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        some = [info.min, info.max, 1, 2, 3, info.max - 2]
    elif dtype.kind == "b":
        some = [True]
    else:
        some = [1.0, -1.0, 2.5, -3.0, 1e-7, math.nan, math.inf, -math.inf]
        some = [complex(a, b) for a in some for b in (0.0, 4.0, math.nan, math.inf)] if dtype.kind == "c" else some
    x = np.array(some, dtype)[random.integers(len(some), size=size)]
    x[random.random(size) >= density] = 0
    if dtype.kind in "fc":
        x[random.random(size) < 0.1] = -0.0
    return x.reshape(shape)


def in_layout(x, layout):
    """The same numbers in this memory layout."""
    if layout == "F":
        return np.asfortranarray(x)
    if layout == "reversed":
        return x[tuple(slice(None, None, -1) for _ in x.shape)].copy()[tuple(slice(None, None, -1) for _ in x.shape)]
    if layout == "sliced":
        wide = np.ones([2 * n + 1 for n in x.shape], x.dtype)
        wide[tuple(slice(0, 2 * n, 2) for n in x.shape)] = x
        return wide[tuple(slice(0, 2 * n, 2) for n in x.shape)]
    if layout == "columns":  # each line is contiguous, the array is not
        wide = np.ones([*x.shape[:-1], x.shape[-1] + 3], x.dtype)
        wide[..., 1:-2] = x
        return wide[..., 1:-2]
    x = x.copy()
    x.flags.writeable = False
    return x


LAYOUTS = ["C", "F", "reversed", "sliced", "columns"]


def mask_of(x, where):
    """The mask of the items to keep, computed without the kernels; integers are compared as Python integers."""
    if isinstance(where, np.ndarray):
        return where
    if where is None:
        return x != 0
    if where == "relu":
        return x > 0
    if x.dtype.kind in "iub":
        kept = [abs(int(item)) > where for item in x.reshape(-1)]
        return np.array(kept, np.bool_).reshape(x.shape)
    with np.errstate(all="ignore"):
        return np.abs(x) > np.abs(x[:0]).dtype.type(where)


def same_bits(a, b):
    native = b.dtype.newbyteorder("=")
    assert a.dtype == native
    assert a.shape == b.shape
    if native.char in "gG":  # some of their bytes are padding
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(np.signbit(a.real), np.signbit(b.real))
    else:
        assert a.tobytes() == b.astype(native).tobytes()


def is_own(*arrays):
    return all(a.flags.owndata and a.flags.c_contiguous and a.flags.writeable for a in arrays)


def check_csr(x, where, index=np.int32):
    kept = mask_of(x, where)
    got = compact.csr(x, where)
    np.testing.assert_array_equal(got.indptr, np.concatenate([[0], np.cumsum(kept.sum(axis=1))]))
    np.testing.assert_array_equal(got.indices, np.nonzero(kept)[1])
    same_bits(got.data, x[kept])
    assert got.indptr.dtype == got.indices.dtype == index
    assert (got.rows, got.columns) == x.shape
    assert is_own(got.indptr, got.indices, got.data)


def check_coo(x, where, index=np.int32):
    kept = mask_of(x, where)
    coords, data = compact.coo(x, where)
    np.testing.assert_array_equal(coords, np.array(np.nonzero(kept)))
    same_bits(data, x[kept])
    assert coords.shape == (x.ndim, data.size)
    assert coords.dtype == index
    assert is_own(coords, data)


def check_bsr(x, block, where):
    (rows, columns), (r, c) = x.shape, block
    kept = mask_of(x, where)
    blocks = kept.reshape(rows // r, r, columns // c, c).any(axis=(1, 3))
    indptr, indices, data = compact.bsr(x, block, where)
    np.testing.assert_array_equal(indptr, np.concatenate([[0], np.cumsum(blocks.sum(axis=1))]))
    np.testing.assert_array_equal(indices, np.nonzero(blocks)[1])
    only = np.where(kept, x, x.dtype.type(0)).reshape(rows // r, r, columns // c, c).swapaxes(1, 2)
    np.testing.assert_array_equal(data, only[blocks])
    assert data.dtype == x.dtype.newbyteorder("=")
    assert indptr.dtype == indices.dtype == np.int32
    assert is_own(indptr, indices, data)


def cases(random, monkeypatch, shape, density, dtypes=DTYPES):
    """Arrays of this shape and values of ``where``, with spans of several sizes and with threads."""
    monkeypatch.setattr(compact, "SPREAD_ELEMENTS", 0)
    for dtype in dtypes:
        monkeypatch.setattr(compact, "SPAN", int(random.choice(SPANS)))
        monkeypatch.setattr(compact, "RECORDED", int(random.choice((0, 50, 1 << 26))))
        x = in_layout(numbers(random, shape, dtype, random.choice(density)), random.choice(LAYOUTS))
        mask = random.random(x.shape) < 0.3
        named = [None] if x.dtype.kind == "c" else [None, "relu"]
        for where in (*named, float(random.choice(NUMBERS)), mask, in_layout(mask, random.choice(LAYOUTS))):
            yield x, where


@pytest.mark.parametrize("shape", SHAPES)
def test_csr_equals_nonzero(shape, engine, random, monkeypatch):
    for x, where in cases(random, monkeypatch, shape, DENSITIES, 2 * DTYPES):
        check_csr(x, where)


@pytest.mark.parametrize("shape", [(300,), (0,), (5, 7), (3, 4, 5), (2, 0, 3), (1, 1, 70, 1), (2, 3, 2, 3, 2, 3)])
def test_coo_equals_nonzero(shape, engine, random, monkeypatch):
    for x, where in cases(random, monkeypatch, shape, DENSITIES):
        check_coo(x, where)


@pytest.mark.parametrize("block", [(1, 1), (2, 3), (3, 2), (1, 40), (24, 1), (24, 40), (4, 20)])
def test_bsr_has_the_blocks_with_kept_items(block, engine, random, monkeypatch):
    for x, where in cases(random, monkeypatch, (24, 120), [0.0, 0.01, 0.1, 1.0]):
        check_bsr(x, block, where)


def test_spans_of_one_item(engine, random, monkeypatch):
    monkeypatch.setattr(compact, "SPAN", 1)
    x = numbers(random, (9, 14), "f4", 0.5)
    check_csr(x, None)
    check_coo(x, "relu")
    check_bsr(x, (3, 2), 1.0)


@pytest.mark.parametrize("shape", [(0, 6), (6, 0), (0, 0)])
def test_bsr_of_empty_arrays(shape):
    check_bsr(np.zeros(shape, np.float32), (2, 3), None)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "c8", "?"])
def test_large_matrices_equal_scipys(dtype, engine, random):
    x = numbers(random, (1100, 1003), "f4", 0.05)
    x = np.nan_to_num(x, posinf=7, neginf=-7).astype(dtype)
    for matrix in (x, x.T):
        want, got = scipy.sparse.csr_array(matrix), compact.csr(matrix)
        np.testing.assert_array_equal(got.indptr, want.indptr)
        np.testing.assert_array_equal(got.indices, want.indices)
        np.testing.assert_array_equal(got.data, want.data)
    block, x = (4, 17), np.ascontiguousarray(x[:1000])
    want, got = scipy.sparse.csr_array(x).tobsr(block), compact.bsr(x, block)
    want.sort_indices()
    for name, array in zip(("indptr", "indices", "data"), got, strict=True):
        np.testing.assert_array_equal(array, getattr(want, name))


@pytest.mark.parametrize("shape", [(1, 700_000), (700_000, 1), (3, 300_000), (230_000, 3)])
def test_very_long_and_very_short_rows(shape, engine, random):
    x = numbers(random, shape, "f4", 0.04)
    check_csr(x, None)
    check_csr(np.asfortranarray(x), "relu")
    check_coo(x, 2.0)


def test_a_number_is_compared_in_the_precision_of_x():
    x = np.array([[0.1, -0.1, 0.2]], np.float32)
    assert compact.csr(x, 0.1).indices.tolist() == [2]
    large = np.array([[2**53, 2**53 + 1, -(2**63), 2**63 - 1]], np.int64)
    assert compact.csr(large, float(2**53)).indices.tolist() == [1, 2, 3]
    assert compact.csr(np.array([[-128, 127, 0]], np.int8), 127.5).indices.tolist() == [0]
    assert compact.csr(np.array([[65504.0, np.inf]], np.float16), 65504.0).indices.tolist() == [1]


def test_bfloat16():
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    x = np.array([[0.0, -0.0, 1.5], [math.nan, -2.0, math.inf]]).astype(bfloat16)
    for where, kept in [(None, [2, 3, 4, 5]), ("relu", [2, 5]), (1.75, [4, 5])]:
        for stored in (x, np.asfortranarray(x)):
            got = compact.csr(stored, where)
            assert (got.indices + 3 * np.repeat([0, 1], np.diff(got.indptr))).tolist() == kept
            assert got.data.tobytes() == x.reshape(-1)[kept].tobytes()
            assert compact.coo(stored, where)[1].dtype == bfloat16


def test_indices_have_64_bits_only_if_needed(monkeypatch):
    monkeypatch.setattr(compressed, "INT32_MAX", 10)
    some = np.eye(5, 10)
    check_csr(some, None)
    check_coo(some, None)
    check_csr(np.eye(20, 10), 2.0)  # rows have no indices
    check_coo(np.eye(20, 10), None, np.int64)
    check_csr(np.eye(5, 11), None, np.int64)  # columns
    check_csr(np.ones((4, 3)), None, np.int64)  # entries
    check_coo(np.ones((4, 3)), None)
    assert compact.bsr(np.ones((8, 6)), (2, 2))[0].dtype == np.int64


@pytest.mark.parametrize("index", [np.dtype(np.int32), np.dtype(np.int64)])
def test_indices_have_the_requested_dtype(index):
    x = np.eye(6, 4, dtype=np.float32)
    by_rows, blocks = compact.csr(x, index=index), compact.bsr(x, (2, 2), index=index)
    arrays = [*by_rows[:2], *blocks[:2], compact.coo(x, index=index)[0]]
    assert {a.dtype for a in arrays} == {index}
    np.testing.assert_array_equal(by_rows.indptr, [0, 1, 2, 3, 4, 4, 4])


def test_loops_are_compiled_only_for_large_arrays(monkeypatch):
    loops = Mock(return_value=None)
    monkeypatch.setattr(compiled, "loops", loops)
    compact.csr(np.eye(1000, 1000))
    assert loops.call_count == 0
    compact.csr(np.eye(1024, 1024))
    assert loops.call_count == 1


@pytest.mark.parametrize("step", ["count", "load", "gather"])
@pytest.mark.parametrize("count", ["1", "2", "5"])
def test_an_error_in_a_thread_is_raised(step, count, monkeypatch):
    monkeypatch.setenv("XARRAYOPS_THREADS", count)
    monkeypatch.setattr(compact, "SPAN", 100)
    monkeypatch.setattr(compact, "SPREAD_ELEMENTS", 0)
    calls, method = iter(range(1000)), getattr(compact.ItemReader, step)

    def fail_once(*args):
        if next(calls) == 20:
            raise RuntimeError("a bad span")
        return method(*args)

    monkeypatch.setattr(compact.ItemReader, step, fail_once)
    caught = []

    def call():
        try:
            compact.csr(np.ones((50, 100)))
        except RuntimeError as error:
            caught.append(str(error))

    caller = threading.Thread(target=call, daemon=True)
    caller.start()
    caller.join(60)
    assert caught == ["a bad span"]


@pytest.mark.parametrize("compiled", [False, True])
def test_a_concurrent_write_to_x_raises(compiled, monkeypatch):
    if compiled:
        pytest.importorskip("numba")
    monkeypatch.setattr(compact, "COMPILED", 0 if compiled else 1 << 40)
    monkeypatch.setattr(compact, "RECORDED", 0)
    x, load = np.eye(40, 50), compact.ItemReader.load

    def write_first(reader, span):
        x[...] = 1
        load(reader, span)

    monkeypatch.setattr(compact.ItemReader, "load", write_first)
    with pytest.raises(ValueError, match="does not match"):
        compact.csr(x)


def test_calls_from_threads_of_the_pool(random, monkeypatch):
    monkeypatch.setattr(compact, "SPAN", 100)
    monkeypatch.setattr(compact, "SPREAD_ELEMENTS", 0)
    x = numbers(random, (70, 60), "f4", 0.3)
    found = []

    def work(tasks):
        found.extend(compact.csr(x).indices for _ in tasks)

    threads.run(work, range(6))
    assert len(found) == 6
    for indices in found:
        np.testing.assert_array_equal(indices, np.nonzero(x)[1])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("verb", [compact.csr, compact.coo, lambda x, where: compact.bsr(x, (8, 8), where)])
def test_temporary_memory_does_not_grow_with_the_array(verb, order, engine):
    x = np.zeros((4096, 8192), np.int16, order)  # 64 MiB; its mask would have 32
    x[::64, ::64] = 1
    small = np.ones((64, 64), np.int16)
    for where in (None, "relu", 0.5):
        verb(small, where)
        tracemalloc.start()
        try:
            result = verb(x, where)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < sum(a.nbytes for a in result if isinstance(a, np.ndarray)) + (16 << 20)
