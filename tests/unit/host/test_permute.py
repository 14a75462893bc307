"""The host kernel for copies: bitwise equal to NumPy's, with no write out of bounds, on every code path."""

import tracemalloc

import numpy as np
import pytest

from xarrayops._host import permute, threads, views

RECORD = np.dtype([("a", "u1"), ("b", ">f4")])
DTYPES = [
    "u1",
    "?",
    "i2",
    ">i2",
    "f4",
    ">f4",
    "f8",
    "c8",
    "c16",
    ">c16",
    "M8[us]",
    "V3",
    "V12",
    "V70",
    "S5",
    "U3",
    RECORD,
]
EXTENTS = [1, 1, 1, 2, 3, 7, 8, 9, 63, 64, 65]
LIMIT = 40_000
"""The maximum number of items of a random array."""


def noise(random, shape, dtype):
    """Random bits, including NaNs with a payload for floats."""
    dtype = np.dtype(dtype)
    bits = random.integers(0, 2 if dtype.kind == "b" else 256, (*shape, dtype.itemsize), dtype=np.uint8)
    if dtype.kind == "U":
        bits = np.full_like(bits, 0)
        bits.view("<u4")[...] = random.integers(65, 91, bits.view("<u4").shape)
    return bits.view(dtype)[..., 0] if dtype.itemsize else np.zeros(shape, dtype)


def bits(a):
    """The bytes of all items, independent of strides; NaNs are equal only if their payloads are."""
    return a.tobytes()


def shape_of(random):
    shape = []
    for _ in range(random.integers(0, 9)):
        extent = int(random.choice(EXTENTS))
        shape.append(extent if np.prod([*shape, extent]) <= LIMIT else 1)
    if random.random() < 0.1:
        shape = [int(random.integers(1000, 1500)), *shape[:0], int(random.integers(1, 25))]
    if random.random() < 0.05:
        shape.insert(0, 0)
    return tuple(shape)


def source_of(random, shape, dtype):
    """An array of this shape in a random memory layout."""
    axes = random.permutation(len(shape))
    steps = [int(random.choice([1, 1, 1, 2, 3, -1, -2])) for _ in shape]
    stored_shape = [shape[k] for k in axes]
    if random.random() < 0.3:  # a contiguous permutation, without steps
        steps = [1] * len(shape)
    stored = [n * abs(steps[k]) for k, n in zip(axes, stored_shape, strict=True)]
    if np.prod(stored, dtype=float) > 4 * LIMIT:
        steps, stored = [1] * len(shape), stored_shape
    whole = noise(random, stored, dtype)
    if random.random() < 0.3 and whole.size:  # not aligned
        raw = np.empty(whole.nbytes + 1, np.uint8)[1:]
        raw[...] = whole.reshape(-1).view(np.uint8)
        whole = raw.view(whole.dtype).reshape(stored)
    a = whole[*(slice(None, None, steps[k]) for k in axes), ...].transpose(np.argsort(axes))
    if shape and random.random() < 0.2:
        k = int(random.integers(len(shape)))
        a = np.broadcast_to(a.take([0], axis=k) if shape[k] else a, shape)
    if random.random() < 0.3:
        a = a.view()
        a.flags.writeable = False
    assert a.shape == shape
    return a


@pytest.fixture(params=["default", "tiny blocks", "small blocks", "always transposed", "always straight"])
def path(request, monkeypatch):
    """The default limits, or limits for which small arrays are copied in blocks, too."""
    permute._planned.cache_clear()
    if request.param != "default":
        for limit in ("SMALL", "SPREAD_BYTES", "MANY", "STREAM"):
            monkeypatch.setattr(permute, limit, 1)
        tiny = request.param == "tiny blocks"
        monkeypatch.setattr(permute, "BLOCK", 256 if tiny else 4096)
        monkeypatch.setattr(permute, "RUN", 16 if tiny else 128)
    if request.param.startswith("always"):
        monkeypatch.setattr(permute, "_is_straight", lambda *_: request.param == "always straight")
    yield request.param
    permute._planned.cache_clear()


@pytest.mark.parametrize("count", ["1", "2", "5"])
def test_copies_equal_numpys(path, count, monkeypatch):
    monkeypatch.setenv("XARRAYOPS_THREADS", count)
    random = np.random.default_rng([len(path), int(count)])
    for k in range(130):
        dtype = np.dtype(DTYPES[k % len(DTYPES)])
        shape = shape_of(random)
        a = source_of(random, shape, dtype)
        before = bits(a)
        got = permute.contiguous(a)
        case = f"{path} {count} {k}: {dtype} {a.shape} {a.strides}"
        assert (got.dtype, got.shape) == (dtype, shape), case
        assert got.flags.c_contiguous, case
        assert got.flags.writeable, case
        assert bits(got) == before == bits(a), case
        assert bits(got) == bits(np.ascontiguousarray(a)), case


