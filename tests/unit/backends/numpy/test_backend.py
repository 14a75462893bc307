"""What the NumPy backend adds to NumPy: non-numeric dtypes are refused, ml_dtypes are supported, casts are checked."""

import re

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.backends.namespace import GENERIC, extra_module
from xarrayops._core.dispatch.arguments import signature
from xarrayops._surface import CREATION, EXTRA, SURFACE

SEQUENCES = ("arrays", "operands")
ARRAYS = (
    *("x", "x1", "x2", "condition", "indices", "repeats", "min", "max", "prepend", "append", "sorter", "rtol"),
    *SEQUENCES,
)
BARE = ("floor_divide",)
GOOD = np.ones((2, 2))
BAD = {
    "objects": np.ones((2, 2), dtype=object),
    "text": np.array([["a", "b"]] * 2),
    "bytes": np.array([[b"a", b"b"]] * 2),
    "dates": np.zeros((2, 2), dtype="datetime64[s]"),
    "spans": np.zeros((2, 2), dtype="timedelta64[s]"),
    "records": np.zeros((2, 2), dtype=[("a", "f4")]),
}
REST = {
    "axis": 0,
    "shape": (2, 2),
    "axes": (1, 0),
    "shift": 1,
    "repetitions": (1,),
    "dtype": np.dtype("float32"),
    "source": 0,
    "destination": 1,
    "n": 2,
    "fill_value": 0,
}
FUNCTIONS = xo.backend("numpy").functions


def places():
    """Every array argument of every function, except elementwise ufuncs and creation functions."""
    for verb in (*SURFACE, "einsum"):
        function = FUNCTIONS[verb]
        elementwise = isinstance(function, np.ufunc) and function.signature is None
        if elementwise or verb in (*CREATION, *BARE):
            continue
        for name in signature(verb).parameters:
            if name in ARRAYS:
                yield verb, name


def call(verb, place, bad):
    """Call the function with the bad array as one argument, and valid values for the other required arguments."""
    args, kwargs = [], {}
    for name, p in signature(verb).parameters.items():
        if name in SEQUENCES:
            members = [GOOD, bad if name == place else GOOD]
            args += members if p.kind is p.VAR_POSITIONAL else [members]
        elif p.kind is p.KEYWORD_ONLY:
            kwargs |= {name: bad} if name == place else {}
        elif p.default is p.empty or name == place:
            args.append(bad if name == place else "ij,ij" if name == "subscripts" else REST.get(name, GOOD))
        else:
            args.append(p.default)
    return FUNCTIONS[verb](*args, **kwargs)


@pytest.mark.parametrize("bad", list(BAD.values()), ids=list(BAD))
@pytest.mark.parametrize(("verb", "place"), list(places()))
def test_non_numeric_arrays_are_refused_as_every_argument(verb, place, bad):
    with pytest.raises(xo.Unsupported, match=rf"xo\.{re.escape(verb)}: .*Instead: "):
        call(verb, place, bad)


def test_the_list_of_arguments_is_long():
    found = set(places())
    assert {("where", "x2"), ("searchsorted", "sorter"), ("diff", "append"), ("clip", "max"), ("vecdot", "x2")} <= found
    assert {("linalg.solve", "x2"), ("fft.fft", "x"), ("concat", "arrays"), ("sum", "x"), ("matmul", "x2")} <= found


def test_dispatching_functions_refuse_too():
    bad = BAD["objects"]
    for refused in (
        lambda: xo.where(GOOD > 0, GOOD, bad),
        lambda: xo.concat([GOOD, bad]),
        lambda: xo.sort(BAD["text"]),
        lambda: xo.linalg.solve(GOOD, bad),
        lambda: xo.sum(BAD["text"][0, 0]),
        lambda: xo.at(bad)[0].set(1),
        lambda: xo.astype(GOOD, object),
        lambda: xo.asarray(BAD["records"]),
    ):
        with pytest.raises(xo.Unsupported, match="Instead: "):
            refused()


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_ml_dtypes_are_numbers(name):
    pytest.importorskip("ml_dtypes")
    x = xo.asarray([[3, 1], [2, 4]], dtype=name, backend="numpy")
    assert xo.sort(x).tolist() == [[1, 3], [2, 4]]
    assert xo.sum(x) == 10
    assert xo.concat([x, x]).dtype == x.dtype
    assert xo.clip(x, 2.0, 3.0).tolist() == [[3, 2], [2, 3]]


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("library", ["numpy", "jax", "dask"])
def test_ml_dtypes_as_dtypes(name, library):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    pytest.importorskip(library)
    x = xo.zeros(2, dtype=name, backend=library)
    for dtype in (name, x.dtype):
        assert xo.isdtype(dtype, "real floating")
        assert xo.isdtype(dtype, ("bool", "numeric"))
        assert xo.isdtype(dtype, name)
        assert not xo.isdtype(dtype, ("bool", "integral", "complex floating", "float32"))
        assert not xo.isdtype("float32", dtype)
        assert xo.can_cast(dtype, "float32")
        assert not xo.can_cast("float32", dtype)
    for item in (name, x.dtype, x):
        limits, oracle = xo.finfo(item), ml_dtypes.finfo(x.dtype)
        assert (limits.bits, limits.max, limits.eps) == (oracle.bits, oracle.max, oracle.eps)
        assert limits.dtype == x.dtype
        assert type(limits.max) is float
        for scalar in (True, 1, 1.0):
            assert xo.result_type(item, scalar) == x.dtype
        if name == "bfloat16":  # JAX does not promote float8
            assert xo.result_type(item, 1j) == np.complex64


