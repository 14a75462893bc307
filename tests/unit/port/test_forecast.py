"""Forecasts from synthetic rates, and rates from the results of the benchmark."""

import json
from datetime import date, timedelta
from pathlib import Path

import pytest

from xarrayops.port.checking import check
from xarrayops.port.checking.verdict import READY, REDESIGN, STAY, Verdict, with_forecasts
from xarrayops.port.source import PortError
from xarrayops.port.trace import kept, operations, rates as rates_module
from xarrayops.port.trace.forecast import HOST_BOUND, LAUNCH_BOUND, MEMORY_BOUND, PYTHON_BOUND, forecasts, shown
from xarrayops.port.trace.rates import Rates, measured, of_results
from xarrayops.port.trace.record import Operation, Trace

RESULTS = Path(__file__).resolve().parents[3] / "benchmarks" / "results" / "cpu-2-cores"
BACKENDS = ("numpy", "torch", "jax")


def rates(backend="torch", launch_s=1e-6, bytes_per_s=1e9, **options):
    points = {(kind, False): ((0.0, launch_s), (1e9, launch_s + 1e9 / bytes_per_s)) for kind in operations.KINDS}
    return Rates(backend, "cpu", points, options.get("number_s", 0.0), options.get("transfer_rate"))


def trace_of(*operations, **parts):
    trace = Trace("program.py")
    for kind, nbytes, count in operations:
        operation = Operation(1, kind, nbytes, nbytes, nbytes, False)
        trace.operations[operation] = count
    for name, value in parts.items():
        setattr(trace, name, value)
    return trace


def test_the_time_is_the_sum_of_its_parts():
    trace = trace_of((operations.ELEMENTWISE, 1_000_000, 10), python_s=0.5, foreign_s=0.25, argument_bytes=1_000_000)
    trace.numbers[3] = 100
    (found,) = forecasts(trace, [rates(number_s=1e-3, transfer_rate=1e7)], is_here=False)
    assert found.launch_s == pytest.approx(10e-6)
    assert found.work_s == pytest.approx(10e-3)
    assert found.transfer_s == pytest.approx(0.1)
    assert found.waits_s == pytest.approx(0.1)
    assert found.seconds == pytest.approx(10e-6 + 10e-3 + 0.5 + 0.25 + 0.1 + 0.1)


@pytest.mark.parametrize(
    ("trace", "bound"),
    [
        (trace_of((operations.ELEMENTWISE, 8, 40_000)), LAUNCH_BOUND),
        (trace_of((operations.ELEMENTWISE, 10**8, 3)), MEMORY_BOUND),
        (trace_of((operations.ELEMENTWISE, 8, 3), python_s=1.0), PYTHON_BOUND),
        (trace_of((operations.ELEMENTWISE, 8, 3), foreign_s=1.0), HOST_BOUND),
    ],
)
def test_bounds(trace, bound):
    (found,) = forecasts(trace, [rates()], is_here=False)
    assert found.bound == bound
    assert bound in found.text()


def test_text():
    (found,) = forecasts(trace_of((operations.ELEMENTWISE, 2000, 40_000)), [rates(launch_s=10e-6)], is_here=False)
    assert "launch-bound: 40 000 operations of 2 us of work and 10 us of launch each" in found.text()


def test_one_operation_is_singular():
    (found,) = forecasts(trace_of((operations.ELEMENTWISE, 8, 1)), [rates()], is_here=False)
    assert ": 1 operation of " in found.text()


@pytest.mark.parametrize(("seconds", "text"), [(2.5, "2.5 s"), (0.0025, "2.5 ms"), (2e-6, "2 us"), (0.0, "0 us")])
def test_times(seconds, text):
    assert shown(seconds) == text


def test_assignments_copy_whole_arrays_where_arrays_cannot_change():
    trace = trace_of()
    trace.operations[Operation(1, operations.ASSIGNMENT, 8, 0, 10**8, False)] = 1
    torch, jax = forecasts(trace, [rates("torch"), rates("jax")], is_here=False)
    assert jax.seconds == pytest.approx(0.2, rel=1e-3)
    assert torch.seconds == pytest.approx(1e-6, rel=1e-1)


def test_on_this_machine_the_run_measures_numpy():
    trace = trace_of((operations.ELEMENTWISE, 10**8, 2), plain_s=0.35, python_s=0.25)
    numpy, torch = forecasts(trace, [rates("numpy"), rates("torch")], is_here=True)
    assert numpy.seconds == pytest.approx(0.35)
    assert torch.seconds == pytest.approx(0.45, rel=1e-3)
    assert numpy.work_s + numpy.launch_s == pytest.approx(0.1)


def test_sizes_between_and_beyond_the_measured_ones():
    found = Rates("torch", "cpu", {(operations.SORT, True): ((10.0, 1.0), (20.0, 3.0))}, 0.0, None)
    assert [found.seconds(operations.SORT, False, size) for size in (0, 10, 15, 20, 40)] == [1.0, 1.0, 2.0, 3.0, 6.0]


