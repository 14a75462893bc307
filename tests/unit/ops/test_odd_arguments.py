"""Every function of the standard, with arguments that libraries treat in different ways, agrees with NumPy's backend.

Either both return equal values with a dtype of the same kind, or both raise. `DIFFERENT` lists what does not agree; an
entry that is no longer needed fails.
"""

from operator import attrgetter

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._surface import ROLES, SURFACE

HOSTS = (
    np.asarray([[0.5, 2, 1], [1.5, 4, 3]]),
    np.asarray([1.0, 3.0, 2.0]),
    np.asarray([[3, 1, 2], [6, 5, 4]]),
    np.asarray([[2, 1], [1, 3]]),
)
AXES = (None, -1, 5)
NUMBERS = (2, -1, 0.5, True)
OTHER_ARGUMENTS = {
    "astype": ("float32",),
    "broadcast_to": ((3,),),
    "expand_dims": (0,),
    "full_like": (2,),
    "linalg.matrix_power": (2,),
    "moveaxis": (0, -1),
    "permute_dims": ((0,),),
    "reshape": (-1,),
    "roll": (1,),
    "squeeze": (0,),
    "tile": (2,),
}
NOT_COMPARED = {"empty_like", "linalg.eig", "linalg.eigh", "linalg.qr", "linalg.svd", "nonzero", "take", "repeat"}
"""Functions with results that are not unique or not initialised, or that need arrays of indices."""
DIFFERENT = {
    ("jax", "linalg.matrix_rank"): "other vectors",
    ("torch", "nextafter"): "no integers",
    ("torch", "subtract"): "no booleans",
    **dict.fromkeys((("jax", f"fft.{name}") for name in ("fft", "ifft", "rfft", "irfft")), "axis=None is axis=-1"),
    **dict.fromkeys(((name, f"tri{part}") for name in ("torch", "jax", "dask") for part in "lu"), "no vectors"),
}
"""Cases beyond the standard in which a library differs from NumPy, and how."""


def calls(verb):
    """The calls of a verb, each a function of one array."""
    function, required = attrgetter(verb)(xo), [role for role in ROLES[verb].values() if role != "maybe"]
    if required == ["array"]:
        rest = OTHER_ARGUMENTS.get(verb, ())
        axes = AXES if "axis=" in SURFACE[verb] else ()
        return [lambda x: function(x, *rest), *(lambda x, a=axis: function(x, *rest, axis=a) for axis in axes)]
    if required == ["operand", "operand"]:
        return [
            *(lambda x, n=number: function(x, n) for number in NUMBERS),
            *(lambda x, n=number: function(n, x) for number in NUMBERS),
        ]
    return []


def values(result):
    """The values of all arrays of a result."""
    if isinstance(result, (tuple, list)):
        return [each for member in result for each in values(member)]
    return [np.asarray(xo.convert(xo.compute(result), "numpy"))]


def outcome(call, x):
    """The values, or None if the call raises."""
    with np.errstate(all="ignore"):
        try:
            return values(call(x))
        except Exception:  # any error is the same answer
            return None


def is_equal(got, want):
    if got is None or want is None:
        return got is want
    return len(got) == len(want) and all(
        g.shape == w.shape and g.dtype.kind == w.dtype.kind and np.allclose(g, w, rtol=1e-2, equal_nan=True)
        for g, w in zip(got, want, strict=True)
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "verb", [verb for verb in SURFACE if verb in ROLES and verb not in NOT_COMPARED and calls(verb)]
)
def test_the_answer_is_that_of_numpy(library, verb):
    agree = [
        is_equal(outcome(call, library.array(host)), outcome(call, host)) for call in calls(verb) for host in HOSTS
    ]
    assert all(agree) is ((library.name, verb) not in DIFFERENT)


