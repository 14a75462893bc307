"""Checks of sparse parts: the message names the first invalid item, as loops in plain Python find it."""

import re
import tracemalloc

import numpy as np
import pytest
import scipy.sparse

from xarrayops._host.sparse import check
from xarrayops.plugin.sparse import Parts

CHUNKS = [1, 2, 3, 5, 1 << 16]
INDEX_DTYPES = [np.int32, np.int64]
DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", "c8", "c16", "G"]
KINDS = {
    "compressed": [r"indptr\[0\]", r"less than", r"ends with", r"is -\d+$", r"but there are", r"twice", r"not sorted"],
    "coo": [r"is -\d+$", r"but shape", r"twice", r"not sorted"],
}
"""For each kind of fault in the values, a pattern that only its message matches."""


def compressed_fault(indptr, indices, data, shape, axis=0, block=None, canonical=True):
    """The fault of a matrix compressed along an axis; with ``block``, of blocks."""
    format = ("csc" if axis else "csr") if block is None else "bsr"
    return check.fault(Parts(format, shape, data, indices, indptr, block=block), canonical=canonical)


def coo_fault(coords, data, shape, canonical=True):
    return check.fault(Parts("coo", shape, data, coords=coords), canonical=canonical)


def expected_compressed_fault(indptr, indices, extent, line, across, canonical):
    """The expected message, found item by item in lists."""
    if indptr[0] != 0:
        return f"indptr[0] is {indptr[0]}, not 0"
    for i in range(1, len(indptr)):
        if indptr[i] < indptr[i - 1]:
            return f"indptr[{i}] is {indptr[i]}, less than indptr[{i - 1}], which is {indptr[i - 1]}"
    if indptr[-1] != len(indices):
        return f"indptr ends with {indptr[-1]}, but there are {len(indices)} entries"
    lines = [row for row in range(len(indptr) - 1) for _ in range(indptr[row], indptr[row + 1])]
    for k, index in enumerate(indices):
        if index < 0:
            return f"indices[{k}] is {index}"
        if index >= extent:
            return f"indices[{k}], in {line} {lines[k]}, is {index}, but there are {extent} {across}s"
    for k in range(1, len(indices) if canonical else 0):
        here, before = indices[k], indices[k - 1]
        if lines[k] == lines[k - 1] and here == before:
            return f"{line} {lines[k]} has {across} {here} twice, at entries {k - 1} and {k}"
        if lines[k] == lines[k - 1] and here < before:
            return f"{line} {lines[k]} is not sorted: {across} {here} at entry {k} comes after {across} {before}"
    return None


def expected_coo_fault(coords, shape, canonical):
    """The expected message, found item by item in lists."""
    entries = list(zip(*coords, strict=True))
    for k, entry in enumerate(entries):
        for axis, index in enumerate(entry):
            if index < 0:
                return f"coords[{axis}, {k}] is {index}"
            if index >= shape[axis]:
                return f"coords[{axis}, {k}] is {index}, but shape[{axis}] is {shape[axis]}"
    for k in range(1, len(entries) if canonical else 0):
        if entries[k] == entries[k - 1]:
            return f"coords has {entries[k]} twice, at entries {k - 1} and {k}"
        if entries[k] < entries[k - 1]:
            return f"coords is not sorted: {entries[k]} at entry {k} comes after {entries[k - 1]}"
    return None


def kind_of(kinds, fault):
    return None if fault is None else next(kind for kind in kinds if re.search(kind, fault))


def replace_items(random, array, extent, dtype):
    """Replace up to two items by values that are likely invalid."""
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    for _ in range(random.integers(0, 3) if array.size else 0):
        other = int(array.flat[random.integers(array.size)])
        replacements = [-1, 0, extent - 1, extent, least, most, other, max(other - 1, least), min(other + 1, most)]
        array.flat[random.integers(array.size)] = replacements[random.integers(len(replacements))]


def strided(random, array):
    """The same values, contiguous, with steps, or reversed in memory; some read-only."""
    step = int(random.choice([1, 2, -1, -3]))
    memory = np.full((*array.shape[:-1], max(1, array.shape[-1] * abs(step))), -9, array.dtype)
    view = memory[..., ::step][..., : array.shape[-1]]
    view[...] = array
    view.flags.writeable = bool(random.integers(2))
    return view


