"""The exchange matrix at small scale: every pair of libraries, every kind of memory, a few dtypes.

The pairs run in this process. Those with JAX run again with 64-bit types disabled, and those with the stand-in CuPy
run in a separate process.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from benchmarks.exchange_matrix import cells
from benchmarks.exchange_matrix.check import examine
from benchmarks.exchange_matrix.worker import library

pytestmark = pytest.mark.device

DTYPES = ("bool", "int64", "float32", "complex128", "bfloat16", "float8_e5m2")
PAIRS = sorted({(pair.producer, pair.consumer, pair.device) for pair in cells.pairs(cells.libraries())})


@pytest.mark.parametrize(("producer", "consumer", "device"), PAIRS, ids=["-".join(filter(None, p)) for p in PAIRS])
def test_cells(producer: str, consumer: str, device: str) -> None:
    both = library(producer), library(consumer)
    native = both[0].native_device(device) if device else None
    found = {cell: examine(*both, **cell._asdict(), device=native) for cell in cells.cells(DTYPES)}
    faults = [f"{cell}: {result['reason']}" for cell, result in found.items() if result["outcome"] in cells.FAULTY]
    assert not faults, "\n".join(faults[:10])
    assert {result["outcome"] for result in found.values()} > {"copy", "not made"}


def run_here(selected: str, environment: dict[str, str]) -> None:
    """Run the tests above that match an expression, in a process with another environment."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", __file__, "-k", selected]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_jax_without_64_bits() -> None:
    pytest.importorskip("jax", exc_type=ImportError)
    run_here("test_cells and jax", {**os.environ, "JAX_ENABLE_X64": "0"})


def test_cupy_stand_in(standin_environment: dict[str, str], real_cupy: bool) -> None:
    if real_cupy:
        pytest.skip("the real CuPy has a device: its cells are among the tests above")
    run_here("test_cells and cupy", standin_environment)
