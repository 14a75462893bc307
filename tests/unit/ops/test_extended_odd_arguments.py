"""Functions under NumPy's names with odd arguments: NumPy's result in float64, or an error of ours with a clear text.

The arrays are empty, without dimensions, reversed, read-only, or hold NaN and infinities; axes, numbers and dtypes are
wrong. On NumPy, whose functions serve mostly, the errors are NumPy's own.
"""

import traceback
import warnings
from inspect import Parameter, signature
from operator import attrgetter

import numpy as np
import pytest
from scipy import special

import xarrayops as xo
from xarrayops.errors import XArrayOpsError

NAN, INF = np.nan, np.inf
V = np.asarray([3.0, NAN, -1.0, INF, 2.0])
P = np.asarray([3.0, 1.0, 2.0, 5.0, 4.0])
M = np.random.default_rng(0).normal(size=(4, 5))
R = M[::-1, ::-2]
"""Negative strides."""
N = np.asarray([3, 0, 1, 3])
B = np.asarray([True, False, True])
C = M + 1j
EMPTY, SCALAR = np.zeros(0), np.asarray(2.5)
PLACES = np.arange(5.0)
for _host in (V, P, M, N, B, C, EMPTY, SCALAR, PLACES):
    _host.flags.writeable = False


def c(*args, **options):
    """A call."""
    return args, options