@pytest.mark.parametrize("chunk", CHUNKS)
@pytest.mark.parametrize("dtype", INDEX_DTYPES)
def test_compressed_fault_names_the_first_invalid_item(chunk, dtype, monkeypatch):
    monkeypatch.setattr(check, "CHUNK", chunk)
    random = np.random.default_rng(chunk)
    found_kinds = set()
    for trial in range(1500):
        lines, extent = (int(n) for n in random.integers(0, 7, 2))
        dense = random.random((lines, extent)) < random.choice([0.05, 0.3, 0.8])
        indptr = np.concatenate([[0], dense.sum(1).cumsum()]).astype(dtype)
        indices = dense.nonzero()[1].astype(dtype)
        if trial % 2:
            replace_items(random, indices, extent, dtype)
        if trial % 4 == 0:
            replace_items(random, indptr, len(indices), dtype)
        canonical, axis = bool(random.integers(4)), int(random.integers(2))
        shape, names = (lines, extent), ("row", "column")
        expected = expected_compressed_fault(
            indptr.tolist(), indices.tolist(), extent, names[axis], names[1 - axis], canonical
        )
        given = strided(random, indptr), strided(random, indices), strided(random, np.ones(len(indices)))
        fault = compressed_fault(*given, shape if axis == 0 else shape[::-1], axis=axis, canonical=canonical)
        assert fault == expected
        found_kinds.add(kind_of(KINDS["compressed"], expected))
    assert found_kinds == {None, *KINDS["compressed"]}


@pytest.mark.parametrize("chunk", CHUNKS)
@pytest.mark.parametrize("dtype", INDEX_DTYPES)
def test_coo_fault_names_the_first_invalid_item(chunk, dtype, monkeypatch):
    monkeypatch.setattr(check, "CHUNK", chunk)
    random = np.random.default_rng(chunk)
    found_kinds = set()
    for trial in range(1500):
        shape = tuple(int(n) for n in random.integers(0, 5, random.integers(1, 5)))
        coords = np.stack((random.random(shape) < random.choice([0.05, 0.3, 0.8])).nonzero()).astype(dtype)
        if trial % 2:
            replace_items(random, coords, shape[-1], dtype)
        canonical = bool(random.integers(4))
        expected = expected_coo_fault(coords.tolist(), shape, canonical)
        data = np.ones(coords.shape[1])
        assert coo_fault(strided(random, coords), strided(random, data), shape, canonical=canonical) == expected
        found_kinds.add(kind_of(KINDS["coo"], expected))
    assert found_kinds == {None, *KINDS["coo"]}


@pytest.mark.parametrize("index_dtype", INDEX_DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_scipys_containers_are_valid(dtype, index_dtype):
    dense = np.random.default_rng(0).random((12, 20)) < 0.2
    csr, coo = scipy.sparse.csr_array(dense), scipy.sparse.coo_array(dense)
    matrices = [
        (csr, {}),
        (csr.tocsc(), {"axis": 1}),
        (csr.tobsr((3, 5)), {"block": (3, 5)}),
        (csr.tobsr((1, 1)), {"block": (1, 1)}),
    ]
    for matrix, options in matrices:
        matrix.sort_indices()  # SciPy does not sort blocks
        parts = matrix.indptr.astype(index_dtype), matrix.indices.astype(index_dtype), matrix.data.astype(dtype)
        assert compressed_fault(*parts, matrix.shape, **options) is None
    assert coo_fault(np.stack(coo.coords).astype(index_dtype), coo.data.astype(dtype), coo.shape) is None


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_low_precision(name):
    data = np.ones(1, getattr(pytest.importorskip("ml_dtypes"), name))
    assert coo_fault(np.zeros((1, 1), np.int64), data, (1,)) is None


@pytest.mark.parametrize("dtype", INDEX_DTYPES)
@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (4, 6)])
def test_parts_without_entries(shape, dtype):
    none, data = np.empty(0, dtype), np.empty(0)
    for axis in (0, 1):
        assert compressed_fault(np.zeros(shape[axis] + 1, dtype), none, data, shape, axis=axis) is None
    assert coo_fault(np.empty((2, 0), dtype), data, shape) is None
    assert coo_fault(np.empty((1, 0), dtype), data, shape[:1]) is None


def test_messages_count_blocks():
    indptr, indices, data = np.array([0, 1, 2]), np.array([0, 4]), np.ones((2, 3, 5))
    expected = "indices[1], in block row 1, is 4, but there are 4 block columns"
    assert compressed_fault(indptr, indices, data, (6, 20), block=(3, 5)) == expected
    assert compressed_fault(indptr, indices, data, (6, 25), block=(3, 5)) is None


