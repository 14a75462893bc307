"""Two interleaved environments: false positives, power, and all reasons for an undecided result."""

from __future__ import annotations

import math
import os
import shlex
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from xarrayops.bench.__main__ import AGAINST, main, measure
from xarrayops.bench.compare.compare import compare, exit_status, is_interleaved
from xarrayops.bench.report.comparison import heading
from xarrayops.bench.results import Results, Row
from xarrayops.bench.run.environment import Identity
from xarrayops.bench.run.journal import Journal
from xarrayops.bench.run.plan import BenchPlan
from xarrayops.bench.run.runner import BenchRun, run_interleaved
from xarrayops.bench.workloads import WORKLOADS

PYTHONS = ["/new/bin/python", "/old/bin/python"]
PACKAGES = ["/new/xarrayops", "/old/xarrayops"]
NEW, OLD = ({"date": "Sunday", "interleaved": {"index": i, "pythons": PYTHONS, "packages": PACKAGES}} for i in (0, 1))
CELLS = 24


def row(name, times, **more):
    """A cell with the times of its rounds, by process."""
    rounds = [list(map(float, process)) for process in times]
    median = float(np.median([s for process in rounds for s in process]))
    known = {"device": "cpu", "dtype": "float32", "size": 64, "machine": "M", "status": "ok", "group": name}
    return Row(**{"workload": name, "backend": "numpy", "medians_s": rounds, "median_s": median, **known, **more})


def drawn(random, factor, *, rounds=16, phases=0.4, within=0.1, tails=2.5, between=0.02, processes=2):
    """Both environments of a run on a machine whose speed changes slowly, which affects both alike.

    Each round has its own noise with heavy tails, and each process its own speed.
    """
    olds, news = [], []
    for i in range(CELLS):
        phase = np.exp(phases * random.standard_normal((processes, rounds)).cumsum(axis=1) / math.sqrt(rounds))
        sides = []
        for more in (1.0, factor):
            own = np.exp(between * random.standard_normal((processes, 1)))
            noise = np.exp(within * np.abs(random.standard_t(tails, (processes, rounds))))
            sides.append(row(f"w{i}", 0.1 * more * phase * own * noise))
        olds.append(sides[0])
        news.append(sides[1])
    return Results(olds, OLD), Results(news, NEW)


def outcome_shares(factor, repeated=25, **noise):
    """The share of each outcome among the cells."""
    random = np.random.default_rng(5)
    found = Counter(v.outcome for _ in range(repeated) for v in compare(*drawn(random, factor, **noise)))
    return {outcome: count / found.total() for outcome, count in found.items()}


def pair(old, new, **more):
    """The verdict on a cell with these times, among steady ones."""
    around = [row(f"other{i}", ((0.01,) * 8, (0.01,) * 8)) for i in range(6)]
    sides = [Results([row("a", times, **more), *around], side) for times, side in ((old, OLD), (new, NEW))]
    (found,) = [verdict for verdict in compare(*sides) if verdict.cell.workload == "a"]
    return found


STEADY = ((0.01,) * 8, (0.01,) * 8)


def times(factor):
    return [[s * factor for s in process] for process in STEADY]


@pytest.mark.parametrize("noise", [{}, {"phases": 1.5}, {"within": 0.02}, {"rounds": 6}, {"tails": 1.5}])
def test_unchanged_code_is_rarely_reported(noise):
    shares = outcome_shares(1.0, **noise)
    assert shares.get("slower", 0.0) + shares.get("faster", 0.0) <= 0.01
    assert shares["same"] > 0.6, "a comparison that never decides makes no mistakes"


@pytest.mark.parametrize("noise", [{}, {"phases": 1.5}, {"within": 0.02}])
@pytest.mark.parametrize(("factor", "least"), [(1.25, 0.9), (1.5, 0.99), (1 / 1.25, 0.9), (1 / 1.5, 0.99)])
def test_changed_code_is_reported(factor, least, noise):
    shares = outcome_shares(factor, **noise)
    assert shares["slower" if factor > 1 else "faster"] >= least
    assert shares.get("faster" if factor > 1 else "slower", 0.0) == 0


def test_sequential_runs_with_the_same_noise_are_undecided():
    """Slow changes of the machine, which interleaving cancels, make sequential comparisons undecided, not wrong."""
    random = np.random.default_rng(6)
    pairs = [drawn(random, 1.25) for _ in range(10)]
    sequential = [(old, Results(new.rows, {"date": "Monday"})) for old, new in pairs]
    assert not any(is_interleaved(*each) for each in sequential)
    found = Counter(v.outcome for each in sequential for v in compare(*each))
    assert found["undecided"] > 0
    assert found["faster"] + found["same"] <= 0.01 * found.total()


