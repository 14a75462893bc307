"""The dtype of floating-point results: that of a floating-point x, else the default one, which follows `use`."""

import warnings

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._surface import EXTRA
from xarrayops.plugin.dtypes import FLOATING_ARGUMENTS, FLOATING_BY_DTYPE, FLOATING_EXTRA
from xarrayops.plugin.sparse import ELEMENTWISE

VALUES = np.asarray([3, 1, 2, 1, 4])
MATRIX = np.asarray([[3, 1, 4], [1, 5, 2], [2, 6, 5]])
COUNTS = np.asarray([1, 2, 1, 3, 1])


def _quantiles(function):
    return (
        lambda x, m, n: function(x, 1),
        lambda x, m, n: function(x, n // 3),
        lambda x, m, n: function(x, 0.25, method="weibull"),
    )


FLOATING = {
    "average": (
        lambda x, m, n: xo.average(x),
        lambda x, m, n: xo.average(x, weights=x),
        lambda x, m, n: xo.average(x, weights=n),
    ),
    "bincount": (lambda x, m, n: xo.bincount(n, x), lambda x, m, n: xo.bincount(n, x, length=4)),
    "cbrt": (lambda x, m, n: xo.cbrt(x),),
    "corrcoef": (lambda x, m, n: xo.corrcoef(m), lambda x, m, n: xo.corrcoef(x, x)),
    "cov": (
        lambda x, m, n: xo.cov(m),
        lambda x, m, n: xo.cov(x, x, fweights=n),
        lambda x, m, n: xo.cov(m, aweights=m[0, :]),
    ),
    "gradient": (lambda x, m, n: xo.gradient(x), lambda x, m, n: xo.gradient(x, xo.cumulative_sum(n))),
    "histogram": (
        lambda x, m, n: xo.histogram(x, 3)[1],
        lambda x, m, n: xo.histogram(x, 3, range=(0, 5))[1],
        lambda x, m, n: xo.histogram(x, 3, weights=x),
        lambda x, m, n: xo.histogram(x, 3, density=True),
        lambda x, m, n: xo.histogram(x, 3, density=True, weights=x),
        lambda x, m, n: xo.histogram(x, xo.sort(n)[1:], density=True)[0],
    ),
    "interp": (lambda x, m, n: xo.interp(x, xo.sort(x), x), lambda x, m, n: xo.interp(2.5, xo.sort(x), x)),
    "linalg.cond": (lambda x, m, n: xo.linalg.cond(m),),
    "linalg.lstsq": (lambda x, m, n: [xo.linalg.lstsq(m, m[0, :])[k] for k in (0, 1, 3)],),
    "linalg.norm": (lambda x, m, n: xo.linalg.norm(m), lambda x, m, n: xo.linalg.norm(x, ord=1)),
    "logsumexp": (lambda x, m, n: xo.logsumexp(x),),
    "median": (lambda x, m, n: xo.median(x), lambda x, m, n: xo.median(m, axis=1)),
    "nanmean": (lambda x, m, n: xo.nanmean(x),),
    "nanmedian": (lambda x, m, n: xo.nanmedian(x),),
    "nanstd": (lambda x, m, n: xo.nanstd(x),),
    "nanvar": (lambda x, m, n: xo.nanvar(m, axis=0),),
    **{name: _quantiles(getattr(xo, name)) for name in ("nanpercentile", "nanquantile", "percentile", "quantile")},
    "segment_mean": (lambda x, m, n: xo.segment_mean(x, n, 4), lambda x, m, n: xo.segment_mean(m, n[:3])),
    "softmax": (lambda x, m, n: xo.softmax(x),),
    "log_softmax": (lambda x, m, n: xo.log_softmax(x),),
    "sigmoid": (lambda x, m, n: xo.sigmoid(x),),
    "erf": (lambda x, m, n: xo.erf(x),),
    "trapezoid": (lambda x, m, n: xo.trapezoid(x), lambda x, m, n: xo.trapezoid(x, xo.cumulative_sum(n))),
}
SPARSE = {
    "norm": (lambda s: xo.sparse.norm(s), lambda s: xo.sparse.norm(s, axis=1)),
    "multiply": (lambda s: xo.sparse.multiply(s, 0.5),),
    "power": (lambda s: xo.sparse.power(s, 0.5),),
    **{name: (getattr(xo.sparse, name),) for name in ("sqrt", "expm1", "log1p", "sin", "tan", "tanh")},
}
LEFT = {
    *("allclose", "array_equal", "isclose"),  # booleans
    *("argpartition", "argwhere", "digitize", "lexsort", "nanargmax", "nanargmin"),  # indices
    *("bartlett", "blackman", "geomspace", "hamming", "hanning", "kaiser", "logspace"),  # functions without arrays
    *("apply_where", "atleast_nd", "compress", "convolve", "correlate", "delete", "diag", "fill_diagonal", "insert"),
    *("intersect1d", "kron", "nan_to_num", "nanmax", "nanmin", "nansum", "outer", "pad", "partition", "polyval", "ptp"),
    *("segment_max", "segment_min", "segment_sum", "setdiff1d", "setxor1d", "sliding_window_view", "split", "topk"),
    "union1d",
}
"""The functions whose result is not floating-point for integers; from `apply_where` on, it has the operands' dtype."""
MODES = (None, "float32", "float64")


def test_the_tables_are_complete():
    assert set(FLOATING) | set(FLOATING_BY_DTYPE) == {*FLOATING_EXTRA, *FLOATING_ARGUMENTS, *FLOATING_BY_DTYPE}
    assert set(EXTRA) == LEFT | set(FLOATING) | set(FLOATING_BY_DTYPE)
    assert set(ELEMENTWISE) <= {*SPARSE, "abs", "sign", "square", "negative"}


def dtypes(x):
    each = x if isinstance(x, (tuple, list)) else (x,)
    return {
        xo.backend(a).functions["dtype_name"](xo.sparse.parts(a).data.dtype if is_sparse(a) else a.dtype) for a in each
    }


def is_sparse(x):
    return not hasattr(x, "__array_namespace__") and (hasattr(x, "nnz") or hasattr(x, "nse"))


def called(function, mode, *args):
    with warnings.catch_warnings(action="ignore"):  # of degrees of freedom
        if mode is None:
            return function(*args)
        with xo.use(dtype=mode):
            return function(*args)


def wanted(library, dtype, mode):
    """The dtype of a floating-point x; of integers that of `use`, else the library's default."""
    if dtype.startswith("float"):
        return {dtype}
    return {mode or dtypes(xo.zeros(1, backend=library.name)).pop()}


CASES = [(dtype, mode) for dtype in ("float32", "float64", "int64") for mode in MODES] + [("int16", None)]


def cases(library):
    """The dtypes and the modes; few with JAX, which compiles for each dtype."""
    return CASES if library.name != "jax" else [("float32", None), ("int64", "float32"), ("int16", None)]


@pytest.mark.parametrize("name", FLOATING)
def test_dense(library, name):
    for dtype, mode in cases(library):
        x, m = library.array(VALUES.astype(dtype)), library.array(MATRIX.astype(dtype))
        for k, function in enumerate(FLOATING[name]):
            if name == "cbrt" and (library.name, dtype) == ("numpy", "int16"):
                continue  # NumPy's bare ufunc gives float32
            found = called(function, mode, x, m, library.array(COUNTS))
            assert dtypes(found) == wanted(library, dtype, mode), f"{name}, call {k} of {dtype} with {mode}"


@pytest.mark.parametrize("name", SPARSE)
def test_sparse(library, name):
    if library.name == "dask":
        pytest.skip("Dask has no sparse containers")
    pytest.importorskip("scipy.sparse")
    for dtype, mode in cases(library)[:-1]:
        s = xo.sparse.from_dense(library.array(MATRIX.astype(dtype)))
        for k, function in enumerate(SPARSE[name]):
            found = called(function, mode, s)
            assert dtypes(found) == wanted(library, dtype, mode), f"{name}, call {k} of {dtype} with {mode}"


def test_sparse_values_of_integers_in_another_default_dtype(library):
    if library.name == "dask":
        pytest.skip("Dask has no sparse containers")
    pytest.importorskip("scipy.sparse")
    s = xo.sparse.from_dense(library.array(MATRIX))
    with xo.use(dtype="float32"):
        found = library.host(xo.sparse.to_dense(xo.sparse.log1p(s)))
    np.testing.assert_allclose(found, np.log1p(MATRIX), rtol=1e-6)
    assert library.host(xo.sparse.to_dense(s)).tolist() == MATRIX.tolist()


def test_one_hot(library):
    x = library.array(COUNTS)
    for mode in MODES:
        assert dtypes(called(lambda x: xo.one_hot(x, 4), mode, x)) == wanted(library, "int64", mode)
        assert dtypes(called(lambda x: xo.one_hot(x, 4, dtype="int8"), mode, x)) == {"int8"}


@pytest.mark.parametrize("mode", MODES)
def test_polynomials_at_python_numbers(library, mode):
    for dtype in ("float32", "float64", "int64"):
        found = called(lambda p: xo.polyval(p, 0.5), mode, library.array(VALUES.astype(dtype)))
        assert dtypes(found) == wanted(library, dtype, mode)
    assert dtypes(called(lambda p: xo.polyval(p, 2), mode, library.array(VALUES))) == {"int64"}


@pytest.mark.parametrize("method", ["inverted_cdf", "closest_observation", "lower", "higher", "nearest"])
@pytest.mark.parametrize("name", ["quantile", "percentile", "nanquantile", "nanpercentile"])
def test_methods_that_choose_an_element_keep_integers(library, name, method):
    x = library.array([2**53 + 1, 2**60 + 1, 7])
    top = 100 if "percentile" in name else 1
    for q in (top, library.array([top, 0])):
        with xo.use(dtype="float32"):
            found = getattr(xo, name)(x, q, method=method)
        assert dtypes(found) == {"int64"}
        assert np.atleast_1d(library.host(found))[0] == 2**60 + 1


def test_counts_and_indices_stay_integers(library):
    """They are exact, although float16 has no 4099."""
    ids = library.array(np.asarray([4099, 4097, 4099]))
    x = library.array(np.asarray([1, 2, 5]))
    with xo.use(dtype="float16"):
        with np.errstate(invalid="ignore"):  # of segments without elements
            assert library.host(xo.segment_mean(x, ids, 4100))[[4097, 4099]].tolist() == [2, 3]
        assert library.host(xo.bincount(ids, x, length=4100))[[4097, 4099]].tolist() == [2, 6]
        assert library.host(xo.segment_sum(x, ids, 4100))[4099] == 6
    with xo.use(dtype="float32"):
        found = library.host(xo.cov(x, fweights=library.array(np.asarray([1, 2, 3]))))
    np.testing.assert_allclose(found, np.cov([1, 2, 5], fweights=[1, 2, 3]), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_densities(library, dtype):
    """The integral is 1, and the values are those that NumPy computes in float64."""
    host = np.random.default_rng(0).integers(-9, 9, 1000).astype(dtype)
    weights = np.random.default_rng(1).uniform(size=1000).astype("float32")
    x = library.array(host)
    for edges in (7, np.asarray([-9, -3, 0, 8])):
        bins = edges if isinstance(edges, int) else library.array(edges)
        found, _ = xo.histogram(x, bins, density=True)
        np.testing.assert_allclose(library.host(found), np.histogram(host, edges, density=True)[0], rtol=1e-6)
        found, _ = xo.histogram(x, bins, density=True, weights=library.array(weights))
        assert dtypes(found) == {"float32"}
        want = np.histogram(host, edges, density=True, weights=weights)[0]
        np.testing.assert_allclose(library.host(found), want, rtol=1e-5)
