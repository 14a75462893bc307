"""Runs of the benchmark: a failing workload or library affects no other rows, and no wrong time is shown."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from pathlib import Path

import pytest

from xarrayops._cli.arguments import select
from xarrayops.bench.__main__ import main, measure
from xarrayops.bench.measure.roofline import Roofline
from xarrayops.bench.report import tables
from xarrayops.bench.results import Results
from xarrayops.bench.run import budget
from xarrayops.bench.run.environment import Identity
from xarrayops.bench.run.environment_run import EnvironmentRun
from xarrayops.bench.run.journal import Journal
from xarrayops.bench.run.plan import BenchPlan
from xarrayops.bench.run.progress import Watcher
from xarrayops.bench.run.runner import BenchRun, run
from xarrayops.plugin import install_command

ODD = """
import os, signal, sys, time
import numpy as np
import xarrayops as xo
from xarrayops.bench import MissingData, Workload

calls = 0

def numbers(random, n):
    return (np.arange(float(n)),)

def absent(random, n):
    raise MissingData("the data are in another castle", "fetch them")

def wrong(x):
    return xo.add(x, 1.0)

def becomes_wrong(x):
    global calls
    calls += 1
    return xo.negative(x) if calls < 4 else xo.add(x, 1.0)

def prints(x):
    print("a library that talks")
    os.write(1, b"and one in C")
    return xo.negative(x)

def dies(x):
    os.kill(os.getpid(), signal.SIGKILL)

def leaves(x):
    sys.exit("goodbye")

def hangs(x):
    open(os.environ["HANGING"], "w").close()
    time.sleep(1000)

def hungry(x):
    raise MemoryError("cannot allocate 1 PiB")

def raises(x):
    raise ValueError("no such thing")

def refuses(x):
    raise xo.Unsupported("it has no such function. Instead: another one")

def workload(function, inputs=numbers, name=None):
    name = name or function.__name__
    return Workload(name, function, inputs, np.negative, (12,), tolerance=lambda n: 0.0, group="odd")