@pytest.mark.parametrize("other", ["float16", "float32"])
@pytest.mark.parametrize("library", ["numpy", "jax", "dask"])
def test_promotion_of_bfloat16(other, library):
    pytest.importorskip("ml_dtypes")
    pytest.importorskip(library)
    x, y = (xo.zeros(2, dtype=name, backend=library) for name in ("bfloat16", other))
    for pair in ((x, y), (y, x), (x.dtype, y.dtype), (y.dtype, x), (x, y, 1.0)):
        assert xo.result_type(*pair) == np.float32


@pytest.mark.parametrize("library", ["numpy", "jax", "dask"])
def test_a_cast_never_drops_imaginary_parts(library):
    pytest.importorskip(library)
    x = xo.asarray([1 + 2j, 0], dtype="complex64", backend=library)
    targets = ("float32", "int32", "bfloat16") if library != "dask" else ("float32", "int32")
    for target in targets:
        with pytest.raises(xo.Unsupported, match=r"imaginary parts\. Instead: xo\.real\(x\) first"):
            xo.astype(x, target)
        with pytest.raises(xo.Unsupported, match="imaginary parts"):
            xo.asarray(x, dtype=target)
    assert np.asarray(xo.astype(x, "bool")).tolist() == [True, False]
    assert np.asarray(xo.astype(xo.real(x), "int32")).tolist() == [1, 0]


@pytest.mark.parametrize("library", ["numpy", "jax", "dask"])
@pytest.mark.parametrize(
    ("low", "high", "want"),
    [
        (-1000, 300, [-3, 0, 1, 2]),
        (300, None, [127] * 4),
        (np.int32([-300]), np.int32([300]), [-3, 0, 1, 2]),
        (np.uint8([1]), None, [1, 1, 1, 2]),
        (None, np.uint8([200]), [-3, 0, 1, 2]),
        (None, None, [-3, 0, 1, 2]),
    ],
)
def test_clip_by_integers_keeps_the_dtype_of_x(library, low, high, want):
    pytest.importorskip(library)
    x = xo.asarray([-3, 0, 1, 2], dtype="int8", backend=library)
    low, high = (xo.convert(b, library) if isinstance(b, np.ndarray) else b for b in (low, high))
    result = xo.clip(x, low, high)
    assert result.dtype == x.dtype
    assert np.asarray(result).tolist() == want
    assert np.asarray(result).dtype == np.int8


@pytest.mark.parametrize("library", ["numpy", "jax", "dask"])
@pytest.mark.parametrize(
    ("low", "high"),
    [
        (0.5, 1.5),
        (-1.5, 1e9),
        (None, 1.75),
        (-np.inf, np.inf),
        (np.float32([0.5]), np.float32([1.5])),
        (np.float32([-np.inf]), np.float32([1e9])),
    ],
)
def test_clip_of_integers_by_fractions(library, low, high):
    pytest.importorskip(library)
    integers = np.array([-3, 0, 1, 2], dtype=np.int8)
    own = [xo.convert(b, library) if isinstance(b, np.ndarray) else b for b in (low, high)]
    result = xo.clip(xo.convert(integers, library), *own)
    assert xo.isdtype(result.dtype, "real floating")
    assert np.asarray(result).tolist() == np.clip(integers, low, high).tolist()


def test_clip_of_int64_by_fractions_gives_float64():
    x = np.array([-5, 0, 2**63 - 1])
    for low, high in ((np.array(-np.inf), np.array(np.inf)), (0.0, 1e300), (-0.5, np.array(2.5))):
        result = xo.clip(x, low, high)
        assert result.dtype == np.float64
        assert result.tolist() == np.clip(x, low, high).tolist()


@pytest.mark.parametrize("library", ["numpy", "jax", "dask"])
def test_clip_of_floats(library):
    pytest.importorskip(library)
    x = xo.asarray([-3.0, 0.25, 2.0], dtype="float32", backend=library)
    wide = xo.asarray([1.5], dtype="float16", backend=library)
    for high in (wide, 1.5):
        result = xo.clip(x, 0, high)
        assert result.dtype == np.float32
        assert np.asarray(result).tolist() == [0, 0.25, 1.5]
    assert np.isnan(np.asarray(xo.clip(x, xo.asarray([float("nan")], like=x), None))).all()