AXES = (c(M, axis=2), c(M, axis=-3), c(M, axis=(0, 0)), c(M, axis=1.5), c(M, axis="a"))
WHOLE = (c(V), c(P), c(M, axis=0), c(R), c(SCALAR), c(M, axis=-1, keepdims=True))
QUANTILES = (c(V, 0.3), c(R, 0.3), c(SCALAR, 0.3), c(M, 0.3, axis=0), c(M, np.asarray([0.0, 0.3])), c(EMPTY, 0.3))
NO_QUANTILES = (
    *(c(M, 0.3, **options) for _, options in AXES),
    *(c(M, q) for q in (-0.3, 101.0, NAN, "a")),
    *(c(M, 0.3, method="no"), c(C, 0.3)),
)
SEGMENTS = (c(P, N, 4), c(P[:4], N, -1), c(P[:4], P[:4], 4), c(SCALAR, N, 4), c(P[:4], N, 2.5))
SIGNALS = (c(EMPTY, P), c(M, P), c(P, P, "no"), c(SCALAR, P), c(P, SCALAR))
SETS = (c(R, P), c(EMPTY, P), c(P, EMPTY), c(V, V), c(SCALAR, P))
NEGATIVE = np.asarray([-1, 2])
VALUES = {
    **dict.fromkeys(("average", "nanstd", "nanvar"), WHOLE),
    **dict.fromkeys(("nanmax", "nanmin", "ptp"), (*WHOLE, c(C, axis=0))),
    **dict.fromkeys(("median", "nanmean", "nanmedian", "nansum"), (*WHOLE, c(EMPTY), c(C, axis=0))),
    **dict.fromkeys(("nanquantile", "quantile"), QUANTILES),
    **dict.fromkeys(("nanpercentile", "percentile"), tuple(c(x, 100 * q, **o) for (x, q), o in QUANTILES)),
    **dict.fromkeys(("intersect1d", "setdiff1d", "setxor1d", "union1d"), SETS),
    **dict.fromkeys(("convolve", "correlate"), (c(P, P[:2], "full"), c(P, V, "same"), c(P[::-1], P[::2], "valid"))),
    **dict.fromkeys(("argpartition", "partition"), (c(EMPTY, 0),)),
    "argwhere": (c(V), c(EMPTY), c(SCALAR), c(R), c(B)),
    "nanargmax": (c(P), c(R), c(M, axis=0), c(SCALAR), c(V)),
    "nanargmin": (c(P), c(R), c(M, axis=0), c(SCALAR), c(V)),
    "split": (c(P, 5), c(P, [1, 9]), c(R, 1), c(EMPTY, [0])),
    "allclose": (c(V, V, equal_nan=True), c(EMPTY, EMPTY)),
    "array_equal": (c(V, V), c(V, V, equal_nan=True), c(M, P), c(EMPTY, EMPTY)),
    "bincount": (c(N), c(N[:0]), c(N, np.asarray([1e300, 1e300, NAN, INF])), c(N, minlength=7)),
    "cbrt": (c(V), c(EMPTY), c(SCALAR), c(R)),
    "compress": (c(B, P), c(N, M, axis=0), c(np.asarray([True] * 5 + [False] * 2), P)),
    "corrcoef": (c(M), c(V), c(np.ones((2, 3)))),
    "cov": (c(M), c(V), c(R, rowvar=False), c(SCALAR)),
    "delete": (c(P, 1), c(P, [0, -1]), c(P, slice(None, None, 2)), c(M, 3, axis=1), c(P, N[:0]), c(P, NEGATIVE)),
    "diag": (c(P), c(P, 2), c(M, -1), c(M, 99), c(EMPTY)),
    "digitize": (c(V, np.sort(P)), c(P, EMPTY), c(M, np.sort(P)[::-1])),
    "gradient": (c(P), c(R), c(P, 0.5), c(P, P.cumsum(), edge_order=2)),
    "histogram": (c(P, 3), c(P, np.sort(P)), c(EMPTY, 3), c(P, 3, range=(0, 4), weights=np.full(5, 1e308))),
    "insert": (c(P, 1, 9.0), c(P, [0, -1], np.asarray([1.0, 2.0])), c(M, 1, P[:4], axis=1), c(EMPTY, 0, 1.0)),
    "interp": (c(V, PLACES, P), c(SCALAR, PLACES, P), c(EMPTY, PLACES, P), c(P, PLACES, P, period=3.5)),
    "isclose": (c(V, V), c(V, V, equal_nan=True), c(EMPTY, EMPTY), c(M, P)),
    "kron": (c(P, M), c(SCALAR, M), c(EMPTY, P)),
    "lexsort": (c((N, N[::-1])), c((EMPTY, EMPTY))),
    "linalg.cond": (c(M), c(R)),
    "linalg.norm": (c(V), c(R), c(SCALAR), c(EMPTY), c(M, axis=-1, ord=1)),
    "logsumexp": (c(V), c(M, axis=0), c(M * 1e300, axis=1), c(EMPTY)),
    "nan_to_num": (c(V), c(V * (1 + 1j)), c(EMPTY), c(SCALAR)),
    "outer": (c(M, P), c(EMPTY, P), c(SCALAR, SCALAR)),
    "pad": (
        *(c(x, 2) for x in (EMPTY, SCALAR, V, R, C, N)),
        *(c(P, 12, mode) for mode in ("reflect", "symmetric", "wrap")),
        *(c(M, ((0, 3), (2, 0)), "edge"), c(N, 2, constant_values=7), c(R, 1, "reflect")),
    ),
    "polyval": (c(P, R), c(P, 2.0), c(EMPTY, P)),
    "sliding_window_view": (c(P, 3), c(R, (2, 2))),
    "softmax": (c(V, axis=-1), c(M, axis=0), c(M * 1e300, axis=1)),
    "log_softmax": (c(V, axis=-1), c(M, axis=0), c(M * 1e300, axis=1)),
    "sigmoid": (c(V), c(EMPTY), c(SCALAR), c(M * 1e300)),
    "erf": (c(V), c(EMPTY), c(SCALAR), c(M * 1e300), c(R / 9)),
    "trapezoid": (c(P), c(R, axis=0), c(P, P), c(M, P), c(EMPTY)),
}
"""Calls with NumPy's result, or SciPy's."""
ERRORS = {
    **dict.fromkeys(("average", "nanmean", "nanstd", "nansum", "nanvar", "ptp"), AXES),
    **dict.fromkeys(("median", "nanmax", "nanmedian", "nanmin"), AXES),
    **dict.fromkeys(("nanpercentile", "nanquantile", "percentile", "quantile"), NO_QUANTILES),
    **dict.fromkeys(("segment_max", "segment_mean", "segment_min", "segment_sum"), SEGMENTS),
    **dict.fromkeys(("convolve", "correlate"), SIGNALS),
    **dict.fromkeys(("argpartition", "partition"), (c(P, 9), c(P, -9), c(M, 0, axis=4), c(P, 1.5))),
    **dict.fromkeys(("log_softmax", "logsumexp", "softmax"), (c(M, axis=3), c(M, axis="a"))),
    "argwhere": (),
    "nanargmax": (c(M, axis=5), c(EMPTY)),
    "nanargmin": (c(M, axis=5), c(EMPTY)),
    "split": (c(P, 3), c(P, 0), c(P, -1), c(P, 1.5), c(P, [1.5]), c(M, 2, axis=5), c(SCALAR, 1)),
    "apply_where": (c(M > 0, M, xo.sqrt), c(M > 0, 2.0, xo.sqrt, xo.abs), c(M > 0, (M, None), xo.add, fill_value=0.0)),
    "bincount": (
        *(c(x) for x in (NEGATIVE, P, M, SCALAR)),
        *(c(N, P), c(N, minlength=-1), c(N, length=-1), c(N, length=2.5), c(N, minlength=2.5)),
    ),
    "cbrt": (c(C),),
    "compress": (c(np.ones(7, bool), P), c(M > 0, M), c(B, M, axis=5)),
    "cov": (c(M[None]), c(M, fweights=N), c(M, M[:, :3])),
    "delete": (c(P, 7), c(P, -7), c(P, 1.5), c(P, "a"), c(M, 0, axis=3), c(EMPTY, 0)),
    "diag": (c(SCALAR), c(M[None]), c(P, 1.5)),
    "digitize": (c(P, M),),
    "fill_diagonal": (c(P, 0.0), c(M[None], 0.0)),
    "gradient": (c(P[:1]), c(EMPTY), c(P, axis=3), c(P, edge_order=3), c(P, M), c(M, 1.0, 2.0, 3.0)),
    "histogram": (
        *(c(P, bins) for bins in (0, -1, 2.5, "auto", M)),
        *(c(P, 3, range=(2, 1)), c(P, 3, range=(0, INF)), c(P, 3, weights=N), c(C, 3)),
    ),
    "insert": (c(P, 7, 1.0), c(P, 1.5, 1.0), c(M, 0, 1.0, axis=3), c(P, [0, 1, 2], np.asarray([1.0, 2.0]))),
    "interp": (c(P, EMPTY, EMPTY), c(P, PLACES, M), c(P, PLACES[:4], P), c(P, PLACES, P, period=0), c(C, PLACES, P)),
    "lexsort": (c((N, P)), c(()), c((M, M), axis=5)),
    "linalg.cond": (c(P), c(M, p=1), c(M[:, :4], p="no")),
    "linalg.lstsq": (c(M, P), c(P, P), c(M, M[None])),
    "linalg.norm": (
        *(c(M, axis=axis) for axis in (3, (0, 0), (0, 1, 1), 1.5)),
        *(c(M, ord="no"), c(M, ord=3), c(P, ord="fro"), c(M[None], ord=2)),
    ),
    "one_hot": (c(N, -1), c(P, 3), c(N, 2.5), c(N, 3, axis=5)),
    "pad": (
        *(c(M, width) for width in (-1, 1.5, (1, 2, 3), {5: 1})),
        *(c(M, 1, "no"), c(EMPTY, 1, "edge"), c(M, 1, reflect_type="x")),
    ),
    "polyval": (c(M, P), c(SCALAR, P)),
    "sliding_window_view": (c(P, 9), c(P, -1), c(M, 3), c(M, 3, axis=4), c(P, 1.5)),
    "topk": (c(P, 9), c(P, -1), c(P, 1.5), c(M, 1, axis=4), c(SCALAR, 1)),
    "trapezoid": (c(M, axis=3), c(M, P[:2]), c(SCALAR)),
}
"""Calls that raise."""
ERROR_TYPES = (ValueError, TypeError, IndexError, XArrayOpsError)


