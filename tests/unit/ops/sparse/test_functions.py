"""Functions of sparse matrices with SciPy's containers: SciPy and NumPy in double precision are the oracle."""

import numpy as np
import pytest

import xarrayops as xo

scipy_sparse = pytest.importorskip("scipy.sparse")
FORMATS = ("coo", "csr", "csc", "bsr")
ZERO_PRESERVING = ("abs", "sign", "sqrt", "square", "expm1", "log1p", "sin", "tan", "tanh", "negative")


WRONG = {
    "concat([s, s], 1)": "xo.sparse.concat takes axis by keyword: xo.sparse.concat(containers, axis=1)",
    "concat(s, s, s)": "xo.sparse.concat takes one sequence of containers: xo.sparse.concat([s1, s2, s3])",
    "count(s, 0)": "xo.sparse.count takes axis by keyword: xo.sparse.count(s, axis=0)",
    "norm(s, 1)": "xo.sparse.norm takes axis by keyword: xo.sparse.norm(s, axis=1)",
    "norm(s, ord=1)": "xo.sparse.norm: got an unexpected keyword argument 'ord'. It takes s, axis=",
    "norm()": "xo.sparse.norm: missing a required argument: 's'. It takes s, axis=",
    "sum(s, 1)": "xo.sparse.sum takes axis by keyword: xo.sparse.sum(s, axis=1)",
    "take(s, i, 1)": "xo.sparse.take takes axis by keyword: xo.sparse.take(s, indices, axis=1)",
    "take(s, i, 1, 2)": "xo.sparse.take: too many positional arguments. It takes s, indices, axis=",
    "scale(s, rows=2.0)": "xo.sparse.scale: rows is one number, and must be an array of factors. "
    "Instead: xo.sparse.multiply(s, 2.0)",
    "scale(s, columns=i[0])": "xo.sparse.scale: columns is one number, and must be an array of factors. "
    "Instead: xo.sparse.multiply(s, columns)",
}


@pytest.mark.parametrize("call", WRONG)
def test_wrong_arguments(call):
    s, i = xo.sparse.from_dense(np.eye(2)), np.asarray([0])
    with pytest.raises(TypeError) as error:
        eval(f"xo.sparse.{call}", {"xo": xo, "s": s, "i": i})
    assert str(error.value) == WRONG[call]


def test_a_library_without_containers():
    d = pytest.importorskip("dask.array").ones((2, 2))
    s = xo.sparse.from_dense(np.eye(2))
    calls = {
        "abs": lambda: xo.sparse.abs(d),
        "concat": lambda: xo.sparse.concat([d, d]),
        "convert": lambda: xo.sparse.convert(s, backend="dask"),
        "from_dense": lambda: xo.sparse.from_dense(d),
        "parts": lambda: xo.sparse.parts(d),
        "scale": lambda: xo.sparse.scale(d, rows=d[0]),
        "validate": lambda: xo.sparse.validate(d),
    }
    for name, call in calls.items():
        with pytest.raises(xo.Unsupported, match=rf"^xo\.sparse\.{name}: dask has no .*xo\.convert"):
            call()


def operand(format, *, index=np.int32, dtype="float64", seed=0, shape=(6, 8)):
    """A container with unsorted entries, duplicates, stored zeros and an empty row, and the dense matrix."""
    random = np.random.default_rng((seed, *shape))
    rows, columns = random.integers(0, shape[0] - 1, 25), random.integers(0, shape[1], 25)
    data = random.integers(-3, 4, 25).astype(dtype)
    s = scipy_sparse.coo_array((data, (rows.astype(index), columns.astype(index))), shape=shape)
    dense = np.zeros(shape, dtype)
    np.add.at(dense, (rows, columns), data)
    if format == "bsr":
        return s.tobsr((2, 4)), dense
    if format != "coo":
        order = np.argsort(rows if format == "csr" else columns, kind="stable")
        outer, inner = (rows, columns) if format == "csr" else (columns, rows)
        indptr = np.searchsorted(outer[order], np.arange(shape[0 if format == "csr" else 1] + 1))
        s = getattr(scipy_sparse, f"{format}_array")(shape, dtype=dtype)
        s.data, s.indices, s.indptr = data[order], inner[order].astype(index), indptr.astype(index)
    return s, dense


