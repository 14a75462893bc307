"""JAX as it starts, without 64-bit types: nothing is refused but a result that would have such a type.

The calls of `weak_calls.py` and of `expressions.py` are compared with NumPy, in which the lists are weakly typed, too.
"""

import runpy
import warnings
from pathlib import Path

import numpy
import pytest

import xarrayops as xo
import xarrayops.numpy as np

jax = pytest.importorskip("jax")
ml_dtypes = pytest.importorskip("ml_dtypes")

FOLDER = Path(__file__).parent
WEAK = runpy.run_path(str(FOLDER / "weak_calls.py"))
FAMILIES = runpy.run_path(str(FOLDER / "expressions.py"))["FAMILIES"]
SHARED = runpy.run_path(str(FOLDER / "conftest.py"))
leaves, as_numpy = SHARED["leaves"], SHARED["as_numpy"]
NARROW = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}
OF_64_BITS = ("float64", "complex128")
"""NumPy's dtypes of results that JAX then lacks. Its int64 of indices, counts and sums is JAX's default, int32."""
INTEGERS_OF_64_BITS = {
    "np.vander(x, 3)",
    "np.vander(i, 3)",
    "np.astype(f, np.int64)",
    "np.ones_like(f, int)",
    "np.arange(3, like=f)",
    "np.linalg.matrix_rank(m, 0.1)",
}
"""Calls whose result is int64 by definition, whose dtype is named, or that need the rounding of float64."""
EACH = 5
"""One of this many calls is tested outside of sweeps."""


@pytest.fixture(autouse=True)
def without_64_bits():
    with jax.enable_x64(False), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def is_of_64_bits(call, wanted):
    return call in INTEGERS_OF_64_BITS or any(str(getattr(y, "dtype", "")) in OF_64_BITS for y in wanted)


def fault_of(call, wanted, compute, dtype):
    """What is wrong with the result, which `compute` returns; None if it is NumPy's."""
    try:
        found = leaves(compute())
    except xo.Unsupported as error:
        is_needed = "64-bit types are off" in str(error) and is_of_64_bits(call, wanted)
        return None if is_needed else f"refused without need: {str(error)[:200]}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    tolerance = 2e-2 if dtype == "bfloat16" else 2e-4
    for x, y in zip(found, wanted, strict=True):
        y, held = numpy.asarray(y), as_numpy(x)
        name = NARROW.get(y.dtype.name, y.dtype.name)
        name = "bfloat16" if (dtype, name) == ("bfloat16", "float32") else name
        if hasattr(x, "dtype") and held.dtype.name != name:
            return f"dtype {held.dtype}, not {name}"
        try:
            numpy.testing.assert_allclose(held.astype(y.dtype), y, rtol=tolerance, atol=tolerance)
        except AssertionError:
            return f"{held.tolist()}, not {y.tolist()}"
    return None


def report(calls, scope, theirs, dtype):
    """The faults of the calls in our names, which NumPy evaluates in theirs."""
    faults = []
    for call in calls:
        try:
            wanted = leaves(eval(call, {**theirs, **{name: x.copy() for name, x in theirs["arrays"].items()}}))
        except Exception as error:
            wanted = error
        if isinstance(wanted, Exception):
            with pytest.raises(Exception):  # noqa: B017, PT011 - NumPy's class of error may differ
                eval(call, scope)
            continue
        fault = fault_of(call, wanted, lambda call=call: eval(call, scope), dtype)
        if fault:
            faults.append(f"{call}: {fault}")
    return "\n".join(faults)


def of_width(value):
    return numpy.int64(value) if isinstance(value, int) else numpy.float64(value)


@pytest.mark.more_in_sweeps
@pytest.mark.parametrize("dtype", ["float32", "int32", "bfloat16"])
def test_numbers_lists_and_scalars_are_weak(dtype, sweeping):
    values = {"x": numpy.asarray([1, 2, 3, 5, 8]), "m": numpy.asarray([[2, 1, 3], [1, 4, 1]])}
    values = {name: x.astype(dtype) for name, x in values.items()}
    values |= {"i": numpy.asarray([0, 2, 1], "int32"), "b": numpy.asarray([True, False, True, True, False])}
    ours = {name: xo.convert(x, "jax", copy=True) for name, x in values.items()}
    wide = {name: x.astype("float32") if x.dtype == "bfloat16" else x for name, x in values.items()}

    def weak(listed):
        number = 0 if numpy.asarray(listed).dtype.kind == "i" else 0.5
        return numpy.asarray(listed).astype(numpy.result_type(wide["x"].dtype, number))

    calls = [*WEAK["CALLS"], *(WEAK["OF_INTEGERS"] if dtype == "int32" else ())]
    if dtype == "bfloat16":  # JAX does not solve equations of it
        calls = [call for call in calls if not any(name in call for name in ("polyfit", "lstsq", "solve", "rank"))]
    calls = calls if sweeping or dtype == "float32" else calls[::4]
    theirs = {"np": numpy, "L": weak, "S": lambda number: number, "arrays": wide}
    scope = {"np": np, "L": lambda listed: listed, "S": of_width, **ours}
    assert not report(calls if sweeping else calls[::EACH], scope, theirs, dtype)


