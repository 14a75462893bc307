"""The results of several machines in one table: labels, parts, ties, cost, and what differs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from xarrayops.bench import __main__ as command_line
from xarrayops.bench.compare import break_even, ranking
from xarrayops.bench.report import markdown, page, rankings, tables
from xarrayops.bench.results import Results, Row
from xarrayops.bench.run.plan import BenchPlan
from xarrayops.bench.workloads import WORKLOADS

WORKS = (("matmul", "float32", 64), ("matmul", "float32", 512), ("softmax", "float64", 8))


def cell(work, backend, seconds, host, device="cpu", status="ok"):
    workload, dtype, size = work
    ok = status == "ok"
    times = {"median_s": seconds, "low_s": seconds, "high_s": seconds, "medians_s": [[seconds] * 4] * 2} if ok else {}
    names = {"workload": workload, "backend": backend, "device": device, "dtype": dtype, "size": size}
    names["device_kind"] = device
    return Row(
        **names, status=status, error=0.0, reason="" if ok else "a reason", host=host, machine=f"CPU of {host}", **times
    )


def run_of(host, pace, works=WORKS, backends=("numpy", "torch"), **known):
    """A run in which the torch of a machine takes half of the time of its NumPy."""
    rows = [
        cell(work, backend, pace * (i + 1) / (1 + (backend == "torch")), host)
        for i, work in enumerate(WORKS)
        if work in works
        for backend in backends
    ]
    environment = {
        "command": f"a command of {host}",
        "date": "2026-01-02T03:04:05",
        "roofs": [],
        "pools": {},
        "load": 0.0,
        "versions": {"numpy": {"numpy": "2.4"}},
        "resolution": 0.05,
        "machine": {"cpu": f"CPU of {host}"},
        "workloads": {work[0]: {"timed": "t", "code": "c", "digest": "d"} for work in WORKS},
    }
    return Results(rows, environment | known)


@pytest.fixture
def merged(tmp_path, capsys):
    """The results that the command line writes for some runs, each in a folder of its own."""

    def merged(runs, *options):
        folders = [tmp_path / name for name in runs]
        for folder, run in zip(folders, runs.values(), strict=True):
            run.write(folder)
        out = tmp_path / "out"
        assert command_line.main(["--merge", *map(str, folders), "--out", str(out), *options]) == 0
        merged.printed = capsys.readouterr().out
        return Results.read(out)

    return merged


def test_every_cell_of_every_machine_is_in_the_table(merged):
    runs = {"a": run_of("fast", 1.0), "b": run_of("slow", 8.0, backends=("numpy", "torch", "jax"))}
    found = merged(runs)
    given = {(row.host, row.workload, row.size, row.backend): row for run in runs.values() for row in run.rows}
    assert len(found.rows) == len(given)
    for row in found.rows:
        assert row.label == row.host
        original = given[row.host, row.workload, row.size, row.backend]
        assert replace(row, label="", resolution=None) == original
    places, lines = tables.matrix(found)
    assert places == ["fast: numpy cpu", "fast: torch cpu", "slow: numpy cpu", "slow: torch cpu", "slow: jax cpu"]
    assert [name for name, _ in lines] == ["matmul float32 64", "matmul float32 512", "softmax float64 8"]
    assert [[mark for _, mark in cells].index("fastest") for _, cells in lines] == [1, 1, 1]
    for place in places:
        assert place in markdown.report(found)
        assert place.split(":")[0] in page.html(found)
        assert place.split(":")[0] in merged.printed


def test_runs_of_one_host_with_engines_and_measured_choices_are_named(merged):
    engines = run_of("host", 0.5, settings={"XARRAYOPS_ENGINES": "torch"})
    found = merged({"a": run_of("host", 1.0), "b": engines, "c": run_of("host", 0.25, choices="123abc")})
    labels = ["host", "host, engines torch", "host, measured choices 123abc"]
    assert list(dict.fromkeys(row.label for row in found.rows)) == labels
    lines = {line[0]: line[1] for line in rankings.regret_lines(found)}
    assert lines["host, measured choices 123abc: torch cpu"] == "1.00"
    assert lines["host, engines torch: torch cpu"] == "2.00"
    assert lines["host: numpy cpu"] == "8.00"


def test_sizes_of_two_runs_are_sorted(merged):
    works = {"a": WORKS[1:], "b": WORKS[:2]}
    found = merged({name: run_of(name, 1.0, works[name]) for name in works})
    assert [name for name, _ in tables.matrix(found)[1]] == [
        "matmul float32 64",
        "matmul float32 512",
        "softmax float64 8",
    ]


def test_parts_of_a_run_share_a_column(merged):
    found = merged({"a": run_of("node", 1.0, WORKS[:1]), "b": run_of("node", 1.0, WORKS[1:])})
    assert {row.label for row in found.rows} == {"node"}
    assert len(found.rows) == 6


@pytest.mark.parametrize("change", [{"versions": {"numpy": {"numpy": "2.5"}}}, {"settings": {"OMP_NUM_THREADS": "1"}}])
def test_other_versions_of_a_host_have_columns_of_their_own(merged, change):
    """Also where the cells differ, so that they could be parts."""
    found = merged({"a": run_of("node", 1.0, WORKS[:1]), "b": run_of("node", 1.0, WORKS[1:], **change)})
    assert [row.label for row in found.rows] == ["node", "node", "node b", "node b", "node b", "node b"]
    shown = "versions.numpy.numpy" if "versions" in change else "settings.OMP_NUM_THREADS"
    assert shown in markdown.report(found)
    assert shown in merged.printed


def test_the_same_cells_of_a_host_have_columns_of_their_own(merged):
    found = merged({"a": run_of("node", 1.0), "b": run_of("node", 2.0)})
    assert {row.label for row in found.rows} == {"node", "node b"}
    assert len(found.rows) == 12


def test_runs_of_earlier_versions_are_named_by_their_folders(merged):
    runs = {name: run_of("", 1.0) for name in ("first", "second")}
    assert {row.label for row in merged(runs).rows} == {"first", "second"}


def test_the_coarser_resolution_decides():
    """A difference of 8 % is a tie between a machine of 10 % and one of 1 %, but not between two of 1 %."""
    times = {"a": (1.0, 0.01), "b": (1.08, 0.10), "c": (1.08, 0.01)}
    rows = [
        replace(cell(WORKS[0], "numpy", seconds, name), label=name, resolution=resolution)
        for name, (seconds, resolution) in times.items()
    ]
    assert ranking.fastest(rows, 0.10) == {"a: numpy cpu": "tie", "b: numpy cpu": "tie"}
    assert ranking.fastest([rows[0], rows[2]], 0.10) == {"a: numpy cpu": "fastest"}


def test_break_even_points_are_those_of_one_machine(merged):
    found = merged({"a": run_of("fast", 1.0), "b": run_of("slow", 8.0)})
    numpy = break_even.baselines(found.rows)
    for row in found.rows:
        assert numpy[break_even.baseline_of(row)].host == row.host
    sizes = break_even.sizes(found.rows, 0.05)
    assert [by_place for _, _, by_place in sizes] == [{"fast: torch cpu": 64}, {"slow: torch cpu": 64}]


def test_cost(merged):
    """The fast machine takes an eighth of the time and costs sixteen times as much."""
    runs = {"a": run_of("fast", 1.0), "b": run_of("slow", 8.0), "c": run_of("free", 1.0)}
    found = merged(runs, "--cost", "fast=16", "--cost", "slow=1.0")
    (_, _, by_time), (title, _, by_cost), (costs_title, columns, costs) = rankings.rankings(found)
    assert by_time[0][0] == "free: torch cpu" or by_time[0][:2] == ("fast: torch cpu", "1.00")
    assert title == "Regret by cost"
    assert [line[:2] for line in by_cost] == [
        ("slow: torch cpu", "1.00"),
        *(("fast: torch cpu", "2.00"), ("slow: numpy cpu", "2.00"), ("fast: numpy cpu", "4.00")),
    ]
    assert costs_title.startswith("Cost of a million calls")
    assert list(columns[1:]) == ["fast: numpy cpu", "fast: torch cpu", "slow: numpy cpu", "slow: torch cpu"]
    assert costs[0][0] == "matmul float32 64"
    assert float(costs[0][1]) == pytest.approx(1.0 * 16 / 3600 * 1e6, rel=5e-3)
    assert costs[0][4].endswith(" *")
    assert "Regret by cost" in merged.printed
    assert "Regret by cost" in markdown.report(found)


def test_missing_cells_have_their_reasons(merged):
    run = run_of("a", 1.0)
    run.rows[1] = cell(WORKS[0], "torch", 0.0, "a", status="timeout")
    found = merged({"a": run, "b": run_of("b", 2.0)})
    assert [line[:4] for line in tables.missing(found.rows)] == [
        ("a: torch cpu", "matmul float32 64", "timeout", "a reason")
    ]


def test_warnings_name_the_machine(merged):
    changed = {"workloads": {"matmul": {"timed": "t", "code": "c", "digest": "other"}}}
    runs = {"a": run_of("a", 1.0, interrupted=True), "b": run_of("b", 1.0, **changed)}
    found = merged(runs)
    warnings = tables.warnings(found)
    assert [text.split(".")[0] for text in warnings] == [
        "a: The run was interrupted",
        "The code of these workloads differs between the runs: matmul",
    ]


def test_roofs_and_versions_name_the_machine(merged):
    roof = {"device": "cpu", "dtype": "float32", "memory": 1.0, "compute": 1.0, "memory_by": "n", "compute_by": "n"}
    found = merged({name: run_of(name, 1.0, roofs=[roof]) for name in "ab"})
    assert [each["device"] for each in found.environment["roofs"]] == ["a: cpu", "b: cpu"]
    assert list(found.environment["versions"]) == ["a: numpy", "b: numpy"]
    derived = json.loads(page.html(found).split('id="data">')[1].split("</script>")[0])["derived"]
    assert {each["roof_device"] for each in derived} == {"a: cpu", "b: cpu"}


def test_a_folder_of_folders(tmp_path, capsys):
    for host in ("a", "b"):
        run_of(host, 1.0).write(_made(tmp_path / "carried" / host))
    assert command_line.main(["--merge", str(tmp_path / "carried"), "--out", str(tmp_path / "out")]) == 0
    assert {row.label for row in Results.read(tmp_path / "out").rows} == {"a", "b"}


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--merge", "{a}", "{missing}"], "has no results"),
        (["--merge", "{a}", "{b}", "--cost", "c=2"], "no machine 'c'; the machines are a, b"),
        (["--merge", "{a}", "{b}", "--cost", "c"], "MACHINE=PRICE"),
        (["--merge", "{a}", "{b}", "--out", "{a}"], "choose another folder"),
        (["--all", "--cost", "a=2"], "it needs --merge"),
        (["--all", "--part", "4/3"], "is not a part"),
        (["--all", "--size", "default,huge"], "no size 'huge'"),
        (["--merge", "{joined}", "{b}"], "merge the folders of its runs"),
        (["--merge", "{empty}", "{b}"], "has no rows"),
    ],
)
def test_refused(tmp_path, capsys, options, message):
    folders = {name: tmp_path / name for name in ("a", "b", "missing", "joined", "empty")}
    for name in "ab":
        run_of(name, 1.0).write(folders[name])
    joined = run_of("c", 1.0)
    Results([replace(row, label="x") for row in joined.rows], joined.environment).write(folders["joined"])
    Results([], joined.environment).write(folders["empty"])
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(SystemExit) as raised:
        command_line.main([option.format(**folders) for option in options])
    assert raised.value.code == 2
    assert message in capsys.readouterr().err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_parts_have_every_cell_once():
    whole = BenchPlan(("numpy",), WORKLOADS, sizes=("toy", "default"))
    parts = [replace(whole, part=(i, 3)).cells() for i in (1, 2, 3)]
    names = [(workload.name, dtype, n) for part in parts for workload, dtype, n in part]
    assert sorted(names) == sorted((workload.name, dtype, n) for workload, dtype, n in whole.cells())
    assert len(set(names)) == len(names)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_a_run_is_saved_for_merging(tmp_path, capsys):
    carried = tmp_path / "carried"
    options = ["--backends", "numpy", "--workloads", "relu", "--size", "toy", "--budget", "20", "--save-for"]
    assert command_line.main([*options, str(carried)]) == 0
    assert command_line.main(["--merge", str(carried), "--out", str(tmp_path / "out")]) == 0
    row = Results.read(tmp_path / "out").rows[0]
    assert row.measured
    assert row.host
    assert row.fingerprint
    assert row.label == row.host


def test_runs_with_engines_are_saved_in_folders_of_their_own(monkeypatch):
    names = [command_line._own_folder()]
    for name, value in (("XARRAYOPS_ENGINES", "torch"), ("XARRAYOPS_MEASURED", "1")):
        monkeypatch.setenv(name, value)
        names.append(command_line._own_folder())
    assert len(set(names)) == 3
    assert names[-1] == command_line._own_folder()
