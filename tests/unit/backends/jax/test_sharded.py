"""Arrays that are split over a mesh of eight devices, in processes of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workers import DEVICES, faults_of, started

pytest.importorskip("jax", exc_type=ImportError)
NARROW = DEVICES | {"JAX_ENABLE_X64": "0"}
LAWS = [
    *("bytes_of_the_study", "limits", "r_is_unique", "results_keep_the_rows", "gradients", "counts_of_many_elements"),
    *("other_calls_are_whole", "wrong_calls", "memory_of_tall_matrices", "memory_of_the_ring"),
]


@pytest.mark.more_in_sweeps
@pytest.mark.parametrize(
    ("file", "step"), [("tall", 5), ("selection", 9), ("counting", 4), ("sorting", 5), ("greatest", 5)]
)
def test_stated_moves_are_those_of_the_programs(file: str, step: int, tmp_path: Path, sweeping: bool) -> None:
    """Results equal NumPy's, and no more memory is held than stated."""
    flags = f"{DEVICES['XLA_FLAGS']} --xla_dump_to={tmp_path} --xla_dump_hlo_as_text"
    arguments = tmp_path, file, 1 if sweeping else step
    worker = started("unit.backends.jax.sharded_worker", *arguments, **NARROW | {"XLA_FLAGS": flags})
    assert faults_of(worker, 26 if sweeping else 8, 1800) == []


def test_laws() -> None:
    worker = started("unit.backends.jax.sharded_laws", **NARROW)
    out, err = worker.communicate(timeout=600)
    assert out.split() == LAWS, err
