"""The comparison of two runs: its false positives, its power, and every outcome."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from dataclasses import replace
from io import StringIO
from itertools import pairwise

import numpy as np
import pytest
from rich.console import Console

from xarrayops.bench.compare.compare import compare, exit_status
from xarrayops.bench.compare.environments import differences
from xarrayops.bench.compare.verdict import OUTCOMES, CellName, Verdict
from xarrayops.bench.report.comparison import FEW, lines, markdown, show
from xarrayops.bench.results import ENVIRONMENT, ROWS, STATUSES, Results, Row

CELLS, GROUPS = 24, 4
OUTLIER = 1.5


def row(name="matmul", times=((0.01, 0.01), (0.01, 0.01)), **more):
    """A measured cell with the times of its rounds, by process."""
    known = {"backend": "numpy", "device": "cpu", "dtype": "float32", "size": 64, "machine": "M", "status": "ok"}
    rounds = [list(process) for process in times]
    median = statistics.median([s for process in rounds for s in process])
    return Row(**{"workload": name, "group": name.split()[0], "median_s": median, "medians_s": rounds, **known, **more})


def empty(status, reason="because", **more):
    """The same cell without a time."""
    return row(**{"status": status, "reason": reason, "median_s": None, "times": ((1.0,),), **more, "medians_s": []})


def steady(name, factor=1.0, **more):
    """A cell of 10 ms whose processes differ by 1 %."""
    return row(name, ((0.0100 * factor,) * 4, (0.0101 * factor,) * 4), **more)


def table(first, *, others=6, factor=1.0):
    """Results with these cells and steady cells of other workloads."""
    around = [steady(f"other{i} w", factor) for i in range(others)]
    return Results([*first, *around], {"resolution": 0.01})


def verdict(old, new, **options):
    """The verdict on the first cell of two tables."""
    (found,) = [v for v in compare(table(old), table(new, **options)) if not v.cell.workload.startswith("other")]
    return found


def drawn(
    random, *, between=0.03, within=0.05, outliers=0.05, drift=0.0, tails=None, rounds=4, factors=None, base=0.01
):
    """A run with noise within and between processes, rounds disturbed by other programs, and a drift of the machine.

    Within a process rounds only get longer: on the machines measured, the best rounds of runs differ by 1 to 3 %, their
    medians by up to 20 %.
    """

    def noise(n):
        scaled = random.standard_t(tails, n) / math.sqrt(tails / (tails - 2)) if tails else random.standard_normal(n)
        return scaled.tolist()

    rows = []
    for i in range(CELLS):
        group = f"g{i % GROUPS}"
        center = base * (factors or {}).get(group, 1.0) * math.exp(drift)
        times = [
            [
                center
                * math.exp(between * mean + within * abs(each))
                * (OUTLIER if random.random() < outliers else 1.0)
                for each in noise(rounds)
            ]
            for mean in noise(2)
        ]
        rows.append(row(f"{group} w{i}", times))
    return Results(rows, {"resolution": None})


def outcome_shares(pairs, *, group="g0"):
    """The share of each outcome among the cells of a group."""
    found = Counter(v.outcome for old, new in pairs for v in compare(old, new) if v.cell.workload.startswith(group))
    return {outcome: found[outcome] / found.total() for outcome in OUTCOMES}


NOISE = {
    "quiet": {"between": 0.02, "outliers": 0.0},
    "usual": {"between": 0.03},
    "large": {"between": 0.04},
    "heavy tails": {"between": 0.03, "tails": 3},
    "heavy tails, eight rounds": {"between": 0.03, "tails": 3, "rounds": 8},  # four rounds detect 1.25x in 89.7 %
    "many outliers": {"between": 0.03, "outliers": 0.15},
    "two rounds": {"between": 0.02, "rounds": 2},
}


@pytest.mark.parametrize("drift", [0.0, 0.1, -0.25])
@pytest.mark.parametrize("name", NOISE)
def test_unchanged_code_is_rarely_reported(name, drift):
    random = np.random.default_rng(7)
    runs = [drawn(random, drift=drift * (i % 2), **NOISE[name]) for i in range(21)]
    shares = outcome_shares(pairwise(runs), group="g")
    assert shares["slower"] + shares["faster"] <= (0.02 if name.startswith("heavy tails") else 0.01)
    if not drift:
        assert shares["same"] > 0.6, "a comparison that never decides makes no mistakes"


@pytest.mark.parametrize(("factor", "least"), [(1.25, 0.9), (1.5, 0.99), (1 / 1.25, 0.9), (1 / 1.5, 0.99)])
@pytest.mark.parametrize("drift", [0.0, 0.1])
@pytest.mark.parametrize("name", ["quiet", "usual", "heavy tails, eight rounds"])
def test_changed_code_is_reported(name, drift, factor, least):
    random = np.random.default_rng(8)
    changed = {"g0": factor}
    pairs = [
        (drawn(random, **NOISE[name]), drawn(random, drift=drift, factors=changed, **NOISE[name])) for _ in range(60)
    ]
    shares = outcome_shares(pairs)
    against = drift > 0 and factor < 1  # the drift hides as much of the change as it compensates
    assert shares["slower" if factor > 1 else "faster"] >= (0.0 if against else least)
    assert shares["faster" if factor > 1 else "slower"] == 0


def test_large_noise_reduces_power_little():
    random = np.random.default_rng(9)
    for factor, least in ((1.25, 0.85), (1.5, 0.99)):
        pairs = [(drawn(random, between=0.04), drawn(random, between=0.04, factors={"g0": factor})) for _ in range(40)]
        assert outcome_shares(pairs)["slower"] >= least


def test_a_change_of_all_workloads_is_undecided():
    verdicts = compare(table([steady("a w")]), table([steady("a w", 1.5)], factor=1.5))
    assert {v.outcome for v in verdicts} == {"undecided"}
    assert "other workloads also take 1.50 times as long" in verdicts[0].reason
    assert exit_status(verdicts) == 3


def test_a_change_beyond_the_drift():
    found = verdict([steady("a w")], [steady("a w", 1.5)], factor=1.1)
    assert found.outcome == "slower"
    assert found.threshold == pytest.approx(1.1 * 1.1)
    assert verdict([steady("a w")], [steady("a w", 1.15)], factor=1.1).outcome == "undecided"
    assert verdict([steady("a w")], [steady("a w", 0.85)], factor=1.1).outcome == "faster"


def test_workloads_of_the_same_group_do_not_count_as_drift():
    names = [f"a w{i}" for i in range(3)]
    old, new = table(map(steady, names)), table([steady(name, 1.3) for name in names])
    assert [v.outcome for v in compare(old, new)] == ["slower"] * 3 + ["same"] * 6


def test_many_other_cells_changed():
    old, new = (Results([steady(f"a{i} w", by if i < 4 else 1.0) for i in range(10)], {}) for by in (1.0, 1.5))
    assert Counter(v.outcome for v in compare(old, new)) == {"slower": 4, "same": 6}


def test_slower_and_faster():
    slower = verdict([steady("a w")], [steady("a w", 1.31)])
    assert (slower.outcome, slower.ratio, slower.threshold) == ("slower", pytest.approx(1.31), pytest.approx(1.1))
    assert slower.reason == "beyond 1.10, the limit of what noise explains"
    assert (slower.old_s, slower.new_s) == (pytest.approx(0.01), pytest.approx(0.0131))
    faster = verdict([steady("a w", 1.31)], [steady("a w")])
    assert (faster.outcome, faster.ratio) == ("faster", pytest.approx(1 / 1.31))
    assert faster.reason == "beyond 0.91, the limit of what noise explains"


@pytest.mark.parametrize(
    ("factor", "outcome"), [(1.0, "same"), (1.09, "same"), (1.11, "slower"), (0.92, "same"), (0.9, "faster")]
)
def test_around_the_floor(factor, outcome):
    assert verdict([steady("a w")], [steady("a w", factor)]).outcome == outcome


@pytest.mark.parametrize("more", [{"times": ((1e-4,) * 4,) * 2}, {"roof": "launch"}])
def test_short_cells_have_a_wider_floor(more):
    old = row("a w", **more)
    for factor, outcome in ((1.2, "same"), (1.245, "undecided"), (1.3, "slower")):
        new = replace(old, medians_s=[[s * factor for s in process] for process in old.medians_s])
        assert verdict([old], [new]).outcome == outcome


def test_processes_that_disagree_are_undecided():
    """One process was disturbed; the other shows that the code is as fast as before."""
    found = verdict([steady("a w")], [row("a w", ((0.01,) * 4, (0.016,) * 4))])
    assert found.outcome == "undecided"
    assert "processes of one run differ by 1.60x" in found.reason
    disturbed = row("a w", ((0.01, 0.03, 0.01, 0.02), (0.05, 0.01)))
    assert verdict([steady("a w")], [disturbed]).outcome == "same", "disturbed rounds do not count"


@pytest.mark.parametrize("which", ["old", "new"])
def test_one_process_only(which):
    def tables(factor):
        cells = {"old": steady("a w"), "new": steady("a w", factor)}
        cells[which] = replace(cells[which], medians_s=cells[which].medians_s[:1])
        return [cells["old"]], [cells["new"]]

    for factor in (1.0, 1.5):
        found = verdict(*tables(factor))
        assert found.outcome == "undecided"
        assert f"measured in one process only in the {which} run" in found.reason
    assert verdict(*tables(2.5)).outcome == "slower", "the slowdown may be why the budget left no second process"


def test_drift_is_assumed_with_few_cells():
    def alone(factor):
        return compare(Results([steady("a w")], {}), Results([steady("a w", factor)], {}))[0]

    assert alone(1.2).outcome == "undecided"
    assert "the machine may have changed" in alone(1.2).reason
    assert alone(1.5).outcome == "slower"
    assert alone(1.01).outcome == "same"


def test_nothing_is_the_same_under_large_noise():
    noisy = [row(f"a{i} w", ((0.01,) * 4, (0.02,) * 4)) for i in range(8)]
    verdicts = compare(Results(noisy, {}), Results(noisy, {}))
    assert {v.outcome for v in verdicts} == {"undecided"}
    assert exit_status(verdicts) == 3


@pytest.mark.parametrize("change", [{"machine": "another"}, {"device_label": "another GPU"}])
def test_times_that_cannot_be_compared(change):
    found = verdict([steady("a w")], [steady("a w", 3.0, **change)])
    assert (found.outcome, found.ratio, found.threshold) == ("undecided", pytest.approx(3.0), None)
    assert "different machines" in found.reason
    assert lines([found])


def test_times_are_compared_where_the_roofline_is_not_trusted():
    assert verdict([steady("a w")], [steady("a w", 3.0, roof_doubt="900% of it")]).outcome == "slower"


FAULTS = ("unsupported", "out-of-memory", "timeout", "crashed", "wrong-answer", "not-synchronised")


@pytest.mark.parametrize("status", [status for status in STATUSES if status != "ok"])
def test_cells_measured_in_one_run_only(status):
    here, lost = steady("a w"), empty(status, name="a w")
    missing, found, never = verdict([here], [lost]), verdict([lost], [here]), verdict([lost], [lost])
    assert missing.outcome == ("broken" if status in FAULTS else "missing")
    assert found.outcome == ("fixed" if status in FAULTS else "new")
    assert missing.reason == f"was measured, now {status}: because"
    assert found.reason == f"measured now, was {status}: because"
    assert (missing.old_s, missing.new_s, missing.ratio) == (pytest.approx(0.01), None, None)
    assert (never.outcome, lines([never])) == ("empty", [])


def test_cells_of_one_run_only():
    missing, new = verdict([steady("a w")], []), verdict([], [steady("a w")])
    assert (missing.outcome, missing.reason) == ("missing", "not in the new run")
    assert (new.outcome, new.reason) == ("new", "not in the old run")
    assert (
        verdict([], [empty("crashed", name="a w")]).reason == "measured in neither run: absent, then crashed: because"
    )


@pytest.mark.parametrize(("status", "outcome"), [("not-installed", "missing"), ("crashed", "broken")])
def test_a_library_without_devices_is_matched(status, outcome):
    """A library that is missing has one row without a device, which stands for all its devices."""
    devices = [steady("a w", device=device) for device in ("cpu", "cuda:0")]
    missing = empty(status, name="a w", device="")
    verdicts = [v for v in compare(table(devices), table([missing])) if v.cell.workload == "a w"]
    assert [(v.cell.device, v.outcome) for v in verdicts] == [("cpu", outcome), ("cuda:0", outcome)]
    assert all("because" in v.reason for v in verdicts)
    (both,) = [v for v in compare(table([missing]), table([missing])) if v.cell.workload == "a w"]
    assert (both.cell.device, both.outcome) == ("", "empty")


def test_cells_differ_by_every_part_of_their_identity():
    shares = ({"backend": "torch"}, {"device": "cuda:0"}, {"dtype": "float64"}, {"size": 65})
    for part in shares:
        outcomes = Counter(
            v.outcome for v in compare(Results([steady("a w")], {}), Results([steady("a w", **part)], {}))
        )
        assert outcomes == {"missing": 1, "new": 1}


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        ((), 3),
        (("undecided", "missing", "new"), 3),
        (("undecided", "same"), 0),
        (("faster",), 0),
        (("fixed", "missing"), 3),
        (("fixed", "same"), 0),
        (("same", "slower"), 1),
        (("broken",), 1),
    ],
)
def test_exit_status(outcomes, status):
    cell = CellName("a", "numpy", "cpu", "float32", 1)
    assert exit_status([Verdict(cell, outcome, "") for outcome in outcomes]) == status


def test_differences_of_environments():
    old = {"date": "1", "load": 0.1, "versions": {"torch": {"torch": "2.1"}}, "pools": {"numpy": [{"threads": 2}]}}
    new = {"date": "2", "load": 0.9, "versions": {"torch": {"torch": "2.2"}}, "pools": {"numpy": [{"threads": 1}]}}
    new["settings"] = {"OMP_NUM_THREADS": "1", "date": "not that of the run"}
    assert differences([old, new]) == [
        ("versions.torch.torch", "2.1", "2.2"),
        ("pools.numpy.0.threads", "2", "1"),
        ("settings.OMP_NUM_THREADS", "", "1"),
        ("settings.date", "", "not that of the run"),
    ]
    assert differences([old, old]) == []


def outputs(old, new):
    """What the terminal shows, and the Markdown."""
    console = Console(file=StringIO(), width=200)
    verdicts = compare(old, new)
    show(verdicts, old, new, console)
    return console.file.getvalue(), markdown(verdicts, old, new)


def test_terminal_and_markdown():
    cells = [steady("a w"), steady("b w"), steady("c w"), empty("not-installed", name="d w")]
    changed = [steady("a w", 1.3), steady("b w", 1.6), empty("crashed", name="c w", reason="SIGSEGV [x] | y"), cells[3]]
    old, new = table(cells), table(changed)
    old.environment |= {"date": "Monday", "versions": {"numpy": {"numpy": "2.3"}}}
    new.environment |= {"date": "Tuesday", "versions": {"numpy": {"numpy": "2.4"}}}
    for text in outputs(old, new):
        places = [text.index(name) for name in ("c w", "b w", "a w")]
        assert places == sorted(places), "the worst first"
        assert not any(name in text for name in ("other", "d w")), "these are only counted"
        assert "9 cells: 1 broken, 2 slower, 6 same; 1 more were measured in neither run" in text
        assert "old: Monday; new: Tuesday" in text
        assert "versions.numpy.numpy: 2.3, now 2.4" in text
        assert "SIGSEGV [x]" in text
    assert "SIGSEGV [x] \\| y" in outputs(old, new)[1]
    assert all("no cells" in text and "reason" not in text for text in outputs(Results([], {}), Results([], {})))


def test_the_terminal_lists_the_undecided_cells_with_the_largest_ratios():
    cells = [steady(f"w{i:02}", 1 + i / 1000) for i in range(3 * FEW)]
    alone = [replace(cell, medians_s=[[0.01]]) for cell in cells]
    shown, written = outputs(Results(alone, {}), Results(cells, {}))
    assert shown.count("in one process only in the old") == FEW
    assert written.count("in one process only in the old") == 3 * FEW
    assert f"w{3 * FEW - 1}" in shown
    assert "w01" not in shown
    assert f"{2 * FEW} more cells with smaller ratios are undecided; see compare.md" in shown


@pytest.mark.parametrize(
    ("rows", "environment"),
    [(None, "{}"), ("", None), ("{", "{}"), ('{"colour": 1}', "{}"), ("[]", "{}"), ("", "{"), ("\xff", "{}")],
)
def test_malformed_folders(tmp_path, rows, environment):
    for name, text in ((ROWS, rows), (ENVIRONMENT, environment)):
        if text is not None:
            (tmp_path / name).write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=r"has no results of this version"):
        Results.read(tmp_path)
