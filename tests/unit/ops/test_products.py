"""xo.matmul with out_dtype="int32": exact, with the same bits on every library."""

import numpy as np
import pytest

import xarrayops as xo

LIBRARIES = ("numpy", "torch", "jax", "dask", "array_api_strict")
KINDS = [("int8", "int8"), ("int8", "uint8"), ("uint8", "int8"), ("uint8", "uint8")]
BLOCKS = {"int8 int8": 1024, "int8 uint8": 514, "uint8 int8": 514, "uint8 uint8": 258}
GREATEST = {"int8 int8": 131071, "int8 uint8": 65793, "uint8 int8": 65793, "uint8 uint8": 33025}


@pytest.fixture(params=LIBRARIES)
def library(request):
    module = pytest.importorskip({"dask": "dask.array"}.get(request.param, request.param))
    return module if request.param == "array_api_strict" else request.param


def operand(rng, dtype, shape, kind="random"):
    """Random values, the extremes, or an extreme number everywhere."""
    limits = np.iinfo(dtype)
    extreme = limits.min if dtype == "int8" else limits.max
    if kind == "equal":
        return np.full(shape, extreme, dtype)
    if kind == "odd":
        return np.full(shape, 127 if dtype == "int8" else 255, dtype)
    if kind == "extremes":
        return rng.choice(np.asarray([limits.min, limits.max, extreme + (1 if extreme < 0 else -1)], dtype), shape)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def check(library, a, b):
    """Equal to the product of int64, bit for bit."""
    got = xo.matmul(xo.convert(a, library), xo.convert(b, library), out_dtype="int32")
    got = np.asarray(xo.convert(xo.compute(got), "numpy"))
    want = np.asarray(a.astype(np.int64) @ b.astype(np.int64))
    assert got.dtype == np.int32
    assert got.shape == want.shape
    assert got.tobytes() == want.astype(np.int32).tobytes()


def cases(count, seed):
    """Operands with numbers of terms at the bounds of blocks, at random ones, and with permuted terms."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        first, second = KINDS[i % 4]
        block = BLOCKS[f"{first} {second}"]
        bounds = [block - 1, block, block + 1, 2 * block, 2 * block + 1]
        terms = int(rng.choice([*bounds, int(rng.integers(1, 3 * block))]))
        rows, columns = rng.integers(1, 5, 2)
        kinds = rng.choice(["random", "extremes", "equal", "odd"], 2)
        a = operand(rng, first, (rows, terms), kinds[0])
        b = operand(rng, second, (terms, columns), kinds[1])
        order = rng.permutation(terms)
        yield a[:, order], b[order]


@pytest.mark.parametrize("seed", range(2))
def test_products_are_exact(library, seed):
    for a, b in cases({"numpy": 200, "torch": 100}.get(library, 8), seed):
        check(library, a, b)


def test_long_sums_of_large_values_are_exact(library):
    """127 * 127 * 4000 is more than 2**24, so a sum of all terms in float32 would be rounded."""
    a, b = np.full((20, 4001), 127, np.int8), np.full((4001, 20), 127, np.int8)
    a[:, ::7] = 126
    a[:, -1] = 1
    check(library, a, b)


def test_ten_thousand_products_are_exact():
    for a, b in cases(10_000, 7):
        check("numpy", a, b)


@pytest.mark.parametrize("library", ["torch", "jax", "dask"])
def test_ten_thousand_values_of_products_are_exact(library):
    """Fewer shapes than cases: JAX compiles each, and Dask builds a graph."""
    pytest.importorskip({"dask": "dask.array"}.get(library, library))
    rng = np.random.default_rng(8)
    for first, second in KINDS:
        block = BLOCKS[f"{first} {second}"]
        for terms in (block - 1, block, block + 1, 3 * block + 1):
            for kind in ("random", "extremes", "equal", "odd"):
                a = operand(rng, first, (157, 1, terms), kind)
                b = operand(rng, second, (157, terms, 1), kind)
                check(library, a, b)


@pytest.mark.parametrize(("first", "second"), KINDS)
def test_the_greatest_sums_fit(library, first, second):
    greatest = GREATEST[f"{first} {second}"]
    rng = np.random.default_rng(0)
    a, b = operand(rng, first, (1, greatest), "equal"), operand(rng, second, (greatest, 1), "equal")
    check(library, a, b)
    a, b = (np.concatenate([x, x[:1, :1]], axis=axis) for axis, x in ((1, a), (0, b)))
    x, y = xo.convert(a, library), xo.convert(b, library)
    with pytest.raises(
        OverflowError, match=f"sums of {greatest + 1} products may exceed int32, sums of {greatest} cannot"
    ):
        xo.matmul(x, y, out_dtype="int32")


@pytest.mark.parametrize("terms", [7, 1500])
def test_views_and_stacks(terms):
    rng = np.random.default_rng(3)
    a, b = operand(rng, "int8", (2, 3, 2 * terms, 6)), operand(rng, "uint8", (3, 5, terms))
    check("numpy", a[..., ::-2, ::2].swapaxes(-1, -2), b.swapaxes(-1, -2)[:, ::-1])
    check("torch", np.ascontiguousarray(a[0, 0, :terms].T), b[0].T)
    read_only = b[1]
    read_only.flags.writeable = False
    check("numpy", read_only, a[0, 0, :terms])


def test_strides_of_axes_with_one_element():
    """oneDNN reads them, and float32 does not hold the sums."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(9)
    for shape, strides in (((1, 1025), (1, 1)), ((1, 1025), (1, 2)), ((4, 1), (1, 7)), ((4, 1), (5, 3))):
        flat = torch.from_numpy(rng.integers(126, 128, 3000).astype(np.int8))
        x, y = flat.as_strided(shape, strides), torch.full((shape[1], 3), 127, dtype=torch.int8)
        for first, second in ((x, y), (y.T, x.T)):
            want = first.numpy().astype(np.int64) @ second.numpy().astype(np.int64)
            assert np.array_equal(xo.matmul(first, second, out_dtype="int32").numpy(), want)


