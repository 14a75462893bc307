"""Casts with ``saturate=True`` against exact Python integers, and numbers that integer dtypes cannot hold."""

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.plugin.dtypes import INTEGER_LIMITS

FLOATING = ("float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2")


def native(name):
    """The NumPy dtype of a name, also of those of ml_dtypes."""
    return xo.backend("numpy").functions["as_dtype"](name)


def floats(name):
    """Numbers at and around every limit of every integer dtype, in a floating-point dtype, with its special values."""
    wide = [0.0, -0.0, 0.5, -0.5, -0.99, 1.9, -1.9, np.nan, np.inf, -np.inf, 1e-30]
    for limit in {float(each) for limits in INTEGER_LIMITS.values() for each in limits}:
        for kind in (np.float32, np.float64):
            wide += [np.nextafter(kind(limit), kind(end)) for end in (-np.inf, 0, np.inf)]
        wide += [limit, -limit, 2 * limit, limit + 0.75]
    with np.errstate(over="ignore"):
        return np.asarray(wide).astype(native(name))


def saturated(value, dtype):
    """The value as a Python integer within the limits of the dtype."""
    low, high = INTEGER_LIMITS[dtype]
    if value != value:
        return 0
    if abs(value) == np.inf:
        return high if value > 0 else low
    return max(low, min(high, int(value)))


@pytest.mark.parametrize("source", [*FLOATING, *INTEGER_LIMITS])
def test_saturated_integers(library, source):
    if source in FLOATING:
        host = floats(source)
        values = [float(value) for value in host]
    else:
        low, high = INTEGER_LIMITS[source]
        values = [n for limits in INTEGER_LIMITS.values() for n in (*limits, 0, 1, 100) if low <= n <= high]
        host = np.asarray(values, source)
    x = library.array(host)
    for target in INTEGER_LIMITS:
        want = [saturated(value, target) for value in values]
        for part in (slice(None), slice(3)):  # PyTorch casts few numbers by another loop
            got = library.host(xo.astype(x[part], target, saturate=True))
            assert got.dtype == target
            assert [int(n) for n in got] == want[part], target


def test_float8_without_infinities(library):
    host = np.asarray([1000.0, 448.0, 464.0, -465.0, 1e9, np.inf, -np.inf, np.nan, 1.0], "float32")
    found = xo.astype(library.array(host), "float8_e4m3fn", saturate=True)
    want = [448.0, 448.0, 448.0, -448.0, 448.0, 448.0, -448.0, np.nan, 1.0]
    np.testing.assert_array_equal(library.host(xo.astype(found, "float32")), want)


@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
@pytest.mark.parametrize("target", ["bool", "float16", "bfloat16", "float32", "complex64"])
def test_other_dtypes_are_the_same_with_and_without(library, target):
    x = library.array(np.asarray([1e9, -0.0, np.nan, np.inf, 2.5]))
    plain, found = xo.astype(x, target), xo.astype(x, target, saturate=True)
    assert plain.dtype == found.dtype
    wide = "complex64" if target == "complex64" else "float32"
    np.testing.assert_array_equal(*(library.host(xo.astype(each, wide)) for each in (plain, found)))


def test_copies(library):
    x = library.array(np.asarray([1, 2], "int8"))
    assert xo.astype(x, "int8", saturate=True, copy=False) is x
    assert xo.astype(x, "int8", saturate=True) is not x
    assert xo.is_lazy(xo.astype(library.array([1.5]), "int8", saturate=True)) is (library.name == "dask")


def test_traced_and_differentiated():
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")

    def cast(x):
        return xo.astype(x, "int32", saturate=True)

    host = np.asarray([2.0**31, -1e10, np.nan, -1.5], "float32")
    want = [2**31 - 1, -(2**31), 0, -1]
    assert torch.compile(cast, fullgraph=True, backend="eager")(torch.asarray(host)).tolist() == want
    assert jax.jit(cast)(host).tolist() == jax.vmap(cast)(jax.numpy.asarray(host)).tolist() == want
    gradient = xo.grad(lambda x: xo.sum(x * xo.astype(x, "int8", saturate=True)))
    assert gradient(jax.numpy.asarray([1.5, 1e9])).tolist() == gradient(torch.asarray([1.5, 1e9])).tolist() == [1, 127]


