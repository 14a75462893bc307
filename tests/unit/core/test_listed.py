"""Lists of numbers beside an array: every parameter that takes them, on every library."""

import numpy
import pytest

import xarrayops as xo
from xarrayops._core.dispatch.arguments import roles, signature
from xarrayops._core.dispatch.listed import LISTED

X, MATRIX = numpy.asarray([1.0, 2, 3, 4], "float32"), numpy.arange(12, dtype="float32").reshape(3, 4)
BINS, IDS = [0, 1.5, 2, 5], [0, 0, 1, 1]
CALLS = {
    "quantile": ((X, [0.25, 0.5]), {}),
    "percentile": ((X, (25, 50)), {}),
    "nanquantile": ((X, [[0.25], [0.5]]), {}),
    "nanpercentile": ((X, [25, 50]), {}),
    **{name: ((X, IDS, 2), {}) for name in ("segment_max", "segment_mean", "segment_min", "segment_sum")},
    **{name: ((X, [1, 2, 1]), {}) for name in ("convolve", "correlate", "isin")},
    "take": ((MATRIX, [2, 0]), {"axis": 0}),
    "take_along_axis": ((MATRIX, [[0], [1], [2]]), {"axis": 1}),
    "average": ((X,), {"weights": [1, 2, 3, 4]}),
    "bincount": ((numpy.asarray([0, 1, 1, 2], "int32"), [1.0, 2, 1, 1]), {}),
    "compress": (([True, False, True, False], X), {}),
    "cov": ((MATRIX,), {"fweights": [1, 2, 1, 1], "aweights": [1.0, 2, 1, 1]}),
    "diff": ((X,), {"prepend": [0.0], "append": (1.0, 2)}),
    "digitize": ((X, BINS), {}),
    "fill_diagonal": ((MATRIX, [1.0, 2, 3]), {}),
    "histogram": ((X, BINS), {"weights": [1.0, 2, 3, 4]}),
    "insert": ((X, [0, 1], [5.0, 6]), {}),
    "interp": ((X, [0.0, 5], [0.0, 10]), {}),
    "polyval": (([1.5, 2, 3], X), {}),
    "repeat": ((X, [1, 2, 0, 1]), {}),
    "searchsorted": ((X, [1.5, 2]), {"sorter": [0, 1, 2, 3]}),
    "trapezoid": ((X, [0.0, 1, 2, 4]), {}),
}


def called(library, verb, *, with_arrays):
    """The results as NumPy's arrays, of a call with lists or with arrays in their place."""
    args, options = CALLS[verb]
    given = {**dict(zip(signature(verb).parameters, args, strict=False)), **options}
    given = {name: xo.convert(x.copy(), library, copy=True) if hasattr(x, "dtype") else x for name, x in given.items()}
    like = next(x for x in given.values() if hasattr(x, "dtype"))
    if with_arrays:
        made = {name: xo.asarray(x, like=like) for name, x in given.items() if name in LISTED[verb] and x is not like}
        given |= made
    positional = [*given.values()][: len(args)]
    result = getattr(xo, verb)(*positional, **{name: given[name] for name in options})
    each = result if isinstance(result, tuple) else (result,)
    return [numpy.asarray(xo.convert(xo.compute(x), "numpy")) for x in each]


@pytest.mark.parametrize("verb", LISTED)
@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "dask"])
def test_lists_serve_as_arrays_do(library, verb):
    pytest.importorskip(library)
    found, wanted = (called(library, verb, with_arrays=each) for each in (False, True))
    for x, y in zip(found, wanted, strict=True):
        assert x.dtype == y.dtype
        numpy.testing.assert_array_equal(x, y)


def test_the_table_names_array_parameters():
    assert not {verb: each for verb, each in LISTED.items() if not set(each) <= set(roles(verb))}
    assert CALLS.keys() == LISTED.keys()


@pytest.mark.parametrize(
    "call",
    [
        lambda: xo.add(X, [1, 2, 3, 4]),
        lambda: xo.matmul(X, [1, 2, 3, 4]),
        lambda: xo.quantile([1.0, 2], 0.5),
        lambda: xo.searchsorted([1.0, 2], [1.5]),
    ],
)
def test_data_are_no_lists(call):
    with pytest.raises(xo.BackendNotFound, match="is a list"):
        call()


@pytest.mark.parametrize("indices", [["a"], [None], [[0], [1, 2]]])
def test_lists_of_other_things_raise(indices):
    with pytest.raises((xo.XArrayOpsError, ValueError, TypeError)):
        xo.take(X, indices)