@pytest.mark.parametrize("library", ["numpy", "jax", "dask"])
def test_isin_of_an_integer_beyond_the_dtype(library):
    pytest.importorskip(library)
    x = xo.asarray([44, 1], dtype="int8", backend=library)
    assert np.asarray(xo.isin(x, 300)).tolist() == [False, False]
    assert np.asarray(xo.isin(x, 300, invert=True)).tolist() == [True, True]
    assert np.asarray(xo.isin(x, 44)).tolist() == [True, False]
    assert not np.asarray(xo.isin(300, x))
    assert np.asarray(xo.isin(300, x)).shape == ()


def test_reshape_of_jax_respects_copy():
    pytest.importorskip("jax")
    x = xo.asarray([[1, 2], [3, 4]], backend="jax")
    with pytest.raises(ValueError, match=r"Instead: copy=None"):
        xo.reshape(x, (4,), copy=False)
    assert xo.reshape(x, (2, -1), copy=False) is x
    for shape in ((2, 2), (4,)):
        assert not xo.shares_memory(xo.reshape(x, shape, copy=True), x)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn"])
def test_products_keep_the_dtypes_of_ml_dtypes(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a = np.arange(6.0).reshape(2, 3).astype(getattr(ml_dtypes, name))
    wide = a.astype(np.float64)
    for product, expected in (
        (xo.matmul(a, a.T), wide @ wide.T),
        (xo.matmul(a, a[0]), wide @ wide[0]),
        (xo.linalg.vecdot(a, a), (wide * wide).sum(axis=1)),
        (xo.einsum("ij,kj->ik", a, a), wide @ wide.T),
    ):
        assert product.dtype.name == name
        assert np.array_equal(product.astype(np.float64), expected.astype(a.dtype).astype(np.float64))


UFUNCS = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}


BACKWARDS = slice(None, None, -1)
INDICES = [..., (), 1, (1, 2), (slice(None), 1), (None, ..., BACKWARDS), (slice(3, 3),), (True, 1), [1, 1]]


@pytest.mark.parametrize("op", UFUNCS)
@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_updates_are_those_of_ufunc_at(op, index):
    x = np.random.default_rng(0).standard_normal((3, 4))
    expected = x.copy()
    UFUNCS[op].at(expected, index, 0.5)
    assert np.array_equal(getattr(xo.at(x)[index], op)(0.5), expected)


def test_updates_by_memory_that_overlaps():
    x = np.arange(12.0).reshape(3, 4)
    expected = x[:, :-1] + x[:, 1:]
    assert np.array_equal(xo.at(x)[:, :-1].add(x[:, 1:], copy=None)[:, :-1], expected)


def test_updates_of_a_scalar_are_in_the_result():
    assert xo.at(np.float64(3.0))[...].add(1.0) == 4.0
    assert xo.at(np.float64(3.0))[...].set(1.0) == 1.0


def test_mixed_products_with_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    half = np.ones(3, dtype=ml_dtypes.bfloat16)
    assert xo.einsum("i,i->", half, np.asarray([1j, 2, 3])) == 5 + 1j
    assert xo.einsum("i,i->", half, np.asarray([1e-9, 1 / 3, 1e9 + 1])) == 1e9 + 1 + 1 / 3 + 1e-9
    for pair in ((half, np.ones(3, np.int8)), (np.ones(3, np.int8), half)):
        assert xo.matmul(*pair).dtype == xo.result_type(*pair)


def test_functions_beyond_the_standard_serve():
    """Each function of the modules of families serves the verb of its name."""
    backend = xo.backend("numpy")
    served = {verb for verb in EXTRA if hasattr(extra_module(backend.module, verb), verb.replace(".", "_"))}
    assert not any(backend.origins.get(verb) == GENERIC for verb in served if backend.functions[verb])
    assert {"pad", "bincount", "quantile", "linalg.norm", "topk", "hanning"} <= served


def test_quotients_by_infinity_are_those_of_the_standard():
    """Python and NumPy give -1 for 1.0 // -inf."""
    x, y = np.asarray([1.0, -1.0, 1.0, -1.0]), np.asarray([-np.inf, np.inf, np.inf, -np.inf])
    found = xo.floor_divide(x, y)
    np.testing.assert_array_equal(found, np.zeros(4))
    np.testing.assert_array_equal(np.signbit(found), [True, True, False, False])


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int64", "float32", "float64"])
def test_eigenvalues_are_as_precise_as_numpy_computes_them(dtype):
    """Those of integers in double precision: they were complex64 for small integers."""
    x = np.asarray([[1, 1], [0, 1]] if dtype == "bool" else [[1, 2], [3, 4]]).astype(dtype)
    want = np.linalg.eigvals(x)
    precision = np.complex64 if dtype == "float32" else np.complex128
    for found in (xo.linalg.eigvals(x), xo.linalg.eig(x).eigenvalues):
        assert found.dtype == precision
        np.testing.assert_array_equal(found, want)
    assert xo.linalg.eig(x).eigenvectors.dtype == precision