def test_chunks_of_dask():
    da = pytest.importorskip("dask.array")
    rng = np.random.default_rng(4)
    a, b = operand(rng, "int8", (2, 30, 3000), "equal"), operand(rng, "int8", (3000, 20), "odd")
    x, y = da.from_array(a, chunks=(1, 11, 700)), da.from_array(b, chunks=(900, 7))
    result = xo.matmul(x, y, out_dtype="int32")
    assert isinstance(result, da.Array)
    assert result.chunks == ((1, 1), (11, 11, 8), (7, 7, 6))
    assert np.array_equal(result.compute(), a.astype(np.int64) @ b.astype(np.int64))
    rows = x[0][da.from_array(np.arange(30) % 2 == 0, chunks=7)]
    unknown = xo.matmul(rows, y, out_dtype="int32")
    assert np.array_equal(unknown.compute(), a[0, ::2].astype(np.int64) @ b.astype(np.int64))
    with pytest.raises(xo.Unsupported, match="sizes that are not computed"):
        xo.matmul(rows.T, rows, out_dtype="int32")


def test_compiled_by_torch():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(5)
    for first, second in KINDS[:2]:
        a, b = operand(rng, first, (3, 1100)), operand(rng, second, (1100, 2))
        run = torch.compile(lambda x, y: xo.matmul(x, y, out_dtype="int32") + 1, fullgraph=True, backend="eager")
        got = run(torch.from_numpy(a), torch.from_numpy(b))
        assert np.array_equal(got.numpy(), a.astype(np.int64) @ b.astype(np.int64) + 1)


def test_vectorised_by_torch():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(12)
    a, b = operand(rng, "int8", (4, 3, 40)), operand(rng, "int8", (40, 6))
    each = torch.vmap(lambda x, y: xo.matmul(x, y, out_dtype="int32"), in_dims=(0, None))
    got = each(torch.from_numpy(a), torch.from_numpy(b))
    assert np.array_equal(got.numpy(), a.astype(np.int64) @ b.astype(np.int64))


