"""The content of the reports: the ranking, the break-even points, the rooflines, and the empty cells."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import ClassVar

import pytest
from rich.console import Console

from xarrayops._system import machine
from xarrayops.bench.compare import break_even, ranking
from xarrayops.bench.compare.ranking import resolution
from xarrayops.bench.measure.roofline import MeasuredRooflines, Roofline, rated_memory
from xarrayops.bench.measure.timing import median_of_rounds
from xarrayops.bench.report import markdown, rankings, tables, terminal
from xarrayops.bench.report.formatting import seconds_text
from xarrayops.bench.results import MEANINGS, STATUSES, Results, Row
from xarrayops.bench.run.budget import CpuContention
from xarrayops.bench.run.record import Record, short_digest

KNOWN = {"command": "a test", "date": "today", "roofs": [], "versions": {"numpy": {"numpy": "2"}}, "pools": {}}
KNOWN |= {"workloads": {"w": {"timed": "a thing", "code": ""}, "v": {"timed": "another", "code": ""}}}


def row(backend, median, low=None, high=None, **fields):
    fields = {"workload": "w", "size": 2, "error": 0.0, **fields}
    return Row(
        backend=backend, device="cpu", dtype="float32", status="ok", median_s=median, low_s=low, high_s=high, **fields
    )


def results(*rows, **known):
    return Results(list(rows), KNOWN | known)


def shown(found, width=160):
    console = Console(width=width, file=StringIO())
    terminal.show(found, console)
    return console.file.getvalue()


def timed(backend, *processes, **fields):
    """A row with the medians of the rounds of each process."""
    found = median_of_rounds([seconds for process in processes for seconds in process])
    return row(backend, found.median, found.low, found.high, medians_s=[list(each) for each in processes], **fields)


class TestFastest:
    STEADY: ClassVar = timed("a", [1.0, 1.01, 1.02, 1.01], [1.0, 1.03, 1.01, 1.02])

    def test_the_fastest_in_all_rounds(self):
        slow = timed("b", [1.2, 1.3, 1.2, 1.25], [1.2, 1.22, 1.2, 1.3])
        assert ranking.fastest([slow, self.STEADY], 0.1) == {"a cpu": "fastest"}
        assert ranking.fastest([self.STEADY], 0.1) == ranking.fastest([], 0.1) == {}

    def test_differences_below_the_resolution_are_ties(self):
        slow = timed("b", [1.2, 1.3, 1.2, 1.25], [1.2, 1.22, 1.2, 1.3])
        assert ranking.fastest([slow, self.STEADY], 0.3) == {"a cpu": "tie", "b cpu": "tie"}
        assert ranking.fastest([slow, self.STEADY], None) == {"a cpu": "fastest"}

    @pytest.mark.parametrize(("lucky", "mark"), [(0, "fastest"), (1, "tie"), (4, "tie")])
    def test_a_round_of_eight_makes_a_tie(self, lucky, mark):
        rounds = [0.9] * lucky + [1.9] * (8 - lucky)
        found = ranking.fastest([timed("b", rounds[:4], rounds[4:]), timed("a", [1.0] * 4, [1.0] * 4)], 0.1)
        assert found["a cpu"] == mark
        assert ("b cpu" in found) == (mark == "tie")

    @pytest.mark.parametrize("others", [1.0, 40.0])
    def test_disturbed_rounds_do_not_make_a_tie_with_a_much_slower_backend(self, others):
        """Eight rounds, and another program takes the CPUs from the fastest in three of them."""
        best = timed("a", [1.0, 50.0, 1.0, 50.0], [1.0, 1.0, 50.0, 1.0])
        behind = timed("b", [others * 3.0, 1.9 * others, 2.5 * others, 3.0], [3.0 * others] * 4)
        found = ranking.fastest([best, behind], 0.1)
        assert found == ({"a cpu": "tie", "b cpu": "tie"} if others == 1.0 else {"a cpu": "fastest"})

    @pytest.mark.parametrize(("rounds", "mark"), [(2, "tie"), (5, "tie"), (6, "fastest")])
    def test_few_rounds_make_a_tie(self, rounds, mark):
        rows = [timed("a", [1.0] * rounds), timed("b", [1.9] * rounds)]
        assert ranking.fastest(rows, 0.1)["a cpu"] == mark
        far = [timed("a", [1.0] * rounds), timed("b", [2.0] * rounds)]
        assert ranking.fastest(far, 0.1) == {"a cpu": "fastest"}

    def test_no_marks_without_intervals(self):
        assert ranking.fastest([self.STEADY, timed("b", [2.0])], 0.1) == {}


class TestResolution:
    def test_most_cells_are_below_it(self):
        rows = [row("a", 1.0, medians_s=[[1.0, 1.0, 9.0], [1.0 + i / 100]]) for i in range(11)]
        assert resolution(rows) == pytest.approx(0.075, abs=1e-3)

    def test_too_few_cells(self):
        assert resolution([row("a", 1.0, medians_s=[[1.0]])] * 9) is None
        assert resolution([row("a", 1.0, medians_s=[[1.0], [1.1]])] * 2) is None


class TestBreakeven:
    @pytest.mark.parametrize(
        ("transfer", "first", "median", "after"),
        [(0.0, 1.0, 0.5, 1), (10.0, 1.0, 0.5, 21), (0.0, 1.2, 0.9, 3), (5.0, 1.0, 1.0, None), (0.0, 1.0, 2.0, None)],
    )
    def test_calls(self, transfer, first, median, after):
        numpy = row("numpy", 1.0, transfer_s=0.0, first_call_s=1.0)
        other = row("b", median, transfer_s=transfer, first_call_s=first)
        found, last = break_even.ahead(other, numpy)
        assert (found, last) == (after, None)
        if found:  # total times, one call after the other
            ahead = [transfer + first + median * n <= 1.0 + 1.0 * n + 1e-12 for n in range(30)]
            assert ahead.index(True) + 1 == found

    @pytest.mark.parametrize(
        ("transfer", "first", "median", "text"),
        [
            *((0.0, 1.0, 0.5, "1 call"), (10.0, 1.0, 0.5, "21 calls"), (0.0, 1.0, 2.0, "never")),
            *((0.0, 0.4, 1.5, "up to 2 calls only"), (0.0, 0.9, 9.0, "up to 1 call only")),
        ],
    )
    def test_in_words(self, transfer, first, median, text):
        numpy = row("numpy", 1.0, transfer_s=0.0, first_call_s=1.0)
        other = row("b", median, transfer_s=transfer, first_call_s=first)
        assert str(break_even.ahead(other, numpy)) == text
        if "only" in text:  # total times, one call after the other
            ahead = [transfer + first + median * n < 1.0 + 1.0 * n for n in range(30)]
            assert [sum(ahead), all(ahead[: sum(ahead)])] == [int(text.split()[2]), True]

    def test_unmeasured_cells_have_no_break_even(self):
        numpy, other = (row(name, s, size=10, first_call_s=1.0) for name, s in (("numpy", 1.0), ("b", 0.5)))
        assert break_even.ahead(other, numpy)
        for each in (other, numpy):
            for name, value in (("first_call_s", None), ("status", "interrupted")):
                before = getattr(each, name)
                setattr(each, name, value)
                assert break_even.ahead(other, numpy) is None
                setattr(each, name, before)
        assert break_even.ahead(other, None) is break_even.ahead(numpy, numpy) is None
        fine = [row("numpy", 10.0, size=100), row("b", 5.0, size=100)]
        assert break_even.sizes([numpy, other, *fine], 0.0) == [("w", "float32", {"b cpu": 10})]
        other.status = "interrupted"
        assert break_even.sizes([numpy, other, *fine], 0.0) == [("w", "float32", {})]

    def test_size(self):
        def ladder(backend, *times):
            return [row(backend, time, size=10 ** (i + 1)) for i, time in enumerate(times)]

        numpy = ladder("numpy", 1.0, 10.0, 100.0)
        assert break_even.size(ladder("b", 2.0, 9.0, 50.0), numpy, 0.05) == 100
        assert break_even.size(ladder("b", 2.0, 9.8, 50.0), numpy, 0.05) == 1000
        assert break_even.size(ladder("b", 0.5, 20.0, 200.0), numpy, 0.05) is None
        assert break_even.size(ladder("b", 0.5)[:1], numpy, 0.05) is None
        others = (*ladder("b", 2.0, 9.0, 50.0), *ladder("c", 2.0, 20.0, 200.0), *ladder("d", 0.1))
        text = rankings.break_even_sizes(results(*numpy, *others))
        assert text == [("w float32", "b cpu: n >= 100; c cpu: at no size")]


def test_a_failed_cell_keeps_no_earlier_results():
    record = Record(Row("w", "b", "cpu", "float32", 2), {"kind": "cpu", "index": 0})
    fresh = record.filled(None, None)
    first = {"first_call_s": 1.0, "operations": 1.0, "nbytes": 1.0}
    record.apply(
        {"status": "ok", "process": 0, "first": first, "median_s": 1.0, "cold_s": 2.0, "calls": 3, "error": 0.1}
    )
    record.apply({"status": "ok", "peak_bytes": 7})
    record.apply({"status": "wrong-answer", "reason": "it is wrong", "fix": "fix it"})
    assert record.filled(None, None) == replace(fresh, status="wrong-answer", reason="it is wrong", fix="fix it")
    assert not record.pending


class TestRooflines:
    FIRST: ClassVar = {
        "operations": 8.0,
        "nbytes": 4e6,
        "first_call_s": 1.0,
        "transfer_s": 1.0,
        "tolerance": 0.0,
        "shape": [[2]],
    }

    def filled(self, median, roofs, launch_s=1e-6, **first):
        record = Record(row("numpy", None, throughput_unit="B/s"), {}, first=self.FIRST | first, medians={0: [median]})
        record.cold = [median]
        return record.filled(roofs, launch_s)

    def test_the_binding_limit(self):
        roofs = Roofline(compute=1e9, memory={1 << 20: 4e9, 8 << 20: 1e9})
        assert self.filled(0.01, None).roof is None
        assert self.filled(0.01, roofs, None).roof is None
        found = self.filled(0.01, roofs)
        assert (found.roof, found.roof_doubt) == ("memory", "")
        assert found.roof_fraction == pytest.approx(0.1)
        assert found.roof_fraction == pytest.approx(found.throughput / found.roof_throughput)
        assert self.filled(0.01, roofs, operations=1e7).roof == "compute"
        assert self.filled(0.01, roofs, nbytes=4.0).roof == "launch"

    def test_large_tasks_use_the_rates_of_large_sizes(self):
        roofs = Roofline(compute=1e9, memory={1 << 20: 4e9, 8 << 20: 1e9, 64 << 20: 2e9})
        assert [roofs.memory_rate(n) for n in (1, 1 << 20, 1 << 22, 1 << 23, 1 << 30)] == [4e9, 4e9, 4e9, 2e9, 2e9]

    def test_the_best_of_all_libraries(self):
        measured, place = MeasuredRooflines(), ("cpu", 0, "float32")
        assert measured.best(place) is None
        measured.add(place, "a", {"status": "ok", "memory": {"8": 2.0, "16": 1.0}})
        assert measured.best(place) is None
        measured.add(place, "b", {"status": "ok", "memory": {"8": 1.0}, "compute": 3.0})
        assert measured.best(place) == Roofline(3.0, {8: 2.0, 16: 1.0})
        measured.add(place, "b", {"status": "ok", "memory": {"8": 5.0}, "compute": 2.0})
        measured.add(place, "b", {"status": "timeout", "reason": "too slow"})
        assert measured.best(place) == Roofline(3.0, {8: 5.0, 16: 1.0}), "the best of repeated measurements counts"

    def test_rated_memory_bandwidth(self):
        attributes = {"memory_clock_hz": 2.619e9, "memory_bus_bits": 5120, "multiprocessors": 132}
        assert rated_memory(attributes) == pytest.approx(
            3.352e12, rel=1e-3
        )  # NVIDIA's data sheet of the H100 says 3.35
        assert rated_memory({"memory_clock_hz": 2.619e9}) is rated_memory({}) is None
        by = {"torch": {"memory": {"8": 3e12}, "compute": 5e14}, "cupy": {"memory": {}}}
        devices = [{"kind": "cuda", "index": i, "attributes": attributes if i == 0 else {}} for i in range(2)]
        measured = MeasuredRooflines()
        for name, rates in by.items():
            for index in range(2):
                measured.add(("cuda", index, "float32"), name, {"status": "ok", **rates})
        found, other = measured.described(devices)
        assert (found["memory_rated"], found["memory_by"]) == (rated_memory(attributes), "torch")
        assert "3.00 TB/s (torch, rated at 3.35 TB/s)" in markdown.report(results(roofs=[found]))
        assert other == {name: value for name, value in found.items() if name != "memory_rated"} | {"device": "cuda:1"}

    def test_a_cell_that_exceeds_the_roofline(self):
        roofs = Roofline(compute=1e9, memory={1 << 20: 1e9})
        for median, fraction, doubtful in ((0.0035, "not trusted (114% memory)", True), (0.008, "50% memory", False)):
            found = self.filled(median, roofs)
            assert bool(found.roof_doubt) == doubtful
            for text in (shown(results(found), 200), markdown.report(results(found))):
                assert fraction in text
                assert ("The times are valid" in " ".join(text.split())) == doubtful
                assert seconds_text(median) in text


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_tables_fit_the_terminal(width):
    found = row("numpy", 1.0, 0.9, 1.1, throughput=1e9, throughput_unit="B/s", first_call_s=0.1)
    text = shown(results(found), width)
    assert max(map(len, text.splitlines())) <= width
    assert "1.00 s" in text
    assert ("narrow terminal" in text.replace("\n", " ")) == (width < 140)
    assert "…" not in text


def test_a_cell_with_a_note_is_marked():
    found = results(timed("a", [1.0] * 4, [1.0] * 4, note="64-bit types on"), timed("b", [2.0] * 4, [2.0] * 4))
    for text in (shown(found), markdown.report(found)):
        assert "1.00 s †" in text
        assert "2.00 s †" not in text
        assert "†: 64-bit types on." in text


def test_many_tables_become_one_matrix():
    rows = [
        timed(backend, [0.99 * time * n, time * n, 1.01 * time * n], [time * n] * 3, size=n)
        for n in range(1, terminal.FEW + 2)
        for backend, time in (("a", 1.0), ("b", 2.0))
    ]
    rows.append(Row("w", "c", "cpu", "float32", 1, status="crashed", reason="why", fix="what"))
    text = shown(results(*rows, resolution=0.1))
    assert "w float32 7" in text
    assert "7.00 s *" in text
    assert "crashed" in text
    report = markdown.report(results(*rows, resolution=0.1))
    assert "| w float32 7 | **7.00 s** | 14.0 s |  |" in report
    assert "| _crashed_ |" in report


def test_a_missing_interval_has_a_reason():
    assert tables.cells(row("numpy", 1.0), {})[tables.COLUMNS.index("interval")] == "1 round"


def test_missing_rows_with_one_reason_share_a_line():
    def absent(workload, reason):
        return Row(workload, "x", "", "float32", 2, status="not-installed", reason=reason, fix="get | it")

    rows = [absent("v", "why"), absent("w", "why")]
    assert tables.missing(rows) == [("x", "all", "not-installed", "why", "get | it")]
    text = [line[1] for line in tables.missing([*rows, absent("u", "else")])]
    assert text == ["v float32 2, w float32 2", "u float32 2"]
    text = [line[1] for line in tables.missing([*rows, absent("u", "else")], 1)]
    assert text == ["v float32 2 and 1 more", "u float32 2"]
    assert "get \\| it" in markdown.report(results(*rows))


def test_a_busy_machine_is_reported():
    assert "load 3.0 on 2 CPUs" in markdown.report(results(load=3.0, machine={"usable_cpus": 2}))
    assert tables.disturbance(results(load=0.1, machine={"usable_cpus": 2})) is None
    assert tables.disturbance(results()) is None
    text = tables.disturbance(results(others=0.34, resolution=1.59, load=3.0))
    assert "used 34% of the CPUs during the run" in text
    assert "resolution is only 159%" in text
    assert "Measure again" in tables.disturbance(results(resolution=0.8))
    assert tables.disturbance(results(others=0.02, resolution=0.2, load=0.0)) is None


def test_cpu_contention_excludes_this_process_and_its_workers(monkeypatch):
    """Two CPUs for ten seconds, with 14 busy CPU seconds."""
    busy, own, now = [100.0], [0.0] * 5, [1000.0]
    monkeypatch.setattr(machine, "busy_seconds", lambda: busy[0])
    monkeypatch.setattr(machine, "usable_cpus", lambda: [0, 1])
    monkeypatch.setattr(machine, "process_seconds", {7: 4.0, 8: 1.0}.__getitem__)
    monkeypatch.setattr("xarrayops.bench.run.budget.monotonic", lambda: now[0])
    monkeypatch.setattr("os.times", lambda: tuple(own))
    others = CpuContention()
    busy[0], now[0] = 114.0, 1010.0
    assert others.share([]) == pytest.approx(14 / 20)
    assert others.share([7, 8]) == pytest.approx(9 / 20)
    own[:4] = 2.0, 1.0, 3.0, 0.5  # this process, and workers that have ended
    assert others.share([7]) == pytest.approx(3.5 / 20)
    own[0] = 90.0  # clocks of different grain
    assert others.share([7]) == 0.0
    busy[0] = 1000.0
    assert others.share([]) == 1.0
    monkeypatch.setattr(machine, "busy_seconds", lambda: None)
    assert others.share([]) is None


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="needs the CPU statistics of Linux")
def test_cpu_seconds_of_a_process():
    spin = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True)\nwhile True: time.sleep(9)"
    before = machine.busy_seconds()
    with subprocess.Popen([sys.executable, "-c", spin], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        own, all_of_them = machine.process_seconds(process.pid), machine.busy_seconds() - before
        process.kill()
    assert all_of_them > own - 0.1 > 0.3


def test_times_are_shown_where_the_roofline_is_not_trusted():
    rows = [timed(name, [time] * 8, first_call_s=time) for name, time in (("a", 1.0), ("numpy", 2.0))]
    text = tables.cells(rows[0], {}, rows[1])
    rows[0].roof_doubt = "886% of the compute limit"
    assert ranking.fastest(rows, 0.1) == {"a cpu": "fastest"}
    assert tables.cells(rows[0], {}, rows[1]) == text
    assert break_even.ahead(*rows).first == 1


def test_reason_codes():
    assert len(set(STATUSES)) == 11
    assert {"ok", *MEANINGS} == {*STATUSES}


def test_the_statuses_of_the_matrix_are_explained():
    late = Row(workload="w", backend="jax", device="cuda:0", dtype="float32", size=2, status="timeout")
    text = markdown.report(results(row("torch", 1.0), late))
    assert f"- _timeout_: {MEANINGS['timeout']}\n" in text
    assert "- _crashed_:" not in text


def test_digests():
    assert short_digest([1, {"b": 2, "a": 1}]) == short_digest([1, {"a": 1, "b": 2}])
    assert short_digest([1]) != short_digest([2])
    assert math.isfinite(int(short_digest([1]), 16))


def test_the_notes_have_the_evidence_for_accelerators():
    devices = {"torch": [{"kind": "cpu"}, {"kind": "cuda"}], "numpy": [{"kind": "cpu"}]}
    text = markdown.report(results(row("torch", 1.0), devices=devices))
    assert text.count("- xarrayops with ") == text.count("- xarrayops with torch on cuda: run on NVIDIA") == 1
    assert "xarrayops with" not in markdown.report(results(row("numpy", 1.0)))