@pytest.mark.more_in_sweeps
@pytest.mark.parametrize("family", FAMILIES)
def test_other_calls_return_what_numpys_do(family, sweeping):
    values = {name: x.astype(NARROW.get(x.dtype.name, x.dtype)) for name, x in SHARED["VALUES"].items()}
    ours = {name: xo.convert(x, "jax", copy=True) for name, x in values.items()}
    calls = [each for each in FAMILIES[family] if not {*compile(each, "", "eval").co_names}.isdisjoint(values)]
    theirs = {"np": numpy, "arrays": values}
    assert not report(calls if sweeping else calls[::EACH], {"np": np, **ours}, theirs, "float32")


def test_comparisons_of_integers_and_fractions_are_exact():
    """float32 holds neither 2**24 + 1 nor the largest int32."""
    edges = [0, 1, -1, 2**24, 2**24 + 1, 2**24 + 2, -(2**24) - 1, 2**31 - 1, 2**31 - 129, -(2**31), -(2**31) + 1]
    x = numpy.asarray(edges, "int32")
    fractions = [0.0, -0.5, 0.5, 1.0, 2.0**24, 2.0**24 + 2, -(2.0**24), 2.0**31, -(2.0**31), 2.0**31 - 128]
    y = numpy.asarray([*fractions, numpy.inf, -numpy.inf, numpy.nan], "float32")
    ours, theirs = (xo.convert(each, "jax") for each in (x, y))
    numbers = [*map(float, y), 2.0**24 + 0.5, 2.0**31 - 0.5, 1e300, -1e300]
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        of_numpy, of_ours = getattr(numpy, name), getattr(np, name)
        compared = of_ours(ours[:, None], theirs)
        numpy.testing.assert_array_equal(compared, of_numpy(x[:, None].astype("float64"), y), err_msg=name)
        inside = jax.jit(of_ours)(theirs, ours[:, None])
        numpy.testing.assert_array_equal(inside, of_numpy(y, x[:, None].astype("float64")), err_msg=name)
        for number in numbers:
            for call in (lambda f, a, number=number: f(a, number), lambda f, a, number=number: f(number, a)):
                found, wanted = call(of_ours, ours), call(of_numpy, x.astype("float64"))
                numpy.testing.assert_array_equal(found, wanted, err_msg=f"{name} {number}")


def test_places_among_integers_and_fractions_are_exact():
    x = numpy.sort(numpy.asarray([0, 5, 2**24, 2**24 + 1, 2**24 + 2, 2**31 - 1, -(2**31), -(2**24) - 1], "int32"))
    y = numpy.sort(
        numpy.asarray([0.5, 5.0, 2.0**24, 2.0**24 + 2, 2.0**31, -(2.0**24), -numpy.inf, numpy.inf], "float32")
    )
    ours, theirs, wide = xo.convert(x, "jax"), xo.convert(y, "jax"), x.astype("float64")
    for side in ("left", "right"):
        found = np.searchsorted(ours, theirs, side), np.searchsorted(theirs, ours, side)
        wanted = numpy.searchsorted(wide, y, side), numpy.searchsorted(y.astype("float64"), wide, side)
        for each, expected in zip(found, wanted, strict=True):
            numpy.testing.assert_array_equal(each, expected)
    for right in (False, True):
        for step in (1, -1):
            found = np.digitize(ours, theirs[::step], right), np.digitize(theirs, ours[::step], right)
            wanted = numpy.digitize(wide, y[::step], right), numpy.digitize(y, wide[::step], right)
            for each, expected in zip(found, wanted, strict=True):
                numpy.testing.assert_array_equal(each, expected)
    numpy.testing.assert_array_equal(np.isin(ours, theirs), numpy.isin(wide, y))
    numpy.testing.assert_array_equal(np.isin(theirs, ours, invert=True), numpy.isin(y, wide, invert=True))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32"])
