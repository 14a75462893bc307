"""The sparse part of the CuPy backend, compared with dense NumPy in double precision.

Run by tests/contract/test_cupy_sparse.py, with the stand-in CuPy first on the path. The checks around products are
tested in cupy_products_suite.py.
"""

from __future__ import annotations

import itertools

import cupy
import cupyx.scipy.sparse as native
import numpy as np
import pytest
import scipy.sparse
from xarrayops_backends.cupy import _sparse

import xarrayops as xo
from xarrayops.plugin import Call
from xarrayops.plugin.sparse import VERBS

pytestmark = pytest.mark.device

FORMATS = ("coo", "csr", "csc")
DTYPES = ("bool", "float32", "float64", "complex64", "complex128")
NUMBERS = DTYPES[1:]
SHAPES = ((0, 0), (0, 5), (5, 0), (1, 1), (1, 9), (9, 1), (6, 8))


def values(dtype, size, seed=0):
    random = np.random.default_rng(seed)
    drawn = random.integers(-8, 9, size) / 4 + (1j * random.integers(-8, 9, size) if "complex" in dtype else 0)
    return drawn.astype(dtype)


def operand(format, shape=(6, 8), dtype="float64", count=30, index="int32", seed=0, kind="matrix"):
    """A container with random entries, unsorted and with many duplicates, and its dense array."""
    random = np.random.default_rng((seed, *shape))
    count = count if min(shape) else 0
    rows, columns = (random.integers(0, max(extent, 1), count).astype(index) for extent in shape)
    data = values(dtype, count, seed)
    dense = np.zeros(shape, dtype if dtype == "bool" else np.result_type(dtype, "float64"))
    np.logical_or.at(dense, (rows, columns), data) if dtype == "bool" else np.add.at(dense, (rows, columns), data)
    build = getattr(native, f"{format}_{kind}")
    if format == "coo":
        return build((cupy.array(data), (cupy.array(rows), cupy.array(columns))), shape=shape), dense
    outer, inner, extent = (rows, columns, shape[0]) if format == "csr" else (columns, rows, shape[1])
    order = np.argsort(outer, kind="stable")
    indptr = np.searchsorted(outer[order], np.arange(extent + 1)).astype(index)
    arrays = (cupy.array(data[order]), cupy.array(inner[order]), cupy.array(indptr))
    return build(arrays, shape=shape), dense


def array(shape, dtype="float64", seed=1):
    a = values(dtype, shape, seed)
    return cupy.array(a), a.astype(a.dtype if a.dtype == bool else np.result_type(dtype, "float64"))


def check(s, want, format=None, dtype=None):
    """Check that s is a canonical container of the format's class in CuPy, with the expected values."""
    if format is not None:
        assert type(s) is getattr(native, f"{format}_matrix")
        xo.sparse.validate(s, canonical=True)
        assert s.has_canonical_format
        s = s.get().toarray()
    else:
        assert type(s) is cupy.ndarray
        s = s.get()
    assert s.shape == want.shape
    assert dtype is None or s.dtype == dtype
    exact = s.dtype.name in ("bool", "float64", "complex128", "int64")
    np.testing.assert_allclose(s, want, rtol=0 if exact else 1e-5, atol=1e-13 if exact else 1e-5)


def snapshot(s):
    return [(x, x.get()) for x in vars(s).values() if isinstance(x, cupy.ndarray)]


def assert_untouched(s, before):
    for (now, _), (then, host) in zip(snapshot(s), before, strict=True):
        assert now is then
        np.testing.assert_array_equal(now.get(), host)