def native(library, x):
    """The argument with the library's arrays."""
    if isinstance(x, np.ndarray):
        return library.array(x)
    return tuple(native(library, member) for member in x) if type(x) is tuple else x


def result(library, function, args, options):
    """The values of all arrays of a result."""
    with warnings.catch_warnings(action="ignore"):
        found = function(
            *(native(library, x) for x in args), **{name: native(library, x) for name, x in options.items()}
        )
        return [library.host(x) for x in (found if isinstance(found, (tuple, list)) else [found])]


def expected(verb, args, options):
    """NumPy's result, or SciPy's."""
    owner = special if verb in ("erf", "log_softmax", "logsumexp", "sigmoid", "softmax") else np
    name = "expit" if verb == "sigmoid" else verb
    function = np.lib.stride_tricks.sliding_window_view if "sliding" in verb else attrgetter(name)(owner)
    with warnings.catch_warnings(action="ignore"):
        if ("quantile" in verb or "percentile" in verb) and not args[0].size:
            return [np.asarray(NAN)]  # NumPy raises
        found = function(*args, **options)
    return [np.asarray(x) for x in (found if isinstance(found, (tuple, list)) else [found])]


@pytest.mark.parametrize("verb", VALUES)
def test_values(library, verb):
    """A compiler takes its time, so JAX has the first calls only."""
    for args, options in VALUES[verb][: 2 if library.name == "jax" else None]:
        got, want = result(library, attrgetter(verb)(xo), args, options), expected(verb, args, options)
        assert len(got) == len(want)
        for mine, theirs in zip(got, want, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12, err_msg=f"{verb}{args}{options}")
            assert mine.shape == theirs.shape


