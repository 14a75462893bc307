"""Edge values have the same results on every library, except those that the contract lists.

The table of the contract has what is left out here: signs of zeros, subnormal numbers, the order of equal elements,
integers divided by zero and to negative powers, floored quotients of infinities, and variances of too few elements.
"""

import itertools
from operator import attrgetter

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._surface import ROLES, SURFACE
from xarrayops.plugin.dtypes import FLOATING_RESULTS

INTEGERS = ("int8", "uint8", "int64", "uint64", "int16", "uint16", "int32", "uint32")
BITWISE = ("bitwise_and", "bitwise_invert", "bitwise_or", "bitwise_xor", "logical_and", "logical_not", "logical_or")
"""Functions of booleans: the standard leaves arithmetic with them open."""
DIVISIONS = ("floor_divide", "remainder")
UNARY = [
    v for v, roles in ROLES.items() if [*roles.values()] == ["array"] and SURFACE.get(v) == "(x, /)" and "." not in v
]
UNARY = [v for v in UNARY if v not in ("nonzero", "matrix_transpose", "unstack") and not v.startswith("unique")]
BINARY = [v for v, roles in ROLES.items() if [*roles.values()] == ["operand", "operand"] and v != "isin"]
REDUCTIONS = (
    *("sum", "prod", "max", "min", "mean", "var", "std", "all", "any", "argmax", "argmin", "median", "count_nonzero"),
    *("ptp", "nansum", "nanmax", "nanmin", "nanmean", "nanvar", "nanmedian", "cumulative_sum", "cumulative_prod"),
    *("sort", "argsort", "logsumexp", "unique_values", "flip", "average"),
)


def edges(dtype):
    """The special and extreme values of a dtype."""
    if dtype == "bool":
        return np.asarray([True, False])
    if dtype in INTEGERS:
        limits = np.iinfo(dtype)
        signed = [-1, -2, -7] if limits.min else []
        return np.asarray([limits.min, limits.max, 0, 1, 2, 3, 7, 8, 9, 31, 33, *signed], dtype)
    large = [1e300, -1e300, 709.7, 1e16] if dtype == "float64" else [3e38, -3e38, 88.5, 1e7]
    halves = [0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -3.0]
    return np.asarray([0.0, -0.0, 1.0, -1.0, *halves, np.inf, -np.inf, np.nan, *large], dtype)


def chosen(sweeping):
    return ("float64", "int8", "uint8", "bool") if not sweeping else ("float64", "float32", "bool", *INTEGERS)


def outcome(library, function, *hosts):
    """The results as NumPy arrays, or None if the call raises."""
    try:
        with np.errstate(all="ignore"):
            found = function(*map(library.array, hosts))
            return [library.host(x) for x in (found if isinstance(found, tuple) else (found,))]
    except (ArithmeticError, ValueError, TypeError, RuntimeError, IndexError):
        return None


def check(library, function, *hosts, left_out=False):
    """Compare with NumPy, where ``left_out`` is false."""
    numpy = type(library)("numpy")
    wants, founds = outcome(numpy, function, *hosts), outcome(library, function, *hosts)
    assert (wants is None) == (founds is None)
    for want, found in zip(wants or (), founds or (), strict=True):
        assert found.shape == want.shape
        assert found.dtype.kind == want.dtype.kind
        if want.dtype.kind == "f":
            tiny = np.finfo(want.dtype).tiny
            skipped = np.logical_or(left_out, (np.abs(want) < tiny) & (want != 0))
            want, found = (np.where(skipped, 0, x) for x in (want, found))
            tolerance = 1e-12 if min(want.dtype.itemsize, found.dtype.itemsize) == 8 else 1e-5
            np.testing.assert_allclose(found, want, rtol=tolerance, atol=tiny)
        else:
            np.testing.assert_array_equal(np.where(left_out, 0, found), np.where(left_out, 0, want))


def is_defined(verb, dtype):
    """Whether the standard defines a function for a dtype, with a result that does not have the default dtype."""
    if dtype == "bool":
        return verb in BITWISE
    return dtype not in INTEGERS or verb not in (*FLOATING_RESULTS, "nextafter")


@pytest.mark.more_in_sweeps
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("verb", UNARY)
def test_functions_of_one_array(library, verb, sweeping):
    for dtype in chosen(sweeping):
        if is_defined(verb, dtype):
            check(library, attrgetter(verb)(xo), edges(dtype))


@pytest.mark.more_in_sweeps
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("verb", BINARY)
def test_functions_of_two_arrays(library, verb, sweeping):
    for dtype in chosen(sweeping):
        if not is_defined(verb, dtype):
            continue
        x = y = edges(dtype)
        if dtype in INTEGERS:
            y = np.asarray([0, 1, 2, 3], dtype) if verb == "pow" else y[y != 0] if verb in DIVISIONS else y
        x, y = np.meshgrid(x, y)
        infinite = verb == "floor_divide" and dtype.startswith("float")
        check(library, getattr(xo, verb), x, y, left_out=infinite and np.isinf(x) | np.isinf(y))