def check(got, want, format=None):
    """Check values, and that a container is canonical and has a format."""
    if format is not None:
        assert got.format == format
        xo.sparse.validate(got, canonical=True)
        got = got.toarray()
    np.testing.assert_allclose(got, want, rtol=1e-14)


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ZERO_PRESERVING)
def test_elementwise_functions(name, format, index):
    s, x = operand(format, index=index)
    check(getattr(xo.sparse, name)(s), getattr(np, name)(x), format)


@pytest.mark.parametrize("format", FORMATS)
def test_elementwise_results_share_the_indices_of_canonical_operands(format):
    s, x = operand(format)
    canonical = xo.sparse.from_dense(x, format, block=(2, 4) if format == "bsr" else None)
    for make in (
        xo.sparse.square,
        lambda s: xo.sparse.maximum(s, 0),
        lambda s: xo.sparse.scale(s, np.ones(6), np.ones(8)),
    ):
        for operand_, shared in ((canonical, True), (s, format == "bsr")):
            before, after = (xo.sparse.parts(c).single_arrays for c in (operand_, make(operand_)))
            for key, array in after.items():
                is_index = key != "data"
                assert np.shares_memory(array, before[key]) == (shared and is_index), (format, key)
            assert after["data"].flags.writeable


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [("bool", "float64"), ("int8", "float64"), ("int16", "float32"), ("int64", "float64"), ("float32", "float32")],
)
def test_integers_in_floating_point_functions(dtype, wanted):
    """The dtype of the dense function; float64 where that is float16, which SciPy's containers do not hold."""
    x = np.asarray([[0, 1], [1, 0]], dtype)
    for name in ("sqrt", "expm1", "tanh"):
        got = getattr(xo.sparse, name)(xo.sparse.from_dense(x))
        assert got.dtype == wanted
        check(got, getattr(np, name)(x.astype(wanted)), "csr")


def test_booleans_and_complex_numbers_are_refused_where_they_have_no_meaning():
    flags, numbers = (xo.sparse.from_dense(np.eye(2, dtype=dtype)) for dtype in ("bool", "complex64"))
    for use in (xo.sparse.abs, xo.sparse.negative, lambda s: xo.sparse.power(s, 2), lambda s: xo.sparse.maximum(s, 0)):
        with pytest.raises(TypeError, match=r"bool.*Instead: xo\.sparse\.multiply\(s, 1\)"):
            use(flags)
    with pytest.raises(TypeError, match="complex numbers have no order"):
        xo.sparse.maximum(numbers, numbers)


@pytest.mark.parametrize("exponent", [1, 2, 0.5, 3.0])
def test_power(exponent):
    for dtype in ("float64", "int32", "complex128"):
        s, x = operand("csr", dtype=dtype)
        with np.errstate(invalid="ignore"):
            want = np.power(x, exponent)
            check(xo.sparse.power(s, exponent), want, "csr")


@pytest.mark.parametrize("exponent", [0, -1, float("nan"), float("inf"), True, 1j, "2", None])
def test_invalid_exponents(exponent):
    with pytest.raises(ValueError, match="not a finite number above 0"):
        xo.sparse.power(operand("csr")[0], exponent)


@pytest.mark.parametrize("second", FORMATS)
@pytest.mark.parametrize("first", FORMATS)
def test_maximum(first, second):
    (a, x), (b, y) = operand(first), operand(second, seed=1)
    check(xo.sparse.maximum(a, b), np.maximum(x, y), first)
    check(xo.sparse.maximum(a, a), x, first)
    check(xo.sparse.maximum(a, 0), np.maximum(x, 0), first)


def test_maximum_keeps_nan():
    x, y = np.asarray([[np.nan, 0, 1, -1, 0]]), np.asarray([[-1.0, np.nan, np.nan, 0, -np.inf]])
    for a, b in ((x, y), (y, x), (np.ones((1, 5)), y), (y, -np.ones((1, 5)))):
        check(xo.sparse.maximum(*map(xo.sparse.from_dense, (a, b))), np.maximum(a, b), "csr")
        check(xo.sparse.maximum(xo.sparse.from_dense(a), 0), np.maximum(a, 0), "csr")


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("format", FORMATS)
def test_scale(format, index):
    s, x = operand(format, index=index)
    random = np.random.default_rng(2)
    rows, columns = random.standard_normal(6), random.standard_normal(8)
    check(xo.sparse.scale(s, rows, columns), rows[:, None] * x * columns, format)
    check(xo.sparse.scale(s, rows=rows[::-1]), rows[::-1, None] * x, format)
    check(xo.sparse.scale(s, columns=columns), x * columns, format)
    assert xo.sparse.scale(xo.sparse.from_dense(x.astype("int8")), rows=np.ones(6, "float32")).dtype == "float32"