def test_only_environments_of_one_run_are_interleaved():
    old, new = Results([], OLD), Results([], NEW)
    assert is_interleaved(old, new)
    assert is_interleaved(new, old)
    others = ({}, {"date": "Sunday"}, {**NEW, "date": "Monday"}, {**NEW, "interleaved": None}, OLD)
    for other in (*others, {**NEW, "interleaved": {"index": 0, "pythons": [*PYTHONS[:1], "another"]}}):
        assert not is_interleaved(old, Results([], other))
        assert not is_interleaved(Results([], other), old)


def test_the_heading_names_both_environments():
    old, new = Results([], OLD), Results([], NEW)
    assert heading([], old, new)[0].startswith("old: /old/bin/python; new: /new/bin/python; ")
    assert heading([], new, old)[0].startswith("old: /new/bin/python; new: /old/bin/python; ")
    assert "rounds were interleaved" in heading([], old, new)[1]
    assert "xarrayops: old in /old/xarrayops, new in /new/xarrayops" in heading([], old, new)
    packages = {"packages": PACKAGES[:1] * 2}
    same = [Results([], {**known, "interleaved": {**known["interleaved"], **packages}}) for known in (OLD, NEW)]
    assert "Both use the xarrayops in /new/xarrayops" in heading([], *same)


def test_the_heading_names_libraries_missing_in_one_environment():
    there = row("a", STEADY)
    absent = replace(there, status="not-installed", reason="no module dask", medians_s=[], median_s=None)
    text = heading([], Results([absent], OLD), Results([there], NEW))
    assert "No cell of numpy was measured with /old/bin/python. not-installed: no module dask" in text
    verdicts = compare(Results([absent], OLD), Results([there], NEW))
    assert [verdict.outcome for verdict in verdicts] == ["new"]
    assert exit_status(verdicts) == 3


def test_the_heading_names_changed_workloads():
    known = [{"a": {"digest": "1"}, "b": {"digest": digest}, "c": {}} for digest in "23"]
    old, new = (Results([], {**side, "workloads": each}) for side, each in zip((OLD, NEW), known, strict=True))
    assert "The code of these workloads differs between the runs: b" in heading([], old, new)
    assert not any("workloads" in line for line in heading([], old, Results([], NEW)))


@pytest.mark.parametrize(
    ("factor", "outcome"), [(1.0, "same"), (1.09, "same"), (1.11, "slower"), (0.92, "same"), (0.9, "faster")]
)
def test_around_the_floor(factor, outcome):
    found = pair(STEADY, times(factor))
    assert (found.outcome, found.ratio) == (outcome, pytest.approx(factor))
    assert found.threshold == pytest.approx(1.1)
    assert (found.old_s, found.new_s) == (pytest.approx(0.01), pytest.approx(0.01 * factor))


@pytest.mark.parametrize("more", [{"roof": "launch"}, {}])
def test_short_cells_have_a_wider_floor(more):
    scale = 1.0 if more else 0.01
    short = [[s * scale for s in process] for process in STEADY]
    for factor, outcome in ((1.2, "same"), (1.3, "slower")):
        assert pair(short, [[s * factor for s in process] for process in short], **more).outcome == outcome


def test_ratios_are_those_of_paired_rounds():
    phases = np.array([[1, 9, 2, 7, 1, 5, 3, 1], [4, 1, 1, 8, 2, 6, 1, 3]]) / 100
    assert pair(phases, phases * 1.2).ratio == pytest.approx(1.2)
    assert pair(phases, phases * 1.2).outcome == "slower"
    lopsided = [(phases * 1.2)[0, :5], (phases * 1.2)[1]]  # the budget ended within a pair
    assert pair(phases, lopsided).ratio == pytest.approx(1.2)


@pytest.mark.parametrize(("first", "second"), [(1.0, 1.5), (1.0001, 1.6), (1.01, 1.7), (0.99, 1.25), (1.05, 3.0)])
@pytest.mark.parametrize("rounds", [8, 3])
def test_processes_that_disagree_are_undecided(first, second, rounds):
    for factors in ((first, second), (second, first)):
        new = [times(factors[0])[0][:rounds], times(factors[1])[1]]
        found = pair(STEADY, new)
        assert found.outcome == "undecided"
        assert found.reason == f"its processes differ by {second / first:.2f}x"