WORDS = np.asarray([1, 60000], dtype="uint16")
BYTES = np.asarray([1, 200, 3], dtype="uint8")
MASK = np.asarray([[True, False, True]])
COMPLEX = np.asarray([1 + 2j, 3 - 1j, 1 + 0j, 1j, 0])
MATRIX, VECTOR, SQUARE = HOSTS[0], HOSTS[1], HOSTS[3]
CASES = {
    "all of complex numbers": lambda x: xo.all(x(COMPLEX[:4])),
    "any of complex numbers, by axis": lambda x: xo.any(x(COMPLEX[3:]), axis=0),
    "argmax of booleans": lambda x: xo.argmax(x(MASK), axis=1),
    "argmin of booleans": lambda x: xo.argmin(x(MASK)),
    "pow with an exponent of another dtype": lambda x: xo.pow(x(BYTES), x(np.asarray(3))),
    "roll along no axis": lambda x: xo.roll(x(MATRIX), 1, axis=()),
    "roll along two axes by one number": lambda x: xo.roll(x(MATRIX), 1, axis=(0, 1)),
    "take_along_axis of other shapes": lambda x: xo.take_along_axis(x(MATRIX), x(np.asarray([[2, -1]])), axis=1),
    "vecdot of other ranks": lambda x: xo.vecdot(x(SQUARE), x(WORDS), axis=0),
    "vecdot of two matrices": lambda x: xo.vecdot(x(SQUARE), x(SQUARE), axis=0),
    "unsigned plus complex": lambda x: xo.add(x(WORDS), x(COMPLEX[:2])),
    "unsigned beside complex": lambda x: xo.not_equal(x(COMPLEX[:2]), x(WORDS)),
    "greater of real and complex numbers": lambda x: xo.greater(x(VECTOR), x(COMPLEX[:3])),
    "solve of integers": lambda x: xo.linalg.solve(x(SQUARE), x(SQUARE)),
}
"""Calls in which libraries gave other values or raised errors of their own."""


@pytest.mark.parametrize("name", CASES)
def test_a_call_has_the_answer_of_numpy(library, name):
    with np.errstate(all="ignore"):
        assert is_equal(values(CASES[name](library.array)), values(CASES[name](np.asarray)))


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("name", ["less", "less_equal", "greater", "greater_equal", "maximum", "minimum"])
def test_complex_numbers_are_ordered_by_real_part_first(library, name):
    x, function = np.append(COMPLEX, complex(1, np.nan)), getattr(xo, name)
    for order in ([2, 1, 0, 4, 4, 4], [1, 0, 3, 3, 2, 5]):
        first, second = x, x[order]
        assert is_equal(values(function(library.array(first), library.array(second))), values(function(first, second)))
        assert is_equal(values(function(library.array(second), library.array(first))), values(function(second, first)))


@pytest.mark.parametrize("name", ["cholesky", "det", "eigvals", "inv", "pinv", "slogdet", "svdvals"])
def test_matrices_of_integers_are_cast(library, name):
    function = getattr(xo.linalg, name)
    assert is_equal(values(function(library.array(SQUARE))), values(function(SQUARE)))


@pytest.mark.parametrize("axis", [2, 5, -3])
def test_take_refuses_an_axis_that_is_out_of_bounds(library, axis):
    for function in (xo.take, xo.take_along_axis):
        with pytest.raises((IndexError, ValueError)):
            xo.compute(function(library.array(MATRIX), library.array(np.asarray([[0]])), axis=axis))


@pytest.mark.parametrize("function", [xo.take, xo.take_along_axis])
def test_indices_that_are_not_integers_raise(library, function):
    with pytest.raises((IndexError, TypeError, ValueError)):
        xo.compute(function(library.array(MATRIX), library.array(np.asarray([[0.0]])), axis=1))


@pytest.mark.parametrize("function", [xo.take, xo.take_along_axis])
def test_indices_out_of_bounds(library, function):
    """They raise; JAX, which cannot raise in a compiled program, fills floating-point results with NaN."""
    x, indices = library.array(MATRIX), library.array(np.asarray([[0, 3]]))
    if library.name == "jax":
        assert np.isnan(library.host(function(x, indices, axis=1))).any()
    else:
        with pytest.raises((IndexError, RuntimeError), match=r"out of .*bounds"):
            xo.compute(function(x, indices, axis=1))


def test_torch_names_the_cast_for_dtypes_without_a_common_one():
    torch = pytest.importorskip("torch")
    x = torch.ones(2, dtype=torch.int64)
    with pytest.raises(xo.Unsupported, match=r"PyTorch does not promote .* Instead: xo\.astype"):
        xo.add(x.to(torch.uint64), x)


def test_integers_beside_narrow_floating_arrays_follow_the_library(library):
    """docs/contract.md: the standard leaves arrays of two kinds open."""
    x = library.array(np.ones(2, dtype="float32"))
    got = xo.multiply(library.array(np.asarray([1, 2])), x)
    assert library.host(got).dtype == ("float64" if library.name in ("numpy", "dask") else "float32")
    assert library.host(xo.multiply(xo.astype(library.array(np.asarray([1, 2])), x.dtype), x)).dtype == "float32"


def test_products_with_masks(library):
    """docs/contract.md: JAX computes them as a choice."""
    x, mask = library.array(np.asarray([1.0, np.nan])), library.array(np.asarray([True, False]))
    product = library.host(xo.multiply(x, mask))
    np.testing.assert_array_equal(product, [1, 0] if library.name == "jax" else [1, np.nan])
    np.testing.assert_array_equal(library.host(xo.where(mask, x, 0)), [1, 0])