functions = (wrong, becomes_wrong, prints, dies, leaves, hangs, hungry, raises, refuses)
WORKLOADS = (
    workload(xo.negative, name="good"),
    *map(workload, functions),
    workload(xo.negative, absent, name="absent"),
)
"""


class Silent:
    """An observer that keeps what it receives."""

    def __init__(self):
        self.steps, self.kept = [], []

    def step(self, step):
        self.steps.append(step)

    def results(self, results):
        (found,) = results
        self.kept.append(found.rows)


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """A module of workloads that misbehave, and in its folder a Dask that is not there."""
    folder = tmp_path_factory.mktemp("odd")
    (folder / "odd_workloads.py").write_text(ODD)
    (folder / "dask").mkdir()
    (folder / "dask" / "__init__.py").write_text("raise ModuleNotFoundError('none', name='dask')")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        yield importlib.import_module("odd_workloads")
    sys.modules.pop("odd_workloads")


def plan(odd, names, **options):
    workloads = tuple(workload for workload in odd.WORKLOADS if workload.name in names)
    settings = {"rounds": 2, "round_s": 0.002, "timeout_s": 300.0, "budget_s": 900.0, "sources": ("odd_workloads",)}
    return BenchPlan(**{"backends": ("numpy",), "workloads": workloads, "command": "a test", **settings, **options})


def rows_of(plan, observer=None):
    """The rows of a run that leaves no journal behind."""
    with tempfile.TemporaryDirectory() as folder:
        return run(plan, observer or Silent(), Journal(Path(folder))).rows


@pytest.fixture(scope="module")
def rows(odd):
    """The rows of every odd workload but the one that hangs, by name; and of a library that is missing."""
    names = [workload.name for workload in odd.WORKLOADS if workload.name != "hangs"]
    found = rows_of(plan(odd, names, backends=("dask", "numpy")))
    assert len(found) == 2 * len(names)
    return {(row.backend, row.workload): row for row in found}


@pytest.mark.parametrize("name", ["good", "prints"])
def test_good_rows_are_complete(rows, name):
    row = rows["numpy", name]
    assert row.status == "ok"
    assert row.low_s <= row.median_s <= row.high_s
    assert [len(medians) for medians in row.medians_s] == [2, 2]
    assert row.calls >= 4
    assert row.confidence == 0.875
    assert row.throughput == pytest.approx(24 * 4 / row.median_s)
    assert (row.throughput_unit, row.error, row.shape, row.device) == ("B/s", 0.0, [[12]], "cpu")
    assert row.first_call_s > 0
    assert row.transfer_s > 0
    assert row.import_s > 0
    assert row.cold_s > 0
    assert row.roof == "launch"
    assert row.roof_fraction == pytest.approx(row.throughput / row.roof_throughput)
    assert "numpy" in row.versions


@pytest.mark.parametrize(
    ("name", "status", "reason", "fix"),
    [
        ("wrong", "wrong-answer", "tolerance 0.0e\\+00 for float32", "not shown"),
        ("becomes_wrong", "wrong-answer", "error", "not shown"),
        ("dies", "crashed", "SIGKILL", "bug"),
        ("leaves", "crashed", "exit status 1: goodbye", "bug"),
        ("hungry", "out-of-memory", "1 PiB", "--size"),
        ("raises", "crashed", "ValueError: no such thing", "bug"),
        ("refuses", "unsupported", "no such function", "another one"),
        ("absent", "not-installed", "another castle", "fetch them"),
    ],
)
def test_failures_show_a_reason_and_no_time(rows, name, status, reason, fix):
    row = rows["numpy", name]
    assert row.status == status
    assert importlib.import_module("re").search(reason, row.reason), row.reason
    assert fix in row.fix
    assert (row.median_s, row.low_s, row.high_s, row.throughput, row.error, row.roof_fraction) == (None,) * 6


def test_a_missing_backend_has_rows_with_a_fix(rows):
    missing = [row for (backend, _), row in rows.items() if backend == "dask"]
    assert {row.status for row in missing} == {"not-installed"}
    assert {row.reason for row in missing} == {"not installed (no module dask)"}
    assert all(install_command("dask") in row.fix for row in missing)


@pytest.fixture
def hangs(hanging, monkeypatch):
    """The file that the hanging workload creates."""
    monkeypatch.setenv("HANGING", str(hanging.path))
    return hanging


@pytest.mark.usefixtures("hangs")
def test_hanging_cell_is_a_timeout_and_the_next_one_is_measured(odd):
    found = rows_of(plan(odd, ["hangs", "absent", "good"], rounds=1, processes=1))
    assert {row.workload: row.status for row in found} == {"good": "ok", "hangs": "timeout", "absent": "not-installed"}
    assert "--timeout" in found[1].fix


def test_budget_ends_a_run(odd, hangs, monkeypatch):
    """The simulated time of the budget stops until the second cell hangs."""
    monkeypatch.setattr(budget, "monotonic", lambda: 3.0 * hangs.seen)
    found = rows_of(plan(odd, ["good", "hangs", "refuses"], budget_s=3.0))
    assert [row.status for row in found] == ["ok", "over-budget", "over-budget"]
    assert "3 s" in found[1].reason
    assert found[0].median_s is not None


def test_no_time_to_start(odd):
    found = rows_of(plan(odd, ["good"], budget_s=1e-3))
    assert [row.status for row in found] == ["over-budget"]


def test_the_observer_receives_the_final_results(odd):
    observer = Silent()
    rows_of(plan(odd, ["good", "raises"]), observer)
    assert [step.rounds_done for step in observer.steps] == sorted(step.rounds_done for step in observer.steps)
    assert observer.steps[-1].cells_done == observer.steps[-1].cells == 2
    assert all(0 <= step.seconds_left <= 900 for step in observer.steps)
    assert [row.status for row in observer.kept[-1]] == ["ok", "crashed"]
    assert observer.kept[-1][0].peak_bytes is not None or not sys.platform.startswith("linux")
    assert len(observer.kept[0][0].medians_s[0]) == 1  # earlier rows are not changed by later rounds


def test_missing_libraries_do_not_count_as_progress(odd):
    observer = Silent()
    rows = rows_of(plan(odd, ["good", "absent"], backends=("dask", "numpy"), rounds=1, processes=1), observer)
    assert len(rows) == 4
    assert {step.cells for step in observer.steps[1:]} == {2}
    assert (observer.steps[-1].cells_done, observer.steps[-1].rounds_done, observer.steps[-1].rounds) == (2, 2, 2)
    text = tables.summary(Results(rows, {}))
    assert text.startswith("1 of 2 cells measured (2 more belong to unavailable libraries); resolution unknown")


@pytest.fixture
def interrupt(monkeypatch):
    """Press Ctrl-C when a phase of the run begins."""

    def at(phase):
        def step(self, step):
            if step.phase.startswith(phase):
                raise KeyboardInterrupt

        monkeypatch.setattr(Watcher, "step", step)

    return at


def test_interrupted_run_reports_what_was_measured(odd, tmp_path, capsys, interrupt):
    (tmp_path / "report.md").write_text("of an older run")
    interrupt("raises on numpy")
    assert measure(plan(odd, ["good", "raises", "absent"], backends=("dask", "numpy")), tmp_path) == 130
    shown = capsys.readouterr()
    assert "1 of 3 cells measured" in shown.out
    assert f"interrupted. The results so far are in {tmp_path}" in shown.err
    text = (tmp_path / "report.md").read_text()
    assert "interrupted. The report shows the results so far" in text
    assert "## good" in text
    assert "1 round |" in text
    statuses = {(row.backend, row.workload): row.status for row in Results.read(tmp_path).rows}
    assert statuses["numpy", "good"] == "ok"
    assert statuses["numpy", "raises"] == statuses["numpy", "absent"] == "interrupted"
    assert statuses["dask", "raises"] == "not-installed"


def test_code_that_changes_during_a_run_has_no_time(odd, tmp_path):
    asked = plan(odd, ["good"])
    bench = BenchRun(asked, Silent(), [(Identity.here(asked.workloads), Journal(tmp_path))])
    try:
        bench.measure_times(0)
        bench.environments[0].handshakes["numpy"]["code"] = "that of before"
        bench.measure_times(1)
    finally:
        bench.close()
    ((row,),) = (found.rows for found in bench.results())
    assert (row.status, row.median_s) == ("interrupted", None)
    assert "changed during the run" in row.reason
    (again,) = run(plan(odd, ["good"]), Silent(), Journal(tmp_path, resume=True)).rows
    assert again.status == "ok"


TOO_LOW = {"status": "ok", "compute": 1.0, "memory": {"1": 1.0}}
"""A roofline that was measured too low: every cell exceeds it."""
HIGH = {"status": "ok", "compute": 1e15, "memory": {"1": 1e15}}


@pytest.mark.parametrize(("answers", "measurements"), [([TOO_LOW, HIGH], 2), ([TOO_LOW] * 2, 2), ([HIGH], 1)])
def test_an_exceeded_roofline_is_measured_again(odd, tmp_path, monkeypatch, answers, measurements):
    """The first process measures it again, because there may be no other. The time is shown in either case."""
    given, asked = iter(answers), EnvironmentRun.ask
    commands = []

    def ask(environment, backend, command):
        if command["do"] != "roofline":
            return asked(environment, backend, command)
        commands.append(command)
        return next(given)

    monkeypatch.setattr(EnvironmentRun, "ask", ask)
    (row,) = run(plan(odd, ["good"], processes=1), Silent(), Journal(tmp_path)).rows
    assert len(commands) == measurements
    assert (row.status, bool(row.median_s)) == ("ok", True)
    assert bool(row.roof_doubt) == (answers[-1] is TOO_LOW)
    if row.roof_doubt:
        assert "of the measured memory limit" in row.roof_doubt


def test_a_roofline_that_later_rounds_exceed_is_measured_again(odd, tmp_path):
    asked = plan(odd, ["good"])
    bench = BenchRun(asked, Silent(), [(Identity.here(asked.workloads), Journal(tmp_path))])
    (environment,) = bench.environments
    try:
        bench.measure_times(0)
        (record,) = environment.records
        before = tmp_path.joinpath("journal.jsonl").read_text().count('"compute"')
        environment.rooflines._rooflines[record.roofline_key] = {
            "numpy": Roofline(1.0, {1: 1.0})
        }  # a disturbed measurement
        assert environment.row(record).roof_doubt
        bench.measure_times(1)
        assert environment.rooflines.best(record.roofline_key).compute > 1.0
        assert tmp_path.joinpath("journal.jsonl").read_text().count('"compute"') > before
    finally:
        bench.close()


def test_interrupted_before_anything_was_measured(odd, tmp_path, capsys, interrupt):
    (tmp_path / "report.md").write_text("of an older run")
    interrupt("importing")
    assert measure(plan(odd, ["good"]), tmp_path) == 130
    assert "is unchanged" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["report.md"]
    assert (tmp_path / "report.md").read_text() == "of an older run"


def test_command_line_measures_and_writes(tmp_path, capsys):
    arguments = ["--workloads=matmul,transpose", "--backends=numpy", "--size=toy", "--budget=900", "--dtype=float64"]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    found = Results.read(tmp_path / "out")
    assert {(row.group, row.status, row.dtype) for row in found.rows} == {
        ("matmul", "ok", "float64"),
        ("transpose", "ok", "float64"),
    }
    assert found.environment["resolution"] > 0
    assert found.environment["pools"]["numpy"]
    text = (tmp_path / "out" / "report.md").read_text()
    assert "## matmul: float64, 48x48, 48x48" in text
    assert f"--out {tmp_path / 'out'}" in text
    assert "matmul" in (tmp_path / "out" / "report.html").read_text()
    shown = capsys.readouterr().out
    assert f"{len(found.rows)} of {len(found.rows)} cells measured; differences below" in shown
    assert "throughput" in shown


def test_nothing_measured_is_a_failure(odd, tmp_path, capsys):
    assert measure(plan(odd, ["raises"]), tmp_path) == 1
    assert "Not measured" in capsys.readouterr().out
    assert "ValueError: no such thing" in (tmp_path / "report.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--all"),
        (["--backends", "nmpy"], "no backend 'nmpy': it has"),
        (["--backends", "nmpy"], "did you mean 'numpy'?"),
        (["--workloads", "matmull"], "no workload or group of workloads 'matmull': it has matmul, transpose, relayout"),
        (["--workloads", "matmull"], "did you mean 'matmul'?"),
        (["--all", "--dtype", "float31"], "float64, float32"),
        (["--all", "--budget", "-1"], "'-1' is not a positive duration such as 90, 90s, 5m or 1h"),
        (["--all", "--out", __file__], "test_run.py is a file"),
        (["--workload-file", "nowhere.py"], "nowhere.py cannot be imported: FileNotFoundError"),
        (["--compare", "nowhere", "neither"], "nowhere has no results"),
        (["--all", "--against", "python", "--resume"], "not allowed with argument"),
        (["--compare", "nowhere", "neither", "--against", "python"], "not allowed with argument"),
    ],
)
def test_invalid_arguments(arguments, message, capsys):
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    assert raised.value.code == 2
    assert message in capsys.readouterr().err


def test_select_keeps_the_known_order():
    assert select("abc", (), "letter") == ["a", "b", "c"]
    assert select("abc", ("c", "a"), "letter") == ["a", "c"]