INDPTR, INDICES, DATA, SHAPE = np.array([0, 1, 3]), np.array([1, 0, 2]), np.ones(3), (2, 3)
BLOCKS, WIDE = np.ones((3, 2, 2)), (4, 6)
RECORD = np.zeros(3, [("a", "i4")])
FORM = {
    "indptr is a list, not a NumPy array": {"indptr": [0, 1, 3]},
    "indptr is 0-D, not 1-D": {"indptr": np.array(0)},
    "indices is 2-D, not 1-D": {"indices": INDICES[None]},
    "data is 3-D, not 1-D": {"data": BLOCKS},
    "data is 1-D, not 3-D": {"block": (2, 2)},
    "indices has dtype float64, not int32 or int64": {"indices": INDICES.astype(float)},
    "indices has dtype bool, not int32 or int64": {"indices": INDICES.astype(bool)},
    "indices has dtype object, not int32 or int64": {"indices": INDICES.astype(object)},
    "indptr has dtype uint64, not int32 or int64": {"indptr": INDPTR.astype(np.uint64)},
    "indptr has dtype int16, not int32 or int64": {"indptr": INDPTR.astype(np.int16)},
    f"indptr has dtype {np.dtype('i8').newbyteorder()}, not int32 or int64": {
        "indptr": INDPTR.astype(np.dtype("i8").newbyteorder())
    },
    "indptr has dtype int32, but indices has int64": {"indptr": INDPTR.astype(np.int32)},
    "data has dtype object, not bool, integer, float or complex": {"data": DATA.astype(object)},
    "data has dtype <U3, not bool, integer, float or complex": {"data": DATA.astype("<U3")},
    "data has dtype |V4, not bool, integer, float or complex": {"data": np.zeros(3, "V4")},
    "data has dtype datetime64[s], not bool, integer, float or complex": {"data": np.zeros(3, "M8[s]")},
    f"data has dtype {RECORD.dtype}, not bool, integer, float or complex": {"data": RECORD},
    f"data has dtype {np.dtype('f8').newbyteorder()}, not in the byte order of this machine": {
        "data": DATA.astype(np.dtype("f8").newbyteorder())
    },
    "shape is a list, not a tuple of ints": {"shape": [2, 3]},
    "shape must have 2 integers, but it has 3": {"shape": (2, 3, 1)},
    "shape[1] is a bool, not an int": {"shape": (2, True)},
    "shape[0] is a float, not an int": {"shape": (2.0, 3)},
    "shape[1] is less than 0": {"shape": (2, -(10**5000))},
    "shape[0] is more than 9223372036854775807, the maximum for int64 indices": {"shape": (10**5000, 3)},
    "shape[1] is more than 2147483647, the maximum for int32 indices": {
        "indptr": INDPTR.astype(np.int32),
        "indices": INDICES.astype(np.int32),
        "shape": (2, 2**31),
    },
    "block is a list, not a tuple of ints": {"data": BLOCKS, "shape": WIDE, "block": [2, 2]},
    "block must have 2 integers, but it has 1": {"data": BLOCKS, "shape": WIDE, "block": (2,)},
    "block[0] is less than 1": {"data": BLOCKS, "shape": WIDE, "block": (0, 2)},
    "block[1] is a bool, not an int": {"data": BLOCKS, "shape": WIDE, "block": (2, True)},
    "data has blocks of shape (2, 2), not (2, 3)": {"data": BLOCKS, "shape": WIDE, "block": (2, 3)},
    "shape[1] is 7, not a multiple of block[1], which is 2": {"data": BLOCKS, "shape": (4, 7), "block": (2, 2)},
    "indptr has 3 items, not 3 + 1 = 4": {"shape": (3, 3)},
    f"indptr has 3 items, not {2**62} + 1 = {2**62 + 1}": {"shape": (2**62, 2**62)},
    "indptr has 0 items, not 0 + 1 = 1": {"indptr": INDPTR[:0], "shape": (0, 3)},
    "indices has 3 entries, but data has 2": {"data": DATA[:2]},
    "indptr[1] is -4611686018427387904, less than indptr[0], which is 0": {"indptr": np.array([0, -(2**62), 3])},
    "indptr[2] is 3, less than indptr[1], which is 4611686018427387904": {"indptr": np.array([0, 2**62, 3])},
    "indptr ends with 4611686018427387904, but there are 3 entries": {"indptr": np.array([0, 1, 2**62])},
}


@pytest.mark.parametrize("message", FORM)
def test_messages_for_invalid_compressed_forms(message):
    valid = {"indptr": INDPTR, "indices": INDICES, "data": DATA, "shape": SHAPE}
    assert compressed_fault(**valid) is None
    assert compressed_fault(**valid | FORM[message]) == message


