"""Calls of functions beyond the standard with NumPy's arguments that are not ours: a TypeError with what to write."""

import numpy as np
import pytest

import xarrayops as xo

X = np.asarray([[0.5, 0.25, 0.75], [0.125, 0.375, 0.625], [0.2, 0.4, 0.8]])
CALLS = {
    "xo.linalg.lstsq(x, x, rcond=-1)": "xo.linalg.lstsq has no rcond=. Instead: rtol=, or xarrayops.numpy.",
    "xo.linalg.lstsq(x, x, 0.5)": "xo.linalg.lstsq takes rtol= by keyword; xarrayops.numpy.linalg.lstsq takes ",
    "xo.lexsort(x, x)": "xo.lexsort takes one sequence of arrays: xo.lexsort([x1, x2])",
    "xo.median(x, 0)": "xo.median takes axis= and keepdims= by keyword; xarrayops.numpy.median takes ",
    "xo.median(x, overwrite_input=True)": "xo.median has no overwrite_input=. Instead: xarrayops.numpy.median, which",
    "xo.quantile(x, 0.5, interpolation='lower')": "xo.quantile has no interpolation=. Instead: method=",
    "xo.partition(x, 2, kind='introselect')": "xo.partition has no kind=. Instead: xarrayops.numpy.partition, which",
    "xo.nanstd(x, ddof=1)": "xo.nanstd has no ddof=. Instead: correction=, or ",
    "xo.nanvar(x, 0, 'float32')": "xo.nanvar takes axis=, correction= and keepdims= by keyword; ",
    "xo.cov(x, ddof=0)": "xo.cov has no ddof=. Instead: correction=, or xarrayops.numpy.cov",
    "xo.cov(x, bias=True)": "xo.cov has no bias=. Instead: xarrayops.numpy.cov, which has it",
}


@pytest.mark.parametrize("call", CALLS)
def test_the_error_says_what_to_write(call):
    with pytest.raises(TypeError) as caught:
        eval(call, {"xo": xo, "x": X})
    assert str(caught.value).startswith(CALLS[call])


def test_the_answers_equal_numpys_results():
    np.testing.assert_allclose(xo.nanstd(X, correction=1), np.nanstd(X, ddof=1))
    np.testing.assert_allclose(xo.cov(X, correction=0), np.cov(X, bias=True))
    np.testing.assert_allclose(xo.cov(X, correction=0), np.cov(X, ddof=0))
    np.testing.assert_allclose(xo.linalg.lstsq(X, X[0], rtol=0.5)[0], np.linalg.lstsq(X, X[0], rcond=0.5)[0])
    np.testing.assert_array_equal(xo.lexsort([X[0], X[1]]), np.lexsort((X[0], X[1])))


@pytest.mark.parametrize(
    "call", ["trapezoid(x, dx=two)", "interp(x, x, x, left=two)", "gradient(x, two)", "std(x, correction=two)"]
)
def test_options_may_be_numpys_scalars(library, call):
    x = library.array(np.asarray([1, 2, 4], "float32"))
    got, wanted = (eval(f"xo.{call}", {"xo": xo, "x": x, "two": two}) for two in (np.float32(2), 2.0))
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(library.host(got), library.host(wanted))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, a: xo.split(x, x.shape[0] // 2)[0],
        lambda x, a: xo.split(x, [x.shape[0] // 2])[1],
        lambda x, a: xo.hanning(x.shape[0], periodic=True, like=x),
        lambda x, a: xo.linspace(0.0, a, 5, like=x),
    ],
)
def test_sizes_and_numbers_that_torch_compile_keeps_open(function):
    torch = pytest.importorskip("torch")
    compiled = torch.compile(function, fullgraph=True, dynamic=True, backend="eager")
    for n, a in ((8, 2.5), (12, 3.5), (6, 4.5)):
        np.testing.assert_array_equal(compiled(torch.ones(n), a), function(torch.ones(n), a))


@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "dask"])
def test_segments_without_an_id_that_counts(library):
    pytest.importorskip("dask.array" if library == "dask" else library)
    x, ids = (xo.asarray([1, -3], dtype=dtype, backend=library) - 4 for dtype in ("float32", "int32"))
    for verb in ("segment_sum", "segment_mean", "segment_max"):
        assert np.asarray(xo.compute(getattr(xo, verb)(x, ids))).shape == (0,)