ARRAYS = {
    "empty": np.zeros(0),
    "empty integers": np.zeros(0, "int32"),
    "NaN": np.asarray([np.nan, 2, 1, 2, np.nan, 0.0, 1]),
    "ties": np.asarray([3, 1, 3, 2, 1, 3, 2, 2]),
    "booleans": np.asarray([True, False, True, True]),
    "int8": edges("int8"),
    "uint64": edges("uint64"),
    "one": np.asarray([5.0]),
    "NaN alone": np.full((2, 3), np.nan),
    "rows": np.asarray([[np.nan, 1, 2], [3, 3, np.nan], [np.nan] * 3]),
    "no rows": np.zeros((0, 3)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("verb", REDUCTIONS)
def test_functions_along_an_axis(library, verb):
    for host in ARRAYS.values():
        check(library, getattr(xo, verb), host)
        for axis in range(host.ndim if not verb.startswith("unique") else 0):
            check(library, lambda x, axis=axis: getattr(xo, verb)(x, axis=axis), host)


class TestOthers:
    @pytest.mark.parametrize("side", ["left", "right"])
    def test_searchsorted(self, library, side):
        x = np.asarray([1, 2, 2, 3, np.nan, np.nan])
        check(library, lambda x, y: xo.searchsorted(x, y, side=side), x, edges("float64"))
        whole = np.asarray([1, 2, 2**62])
        check(library, lambda x, y: xo.searchsorted(x, y, side=side), whole, np.asarray([2**62 - 1, 2**62 + 1, 0]))

    def test_clip(self, library):
        for low, high in itertools.product((None, 2, np.nan, np.inf, 0.0, -1.5), (None, 1, np.nan, -np.inf, 3.0)):
            check(library, lambda x, low=low, high=high: xo.clip(x, low, high), edges("float64"))
        check(library, xo.clip, edges("float64"), *(np.roll(edges("float64"), n) for n in (3, 5)))

    def test_clip_of_booleans(self, library):
        """The result is bool: booleans are the integers 0 and 1."""
        x = np.asarray([True, False])
        bounds = ((0, 1), (False, True), (None, 0), (1, None), (-3, 300), (300, None), (None, -3), (True, 0))
        for low, high in (*bounds, (None, np.asarray([1, 0])), (np.asarray([False, True]), None)):
            low_high = [library.array(b) if isinstance(b, np.ndarray) else b for b in (low, high)]
            found = library.host(xo.clip(library.array(x), *low_high))
            assert found.dtype == bool
            assert found.tolist() == (np.clip(x.astype(int), low, high) > 0).tolist(), (low, high)

    def test_lengths_and_ends(self, library):
        like = library.array(np.zeros(1))
        for start, stop, step in ((0, 1, 0.1), (1, 1.3, 0.1), (0, 0.3, 0.1), (10, 0, -3), (0, -5, 1), (0, 2.1, 0.7)):
            want = np.arange(start, stop, step)
            np.testing.assert_allclose(library.host(xo.arange(start, stop, step, like=like)), want, rtol=1e-12)
        for start, stop in ((0, 1), (0.1, 0.7), (3, -5), (-1e300, 1e300), (0, 1e16)):
            for num in (1, 2, 3, 10, 49, 1000):
                found = library.host(xo.linspace(start, stop, num, like=like))
                assert found[0] == start
                assert num == 1 or found[-1] == stop
                np.testing.assert_allclose(found, np.linspace(start, stop, num), rtol=1e-12, atol=abs(stop) * 1e-15)

    def test_empty_products_and_repetitions(self, library):
        check(library, xo.matmul, np.zeros((2, 0)), np.zeros((0, 3)))
        check(library, xo.matmul, np.full((1, 3), 100, "int8"), np.full((3, 1), 100, "int8"))
        for n in (0, 1, 2):
            check(library, lambda x, n=n: xo.repeat(x, n), np.arange(3))
            check(library, lambda x, n=n: xo.tile(x, (n,)), np.arange(3))

    def test_shifts_beyond_the_width(self, library):
        for dtype in INTEGERS:
            x, y = np.meshgrid(edges(dtype), np.asarray([0, 1, 7, 8, 9, 64, 100], dtype))
            check(library, xo.bitwise_left_shift, x, y)
            check(library, xo.bitwise_right_shift, x, y)

    def test_stable_order_of_equal_elements(self, library):
        x = np.random.default_rng(0).integers(0, 4, 300)
        for descending in (False, True):
            check(library, lambda x, d=descending: xo.argsort(x, descending=d), x)
