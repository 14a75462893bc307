"""Every function with arrays in another place than usual: on another device, split over devices, or over processes.

Results are where the arguments are and equal those on the default device, or the call is refused with what to do.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.placed_calls import missing
from tests.workers import DEVICES, faults_of, started


def test_every_function_of_arrays_has_a_call() -> None:
    assert not missing()


@pytest.mark.more_in_sweeps
@pytest.mark.parametrize("place", ["device", "auto", "explicit"])
def test_jax(place: str, sweeping: bool) -> None:
    """On the fourth of eight devices; and over a mesh of four, with both types of axes."""
    pytest.importorskip("jax", exc_type=ImportError)
    worker = started("contract.jax_places_worker", place, 1 if sweeping else 120, **DEVICES)
    assert faults_of(worker, 1100 if sweeping else 20, 3600) == []


@pytest.mark.more_in_sweeps
def test_bytes_that_jax_moves(tmp_path: Path, sweeping: bool) -> None:
    """On meshes with automatic and explicit axes, counted in XLA's programs; in sweeps with attention."""
    pytest.importorskip("jax", exc_type=ImportError)
    flags = f"{DEVICES['XLA_FLAGS']} --xla_dump_to={tmp_path} --xla_dump_hlo_as_text"
    worker = started(
        "contract.jax_shards_worker",
        tmp_path,
        "" if sweeping else "^(?!attention|ring)",
        **DEVICES | {"XLA_FLAGS": flags},
    )
    assert faults_of(worker, 30 if sweeping else 18, 1800) == []


@pytest.mark.more_in_sweeps
def test_attention_of_split_keys(sweeping: bool) -> None:
    """Values and gradients of a ring of devices, with each option; what no ring serves says what to do."""
    pytest.importorskip("jax", exc_type=ImportError)
    worker = started("contract.jax_ring_worker", 1 if sweeping else 23, **DEVICES)
    assert faults_of(worker, 90 if sweeping else 3, 3600) == []


@pytest.mark.more_in_sweeps
def test_tensors_that_are_split_over_processes(tmp_path: Path, sweeping: bool) -> None:
    """DTensor is refused by every function, in each of two processes."""
    torch = pytest.importorskip("torch", exc_type=ImportError)
    if not torch.distributed.is_available():
        pytest.skip("this build of PyTorch has no torch.distributed")
    store = tmp_path / "store"
    workers = [started("contract.dtensor_worker", rank, store, 1 if sweeping else 4) for rank in range(2)]
    assert [faults_of(worker, 1200 if sweeping else 250, 300) for worker in workers] == [[], []]