@pytest.mark.more_in_sweeps
@pytest.mark.parametrize("verb", VALUES)
def test_namespaces_take_the_same_calls(library, verb, sweeping):
    """Also with parameters by keyword, which the kernels of a library read by position."""
    if library.name in ("jax", "dask") and not sweeping and verb not in ("gradient", "pad", "quantile", "softmax"):
        pytest.skip("only in sweeps: compilation takes long")
    xp, public = xo.array_namespace(library.array(P)), attrgetter(verb)(xo)
    kinds = [p.kind for p in signature(public).parameters.values() if p.name != "extra"]
    only_by_position = sum(kind is Parameter.POSITIONAL_ONLY for kind in kinds)
    args, options = VALUES[verb][0]
    names = [p.name for p in signature(public).parameters.values()][only_by_position : len(args)]
    by_keyword = dict(zip(names, args[only_by_position:], strict=True))
    want = result(library, public, args, options)
    for given, named in ((args, options), (args[:only_by_position], by_keyword | options)):
        got = result(library, attrgetter(verb)(xp), given, named)
        for mine, theirs in zip(got, want, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("verb", ERRORS)
def test_errors(library, verb):
    for args, options in ERRORS[verb]:
        with pytest.raises(ERROR_TYPES) as error:
            result(library, attrgetter(verb)(xo), args, options)
        raised_in = traceback.extract_tb(error.value.__traceback__)[-1].filename
        assert library.name == "numpy" or "xarrayops" in raised_in, f"{verb}{args}{options}: {error.value!r}"
        assert str(error.value)


@pytest.mark.parametrize("verb", VALUES)
def test_objects_are_refused(verb):
    """Also where a function checks its dtypes itself, and in each place."""
    args, options = VALUES[verb][0]
    is_sequence = verb == "lexsort"
    given = list(args[0] if is_sequence else args)
    for place, x in enumerate(given):
        if isinstance(x, np.ndarray) and verb != "cbrt":  # an elementwise ufunc, which is called without a check
            changed = [*given[:place], x.astype(object), *given[place + 1 :]]
            with pytest.raises(xo.Unsupported, match="Python objects"):
                attrgetter(verb)(xo)(*((tuple(changed),) if is_sequence else changed), **options)


def test_every_function_has_a_call():
    from xarrayops._surface import CREATION, EXTRA

    assert {*EXTRA} - CREATION - {"atleast_nd"} == {*VALUES, *ERRORS}