def test_jax_without_64_bit_types():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(False):
        x = jax.numpy.asarray([2.0**31, 2.0**33, -1.0, np.nan], "float32")
        assert xo.astype(x, "uint32", saturate=True).tolist() == [2**31, 2**32 - 1, 0, 0]
        assert xo.astype(x, "int32", saturate=True).tolist() == [2**31 - 1, 2**31 - 1, -1, 0]


def test_errors(library):
    x = library.array(np.asarray([1.0, 2.0]))
    with pytest.raises(TypeError, match=r"^xo\.astype: dtype is None"):
        xo.astype(x, None, saturate=True)
    with pytest.raises(xo.Unsupported, match=r"'i1' is not the name of a dtype here\. Instead: 'int8'"):
        xo.astype(x, "i1", saturate=True)
    with pytest.raises(xo.Unsupported, match=r"xo\.astype.*xo\.real"):
        xo.astype(xo.astype(x, "complex64"), "int8", saturate=True)
    with pytest.raises(xo.BackendNotFound, match=r"xo\.astype"):
        xo.astype([1.0], "int8", saturate=True)
    with pytest.raises(TypeError, match=r"xo\.astype takes copy=, device= and saturate= by keyword"):
        xo.astype(x, "int8", True)
    assert xo.explain("astype", x, "int8", saturate=True).chosen == f"{library.name}:astype"


def test_uint64_beyond_int64(library):
    """PyTorch's loop for a few numbers gives 0."""
    host = np.asarray([2.0**63, 2.0**64 - 2048, 2.0**63 + 2048, 3.7])
    want = [2**63, 2**64 - 2048, 2**63 + 2048, 3]
    for cast in (lambda x: xo.astype(x, "uint64"), lambda x: xo.asarray(x, dtype="uint64")):
        assert [int(n) for n in library.host(cast(library.array(host)))] == want


class TestNumbersBeyondTheDtype:
    @pytest.mark.parametrize(
        ("number", "dtype"),
        [(np.nan, "int32"), (np.inf, "int64"), (300.0, "uint8"), (-1.0, "uint16"), (2.0**63, "int64"), (1e300, "int8")],
    )
    def test_are_refused(self, library, number, dtype):
        x = library.array(np.zeros(2, dtype))
        for create in (
            lambda: xo.full_like(x, number),
            lambda: xo.full(2, number, dtype=dtype, like=x),
            lambda: xo.full_like(library.array(np.zeros(2)), number, dtype=dtype),
            lambda: xo.linspace(0, number, 3, dtype=dtype, like=x),
            lambda: xo.asarray(number, dtype=dtype, like=x),
        ):
            with pytest.raises(OverflowError, match=rf"the Python float .* does not fit into {dtype}\. Instead:"):
                create()
        if number == number:
            with pytest.raises(OverflowError):
                xo.insert(x, 1, number)

    def test_whole_parts_that_fit(self, library):
        for number, dtype, want in (
            (255.9, "uint8", 255),
            (-0.5, "uint8", 0),
            (-128.9, "int8", -128),
            (2.5, "int64", 2),
        ):
            assert library.host(xo.full_like(library.array(np.zeros(1, dtype)), number)).tolist() == [want]

    @pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
    def test_floating_dtypes_hold_all(self, library):
        for number in (np.nan, np.inf, 1e300, -5.5):
            got = library.host(xo.full_like(library.array(np.zeros(1, "float32")), number))
            with np.errstate(over="ignore"):
                np.testing.assert_array_equal(got, np.full(1, number).astype("float32"))


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize(
    ("start", "stop"), [(1, 1), (3, -5), (0, 10**16), (-7, 100), (0.5, 9.5), (-(2**40), 2**41), (10, 0)]
)
def test_integers_on_a_line(library, start, stop, endpoint):
    """The integers are NumPy's: other roundings move them by one."""
    for num in (0, 1, 2, 3, 10, 49, 99, 1000):
        want = np.linspace(start, stop, num, endpoint=endpoint, dtype="int64")
        found = xo.linspace(start, stop, num, endpoint=endpoint, dtype="int64", like=library.array(np.zeros(1)))
        np.testing.assert_array_equal(library.host(found), want)