def test_rounding_to_tens_needs_no_fractions(dtype):
    limits = numpy.iinfo(dtype)
    x = numpy.asarray([0, 4, 5, 6, 15, 25, 26, 95, 105, limits.max // 2, limits.max - 9, limits.min + 9], dtype)
    for decimals in (-1, -2, -3, -9, -10, -20):
        wide = numpy.round(x.astype("int64"), decimals)
        fits = (limits.min <= wide) & (wide <= limits.max)
        found = as_numpy(np.round(xo.convert(x, "jax"), decimals))
        assert found.dtype == dtype
        numpy.testing.assert_array_equal(found[fits], wide[fits])


def test_comparisons_of_booleans_with_numbers():
    values = numpy.asarray([True, False])
    x = xo.convert(values, "jax")
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        for other in (1, 0, 2, -1, 0.5, 1.0, [1, 2], [0.5, 0.0]):
            numpy.testing.assert_array_equal(getattr(np, name)(x, other), getattr(numpy, name)(values, other))
            numpy.testing.assert_array_equal(getattr(np, name)(other, x), getattr(numpy, name)(other, values))
    numpy.testing.assert_array_equal(np.isin(x, [1, 2]), numpy.isin(values, [1, 2]))
    assert np.array_equal(x, [1, 0])
    assert np.allclose(x, [1, 0])


def test_promotion_follows_the_switch():
    """What was found with 64-bit types must not serve without them, where JAX would wrap the integers."""
    first, second = (xo.convert(numpy.asarray([3], name), "jax") for name in ("uint32", "int32"))
    with jax.enable_x64(True):
        assert np.add(first, second).dtype == "int64"
        assert np.add(first > 0, 1).dtype == "int64"
    for call in (lambda: np.add(first, second), lambda: np.add(first > 0, 1)):
        with pytest.raises(xo.Unsupported, match="JAX has no int64"):
            call()
    with jax.enable_x64(True):
        assert np.add(first, second).dtype == "int64"


def test_integers_beyond_the_dtype_raise():
    x = xo.convert(numpy.asarray([1, 2], "int32"), "jax")
    for call in (lambda: np.append(x, 2**40), lambda: np.add(x, [2**40, 0]), lambda: np.full_like(x, 2**40)):
        with pytest.raises(OverflowError):
            call()


def test_a_result_of_64_bits_is_refused_with_the_way_out():
    x = xo.convert(numpy.asarray([1, 2], "int32"), "jax")
    for call in (
        lambda: np.mean(x),
        lambda: np.add(x, 0.5),
        lambda: np.zeros(2, like=x),
        lambda: np.where(x > 1, 1, 0),
    ):
        with pytest.raises(xo.Unsupported, match=r"64-bit types are off\. Instead"):
            call()
    with xo.use(dtype="float32"):
        assert np.mean(x).dtype == np.add(x, 0.5).dtype == np.zeros(2, like=x).dtype == "float32"
        assert np.where(x > 1, 1, 0).dtype == "int32"


def test_new_arrays_in_a_narrow_dtype():
    with xo.use("jax"):
        found = (
            np.linspace(0, 1, 5, dtype="float32"),
            np.array([1, 2], "float32"),
            np.full(2, 1, np.int32),
            np.eye(2, dtype="f4"),
        )
    assert [x.dtype.name for x in found] == ["float32", "float32", "int32", "float32"]
    numpy.testing.assert_array_equal(found[0], [0, 0.25, 0.5, 0.75, 1])


def test_values_of_whole_numbers_are_kept_where_fractions_are_given():
    x = xo.convert(numpy.asarray([1, 2], "int32"), "jax")
    assert as_numpy(np.insert(x, 0, 2.0**24 + 1)).tolist() == [2**24 + 1, 1, 2]
    assert as_numpy(np.full_like(x, [2.0**24 + 1])).tolist() == [2**24 + 1] * 2


def test_random_numbers_follow_the_default_dtypes():
    rng, want = (np.random.default_rng(3) for _ in range(2))
    with xo.use("jax"):
        rng = np.random.default_rng(3)
    found = rng.integers(10, size=5), rng.random(3), rng.normal([0, 1000], 2.0), rng.choice(5, 3, p=[0, 0, 1, 1, 0])
    wanted = want.integers(10, size=5), want.random(3, dtype="float32")
    for x, y in zip(found, wanted, strict=False):
        numpy.testing.assert_array_equal(x, y)
    assert [x.dtype.name for x in found] == ["int32", "float32", "float32", "int32"]
    with pytest.raises(xo.Unsupported, match='dtype="float32"'):
        rng.random(3, dtype="float64")


@pytest.mark.parametrize("name", ["linspace", "logspace", "geomspace"])
def test_ranges_of_float32(name):
    """The steps are computed in the widest dtype, and cast."""
    found = getattr(np, name)(1, 3, 4, dtype="float32", like=jax.numpy.ones(2))
    numpy.testing.assert_allclose(found, getattr(numpy, name)(1, 3, 4, dtype="float32"), rtol=1e-5)
    with pytest.raises(xo.Unsupported, match="64-bit types are off"):
        getattr(np, name)(1, 3, 4, like=jax.numpy.ones(2))
