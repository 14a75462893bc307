"""Sums, averages, norms and counts of half and single precision keep the law of accumulation on every library."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import pytest

import xarrayops as xo
from tests.unit.ops.accumulation import CALLS
from tests.unit.ops.accumulation_law import faults
from tests.unit.ops.extreme_arrays import DTYPES
from tests.unit.ops.finite_results import FINITE
from xarrayops._core.backends.narrow_inputs import IN_SINGLE
from xarrayops._surface import EXTRA, SURFACE
from xarrayops.plugin.precision import CHECKED

_EXACT = """
all allclose any apply_where argmax argmin argpartition argsort argwhere array_equal asarray astype atleast_nd
bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor broadcast_arrays
broadcast_shapes broadcast_to can_cast clip compress concat conj count_nonzero delete diag digitize empty empty_like
equal expand_dims eye fft.fftshift fft.ifftshift fill_diagonal finfo flip from_dlpack full full_like greater
greater_equal iinfo imag insert intersect1d isclose isdtype isfinite isin isinf isnan less less_equal lexsort
linalg.diagonal logical_and logical_not logical_or logical_xor matrix_transpose max meshgrid min moveaxis nanargmax
nanargmin nanmax nanmin nextafter nonzero not_equal one_hot ones ones_like partition permute_dims real repeat reshape
result_type roll searchsorted segment_max segment_min setdiff1d setxor1d signbit sliding_window_view sort split squeeze
stack take take_along_axis tile topk tril triu union1d unique_all unique_counts unique_inverse unique_values unstack
where zeros zeros_like
"""
EXACT = frozenset(_EXACT.split())
"""Functions that compare, select or move elements: nothing is rounded on the way."""

_ELSEWHERE = """
acos asin atanh tan linalg.cholesky linalg.det linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.inv
linalg.lstsq linalg.matrix_power linalg.matrix_rank linalg.pinv linalg.qr linalg.slogdet linalg.solve linalg.svd
linalg.svdvals fft.fft fft.fftfreq fft.fftn fft.hfft fft.ifft fft.ifftn fft.ihfft fft.irfft fft.irfftn fft.rfft
fft.rfftfreq fft.rfftn
"""
ELSEWHERE = frozenset(_ELSEWHERE.split())
"""Factorisations and transforms, which the libraries have in no half type, and functions of small numbers only."""
SAMPLED = {"numpy": 5, "torch": 30, "jax": 120, "jax with 64-bit types": 240, "dask": 60}
"""Outside of sweeps, one call of so many runs."""


def test_the_lists_cover_the_surface():
    """Of our own operations einsum alone: attention, convolutions and the like have oracles of their own."""
    lists = (CALLS, FINITE, EXACT, ELSEWHERE)
    assert sorted(name for names in lists for name in names) == sorted({*SURFACE, *EXTRA, "einsum"})


def test_functions_that_compute_wide_are_held_to_the_law():
    assert {*IN_SINGLE, *CHECKED} - {"allclose", "isclose", "linalg.lstsq"} <= {*CALLS, *FINITE}


@pytest.fixture(params=SAMPLED)
def library(request) -> Iterator[str]:
    name = request.param.partition(" ")[0]
    pytest.importorskip({"dask": "dask.array"}.get(name, name))
    context: AbstractContextManager[object] = nullcontext()
    if name == "jax":
        import jax

        context = jax.enable_x64(name != request.param)
    with context, np.errstate(all="ignore"):
        yield request.param


@pytest.mark.more_in_sweeps
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
def test_law(library, dtype, sweeping):
    """All calls in a sweep; a choice of them, another one for each dtype, otherwise."""
    stride = 1 if sweeping else SAMPLED[library]
    start = DTYPES.index(dtype)
    found = faults(library.partition(" ")[0], dtype, lambda number: number % stride == start % stride)
    assert not found, "\n".join(found)


LARGE = [3e38, 3e38, -1.5e38, 3e38, 2e38, -3e38, 1e38, 3e38, -2e38]
CASES = {
    "xo.linalg.norm(f([0.1] * 16384))": 12.8,
    "xo.linalg.vector_norm(f([[0.1] * 40000] * 2), axis=1)": [20, 20],
    "xo.vecdot(f([0.1] * 10000), f([0.1] * 10000))": 100,
    "xo.nansum(f([60000, 60000]), dtype='float16')": np.inf,
    "xo.sum(f([70000, -10000]), dtype='float16')": 60000,
    "xo.nansum(f([70000, -10000]), dtype='float16')": 60000,
    "xo.cumulative_sum(f([60000, 60000, -60000]), dtype='float16')": [60000, np.inf, 60000],
    "xo.prod(f([300, 300, 0.001]), dtype='float16')": 90,
    "xo.prod(xo.astype(f([300, 300, 0.001]), 'float16'), dtype='float16')": 90,
    "xo.cumulative_prod(f([300, 300, 0.001]), dtype='float16')[-1]": 90,
    "xo.linalg.trace(f([[70000, 0], [0, -10000]]), dtype='float16')": 60000,
    "xo.linalg.vector_norm(f([5000] * 64), ord=10)": 5000 * 64**0.1,
    "xo.linalg.vector_norm(xo.astype(f([5000] * 64), 'float16'), ord=10)": 5000 * 64**0.1,
    "xo.linalg.vector_norm(f([1e37] * 64), ord=3)": 4e37,
    "xo.linalg.cond(f([[1e25, 0], [0, 1e25]]), p='fro')": 2,
    "xo.average(f([0.1, 0.2, 0.3]), weights=f([3e38] * 3))": 0.2,
    "xo.average(f([1, 2, 3]), weights=f([3e38] * 3))": 2,
    "xo.corrcoef(f([[1, 2, 4], [1e25, 2e25, 5e25]]))[0, 1]": np.corrcoef([1, 2, 4], [1, 2, 5])[0, 1],
    "xo.gradient(f([0, 1e20, 3e20, 4e20]), f([0, 1e20, 3e20, 4e20]))": [1, 1, 1, 1],
    "xo.gradient(f([0, 1e20, 3e20, 4e20]), f([0, 1e20, 3e20, 4e20]), edge_order=2)": [1, 1, 1, 1],
    "xo.sum(f([3e38, 3e38, -3e38]))": 3e38,
    "xo.sum(f([3e38, 3e38, -3e38] * 40 + [-3e38] * 40))": 0,
    "xo.sum(f([[3e38, 1], [3e38, 1], [-3e38, 1]]), axis=0)": [3e38, 3],
    "xo.mean(f([[np.inf, 1], [3e38, 3e38], [np.nan, 1], [-3e38, 3e38]]), axis=1)": [np.inf, 3e38, np.nan, 0],
    "xo.pad(f([3e38, 2.9e38]), 1, 'reflect', reflect_type='odd')[0]": 3.1e38,
    "xo.pad(f([3e38, -3e38]), 2, 'linear_ramp', end_values=-3e38)": [-3e38, 0, 3e38, -3e38, -3e38, -3e38],
    "xo.pad(xo.astype(f([60000, 59000]), 'float16'), 1, 'reflect', reflect_type='odd')[0]": 61000,
    "xo.mean(xo.astype(f([3e38] * 8), 'complex64'))": 3e38,
    "xo.gradient(f(range(6)), f([0, 1, 3, 4, 5, np.inf]))[:4]": [1, 5 / 6, 5 / 6, 1],
    "xo.gradient(f(range(5)), f([0, 1e-18, 2e-18, 1e5, 2e5]))": [1e18, 1e18, 1e18, 1e-5, 1e-5],
    "xo.gradient(f([3e38, -3e38, 3e38]), 2.0)": [-3e38, 0, 3e38],
    "xo.cov(f([8e12, -8e12, 0]), aweights=f([8e12] * 3))": 6.4e25,
    "xo.interp(f([1.5]), f([1, 2]), f([3e38, -3e38]))": 0,
    "xo.interp(f([1.5]), f([1, 2]), f([1.5e-38, 1.5e-38])) * 1e38": 1.5,
    "xo.quantile(f([1.5e-38] * 3), 0.5) * 1e38": 1.5,
    "xo.linspace(-3e38, 3e38, 5, dtype='float32', like=f([1]))": [-3e38, -1.5e38, 0, 1.5e38, 3e38],
    "xo.trapezoid(f([[np.inf, 1]] + [[1, 1]] * 39), axis=0)": [np.inf, 39],
    "xo.cosh(f([89.0])) / 1e38": np.cosh(89.0) / 1e38,
    "xo.segment_mean(f([[0, 1], [4, 5], [8, 9]]), xo.asarray(np.asarray([0, 1, 1], 'int32'), like=f([1])))": [
        [0, 1],
        [6, 7],
    ],
    "xo.sum(f([[1, 2], [3, 4]]), axis=np.int64(0))": [4, 6],
    "xo.mean(f([[1, 2], [3, 4]]), axis=np.int64(0))": [2, 3],
    "xo.std(f([1, 2, 4]), correction=0.25)": np.std([1, 2, 4]) * (3 / 2.75) ** 0.5,
    "xo.linalg.vector_norm(xo.astype(f([1e25] * 4), 'complex64') * (1 + 1j))": 1e25 * 8**0.5,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CASES)
def test_dtypes_divisors_and_orders(library, call):
    """With a dtype= of half precision, a divisor that overflows, and numbers near the largest."""
    name = library.partition(" ")[0]
    found = eval(
        call, {"xo": xo, "np": np, "f": lambda values: xo.asarray(np.asarray(values, "float32"), backend=name)}
    )
    tolerance = 2e-3 if "float16" in call else 5e-6 if "* 40000" in call else 1e-6
    np.testing.assert_allclose(
        xo.convert(xo.compute(found), "numpy"), CASES[call], rtol=tolerance, atol=1e32 * ("e38" in call)
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("verb", sorted(CHECKED - {"cumulative_prod", "linalg.trace", "polyval", "prod"}))
def test_gradients_of_functions_that_are_computed_again(verb):
    torch = pytest.importorskip("torch")
    x = torch.tensor(LARGE if verb not in ("cov", "var", "nanvar", "cumulative_sum") else LARGE[:2], requires_grad=True)
    for call in (CALLS | FINITE)[verb]:
        if call.least <= x.shape[0]:
            found = call.run(x)
            total = torch.sum(found[0] if isinstance(found, tuple) else found)
            (gradient,) = torch.autograd.grad(total * 1e-30, x, allow_unused=True)
            assert gradient is None or torch.isfinite(gradient).all()


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
def test_derivatives_at_zero_and_at_infinity():
    torch = pytest.importorskip("torch")
    zeros, norm = torch.zeros(200, 3), lambda x: xo.linalg.vector_norm(x, axis=0)
    assert not torch.func.jvp(norm, (zeros,), (torch.zeros_like(zeros),))[1].any()
    nested = torch.func.grad(lambda x: torch.func.vmap(norm)(x).sum())(torch.zeros(2, 200, 3))
    assert not nested.isnan().any()
    x = torch.tensor([1.0, 89.0, np.inf], requires_grad=True)
    xo.cosh(x).sum().backward()
    np.testing.assert_allclose(x.grad, np.sinh([1, 89.0, np.inf]), rtol=1e-5)


def test_numbers_of_large_results_do_not_warn():
    x = np.full((40, 3), 1e30, "float32")
    with np.errstate(all="raise"):
        for found in (xo.mean(x, axis=0), xo.median(x, axis=0), xo.cumulative_sum(x, axis=0)[0]):
            np.testing.assert_allclose(found, 1e30, rtol=1e-6)


def test_weakly_typed_arrays_of_jax_do_not_promote():
    jnp = pytest.importorskip("jax.numpy")
    ones = jnp.ones(3, "bfloat16")
    assert xo.polyval(ones, jnp.asarray(2.0)).dtype == "bfloat16"


@pytest.mark.parametrize("compile_", ["jax", "torch"])
def test_compiled_functions_compute_half_types_in_single_precision(compile_):
    library = pytest.importorskip(compile_)
    compiled = library.jit if compile_ == "jax" else lambda f: library.compile(f, backend="eager", fullgraph=True)
    zeros = xo.zeros(70_000, dtype="float16", backend=compile_)
    weights = compiled(lambda x: xo.softmax(x))(zeros)
    assert str(weights.dtype).endswith("float16")
    assert float(weights[0]) == pytest.approx(1 / 70_000, rel=0.02)
    equal = xo.full(4350, 300.0, dtype="float16", backend=compile_)
    assert float(compiled(lambda x: xo.nanmean(x) - xo.linalg.vector_norm(x[:2]))(equal)) == -124.25


def test_missing_values_that_are_not_finite_stay():
    x = np.asarray([[np.inf, 1.0, np.nan], [1.0, 1.0, 1.0]], np.float32)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(xo.mean(x, axis=0), np.asarray([np.inf, 1, np.nan], np.float32))
        np.testing.assert_array_equal(xo.nanmean(x, axis=0), np.asarray([np.inf, 1, 1], np.float32))
        assert np.isnan(xo.std(x))


def test_explain_shows_the_kernel_for_the_computed_dtype():
    torch = pytest.importorskip("torch", exc_type=ImportError)
    assert xo.explain("softmax", torch.zeros(3, dtype=torch.float16)).chosen == "torch:softmax"


@pytest.mark.parametrize("name", ["numpy", "torch", "jax"])
def test_nan_of_float16_raises_no_warning(name):
    pytest.importorskip(name)
    x = xo.convert(np.asarray([1.5, np.nan, 2.0], "float16"), name)
    found = xo.convert(xo.cumulative_sum(x, dtype="float32"), "numpy")
    np.testing.assert_array_equal(found, np.asarray([1.5, np.nan, np.nan], "float32"))
