"""Numbers alone are computed by NumPy, whatever the default library: no wait, no compute and no tracer."""

import numpy
import pytest

import xarrayops as xo
import xarrayops.numpy as ours
from tests.unit.numpy.conftest import with_64_bits

CALLS = (
    *("sqrt(2.0)", "ceil(7 / 2)", "log2(8)", "deg2rad(30.0)", "maximum(2, 3)", "power(2, -1.0)", "abs(-3)", "exp(1j)"),
    *("isnan(1.0)", "logical_and(True, False)", "floor_divide(7, 2)", "round(2.567, 1)", "round(3)", "clip(5, 0, 3)"),
    *("prod((3, 4))", "sum([1, 2])", "max((3, 4))", "min([1.5, 2])", "mean([1, 2])", "any([True, False])", "prod(())"),
    *("real(2.0)", "imag(1j)", "angle(1j)", "sinc(0.5)", "fix(2.5)", "isposinf(2.0)", "isneginf(2)", "iscomplex(1j)"),
    *("nan_to_num(2.0)", "isclose(1.0, 2.0)", "where(True, 1, 2.5)", "max(2.0)", "median([1, 2])", "ptp([1, 4])"),
    *(
        "std([1, 2])",
        "average([1, 2])",
        "argmax([1, 2])",
        "argmin([1, 2])",
        "count_nonzero([1, 0])",
        "real_if_close(2j)",
    ),
    *("nansum([1.0, 2])", "nanprod([2.0])", "nanmax(2.0)", "nanmean([2, 3])", "nanvar([2, 3])", "nanmedian([2, 3])"),
)


@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "dask"])
def test_the_result_is_numpys(library):
    pytest.importorskip("dask.array" if library == "dask" else library)
    with with_64_bits(library), xo.use(library), xo.strict():
        for call in CALLS:
            found, want = (eval(f"np.{call}", {"np": np}) for np in (ours, numpy))
            assert type(found) is type(want), call
            assert found == want, call
        for name in ("modf", "divmod"):
            given = (2.5,) if name == "modf" else (7, 2)
            assert getattr(ours, name)(*given) == getattr(numpy, name)(*given)


def test_numbers_follow_the_default_dtype():
    pytest.importorskip("torch")
    with xo.use("torch", dtype="float32"):
        assert ours.sqrt(2.0).dtype == ours.mean([1.0, 2.0]).dtype == "float32"
        assert ours.sqrt([2.0]).dtype == xo.float32
        assert xo.backend(ours.sqrt([2.0])).name == "torch"


@pytest.mark.parametrize("library", ["torch", "jax", "dask"])
def test_arrays_like_and_axes_ask_for_a_library(library):
    pytest.importorskip("dask.array" if library == "dask" else library)
    x = xo.ones(3, dtype="float32", backend=library)
    with xo.use(library):
        for found in (
            ours.sqrt(x),
            ours.maximum(2.0, x),
            ours.clip(5, 0, x),
            ours.asarray(2, dtype="int32"),
            ours.zeros((), dtype="float32"),
            ours.sum([[True], [False]], axis=0),
            ours.sum([x, x]),
        ):
            assert xo.backend(found).name == library


def test_shapes_are_known_in_functions_that_jax_compiles():
    jax = pytest.importorskip("jax")

    def halves(x):
        n = int(ours.ceil(x.shape[0] / 2)) + int(ours.prod(x.shape)) - int(ours.round(x.size / 2))
        return x[:n] * ours.sqrt(2.0)

    with jax.enable_x64(True), xo.use("jax"):
        x = jax.numpy.arange(5.0)
        numpy.testing.assert_allclose(jax.jit(halves)(x), halves(numpy.arange(5.0)))
