"""The measurements of the benchmark: timing, statistics, oracle, memory."""

from __future__ import annotations

import math
import os
import sys

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.bench import place, workload_sources
from xarrayops.bench.measure import cell, roofline, timing, worker
from xarrayops.bench.measure.answers import WrongAnswer, check, relative_error
from xarrayops.bench.measure.cell import Cell
from xarrayops.bench.place import Place
from xarrayops.bench.workloads import WORKLOADS, Case, Workload

BY_NAME = {workload.name: workload for workload in WORKLOADS}
EXAMPLE = """
import xarrayops as xo
from xarrayops.bench import Workload

def gram(x):
    return xo.matmul(xo.matrix_transpose(x), x)

WORKLOADS = (Workload("gram", gram, lambda random, n: (random.random((n, 4)),), lambda x: x.T @ x, (9,)),)
"""


def test_the_interval_has_its_confidence():
    random = np.random.default_rng(0)
    for rounds in (4, 9, 12):
        hits, trials = 0, 3000
        for _ in range(trials):
            found = timing.median_of_rounds(random.exponential(size=rounds).tolist())
            hits += found.low <= np.log(2) <= found.high
        assert abs(hits / trials - found.confidence) < 0.02
    assert found.confidence >= timing.CONFIDENCE


def test_the_interval_of_few_rounds():
    assert timing.median_of_rounds([2.0]) == (2.0, None, None, None)
    assert timing.median_of_rounds([1.0, 3.0]) == (2.0, 1.0, 3.0, 0.5)


class Clock:
    """Simulated time that passes only during calls."""

    def __init__(self):
        self.now, self.seen = 0.0, []

    def calls(self, seconds):
        def call(x):
            self.seen.append(x)
            self.now += seconds
            return x

        return call


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(timing, "perf_counter", lambda: clock.now)
    return clock


def test_short_calls_share_a_reading(clock):
    call_s = 2.0**-14
    in_a_reading = math.ceil(timing.READING_S / call_s)
    found = timing.timed_round(clock.calls(call_s), (np.ones(2),), seconds=10 * in_a_reading * call_s)
    assert (len(found.samples), found.calls) == (10, 10 * in_a_reading)
    assert len(clock.seen) == found.calls + 1 + in_a_reading, "calls that determine the batch size are not samples"
    assert found.results[0] is clock.seen[-1]
    assert found.samples == [call_s] * 10


def test_long_and_lazy_calls_have_their_own_readings(clock):
    for seconds, lazy in ((2 * timing.READING_S, False), (1e-5, True)):
        found = timing.timed_round(clock.calls(seconds), (np.ones(2),), seconds=0.0, lazy=lazy)
        assert (len(found.samples), found.calls) == (1, 1)


def test_times_are_per_call(clock):
    assert timing.timed(clock.calls(0.002), (np.ones(2),), calls=5)[0] == pytest.approx(0.002)


def test_lazy_results_are_computed_inside_the_timed_region():
    pytest.importorskip("dask.array")
    _, (result,) = timing.timed(xo.negative, (xo.convert(np.ones(3), "dask"),))
    assert isinstance(result, np.ndarray)


def case(expected, tolerance=1e-6):
    return Case((), (np.asarray(expected),), tolerance, 0.0, 0.0)


def test_the_oracle_accepts_errors_within_the_tolerance():
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
def test_the_oracle_rejects(got, why):
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
    peak = place.peak_host_bytes(lambda: np.ones(size, dtype=np.uint8))
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
    times = iter((3.0, 10.5))
    monkeypatch.setattr(worker, "perf_counter", lambda: next(times))
    monkeypatch.setattr(worker, "warm_up", lambda *place: started.append(place))
    assert worker.handshake("numpy")["import_s"] == 7.5
    assert started == [("numpy", "cpu")]
    cell.warm_up("numpy", "cpu")


def test_a_failing_start_of_a_library_is_reported_by_its_cells(monkeypatch):
    monkeypatch.setattr(worker, "warm_up", lambda *place: np.ones(3) @ np.ones(2))
    assert worker.handshake("numpy")["status"] == "ok"


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_float64_of_jax_is_measured_with_64_bit_types_on(dtype, wide):
    jax = pytest.importorskip("jax")
    command = {"do": "measure", "workload": "matmul", "device": "cpu:0", "kind": "cpu", "dtype": dtype, "size": 4}
    with jax.enable_x64(wide):
        found = worker.handle(command | {"seconds": 1e-4, "cold": False}, "jax", BY_NAME, cell.CellCache())
        assert bool(jax.config.jax_enable_x64) is wide
    assert found["status"] == "ok"
    assert ("64-bit types on" in found["first"]["note"]) is (dtype == "float64" and not wide)