def test_a_noisy_cell_among_steady_cells():
    """The noise of all cells is smaller than the noise of this one."""
    random = np.random.default_rng(3)
    outcomes = Counter()
    for _ in range(300):
        new = 0.01 * np.exp(0.1 * random.standard_normal((2, 3)))
        outcomes[pair([process[:3] for process in STEADY], new).outcome] += 1
    assert outcomes["slower"] + outcomes["faster"] <= 3
    assert outcomes["undecided"] > 30


def test_rounds_that_disagree_are_undecided():
    mixed = [[0.012] * 5 + [0.009] * 3] * 2
    found = pair(STEADY, mixed)
    assert (found.outcome, found.ratio) == ("undecided", pytest.approx(1.2))
    assert found.reason.startswith("noise alone explains up to 1.2")


def test_few_rounds_are_undecided():
    for rounds, outcome in ((1, "undecided"), (2, "undecided"), (3, "slower")):
        old, new = ([process[:rounds] for process in side] for side in (STEADY, times(1.5)))
        found = pair(old, new)
        assert found.outcome == outcome
        assert ("sign test" in found.reason) == (outcome == "undecided")


def test_one_process_only():
    for factor in (1.0, 1.5):
        found = pair(STEADY[:1], times(factor)[:1])
        assert found.outcome == "undecided"
        assert "measured in one process only" in found.reason
    assert pair(STEADY[:1], times(2.5)[:1]).outcome == "slower"
    late = [[], [0.01] * 8]  # the first process of the old environment died in another cell
    assert pair(late, times(1.0)).outcome == "undecided"


def test_no_pair_at_all():
    found = pair([[0.01] * 3, []], [[], [0.01] * 3])
    assert (found.outcome, found.ratio) == ("undecided", pytest.approx(1.0))
    assert found.reason == "no pair of rounds was measured"


# --- measuring --------------------------------------------------------------------------------------------------------

FILE = """
import os
import numpy as np
import xarrayops as xo
from xarrayops.bench import Workload

def work(x):
    for _ in range(40 if "OLD_ENVIRONMENT" in os.environ else 10):
        y = xo.exp(x)
    return y

def inputs(random, n):
    return (random.standard_normal(n),)

# So short that a slice of the scheduler holds a whole call: longer calls of the slower side would be interrupted more.
WORKLOADS = (Workload("work", work, inputs, np.exp, (3_000,), dtypes=("float64",)),)
"""


@pytest.fixture
def old_python(tmp_path):
    """The Python of an environment in which the work takes four times as long."""
    path = tmp_path / "old python"
    path.write_text(f'#!/bin/sh\nOLD_ENVIRONMENT=1 exec {shlex.quote(sys.executable)} "$@"\n')
    path.chmod(0o755)
    return str(path)


posix = pytest.mark.skipif(os.name != "posix", reason="the other Python is a shell script")


@posix
def test_command_line(tmp_path, old_python, capsys, monkeypatch):
    (tmp_path / "mine.py").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    arguments = ["--workload-file", "mine.py", "--backends", "numpy", "--budget", "25", "--against", old_python]
    assert main([*arguments, "--out", "out"]) == 0
    shown = capsys.readouterr().out
    assert f"old: {old_python}; new: {sys.executable}; times" in shown.replace("\n", "").replace("  ", " ")
    assert "1 cell: 1 faster" in shown
    sides = [Results.read(Path("out") / AGAINST), Results.read(Path("out"))]
    (verdict,) = compare(*sides)
    assert (verdict.outcome, verdict.cell.workload) == ("faster", "work")
    assert 1 / verdict.ratio == pytest.approx(4, rel=0.5)
    for name in ("report.md", "report.html", "results.jsonl", f"{AGAINST}/report.md", "compare.md", "compare.html"):
        assert (Path("out") / name).exists()
    assert main(["--compare", f"out/{AGAINST}", "out", "--out", "again"]) == 0
    assert Path("again/compare.md").read_text() == Path("out/compare.md").read_text()


