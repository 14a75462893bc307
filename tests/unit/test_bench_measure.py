"""What stands behind a number of the benchmark: clock, statistics, oracle, memory."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.bench import cell, memory, roofs, timing, worker
from xarrayops.bench.oracle import WrongAnswer, check, relative_error
from xarrayops.bench.workloads import WORKLOADS, Case
from xarrayops.bench.workloads._contract import SIZES

BY_NAME = {workload.name: workload for workload in WORKLOADS}


def test_interval_holds_the_median_as_often_as_it_says():
    random = np.random.default_rng(0)
    for rounds in (4, 9, 12):
        hits, trials = 0, 3000
        for _ in range(trials):
            found = timing.median_of_rounds(random.exponential(size=(rounds, 1)).tolist())
            hits += found.low <= np.log(2) <= found.high
        assert abs(hits / trials - found.confidence) < 0.02
    assert found.confidence >= timing.CONFIDENCE


def test_interval_of_few_rounds_is_honest():
    assert timing.median_of_rounds([[2.0]]) == (2.0, None, None, None)
    assert timing.median_of_rounds([[1.0], [3.0]]) == (2.0, 1.0, 3.0, 0.5)


def test_a_long_round_counts_once():
    assert timing.median_of_rounds([[1.0] * 100, [2.0], [3.0]]).median == 2.0


def test_every_call_of_a_round_is_a_sample():
    seen = []
    samples, results = timing.timed_round(lambda x: seen.append(x) or x, (np.ones(2),), seconds=0.01)
    assert len(samples) == len(seen) >= 1
    assert results[0] is seen[-1]
    assert all(sample > 0 for sample in samples)
    assert len(timing.timed_round(lambda x: x, (np.ones(2),), seconds=0.0)[0]) == 1


def test_lazy_results_are_computed_inside_the_timed_region():
    pytest.importorskip("dask.array")
    _, (result,) = timing.timed(xo.negative, (xo.convert(np.ones(3), "dask"),))
    assert isinstance(result, np.ndarray)


def case(expected, tolerance=1e-6):
    return Case((), (np.asarray(expected),), tolerance, 0.0, 0.0)


def test_oracle_takes_what_the_dtype_explains():
    assert check(case([1.0, 2.0]), (np.asarray([1.0, 2.000001], dtype="float32"),), "float32") < 1e-6


@pytest.mark.parametrize(
    ("got", "why"),
    [
        (np.asarray([1.0, 2.1], dtype="float32"), "error"),
        (np.asarray([1.0, np.nan], dtype="float32"), "error"),
        (np.asarray([1.0, 2.0]), "dtype float64"),
        (np.asarray([[1.0, 2.0]], dtype="float32"), "shape"),
    ],
)
def test_oracle_refuses(got, why):
    with pytest.raises(WrongAnswer, match=why):
        check(case([1.0, 2.0]), (got,), "float32")


def test_oracle_counts_the_results():
    with pytest.raises(WrongAnswer, match="0 results"):
        check(case([1.0]), (), "float32")


def test_error_is_relative_to_the_largest_value():
    assert relative_error(np.asarray([10.0, 1.0]), np.asarray([10.0, 2.0])) == pytest.approx(0.1)
    assert relative_error(np.asarray([0.5]), np.asarray([0.0])) == 0.5


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux resets the high-water mark")
def test_peak_memory_is_that_of_the_call():
    size = 64 << 20
    peak = memory.peak_bytes(lambda: np.ones(size, dtype=np.uint8))
    if peak is None:
        pytest.skip("this system does not let a process reset its high-water mark")
    assert 0.9 * size < peak < 1.2 * size


def test_transfer_is_the_median_of_several(monkeypatch):
    clock = iter([0.0, 9.0, 0.0, 1.0, 0.0, 3.0, 0.0, 2.0, 0.0, 1.0])  # the first of five takes far longer
    monkeypatch.setattr(cell, "perf_counter", lambda: next(clock))
    seconds, (moved,) = cell.transferred((np.arange(3.0),), "numpy", "cpu")
    assert (seconds, moved.tolist()) == (2.0, [0.0, 1.0, 2.0])


def test_the_start_of_a_library_is_part_of_its_import(monkeypatch):
    started = []
    monkeypatch.setattr(worker, "warm_up", lambda *place: started.append(place) or time.sleep(0.05))
    assert worker.greeting("numpy")["import_s"] > 0.05
    assert started == [("numpy", "cpu")]
    cell.warm_up("numpy", "cpu")


def test_a_library_that_does_not_start_is_told_by_its_cells(monkeypatch):
    monkeypatch.setattr(worker, "warm_up", lambda *place: np.ones(3) @ np.ones(2))
    assert worker.greeting("numpy")["status"] == "ok"


@pytest.fixture
def small_probes(monkeypatch):
    """Probes of the roofs that take no time."""
    for name, value in {"_ORDER": (64, 64), "_COPY_BYTES": (1 << 12, 1 << 12), "_PROBE_S": 0.0}.items():
        monkeypatch.setattr(roofs, name, value)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.usefixtures("small_probes")
def test_roofs_of_right_answers(dtype):
    assert set(roofs.probe("numpy", "cpu", "cpu", dtype)) == {"memory", "compute"}
    assert set(roofs.probe("numpy", "cpu", "not the host", dtype)) == {"memory", "compute"}


def tf32(a, b):
    return np.matmul(*((x.view("uint32") & np.uint32(0xFFFFE000)).view("float32") for x in (a, b)))


@pytest.mark.parametrize(
    ("verb", "function", "left"),
    [
        ("matmul", lambda a, b: np.zeros_like(a), "memory"),
        ("matmul", lambda a, b: np.full_like(a, np.nan), "memory"),
        ("matmul", tf32, "memory"),
        ("add", lambda x, y: x, "compute"),
    ],
)
@pytest.mark.usefixtures("small_probes")
def test_no_roof_from_a_wrong_answer(monkeypatch, verb, function, left):
    monkeypatch.setattr(xo, verb, function)
    assert set(roofs.probe("numpy", "cpu", "not the host", "float32")) == {left}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BY_NAME)
def test_workloads_agree_with_their_oracle(name, dtype):
    if name == "pipeline":
        pytest.importorskip("sklearn")
    workload = BY_NAME[name]
    prepared = workload.prepare(dtype, "toy")
    assert tuple(x.shape for x in prepared.inputs) == workload.shapes("toy")
    assert {x.dtype.name for x in prepared.inputs} == {dtype}
    assert check(prepared, timing.timed(workload.function, prepared.inputs)[1], dtype) <= prepared.tolerance
    assert prepared.nbytes > 0
    again = workload.prepare(dtype, "toy")
    assert all(np.array_equal(x, y) for x, y in zip(prepared.inputs, again.inputs, strict=True))
    assert all(workload.shapes(size) for size in SIZES)


@pytest.mark.parametrize("name", ["matmul", "transpose", "pipeline"])
def test_ten_bits_do_not_pass_for_float32(name):
    if name == "pipeline":
        pytest.importorskip("sklearn")
    workload = BY_NAME[name]
    prepared = workload.prepare("float32", "toy")
    results = timing.timed(workload.function, prepared.inputs)[1]
    coarse = tuple((x.view("uint32") & np.uint32(0xFFFFE000)).view("float32") for x in results)  # as TF32 has them
    with pytest.raises(WrongAnswer):
        check(prepared, coarse, "float32")


def test_transpose_moves_every_element():
    x = np.arange(6.0).reshape(2, 3)
    moved = BY_NAME["transpose"].function(x)
    assert moved.tolist() == [0, 3, 1, 4, 2, 5]
    assert not xo.shares_memory(x, moved)