@pytest.mark.parametrize(
    "indices",
    [[2, 0, 0, -1, 2], [], [-6], list(range(6))[::-1], [False, True, True, False, False, True], [False] * 6],
)
@pytest.mark.parametrize("format", FORMATS)
def test_take(format, indices):
    chosen = np.asarray(indices, dtype=bool if indices and isinstance(indices[0], bool) else np.int8)
    expected_format = "csr" if format == "bsr" else format
    s, x = operand(format)
    check(xo.sparse.take(s, chosen), x[chosen], expected_format)
    t, y = operand(format, shape=(4, 6)) if format != "bsr" else (s.T.tobsr((4, 2)), x.T)
    check(xo.sparse.take(t, chosen, axis=-1), y[:, chosen], expected_format)


@pytest.mark.parametrize("axis", [0, 1])
def test_an_index_out_of_range_is_named(axis):
    s, x = operand("csc")
    extent = x.shape[axis]
    for bad in (extent, -extent - 1, 2**31, 2**63 - 1):
        with pytest.raises(IndexError, match=rf"xo\.sparse\.take\(.*indices\[2\] is {bad}, but the axis has {extent}"):
            xo.sparse.take(s, np.asarray([0, -extent, bad, bad]), axis=axis)
    with pytest.raises(IndexError, match=r"indices\[0\] is 200"):
        xo.sparse.take(s, np.asarray([200], np.uint8), axis=axis)


@pytest.mark.parametrize("second", FORMATS)
@pytest.mark.parametrize("first", FORMATS)
def test_concat(first, second):
    (a, x), (b, y) = operand(first), operand(second, seed=1, dtype="complex64")
    for axis in (0, 1, -1):
        got = xo.sparse.concat([a, b, a], axis=axis)
        check(got, np.concatenate([x, y, x], axis), "csr" if first == "bsr" else first)
        assert got.dtype == "complex128"
    alone = xo.sparse.concat((a,), axis=1)
    check(alone, x, "csr" if first == "bsr" else first)
    for array in xo.sparse.parts(alone).single_arrays.values():
        assert not any(np.shares_memory(array, other) for other in xo.sparse.parts(a).single_arrays.values())


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "float32", "complex64"])
@pytest.mark.parametrize("format", FORMATS)
def test_count_norm_and_diagonal(format, dtype):
    s, x = operand(format, dtype=dtype)
    for axis in (None, 0, 1, -1):
        counted = xo.sparse.count(s, axis=axis)
        np.testing.assert_array_equal(counted, (x != 0).sum(axis=axis))
        assert counted.dtype == "int64"
        wide = x.astype("complex128" if dtype == "complex64" else "float64")
        np.testing.assert_allclose(xo.sparse.norm(s, axis=axis), np.sqrt((abs(wide) ** 2).sum(axis=axis)), rtol=1e-6)
    np.testing.assert_array_equal(xo.sparse.diagonal(s), np.diagonal(x), strict=True)
    assert xo.sparse.norm(s).dtype == ("float32" if dtype in ("float32", "complex64") else "float64")


def test_stored_zeros_are_not_counted_and_nan_is():
    s = scipy_sparse.csr_array((1, 4))
    s.data, s.indices, s.indptr = np.asarray([0.0, np.nan, 2.0, -2.0]), np.asarray([0, 1, 2, 2]), np.asarray([0, 4])
    assert int(xo.sparse.count(s)) == 1
    assert xo.sparse.count(s, axis=0).tolist() == [0, 1, 0, 0]
    assert np.isnan(xo.sparse.norm(s, axis=1)).tolist() == [True]