def test_every_cpu_fills_its_caches(monkeypatch):
    Place("numpy", "cpu", "cpu").fill_caches()
    before = place._host_memory().copy()
    where = []
    if hasattr(os, "sched_setaffinity"):
        affinity, pin = os.sched_getaffinity(0), os.sched_setaffinity
        monkeypatch.setattr(os, "sched_setaffinity", lambda thread, cpus: where.append(cpus) or pin(thread, cpus))
    Place("numpy", "cpu", "cpu").fill_caches()
    assert np.array_equal(place._host_memory(), before + np.uint8(1))
    assert place.MIN_CACHE_BYTES <= place._host_memory().nbytes <= place.MAX_CACHE_BYTES
    if hasattr(os, "sched_setaffinity"):  # each CPU wrote its part, and the affinity of this thread is unchanged
        assert set().union(*where) == affinity == os.sched_getaffinity(0)
    Place("numpy", "cpu", "not the host").fill_caches()


def test_a_cell_measures_warm_and_cold_and_checks_every_answer():
    calls = []

    def negative(x):
        calls.append(x)
        return xo.negative(x) if len(calls) < 2 else x

    once = Workload("w", negative, lambda random, n: (random.standard_normal(n),), np.negative, (9,))
    made = Cell(once, Place("numpy", "cpu", "cpu"), "float32", 9)
    assert made.first["shape"] == [[9]]
    assert made.first["first_call_s"] > 0
    with pytest.raises(WrongAnswer, match=r"after .* timed calls"):
        made.round(0.01)
    right = Cell(BY_NAME["relu"], Place("numpy", "cpu", "cpu"), "float32", 7).round(0.01)
    assert right["median_s"] > 0 < right["cold_s"]
    assert right["calls"] >= 1


@pytest.fixture
def small_probes(monkeypatch):
    """Roofline measurements that take no time."""
    for name, value in {
        "_ORDER": (64, 64),
        "_COPY_BYTES": (1 << 12,),
        "_LARGEST_COPY": 1 << 14,
        "_MEASURE_S": 0.0,
    }.items():
        monkeypatch.setattr(roofline, name, value)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.usefixtures("small_probes")
def test_rooflines_of_correct_answers(dtype):
    for kind, sizes in (("cpu", {1 << 12}), ("not the host", {1 << 12, 1 << 14})):
        found = roofline.measure_roofline(Place("numpy", "cpu", kind), dtype)
        assert set(found) == {"memory", "compute"}
        assert set(found["memory"]) == sizes
        assert min(found["compute"], *found["memory"].values()) > 0


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
def test_a_wrong_answer_has_no_roofline(monkeypatch, verb, function, left):
    monkeypatch.setattr(xo, verb, function)
    if left == "compute":  # every kind of move must be wrong
        monkeypatch.setattr(roofline, "_STREAMS", roofline._STREAMS[:1])
    found = roofline.measure_roofline(Place("numpy", "cpu", "not the host"), "float32")
    assert [name for name in ("memory", "compute") if found.get(name)] == [left]


def test_transpose_moves_every_element():
    x = np.arange(6.0).reshape(2, 3)
    moved = BY_NAME["transpose"].function(x)
    assert moved.tolist() == [0, 3, 1, 4, 2, 5]
    assert not xo.shares_memory(x, moved)


class TestSources:
    def test_a_file_adds_to_the_built_in_workloads(self, tmp_path):
        (tmp_path / "mine.py").write_text(EXAMPLE)
        found = workload_sources.load([workload_sources.BUILT_IN, str(tmp_path / "mine.py")])
        assert found[:-1] == WORKLOADS
        assert found[-1].name == "gram"
        assert "matrix_transpose" in workload_sources.code_of(found[-1])
        assert workload_sources.code_of(BY_NAME["matmul"])
        assert workload_sources.digest(found[-1]) == workload_sources.digest(
            workload_sources.load([str(tmp_path / "mine.py")])[0]
        )

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "has no WORKLOADS"),
            ("WORKLOADS = 3", "TypeError"),
            ("WORKLOADS = (3,)", "contains 3, which is not"),
            ("1 / 0", "ZeroDivisionError"),
            ("def", "SyntaxError"),
        ],
    )
    def test_files_that_cannot_be_used(self, tmp_path, text, message):
        (tmp_path / "mine.py").write_text(text)
        with pytest.raises(ValueError, match=message):
            workload_sources.load([str(tmp_path / "mine.py")])
        assert workload_sources.file_of(BY_NAME["matmul"]) == "", "a faulty file leaves nothing behind"

    def test_names_are_unique(self, tmp_path):
        (tmp_path / "mine.py").write_text(EXAMPLE.replace('"gram"', '"matmul"'))
        with pytest.raises(ValueError, match="rename one"):
            workload_sources.load([workload_sources.BUILT_IN, str(tmp_path / "mine.py")])