def test_compiled_by_jax():
    jax = pytest.importorskip("jax")
    rng = np.random.default_rng(6)
    a, b = operand(rng, "int8", (2, 3, 1100)), operand(rng, "uint8", (1100, 2))
    want = a.astype(np.int64) @ b.astype(np.int64)
    product = jax.jit(lambda x, y: xo.matmul(x, y, out_dtype="int32"))
    assert np.array_equal(product(a, jax.numpy.asarray(b)), want)
    each = jax.vmap(lambda x, y: xo.matmul(x, y, out_dtype="int32"), in_axes=(0, None))
    assert np.array_equal(each(jax.numpy.asarray(a), jax.numpy.asarray(b)), want)


HALVES = {"float16": 2.0**-11, "bfloat16": 2.0**-8}
"""Half the distance of 1 and the next number."""
FORMS = {
    "matmul": lambda xp, a, b: xp.matmul(a, b),
    "tensordot": lambda xp, a, b: xp.tensordot(a, b, axes=1),
    "einsum": lambda xp, a, b: xp.einsum("ij,jk->ik", a, b),
    "einsum of three": lambda xp, a, b: xp.einsum("ij,jk,kl->il", a, b, b[:3].T),
    "vecdot": lambda xp, a, b: xp.vecdot(a[:3], b[:, :3].T),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "dask"])
def test_products_of_half_precision_are_rounded_once(library, dtype, form):
    pytest.importorskip({"dask": "dask.array"}.get(library, library))
    if dtype == "bfloat16" and library != "torch":
        pytest.importorskip("ml_dtypes")
    rng = np.random.default_rng(11)
    wide = [np.ldexp(rng.integers(-127, 128, shape), -7) for shape in ((40, 600), (600, 30))]
    a, b = (xo.astype(xo.convert(x.astype(np.float32), library), dtype) for x in wide)
    got = FORMS[form](xo, a, b)
    assert got.dtype == xo.asarray(0, dtype=dtype, like=a).dtype
    want, magnitude = FORMS[form](np, *wide), FORMS[form](np, *map(np.abs, wide))
    got = np.asarray(xo.convert(xo.compute(xo.astype(got, "float32")), "numpy"))
    assert np.all(np.abs(got - want) <= np.abs(want) * HALVES[dtype] + magnitude * 2.0**-20)


class TestRefusals:
    x8, x32 = np.ones((2, 3), np.int8), np.ones((3, 2), np.int32)

    def test_dtypes(self):
        for x1, x2, dtype in (
            (self.x8, self.x8.T, "int64"),
            (self.x8, self.x8.T, np.float32),
            (self.x8, self.x32, "int32"),
            (self.x32, self.x32.T, "int32"),
        ):
            with pytest.raises(
                xo.Unsupported, match=r"xo.matmul\(numpy int.*out_dtype= must be int32.*Instead: xo.matmul\("
            ):
                xo.matmul(x1, x2, out_dtype=dtype)
            with pytest.raises(xo.Unsupported, match="out_dtype= must be int32"):
                xo.explain("matmul", x1, x2, out_dtype=dtype)

    def test_shapes(self, library):
        x = xo.convert(self.x8, library)
        with pytest.raises(ValueError, match="the contracted axes have different lengths"):
            xo.matmul(x, x, out_dtype="int32")
        with pytest.raises(ValueError, match="an operand is 0-d"):
            xo.matmul(x, x[0, 0], out_dtype="int32")

    def test_libraries(self):
        torch = pytest.importorskip("torch")
        with pytest.raises(xo.MixedBackends):
            xo.matmul(self.x8, torch.ones((3, 2), dtype=torch.int8), out_dtype="int32")
        with pytest.raises(xo.BackendNotFound):
            xo.matmul([[1]], [[1]], out_dtype="int32")

    def test_sparse_containers(self):
        sparse = pytest.importorskip("scipy.sparse")
        with pytest.raises(xo.Unsupported, match="sparse"):
            xo.matmul(sparse.csr_array(self.x8), self.x8.T, out_dtype="int32")

    def test_positions(self):
        with pytest.raises(TypeError):
            xo.matmul(self.x8, self.x8.T, "int32")