def conditions(x, mask):
    real = x.dtype.kind != "c"
    yield None, x != 0
    yield 0.5, np.abs(x) > 0.5
    yield -1.0, np.abs(x) > -1
    yield mask, mask.get()
    if real:
        yield "relu", x > 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_from_dense(format, dtype, shape):
    host = values(dtype, shape)
    if host.size > 9:
        host.flat[:5] = (np.nan, np.inf, -np.inf, -0.0, 0.0)
    mask = cupy.array(np.random.default_rng(3).random(shape) < 0.4)
    wide = cupy.zeros((shape[0] * 2, shape[1] * 3), dtype)
    wide[::2, 1::3] = cupy.array(host)
    for x in (cupy.array(host), cupy.array(host, order="F"), wide[::2, 1::3]):
        for where, kept in conditions(host, mask):
            s = xo.sparse.from_dense(x, format, where=where)
            check(s, np.where(kept, host, np.zeros((), dtype)), format, dtype)
            assert s.nnz == kept.sum()
            assert xo.sparse.parts(s).data.dtype == dtype
            if where is None:
                np.testing.assert_array_equal(xo.sparse.to_dense(s).get(), host)


def test_from_dense_indices():
    x, _ = array((6, 8))
    for format, index in itertools.product(FORMATS, ("int32", "int64")):
        for requested in (index, None):
            p = xo.sparse.parts(xo.sparse.from_dense(x, format, index_dtype=requested))
            found = {a.dtype.name for name, a in p.arrays.items() if name != "data"}
            assert found == {requested or "int32"}
    wide = cupy.zeros((0, 2**31))
    assert xo.sparse.parts(xo.sparse.from_dense(wide)).indices.dtype == "int64"
    with pytest.raises(xo.Unsupported, match=r"int32 indices cannot count.*Instead: index_dtype='int64'"):
        xo.sparse.from_dense(wide, index_dtype="int32")