def test_verdicts_follow_the_forecast():
    trace = trace_of((operations.ELEMENTWISE, 10**8, 3))
    both = forecasts(trace, [rates("numpy", bytes_per_s=1e9), rates("torch", bytes_per_s=1e10)], is_here=False)
    (quick,) = with_forecasts([Verdict("torch", READY, ())], both)
    assert quick.verdict == READY
    assert "10 times as fast as NumPy" in quick.reasons[0]
    both = forecasts(trace, [rates("numpy", bytes_per_s=1e9), rates("torch", bytes_per_s=1e8)], is_here=False)
    (slow, loops) = with_forecasts([Verdict("torch", READY, ()), Verdict("torch", REDESIGN, ("loop",))], both)
    assert slow.verdict == STAY
    assert "10 times the time of NumPy" in slow.reasons[0]
    assert loops.verdict == REDESIGN
    both = forecasts(trace, [rates("numpy"), rates("torch")], is_here=False)
    (equal,) = with_forecasts([Verdict("torch", READY, ())], both)
    assert ": as fast as NumPy" in equal.reasons[0]


def test_rates_of_results():
    found = {each.backend: each for each in of_results(RESULTS, BACKENDS)[0]}
    assert set(found) == {"numpy", "torch", "jax"}
    assert 1e-7 < found["torch"].smallest(operations.ELEMENTWISE, True) < 1e-4
    assert found["numpy"].seconds(operations.ELEMENTWISE, False, 1e9) == pytest.approx(1e9 / 1.7e10, rel=0.5)
    assert found["numpy"].seconds(operations.PRODUCT, False, 1e11) == pytest.approx(1.0, rel=0.5)


def test_folders_without_results(tmp_path):
    with pytest.raises(PortError, match=r"Instead: run python -m xarrayops\.bench --all"):
        of_results(tmp_path, BACKENDS)


def test_rates_of_this_machine(folder):
    (few,), _ = measured(["numpy"], [operations.SORT])
    assert {kind for kind, _ in few.points} == {operations.SORT}
    (found,), missing = measured(["numpy", "no-such-library"], operations.KINDS)
    assert found.backend == "numpy"
    assert "no-such-library" in missing["no-such-library"]
    for (kind, _), points in found.points.items():
        assert points[0][1] > 0, kind
        assert points[-1][1] < 10, kind


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of kept rates, in a cache of its own."""
    monkeypatch.setenv("XARRAYOPS_CACHE", str(tmp_path))
    return tmp_path / "rates"


@pytest.fixture
def cache(folder, monkeypatch):
    """The folder of kept rates, and the measurements that were asked for: the library and the kinds."""
    asked = []

    def made_up(backend, kinds):
        asked.append((backend, kinds))
        points = [[16.0, 1e-6], [1e6, 1e-3]]
        operations = [[kind, by_function, points] for kind in kinds for by_function in (False, True)]
        return {"device": "cpu", "operations": operations, "number_s": 1e-7, "transfer_rate": None}

    monkeypatch.setattr(rates_module, "_measured", made_up)
    return folder, asked


def test_rates_are_kept_and_only_what_lacks_is_measured(cache):
    folder, asked = cache
    (first,), _ = measured(["numpy"], [operations.SORT])
    (again,), _ = measured(["numpy"], [operations.SORT])
    assert again == first
    assert first.measured == date.today().isoformat()
    (more,), _ = measured(["numpy"], [operations.SORT, operations.MATH])
    assert asked == [("numpy", [operations.SORT]), ("numpy", [operations.MATH])]
    assert {kind for kind, _ in more.points} == {operations.SORT, operations.MATH}
    measured(["numpy"], [operations.SORT], anew=True)
    assert len(asked) == 3
    assert len([*folder.iterdir()]) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda data: {**data, "measured": (date.today() - timedelta(days=31)).isoformat()},
        lambda data: {**data, "measured": (date.today() + timedelta(days=1)).isoformat()},
        lambda data: {**data, "operations": [[operations.SORT, True, [[16.0, -1.0]]]]},
        lambda data: {**data, "operations": [[operations.SORT, True, [[16.0]]]]},
        lambda data: {**data, "operations": [[operations.SORT, True, []]]},
        lambda data: {**data, "number_s": "quick"},
        lambda data: {name: value for name, value in data.items() if name != "device"},
        lambda data: [data],
        lambda data: "{",
    ],
)
def test_old_and_damaged_rates_are_measured_anew(cache, change):
    folder, asked = cache
    measured(["numpy"], [operations.SORT])
    (path,) = folder.iterdir()
    data = change(json.loads(path.read_text()))
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    (found,), _ = measured(["numpy"], [operations.SORT])
    assert len(asked) == 2
    assert found.measured == date.today().isoformat()
    assert min(seconds for points in found.points.values() for _, seconds in points) > 0


@pytest.mark.parametrize("name", ["CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS"])
def test_other_settings_have_other_rates(cache, name, monkeypatch):
    before = kept.path_of("numpy")
    assert before != kept.path_of("torch")
    monkeypatch.setenv(name, "7")
    assert before != kept.path_of("numpy")


def test_other_versions_have_other_rates(cache, monkeypatch):
    before = kept.path_of("numpy")
    version = kept.metadata.version
    monkeypatch.setattr(kept.metadata, "version", lambda name: "9.9" if name == "numpy" else version(name))
    assert before != kept.path_of("numpy")


def test_check_says_when_the_machine_was_measured(cache, tmp_path):
    (tmp_path / "program.py").write_text("import numpy as np\ndef f(x):\n    return x + 1\n")
    report = check(tmp_path / "program.py", "f(np.ones(3))", backends=["numpy"])
    assert any(f"measured on {date.today().isoformat()}" in note for note in report.notes)
    check(tmp_path / "program.py", "f(np.ones(3))", backends=["numpy"], remeasure=True)
    assert len(cache[1]) == 2
