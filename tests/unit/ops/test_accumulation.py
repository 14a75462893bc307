"""Sums, averages, norms and counts of half and single precision keep the law of accumulation on every library."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import pytest

from tests.unit.ops import accumulation
from tests.unit.ops.accumulation import CALLS, DTYPES, ELSEWHERE, EXACT, FINITE, faults
from xarrayops._core.backends.narrow_inputs import DEGREES, IN_SINGLE
from xarrayops._surface import EXTRA, SURFACE

SAMPLED = {"numpy": 5, "torch": 30, "jax": 120, "jax with 64-bit types": 240, "dask": 60}
"""Outside of sweeps, one call of so many runs."""


def test_the_lists_cover_the_surface():
    lists = (CALLS, FINITE, EXACT, ELSEWHERE)
    assert sorted(name for names in lists for name in names) == sorted({*SURFACE, *EXTRA})


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
