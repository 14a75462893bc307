"""Sums, averages, norms and counts keep the law of accumulation on devices, in a sample of the calls."""

from __future__ import annotations

import numpy as np
import pytest

import xarrayops as xo
from tests.unit.ops.accumulation_law import faults
from tests.unit.ops.extreme_arrays import DTYPES

SAMPLED = {"torch": 16, "cupy": 16, "jax": 96}
"""One call of so many runs. JAX compiles each."""
DEVICES = sorted(
    (status.name, device.name)
    for status in xo.backends()
    if status.name in SAMPLED and status.available
    for device in status.backend.devices()
    if device.kind != "cpu"
)


@pytest.mark.device
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("library", "device"), DEVICES, ids=[":".join(each) for each in DEVICES])
def test_law(library: str, device: str, dtype: str) -> None:
    if (library, dtype) == ("cupy", "bfloat16"):
        pytest.skip("CuPy has few functions of bfloat16")
    stride, start = SAMPLED[library], DTYPES.index(dtype)
    with np.errstate(all="ignore"):
        found = faults(library, dtype, lambda number: number % stride == start, device)
    assert not found, "\n".join(found)