COORDS = np.array([[0, 1, 1], [1, 0, 2]])
COO_FORM = {
    "coords is a list, not a NumPy array": {"coords": [INDICES, INDICES]},
    "coords[1] is a list, not a NumPy array": {"coords": (INDICES, INDICES.tolist())},
    "coords[0] has dtype uint32, not int32 or int64": {"coords": (INDICES.astype(np.uint32), INDICES)},
    "coords[1] is 2-D, not 1-D": {"coords": (INDICES, COORDS)},
    "coords[1] has 2 entries, but coords[0] has 3": {"coords": (INDICES, INDICES[:2])},
    "coords[0, 2] is 2, but shape[0] is 2": {"coords": (np.array([0, 1, 2]), INDICES.astype(np.int32))},
    "coords is 1-D, not 2-D": {"coords": INDICES},
    "coords has dtype uint32, not int32 or int64": {"coords": COORDS.astype(np.uint32)},
    "coords has no rows, but needs one for each axis": {"coords": COORDS[:0], "shape": ()},
    "data is 2-D, not 1-D": {"data": DATA[None]},
    "data has dtype object, not bool, integer, float or complex": {"data": DATA.astype(object)},
    "coords must have shape (1, nnz) for a shape of 1 axes, but has 2 rows": {"shape": (2,)},
    "shape[0] is less than 0": {"shape": (-1, 3)},
    "coords has 3 entries, but data has 2": {"data": DATA[:2]},
}


@pytest.mark.parametrize("message", COO_FORM)
def test_messages_for_invalid_coo_forms(message):
    valid = {"coords": COORDS, "data": DATA, "shape": SHAPE}
    assert coo_fault(**valid) is None
    assert coo_fault(**valid | COO_FORM[message]) == message


@pytest.mark.parametrize("dtype", INDEX_DTYPES)
def test_no_integer_overflow(dtype):
    """Differences of these indices are out of the range of their dtype."""
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    ends, data = np.array([0, most - 1], dtype), np.ones(2)
    assert compressed_fault(np.array([0, 2], dtype), ends, data, (1, most)) is None
    assert "not sorted" in compressed_fault(np.array([0, 2], dtype), ends[::-1], data, (1, most))
    low, high = np.array([0, least], dtype), np.array([0, most], dtype)
    assert compressed_fault(np.array([0, 2], dtype), low, data, (1, most)) == f"indices[1] is {least}"
    assert f"is {most}, but" in compressed_fault(np.array([0, 2], dtype), high, data, (1, most))
    assert compressed_fault(np.array([0, most, least], dtype), ends, data, (2, most)).startswith("indptr[2]")
    assert coo_fault(np.stack([ends, ends[::-1]]), data, (most, most)) is None


def test_huge_arrays_with_a_stride_of_0_take_no_time():
    """Arrays of 2**50 entries that all share the memory of one; to read them all would take hours."""
    many, one = 2**50, np.zeros(1, np.int64)
    zeros, data = np.broadcast_to(one, many), np.broadcast_to(np.ones(1), many)
    short = np.array([0, 1, many])
    assert compressed_fault(short, zeros, data, (2, 1)) == "row 1 has column 0 twice, at entries 1 and 2"
    assert compressed_fault(short, zeros, data, (2, 1), canonical=False) is None
    assert compressed_fault(zeros, one[:0], data[:0], (many - 1, 1)) is None
    assert compressed_fault(zeros, one, data[:1], (many - 1, 1)) == "indptr ends with 0, but there are 1 entries"
    coords = np.broadcast_to(one, (2, many))
    assert coo_fault(coords, data, (1, 1)) == "coords has (0, 0) twice, at entries 0 and 1"
    assert coo_fault(coords, data, (1, 1), canonical=False) is None


def test_a_stride_of_0_and_rows_of_one_entry(monkeypatch):
    monkeypatch.setattr(check, "CHUNK", 4)
    indptr = np.append(np.arange(50), 51)
    column, data = np.broadcast_to(np.zeros(1, np.int64), 51), np.ones(51)
    assert compressed_fault(indptr, column, data, (50, 1)) == "row 49 has column 0 twice, at entries 49 and 50"
    assert compressed_fault(indptr[:50], column[:49], data[:49], (49, 1)) is None


def test_masked_items_are_checked():
    masked = np.ma.masked_array([1, 0, 99], [False, False, True])
    assert compressed_fault(INDPTR, masked, DATA, SHAPE) == "indices[2], in row 1, is 99, but there are 3 columns"


@pytest.mark.parametrize("lines", [2, 400_000])
def test_checks_need_little_memory(lines):
    """For many entries, and for many empty rows at one entry."""
    count = 400_000
    indptr = np.repeat([0, count // 2, count], [lines // 2, lines // 2, 1])
    indices, data, coords = np.tile(np.arange(count // 2), 2), np.ones(count), np.arange(count)[None]
    tracemalloc.start()
    try:
        assert compressed_fault(indptr, indices, data, (lines, count)) is None
        assert coo_fault(coords, data, (count,)) is None
        assert tracemalloc.get_traced_memory()[1] < 20 * check.CHUNK < indices.nbytes / 2
    finally:
        tracemalloc.stop()