@pytest.mark.parametrize("order", ["C", "F", "gaps", "reversed"])
def test_nothing_is_written_outside_the_target(path, order, monkeypatch):
    monkeypatch.setenv("XARRAYOPS_THREADS", "2")
    random = np.random.default_rng([7, len(path), len(order)])
    for k in range(60):
        dtype = np.dtype(DTYPES[k % len(DTYPES)])
        shape = shape_of(random)
        a = source_of(random, shape, dtype)
        guard, size = 512, dtype.itemsize
        stored_shape = shape[::-1] if order == "F" else shape
        stored = [n * 2 for n in stored_shape] if order in ("gaps", "reversed") else list(stored_shape)
        while np.prod(stored, dtype=float) > 32 * LIMIT:
            stored[int(np.argmax(np.array(stored) / np.array([max(n, 1) for n in stored_shape])))] //= 2
        raw = np.full(int(np.prod(stored)) * size + 2 * guard, 0xA5, np.uint8)
        expected = raw.copy()
        target, expected_target = (view_in(memory, dtype, stored, shape, order, guard) for memory in (raw, expected))
        permute.copy(a, target)
        expected_target[...] = a
        assert bits(target) == bits(a), f"{k}: {dtype} {a.shape} {a.strides} {target.strides}"
        assert np.array_equal(raw, expected)


def view_in(memory, dtype, stored, shape, order, guard):
    """A target of this order within the memory, with guard bytes on both sides."""
    whole = memory[guard : len(memory) - guard].view(dtype).reshape(stored)
    if order == "F":
        whole = whole.T
    elif order != "C":
        sign = -1 if order == "reversed" else 1
        whole = whole[
            *(slice(None, None, sign * (s // max(n, 1) or 1)) for s, n in zip(stored, shape, strict=True)), ...
        ]
    assert whole.shape == shape
    return whole


def test_objects_are_copied_by_numpy(monkeypatch):
    """NumPy counts references, which a copy of bytes would not."""
    monkeypatch.setattr(permute, "SMALL", 1)
    a = np.array([[object(), 1], [None, "x"]], dtype=object)
    assert permute.contiguous(a.T).tolist() == a.T.tolist()
    nested = np.zeros((3, 4), dtype=[("a", "O"), ("b", "i4")])
    nested["a"] = "text"
    assert permute.contiguous(nested.T).tolist() == nested.T.tolist()


def test_arrays_without_items_or_bytes():
    for a in (np.zeros((0, 5)).T, np.zeros((600, 500), "V0").T, np.zeros((600, 500), "S0").T, np.zeros(())):
        got = permute.contiguous(a)
        assert (got.shape, got.dtype) == (a.shape, a.dtype)


@pytest.mark.parametrize("shape", [(2048, 2048), (64, 257, 255), (1 << 20, 4), (4, 1 << 20), (100, 3, 13983)])
def test_large_arrays_with_the_default_limits(shape):
    """The arrays exceed every limit: blocks, threads and an aligned result are used."""
    a = np.random.default_rng(3).integers(0, 1 << 32, shape, dtype=np.uint32)
    for axes in (range(len(shape))[::-1], (*range(1, len(shape)), 0)):
        permuted = a.transpose(*axes)
        got = permute.contiguous(permuted)
        assert got.ctypes.data % permute.LINE == 0
        assert np.array_equal(got, permuted)


@pytest.mark.parametrize("count", ["1", "2"])
def test_a_copy_needs_little_memory_besides_its_result(count, monkeypatch):
    monkeypatch.setenv("XARRAYOPS_THREADS", count)
    a = np.ones((4096, 4096), np.float32)
    target = views.aligned(a.shape, a.dtype)
    permute.copy(a.T, target)  # the thread pool exists, and NumPy's caches are filled
    tracemalloc.start()
    permute.copy(a.T, target)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * permute.BLOCK * int(count)


def test_large_copies_use_threads(monkeypatch):
    monkeypatch.setenv("XARRAYOPS_THREADS", "3")
    seen = []
    run = threads.run
    monkeypatch.setattr(threads, "run", lambda work, tasks: seen.append(1) or run(work, tasks))
    a = np.arange(1 << 22, dtype=np.float32).reshape(2048, 2048)
    assert np.array_equal(permute.contiguous(a.T), a.T)
    assert seen