@posix
def test_a_slower_environment_fails(tmp_path, old_python, monkeypatch):
    """The work takes longer in this environment, as in a CI test of a regression."""
    (tmp_path / "mine.py").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OLD_ENVIRONMENT", "1")
    swift = tmp_path / "swift"
    swift.write_text(f'#!/bin/sh\nunset OLD_ENVIRONMENT; exec {shlex.quote(sys.executable)} "$@"\n')
    swift.chmod(0o755)
    arguments = ["--workload-file", "mine.py", "--backends", "numpy", "--budget", "25", "--against", str(swift)]
    assert main([*arguments, "--out", "out"]) == 1


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (None, "cannot be run: No such file or directory"),
        ("exit 3", "has no compatible xarrayops; install it there too: exit status 3"),
        ("echo 'ModuleNotFoundError: none' >&2; exit 1", "install it there too: ModuleNotFoundError: none"),
        ("echo 0", "install it there too: exit status 0"),
        ("echo talk; echo '{\"protocol\": 0}'", "has another worker protocol"),
    ],
)
@posix
def test_an_environment_that_cannot_be_measured(tmp_path, script, message, capsys):
    python = tmp_path / "python"
    if script:
        python.write_text(f"#!/bin/sh\n{script}\n")
        python.chmod(0o755)
    with pytest.raises(SystemExit) as raised:
        main(["--all", "--against", str(python), "--out", str(tmp_path / "out")])
    assert raised.value.code == 2
    assert message in capsys.readouterr().err


class Silent:
    """An observer that ignores everything."""

    def step(self, step):
        pass

    def results(self, results):
        pass


@pytest.mark.parametrize("sides", [1, 2])
def test_rounds_of_the_environments_are_interleaved(tmp_path, monkeypatch, sides):
    workloads = tuple(workload for workload in WORKLOADS if workload.group in ("sum", "argmax", "transpose"))
    plan = replace(
        BenchPlan(("numpy",), workloads, sizes=("toy",), budget_s=40.0).interleaved(), rounds=4, round_s=1e-3
    )
    here = Identity.here(workloads)
    environments = [(here, Journal(tmp_path)), (replace(here, command=(sys.executable,)), Journal(tmp_path / "other"))]
    run, asked = BenchRun(plan, Silent(), environments[:sides]), []
    for side in run.environments:
        inner = side.measure
        monkeypatch.setattr(
            side, "measure", lambda r, p, inner=inner, side=side: (asked.append((r.row.key, side)), inner(r, p))
        )
    try:
        run.measure_times(0)
    finally:
        run.close()
    cells = len(run.environments[0].records)
    assert cells > 2
    assert len(asked) == 4 * cells * sides
    for i in range(0, len(asked), sides):
        keys, who = zip(*asked[i : i + sides], strict=True)
        assert len(set(keys)) == 1
        assert set(who) == set(run.environments)
    firsts = {side for _, side in asked[::sides]}
    assert firsts == set(run.environments), "which environment is first is random"
    order = [[key for key, _ in asked[i * cells * sides :: sides][:cells]] for i in range(4)]
    assert len({tuple(each) for each in order}) > 1, "the order of the workloads is random too"
    assert all(sorted(each) == sorted(order[0]) for each in order)


def test_an_interrupt_leaves_the_results_of_both(tmp_path, monkeypatch, capsys):
    workloads = tuple(workload for workload in WORKLOADS if workload.group == "sum")
    plan = BenchPlan(("numpy",), workloads, sizes=("toy",), budget_s=40.0)

    def step(self, step):
        if "round 2" in step.phase:
            raise KeyboardInterrupt

    monkeypatch.setattr("xarrayops.bench.run.progress.Watcher.step", step)
    assert measure(plan, tmp_path / "out", against=Identity.of(sys.executable, plan.sources)) == 130
    old, new = (Results.read(folder) for folder in (tmp_path / "out" / AGAINST, tmp_path / "out"))
    assert len(old.rows) == len(new.rows) > 0
    assert all(row.measured for row in (*old.rows, *new.rows))
    assert old.environment["interrupted"] is new.environment["interrupted"] is True
    shown = capsys.readouterr().out
    assert "Both use the xarrayops in" in shown.replace("\n", " ")


def test_a_workload_missing_in_one_environment(tmp_path):
    workloads = tuple(workload for workload in WORKLOADS if workload.group == "sum")
    here = Identity.here(workloads)
    lacking = replace(here, digests={name: known for name, known in here.digests.items() if name != "sum"})
    plan = replace(
        BenchPlan(("numpy",), workloads, sizes=("toy",), budget_s=40.0).interleaved(), rounds=2, round_s=1e-3
    )
    environments = [(here, Journal(tmp_path)), (lacking, Journal(tmp_path / "other"))]
    new, old = run_interleaved(plan, Silent(), environments)
    found = {verdict.cell.workload: verdict for verdict in compare(old, new)}
    assert found["sum"].outcome == "new"
    assert "has no such workload" in found["sum"].reason
    assert found["sum along columns"].ratio is not None
