"""The benchmark on simulated accelerators: devices that fail, run out of memory or are very fast."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.bench import __main__ as command_line
from xarrayops.bench.compare.environments import differences
from xarrayops.bench.measure import worker
from xarrayops.bench.measure.answers import guarded
from xarrayops.bench.measure.cell import CellCache
from xarrayops.bench.place import Place
from xarrayops.bench.run import environment_run
from xarrayops.bench.run.journal import Journal
from xarrayops.bench.run.plan import AUTO, BenchPlan
from xarrayops.bench.run.runner import run
from xarrayops.bench.workloads import Workload

FIRST = {
    "transfer_s": 1e-3,
    "first_call_s": 1e-2,
    "operations": 1e6,
    "nbytes": 1e6,
    "tolerance": 1e-6,
    "shape": [[9]],
}
DEVICE = {"name": "cuda:0", "kind": "cuda", "label": "H200", "index": 0, "attributes": {}}


class Library:
    """A library on one GPU with simulated worker processes. Subclasses change the answers.

    ``workers`` holds all started workers; ``limits`` holds the time limit of each command.
    """

    def __init__(self, device=DEVICE):
        self.workers, self.limits = [], []
        self.first_answer = {
            "status": "ok",
            "import_s": 1.0,
            "code": "c",
            "versions": {},
            "devices": [device],
            "pools": [],
        }

    def start(self, module, backend, *sources, python):
        library = self

        class Worker:
            alive, broken, name = True, False, backend
            process = SimpleNamespace(pid=1)

            def answer(self, seconds):
                return {"status": "ok"} | library.first_answer

            def ask(self, command, seconds):
                library.limits.append((command["do"], seconds))
                return library.answer(self, command)

            def freeze(self):
                pass

            def dismiss(self):
                pass

            def close(self, *, grace_s=0.0):
                self.alive = False

        self.workers.append(Worker())
        return self.workers[-1]

    def answer(self, worker, command):
        match command["do"]:
            case "check-sync":
                return {"status": "ok", "launch_s": 1e-6}
            case "roofline":
                return {"status": "ok", "compute": 1e15, "memory": {"1": 1e15}}
            case "memory":
                return {"status": "ok", "peak_bytes": 1 << 20}
            case _:
                return {
                    "status": "ok",
                    "first": dict(FIRST),
                    "median_s": 1e-3,
                    "calls": 9,
                    "error": 0.0,
                    "cold_s": 2e-3,
                }


class Silent:
    def step(self, step):
        pass

    def results(self, results):
        pass


WORKLOADS = tuple(
    Workload(f"w{i}", xo.negative, lambda random, n: (random.standard_normal(n),), np.negative, (9,)) for i in range(5)
)


@pytest.fixture
def measured(monkeypatch, tmp_path):
    """The rows of a run of simulated libraries, by backend and workload."""

    def measured(library, backends=("gpu",), **options):
        monkeypatch.setattr(environment_run, "Worker", library.start)
        settings = {"workloads": WORKLOADS, "rounds": 2, "processes": 1, "budget_s": 900.0, "timeout_s": 30.0}
        found = run(BenchPlan(backends, **{**settings, **options}), Silent(), Journal(tmp_path))
        return {(row.backend, row.workload): row for row in found.rows}

    return measured


class Faulty(Library):
    """One workload causes a device error, after which the process cannot use its device."""

    def answer(self, worker, command):
        if worker.broken or command.get("workload") == "w2":
            worker.broken = True
            reason = "raised RuntimeError: CUDA error: an illegal memory access was encountered"
            return {"status": "crashed", "reason": reason, "fix": "Report it."}
        return super().answer(worker, command)


def test_a_device_error_affects_one_cell(measured):
    library = Faulty()
    rows = measured(library)
    assert {name: row.status for (_, name), row in rows.items()} == {
        **dict.fromkeys(("w0", "w1", "w3", "w4"), "ok"),
        "w2": "crashed",
    }
    assert len(library.workers) == 2, "one process ended and was replaced"


class Wrapped(Library):
    """The device error is reported as another exception, such as one of xarrayops."""

    def answer(self, worker, command):
        if worker.broken or command.get("workload") == "w2":
            worker.broken = True
            return {"status": "unsupported", "reason": "no", "fix": "none", "device_works": False}
        return super().answer(worker, command)


def test_the_type_of_a_device_error_does_not_matter(measured):
    rows = measured(Wrapped())
    assert [row.status for row in rows.values()].count("ok") == 4


@pytest.mark.parametrize(("kind", "broken", "status"), [("cuda", True, "crashed"), ("cuda", False, "unsupported")])
def test_a_worker_reports_whether_its_device_works(monkeypatch, kind, broken, status):
    def fails(x):
        raise xo.Unsupported("CUDA error. Instead: nothing")

    def warm_up(backend, device):
        if broken:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(worker, "warm_up", warm_up)
    workload = Workload("w", fails, lambda random, n: (random.standard_normal(n),), np.negative, (9,))
    command = {"do": "measure", "workload": "w", "device": "cpu", "kind": kind, "dtype": "float32", "size": 9}
    found = worker.handle(command, "numpy", {"w": workload}, CellCache())
    assert found["status"] == status
    assert found.get("device_works", True) is not broken
    on_host = worker.handle({**command, "kind": "cpu"}, "numpy", {"w": workload}, CellCache())
    assert (on_host["status"], "device_works" in on_host) == ("unsupported", False)


def test_the_first_answer_of_a_process_may_take_longer(measured):
    library = Faulty()
    measured(library)
    assert library.limits[0][1] >= 120, "modules are loaded and kernels compiled"
    assert environment_run.IMPORT_S >= 300
    later = [seconds for _, seconds in library.limits if seconds <= 30.0]
    assert len(later) == len(library.limits) - len(library.workers), "one answer of each process"


class Full(Library):
    """A device of one gigabyte: each library keeps its memory, and w3 needs most of it."""

    def answer(self, worker, command):
        worker.holds = max(getattr(worker, "holds", 0.1), 0.9 if command.get("workload") == "w3" else 0.2)
        if sum(each.holds for each in self.workers if each.alive) > 1.0:
            worker.holds = 0.2
            return {"status": "out-of-memory", "reason": "out of memory", "fix": "A smaller --size."}
        return super().answer(worker, command)

    def start(self, *arguments, **options):
        worker = super().start(*arguments, **options)
        worker.holds = 0.0
        return worker


def test_memory_of_other_libraries_is_freed_for_a_cell(measured):
    """A frozen process keeps its pool, and some libraries free it only at exit."""
    rows = measured(Full(), ("one", "two", "three"))
    assert {row.status for row in rows.values()} == {"ok"}
    first_calls = {row.first_call_s for row in rows.values()}
    assert first_calls == {None, FIRST["first_call_s"]}, "a second attempt is not a first call"


def test_a_cell_too_large_for_the_device_is_out_of_memory(measured):
    library = Full()
    library.answer = lambda worker, command: (
        {"status": "out-of-memory", "reason": "out of memory", "fix": "A smaller --size."}
        if command.get("workload") == "w3"
        else Library.answer(library, worker, command)
    )
    rows = measured(library, ("one", "two"))
    assert {name for (_, name), row in rows.items() if row.status == "out-of-memory"} == {"w3"}


def test_processes_on_the_host_are_not_ended(measured):
    library = Full({**DEVICE, "name": "cpu", "kind": "cpu"})
    rows = measured(library, ("one", "two"))
    assert len(library.workers) == 2
    assert "out-of-memory" in {row.status for row in rows.values()}


def test_a_worker_releases_its_memory_before_it_is_frozen(monkeypatch):
    released = []
    monkeypatch.setattr(Place, "release", lambda place: released.append(place))
    workload = Workload("w", xo.negative, lambda random, n: (random.standard_normal(n),), np.negative, (9,))
    place = Place("numpy", "cpu", "cuda")
    command = {"do": "measure", "workload": "w", "device": "cpu", "kind": "cuda", "dtype": "float32", "size": 9}
    for more in ({"seconds": 0.001, "cold": False}, {"do": "memory"}):
        assert worker.handle(command | more, "numpy", {"w": workload}, CellCache())["status"] == "ok"
    assert released == [place] * 2


def test_the_library_measures_the_memory_of_a_device(monkeypatch):
    calls = []
    monkeypatch.setitem(xo.backend("numpy").functions, "peak_bytes", lambda device, call: calls.append(call()) or 77)
    workload = Workload("w", xo.negative, lambda random, n: (random.standard_normal(n),), np.negative, (9,))
    command = {"do": "memory", "workload": "w", "device": "cpu", "kind": "cuda", "dtype": "float32", "size": 9}
    assert worker.handle(command, "numpy", {"w": workload}, CellCache()) == {"status": "ok", "peak_bytes": 77}
    assert calls == [None]


def test_the_peak_of_a_cell_on_an_accelerator_is_in_its_row(measured):
    assert {row.peak_bytes for row in measured(Library()).values()} == {1 << 20}


def test_changed_switches_and_settings_are_measured_again(monkeypatch, tmp_path):
    def results(**first_answer):
        library = Library()
        library.first_answer |= {"settings": {"NVIDIA_TF32_OVERRIDE": "1"}, "switches": {"tf32": "no"}, **first_answer}
        monkeypatch.setattr(environment_run, "Worker", library.start)
        plan = BenchPlan(("gpu",), WORKLOADS[:1], rounds=2, processes=1, budget_s=900.0)
        found = run(plan, Silent(), Journal(tmp_path, resume=True))
        return found, len([1 for do, _ in library.limits if do == "measure"])

    found, asked = results()
    assert asked == 2
    assert found.environment["settings"]["NVIDIA_TF32_OVERRIDE"] == "1"
    assert found.environment["switches"] == {"gpu": {"tf32": "no"}}
    assert results()[1] == 0, "the same again"
    for change in ({"settings": {}}, {"switches": {"tf32": "yes"}}):
        other, asked = results(**change)
        assert asked == 2
        assert [name for name, *_ in differences([found.environment, other.environment])]


LADDER = Workload(
    *("ladder", xo.negative, lambda random, n: (random.standard_normal(n),), np.negative),
    sizes={"toy": (1,), "default": (2,), "large": (3,)},
)


@pytest.mark.parametrize(
    ("kind", "asked", "devices", "size"),
    [
        *(
            ("cuda", AUTO, (), 3),
            ("rocm", AUTO, (), 3),
            ("tpu", AUTO, (), 3),
            ("cpu", AUTO, (), 2),
            ("xla", AUTO, (), 2),
        ),
        *(("cuda", "default", (), 2), ("cuda", "toy", (), 1), ("cpu", "large", (), 3), ("cuda", AUTO, ("cuda",), 3)),
    ],
)
def test_sizes_are_large_with_an_accelerator(measured, monkeypatch, tmp_path, kind, asked, devices, size):
    rows = measured(Library(DEVICE | {"kind": kind}), workloads=(LADDER,), sizes=(asked,), devices=devices)
    assert [(row.size, row.status) for row in rows.values()] == [(size, "ok")]


def test_the_default_size_depends_on_the_machine(monkeypatch):
    plans = []
    monkeypatch.setattr(command_line, "measure", lambda plan, *arguments, **options: plans.append(plan) or 0)
    for arguments in ([], ["--size", "default"], ["--devices", "cuda,rocm"]):
        command_line.main(["--all", *arguments])
    assert [plan.sizes for plan in plans] == [(AUTO,), ("default",), (AUTO,)]
    assert plans[-1].devices == ("cuda", "rocm")


def test_devices_can_be_selected_by_kind(measured):
    library = Library()
    library.first_answer["devices"] = [{**DEVICE, "name": "cpu", "kind": "cpu"}, DEVICE]
    rows = measured(library, devices=("cuda",))
    assert {(row.device, row.status) for row in rows.values()} == {("cuda:0", "ok")}
    rows = measured(library, devices=("tpu",))
    assert {(row.device, row.status, row.reason) for row in rows.values()} == {
        ("", "no-device", "no device of kind tpu")
    }


def test_gpus_that_cannot_be_shared_are_excluded(measured, monkeypatch):
    monkeypatch.setattr(environment_run.gpus, "facts", lambda: [{"index": 0, "compute_mode": "Exclusive_Process"}])
    rows = measured(Library(), ("one", "two"))
    assert {row.status for row in rows.values()} == {"no-device"}
    assert all("admits one process" in row.reason and "--backends" in row.fix for row in rows.values())
    assert {row.status for row in measured(Library(), ("one",)).values()} == {"ok"}
    assert {row.status for row in measured(Library({**DEVICE, "kind": "cpu"}), ("one", "two")).values()} == {"ok"}


def test_gpu_clocks_and_temperatures_are_recorded(monkeypatch, tmp_path):
    temperatures = iter((31, 55, 61))
    monkeypatch.setattr(environment_run.gpus, "facts", lambda: [{"index": 0, "name": "H200"}])
    monkeypatch.setattr(environment_run.gpus, "state", lambda: [{"index": 0, "temperature_c": next(temperatures)}])
    monkeypatch.setattr(environment_run, "Worker", Library().start)
    known = run(BenchPlan(("gpu",), WORKLOADS[:1], rounds=2), Silent(), Journal(tmp_path)).environment
    assert known["gpus"] == [{"index": 0, "name": "H200"}]
    assert [(each["when"], each["temperature_c"]) for each in known["gpu_states"]] == [
        *(("before the run", 31), ("after process 1 of 2", 55), ("after process 2 of 2", 61)),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
        "CUDA out of memory. Tried to allocate 20.00 GiB",
        "Out of memory allocating 8,589,934,592 bytes",
        "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes",
        "cudaErrorMemoryAllocation: out of memory",
    ],
)
def test_out_of_memory_is_recognised(text):
    def fails():
        raise RuntimeError(text)

    assert guarded(fails)["status"] == "out-of-memory"


def test_a_working_device():
    assert worker.works(Place("numpy", "cpu", "cpu"))
