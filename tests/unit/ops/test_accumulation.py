"""Sums, averages, norms and counts of half and single precision keep the law of accumulation on every library."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import pytest

import xarrayops as xo
from tests.unit.ops import accumulation
from tests.unit.ops.accumulation import CALLS, DTYPES, ELSEWHERE, EXACT, FINITE, faults
from xarrayops._core.backends.narrow_inputs import DEGREES, IN_SINGLE
from xarrayops._surface import EXTRA, SURFACE

SAMPLED = {"numpy": 5, "torch": 30, "jax": 120, "jax with 64-bit types": 240, "dask": 60}
"""Outside of sweeps, one call of so many runs."""


def test_the_lists_cover_the_surface():
    """Of our own operations einsum alone: attention, convolutions and the like have oracles of their own."""
    lists = (CALLS, FINITE, EXACT, ELSEWHERE)
    assert sorted(name for names in lists for name in names) == sorted({*SURFACE, *EXTRA, "einsum"})


def test_functions_that_compute_wide_are_held_to_the_law():
    assert {*IN_SINGLE, *DEGREES} - {"allclose", "isclose", "linalg.lstsq"} <= {*CALLS, *FINITE}


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
    start = accumulation.DTYPES.index(dtype)
    found = faults(library.partition(" ")[0], dtype, lambda number: number % stride == start % stride)
    assert not found, "\n".join(found)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("verb", DEGREES)
def test_functions_that_are_computed_again_are_homogeneous(verb):
    """A function of `DEGREES` may scale its first argument, or both of a pair."""
    x = np.random.default_rng(0).normal(size=40) + 3
    for call in (CALLS | FINITE)[verb]:
        small = call.run(x * 2.0**-8)
        if verb == "linalg.vector_norm" and small == len(x):
            continue  # the norm of order 0 counts, and so is always finite
        got = small * 2.0 ** (8 * DEGREES[verb])
        np.testing.assert_allclose(got, call.run(x), rtol=1e-12, atol=1e-12)


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