def test_the_dtype_may_be_native():
    torch = pytest.importorskip("torch")
    x = torch.ones((2, 2), dtype=torch.int8)
    assert xo.matmul(x, x, out_dtype=torch.int32).dtype is torch.int32
    assert xo.matmul(np.ones((2, 2), np.int8), np.ones((2, 2), np.int8), out_dtype=np.int32).dtype == np.int32


def test_explain_shows_the_kernels():
    x = np.ones((2, 2), np.int8)
    assert xo.explain("matmul", x, x, out_dtype="int32").chosen == "numpy:matmul_int32"
    assert xo.explain("matmul", x, x).chosen == "numpy:matmul"
    torch = pytest.importorskip("torch")
    y = torch.from_numpy(x)
    listed = xo.explain("matmul", y, torch.ones((2, 2), dtype=torch.uint8), out_dtype="int32")
    assert listed.chosen == "torch:generic"
    assert [(c.name, c.ok) for c in listed.candidates] == [
        *(("torch:int_mm", False), ("torch:tensor_cores", False), ("torch:generic", True)),
    ]
    jax = pytest.importorskip("jax")
    z = jax.numpy.asarray(x)
    if jax.default_backend() == "cpu":
        assert xo.explain("matmul", z, z, out_dtype="int32").chosen == "jax:dot_general"
        unsigned = jax.numpy.asarray(x.astype(np.uint8))
        assert xo.explain("matmul", unsigned, z, out_dtype="int32").chosen == "jax:float32"
        traced = []
        jax.jit(lambda a: traced.append(xo.explain("matmul", a, z, out_dtype="int32").chosen))(z)
        assert traced == ["jax:dot_general or float32"]


@pytest.mark.parametrize(("first", "second"), KINDS)
@pytest.mark.parametrize(
    "shapes", [((30, 700), (700, 90)), ((2, 40, 300), (300, 50)), ((9000,), (9000,)), ((2, 3), (3, 2))]
)
def test_products_in_the_dtype_of_the_operands_wrap(first, second, shapes):
    """Also sums beyond int32: 2**18 products of -128 and -128 are 2**32."""
    rng = np.random.default_rng(4)
    a, b = operand(rng, first, shapes[0], "extremes"), operand(rng, second, shapes[1])
    for library in ("numpy", "jax"):
        if library == "jax":
            pytest.importorskip("jax")
        got = xo.matmul(xo.convert(a, library), xo.convert(b, library))
        want = np.matmul(a, b)
        np.testing.assert_array_equal(xo.convert(got, "numpy"), want)
        assert xo.convert(got, "numpy").dtype == want.dtype
        many = np.full((1, (1 << 18) + 3), -128, np.int8)
        x = xo.convert(many, library)
        assert xo.matmul(x, xo.matrix_transpose(x)).tolist() == np.matmul(many, many.T).tolist()


def test_shapes_without_a_product_are_refused():
    for library in ("numpy", "jax"):
        if library == "jax":
            pytest.importorskip("jax")
        a = xo.convert(np.ones((200, 100), np.int8), library)
        with pytest.raises((ValueError, TypeError)):
            xo.matmul(a, a)


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("second", [False, True])
def test_vecdot_of_conjugate_views_can_be_read_by_numpy(first, second):
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(5).normal(size=(2, 4)).astype("float32").view("complex64")
    operands = [x.conj() if conjugate else x for conjugate in (first, second)]
    views = [torch.asarray(x).conj() if conjugate else torch.asarray(x) for conjugate in (first, second)]
    got = xo.vecdot(views[0][0], views[1][1])
    np.testing.assert_allclose(got.numpy(), np.vdot(operands[0][0], operands[1][1]), rtol=1e-6)