def test_norms_of_half_precision_do_not_overflow():
    torch = pytest.importorskip("torch")
    s = xo.sparse.from_dense(torch.full((2, 2), 300.0, dtype=torch.float16))
    got = xo.sparse.norm(s, axis=0)
    assert got.dtype is torch.float16
    torch.testing.assert_close(got, torch.full((2,), 424.26, dtype=torch.float16))


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_sums_and_norms_near_the_largest_number_are_finite(library, dtype):
    pytest.importorskip(library)
    dense = np.asarray([[1.9e38, 1.9e38, -1.9e38], [1e-15, 0, 0], [1e19, 3e19, 0]], dtype)
    s = xo.sparse.from_dense(xo.convert(dense, library, copy=True))
    for axis in (None, 0, 1):
        wide = dense.astype("complex128")
        total = np.asarray(xo.convert(xo.sparse.sum(s, axis=axis), "numpy"))
        np.testing.assert_allclose(total, wide.sum(axis), rtol=1e-6)
        norm = np.asarray(xo.convert(xo.sparse.norm(s, axis=axis), "numpy"))
        np.testing.assert_allclose(norm, np.sqrt((abs(wide) ** 2).sum(axis)), rtol=1e-6)


def test_multiplication_of_matrices_with_equal_indices():
    """It needs no search for common entries; infinity times a missing entry is not stored."""
    x = np.asarray([[np.inf, 0, -2.0], [0, np.nan, 0]])
    s = xo.sparse.from_dense(x)
    for other in (s, s.copy()):
        got = xo.sparse.multiply(s, other)
        np.testing.assert_array_equal(got.toarray(), np.where(x == 0, 0, x * x))
        assert not any(np.shares_memory(a, b) for a in (got.indices, got.indptr, got.data) for b in (s.indices, s.data))
    mixed = xo.sparse.multiply(s, s.astype("float32"))
    assert mixed.dtype == "float64"


def test_kernels_are_explained():
    s = xo.sparse.from_dense(np.eye(3))
    assert xo.explain("sparse.take", s, np.asarray([0])).chosen == "numpy:host"
    assert xo.explain("sparse.sqrt", s).chosen == "numpy:generic"
    found = xo.explain("sparse.maximum", s, 0)
    assert found.chosen == "numpy:generic"
    assert [c.reason for c in found.candidates] == ["it takes two sparse matrices", ""]


def test_invalid_containers_are_named():
    s = scipy_sparse.csr_array((2, 3))
    s.data, s.indices, s.indptr = np.ones(2), np.asarray([0, 7]), np.asarray([0, 1, 2])
    for use in (
        xo.sparse.abs,
        lambda s: xo.sparse.maximum(s, 0),
        lambda s: xo.sparse.maximum(s, s),
        lambda s: xo.sparse.scale(s, rows=np.ones(2)),
        lambda s: xo.sparse.take(s, np.asarray([1])),
        lambda s: xo.sparse.concat([s, s]),
        xo.sparse.count,
        xo.sparse.norm,
        xo.sparse.diagonal,
    ):
        with pytest.raises(xo.InvalidSparse, match=r"indices\[1\], in row 1, is 7, but there are 3 columns"):
            use(s)


def test_topk_refuses_a_matrix_whose_places_overflow():
    """JAX without 64-bit types counts in int32; a smaller number of rows has the right indices."""
    jax = pytest.importorskip("jax")
    from jax.experimental import sparse

    with jax.enable_x64(False):
        places = jax.numpy.asarray([[0, 5], [1, 3], [7, 7], [9, 2]])
        large = sparse.BCOO((jax.numpy.ones(4), places), shape=(100_000, 100_000))
        with pytest.raises(xo.Unsupported, match=r"xo.sparse.topk.*places beyond"):
            xo.sparse.topk(large, 2)
        found = xo.sparse.topk(xo.sparse.take(large, jax.numpy.arange(10), axis=0), 2)[1]
        assert found[0].tolist() == [5, 0]
        assert found[8].tolist() == [0, 1]


def test_the_quotient_of_a_matrix_without_elements():
    """All entries of it are padding."""
    pytest.importorskip("jax")
    from jax import numpy as jnp
    from jax.experimental import sparse

    padded = sparse.BCOO((jnp.ones(3), jnp.asarray([[0, 3]] * 3)), shape=(0, 3))
    assert xo.sparse.divide(padded, jnp.zeros((0, 3))).shape == (0, 3)