def test_from_dense_refusals():
    x, host = array((6, 8))
    count = np.count_nonzero(host)
    assert xo.sparse.from_dense(x, nnz_max=count).nnz == count
    with pytest.raises(ValueError, match=f"{count} entries to keep, more than nnz_max={count - 1}"):
        xo.sparse.from_dense(x, nnz_max=count - 1)
    with pytest.raises(xo.Unsupported, match=r"no bsr containers. Instead: one of coo, csr, csc"):
        xo.sparse.from_dense(x, "bsr", block=(2, 2))
    with pytest.raises(xo.Unsupported, match=r"two axes, not 3. Instead: xo.reshape"):
        xo.sparse.from_dense(cupy.zeros((2, 2, 2)), "coo")
    for dtype in ("int32", "int64", "uint8", "float16"):
        with pytest.raises(xo.Unsupported, match=f"not {dtype}. Instead: xo.astype"):
            xo.sparse.from_dense(x.astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_to_dense_convert_transpose_and_sum(format, dtype, shape):
    for count, index, kind in itertools.product((0, 30), ("int32", "int64"), ("matrix", "array")):
        s, want = operand(format, shape, dtype, count, index, kind=kind)
        before = snapshot(s)
        check(xo.sparse.to_dense(s), want, dtype=dtype)
        check(xo.sparse.to_dense(xo.sparse.transpose(s)), want.T, dtype=dtype)
        for to in FORMATS:
            if to != format:
                check(xo.sparse.convert(s, to), want, to, dtype)
        for axis in (None, 0, 1, -1):
            total = np.sum(want, axis=axis)
            check(xo.sparse.sum(s, axis=axis), np.asarray(total), dtype="int64" if dtype == "bool" else dtype)
        assert_untouched(s, before)


@pytest.mark.parametrize("format", FORMATS)
def test_results_own_their_memory(format):
    x, _ = array((6, 8))
    s = xo.sparse.from_dense(x, format)
    mine = xo.sparse.parts(s).arrays.values()
    results = [xo.sparse.convert(s, to) for to in FORMATS if to != format]
    results += [xo.sparse.multiply(s, 2.0), xo.sparse.add(s, s), xo.sparse.sddmm(x[:, :1], x[:1], s)]
    results += [xo.sparse.from_parts(format, *mine, shape=s.shape, canonicalize=True)]
    for result in results:
        arrays = xo.sparse.parts(result).arrays.values()
        assert not any(xo.shares_memory(a, b) for a, b in itertools.product(arrays, (x, *mine)))


def test_transpose():
    """The transpose shares the arrays, except for coo, whose entries must be sorted."""
    s, want = operand("coo")
    check(xo.sparse.transpose(s), want.T, "coo")
    for format, other in (("csr", "csc"), ("csc", "csr")):
        s, _ = operand(format)
        transposed = xo.sparse.transpose(s)
        assert transposed.format == other
        assert transposed.indices is s.indices
        assert transposed.data is s.data


@pytest.mark.parametrize("dtypes", list(itertools.product(DTYPES, DTYPES)))
def test_matmul_of_all_dtypes(dtypes):
    (s, want), (x, host) = operand("csr", (5, 6), dtypes[0]), array((6, 4), dtypes[1])
    t, _ = operand("csc", (6, 4), dtypes[1])
    dtype = np.result_type(*dtypes)
    check(xo.matmul(s, x), want @ host, dtype=dtype)
    check(xo.matmul(x.T, xo.sparse.transpose(s)), host.T @ want.T, dtype=dtype)
    check(xo.matmul(s, t), want @ t.get().toarray(), "csr", dtype)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_matmul(format, shape):
    for count, index in itertools.product((0, 30), ("int32", "int64")):
        s, want = operand(format, shape, count=count, index=index)
        before = snapshot(s)
        for right, left in (((shape[1],), (shape[0],)), ((shape[1], 3), (3, shape[0])), ((shape[1], 0), (0, shape[0]))):
            (x, host), (y, other) = array(right), array(left)
            check(xo.matmul(s, x), want @ host, dtype="float64")
            check(xo.matmul(y, s), other @ want, dtype="float64")
            check(xo.matmul(s, cupy.asfortranarray(x)), want @ host, dtype="float64")
        for other in FORMATS:
            t, dense = operand(other, (shape[1], 7), seed=5)
            kept = snapshot(t)
            check(xo.matmul(s, t), want @ dense, format, "float64")
            assert_untouched(t, kept)
        assert_untouched(s, before)


def test_integers_beside_a_matrix_are_promoted():
    s, want = operand("csr", dtype="float32")
    check(xo.matmul(s, cupy.arange(8)), want @ np.arange(8), dtype="float64")
    with pytest.raises(xo.Unsupported, match=r"not int64. Instead: s.astype.*host: the values are on cuda:0"):
        xo.matmul(operand("csr", dtype="bool")[0], cupy.arange(8))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_add_and_multiply(format, dtype):
    for other, second, shape in itertools.product(FORMATS, DTYPES, ((6, 8), (0, 5))):
        (a, first), (b, dense) = operand(format, shape, dtype), operand(other, shape, second, seed=7)
        result = np.result_type(dtype, second)
        before = [snapshot(a), snapshot(b)]
        check(xo.sparse.add(a, b), first + dense, format, result)
        check(xo.sparse.multiply(a, b), first * dense, format, result)
        for x in (b.toarray(), b.toarray()[:1], b.toarray()[:, :1]) if shape[0] else (b.toarray(),):
            check(xo.sparse.multiply(a, x), first * x.get(), format, result)
            check(xo.sparse.multiply(x, a), first * x.get(), format, result)
        assert_untouched(a, before[0])
        assert_untouched(b, before[1])
    a, first = operand(format, dtype=dtype)
    for number in (2.5, -1j, True) if dtype != "bool" else (True, 0.5):
        product = xo.sparse.multiply(a, number)
        check(product, first * number, format, np.result_type(dtype, number))


def test_multiply_refuses_integer_results():
    a, _ = operand("csr", dtype="bool")
    with pytest.raises(xo.Unsupported, match=r"not int64. Instead: xo.astype"):
        xo.sparse.multiply(a, 2)


def test_only_entries_are_multiplied():
    s = xo.sparse.from_dense(cupy.array(np.eye(2)))
    check(xo.sparse.multiply(s, cupy.array([[3.0, np.nan], [np.inf, 4.0]])), np.diag([3.0, 4.0]), "csr")


def test_infinities_keep_their_parts():
    """Adding the imaginary part times 1j would give inf + nan j."""
    coords = cupy.zeros(2, "int32")
    s = native.coo_matrix((cupy.array([np.inf, 1j]), (coords, coords)), shape=(1, 1))
    assert complex(xo.sparse.to_dense(s)[0, 0]) == complex(np.inf, 1)
    assert complex(xo.sparse.sum(s, axis=0)[0]) == complex(np.inf, 1)


@pytest.mark.parametrize("at_once", [1, 7, 1 << 23])
@pytest.mark.parametrize("format", FORMATS)
def test_sddmm(format, at_once, monkeypatch):
    monkeypatch.setattr(_sparse, "_AT_ONCE", at_once)
    for dtype, inner, count in itertools.product(NUMBERS, (0, 1, 5), (0, 30)):
        (a, first), (b, second) = array((6, inner), dtype), array((inner, 8), dtype, seed=4)
        pattern, _ = operand(format, dtype="bool", count=count)
        pattern.data[...] = True
        places = pattern.toarray().get()
        check(xo.sparse.sddmm(a, b, pattern), np.where(places, first @ second, 0), format, dtype)


def test_sddmm_refuses_dtypes_before_it_computes():
    pattern, _ = operand("csr")
    with pytest.raises(xo.Unsupported, match=r"not int64. Instead: xo.astype.*host: the values are on cuda:0"):
        xo.sparse.sddmm(cupy.arange(6)[:, None], cupy.arange(8)[None], pattern)


def test_wide_matrices_need_no_keys_of_row_times_columns():
    shape, index = (2**40, 2**40), cupy.array([2**39, 5, 5], "int64")
    s = native.coo_matrix((cupy.array([1.0, 2.0, 3.0]), (index, index[::-1])), shape=shape)
    p = xo.sparse.parts(xo.sparse.add(s, s))
    assert p.coords.dtype == "int64"
    assert p.coords.get().tolist() == [[5, 5, 2**39], [5, 2**39, 5]]
    assert p.data.get().tolist() == [4.0, 6.0, 2.0]


def test_the_host_kernels_are_refused():
    """The memory is on the device, so the kernels of CuPy serve, or the generic functions."""
    x, _ = array((6, 8))
    s, _ = operand("csr")
    for verb in VERBS:
        kernels = {name: refusal for name, _, refusal in xo.backend(x).sparse.kernels[verb]}
        serving = {"generic", "cusparse" if verb == "matmul" else "cupy"} & kernels.keys()
        assert len(serving) == 1, verb
        if "host" in kernels:
            args = {"from_dense": (x, _sparse.Compaction("csr")), "maximum": (s, s), "concat": (0, s, s)}
            assert kernels["host"](Call(args.get(verb, (s, x)), {})) == "the values are on cuda:0, not in host memory"


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("format", FORMATS)
def test_functions_of_canonical_matrices(format, dtype):
    sparse = xo.sparse
    for shape, index in itertools.product(SHAPES, ("int32", "int64")):
        (s, x), (t, y) = (operand(format, shape, dtype, index=index, seed=seed) for seed in (0, 1))
        before = snapshot(s)
        (rows, r), (columns, c) = (array((extent,), dtype) for extent in shape)
        check(sparse.square(s), x * x, format, dtype)
        check(sparse.negative(s), -x, format, dtype)
        check(sparse.scale(s, rows, columns), r[:, None] * x * c, format, dtype)
        check(sparse.concat([s, t]), np.concatenate([x, y]), format, dtype)
        check(sparse.concat([s, t], axis=1), np.concatenate([x, y], 1), format, dtype)
        np.testing.assert_array_equal(sparse.diagonal(s).get(), np.diagonal(x))
        if "float" in dtype:
            check(sparse.maximum(s, t), np.maximum(x, y), format, dtype)
        for axis, extent in enumerate(shape):
            indices = np.arange(extent + 2)[::-1] % max(extent, 1) - extent if extent else np.arange(0)
            check(sparse.take(s, cupy.array(indices), axis=axis), np.take(x, indices, axis), format, dtype)
            np.testing.assert_array_equal(sparse.count(s, axis=axis).get(), (x != 0).sum(axis))
            np.testing.assert_allclose(sparse.norm(s, axis=axis).get(), np.linalg.norm(x, axis=axis), rtol=1e-6)
        assert_untouched(s, before)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_conversion_of_parts(format, dtype):
    for index in ("int32", "int64"):
        s, want = operand(format, dtype=dtype, index=index, kind="array")
        host = xo.sparse.convert(s, backend="numpy")
        assert scipy.sparse.issparse(host)
        assert host.format == format
        assert host.dtype == dtype
        np.testing.assert_allclose(host.toarray(), want, rtol=1e-6)
        back = xo.sparse.convert(host, backend="cupy")
        assert type(back) is getattr(native, f"{format}_matrix")
        for name, x in xo.sparse.parts(s).arrays.items():
            found = xo.sparse.parts(back).arrays[name]
            np.testing.assert_array_equal(found.get(), x.get())
            assert found.dtype == x.dtype
    with pytest.raises(xo.Unsupported, match=r"not int64. Instead: xo.astype"):
        xo.sparse.convert(scipy.sparse.csr_array(np.eye(2, dtype="int64")), backend="cupy")
    with pytest.raises(xo.Unsupported, match="cupy has no bsr"):
        xo.sparse.convert(scipy.sparse.bsr_array(np.eye(2)), backend="cupy")
    with pytest.raises(xo.Unsupported, match="two axes, not 1"):
        xo.sparse.convert(scipy.sparse.coo_array(np.ones(3)), backend="cupy")


@pytest.mark.parametrize("index", ["int32", "int64"])
def test_wrap_keeps_the_arrays_and_does_not_wait(index, monkeypatch):
    """The constructors narrow indices and read the device: get_index_dtype, and bounds.get() in _compressed.py."""
    made = [xo.sparse.parts(operand(format, index=index, kind="array")[0]) for format in FORMATS]
    with monkeypatch.context() as patch:
        patch.setattr(cupy.ndarray, "get", None)
        patch.setattr(cupy.ndarray, "__bool__", None)
        patch.setattr(cupy.ndarray, "__int__", None)
        wrapped = [_sparse.wrap(p) for p in made]
        again = [_sparse.parts(s) for s in wrapped]
    for p, q in zip(made, again, strict=True):
        assert (q.format, q.shape) == (p.format, p.shape)
        for name, x in p.arrays.items():
            found = q.arrays[name]
            assert found is x or name == "coords"
            assert found.dtype == x.dtype
            np.testing.assert_array_equal(found.get(), x.get())


def test_unsupported_containers():
    line = native.coo_array((cupy.array([1.0, 2.0, 4.0]), (cupy.array([2, 0, 2]),)), shape=(4,))
    assert xo.sparse.parts(line).coords.shape == (1, 3)
    assert xo.sparse.to_dense(line).get().tolist() == [2.0, 0.0, 5.0, 0.0]
    with pytest.raises(xo.Unsupported, match=r"a dia_matrix is not one of coo, csr, csc. Instead: s.tocsr"):
        xo.sparse.parts(native.dia_matrix((cupy.array([[1.0, 2.0, 3.0]]), cupy.array([0])), shape=(3, 3)))


def test_the_stand_in_refuses_what_cupy_refuses():
    s, _ = operand("csr")
    assert not hasattr(native, "bsr_matrix")
    with pytest.raises(NotImplementedError):
        s.tobsr()
    with pytest.raises(TypeError, match="Implicit conversion"):
        np.asarray(s.data)
    for dtype in ("int64", "float16"):
        with pytest.raises(ValueError, match="Only bool, float32"):
            native.csr_matrix(cupy.zeros((2, 2), dtype))
    with pytest.raises(ValueError, match="1-D cupy arrays"):
        native.csr_matrix((np.ones(1), np.zeros(1, "int32"), np.array([0, 1])), shape=(1, 1))
