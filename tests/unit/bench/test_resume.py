"""A killed run loses only the cell in progress, and a resumed run does not measure the others again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from shutil import which
from time import monotonic, sleep

import pytest

from xarrayops.bench.results import Results
from xarrayops.bench.run.journal import NAME, Journal
from xarrayops.bench.run.plan import ROUNDS

FILE = """
import numpy as np
import xarrayops as xo
from xarrayops.bench import Workload

def numbers(random, n):
    return (random.standard_normal(n),)

def scaled(factor):
    def scale(x):
        return xo.multiply(x, factor)
    return scale

WORKLOADS = tuple(
    Workload(f"scale {i}", scaled(float(i)), numbers, lambda x, i=i: x * i, (10_000,), group="scale") for i in range(3)
)
"""


@pytest.fixture
def arguments(tmp_path):
    """A command line that measures three cells in two processes."""
    (tmp_path / "mine.py").write_text(FILE)
    out = tmp_path / "out"
    options = [
        "--workload-file",
        str(tmp_path / "mine.py"),
        "--backends",
        "numpy",
        "--budget",
        "900",
        "--out",
        str(out),
    ]
    return [sys.executable, "-m", "xarrayops.bench", *options, "--out", str(out), "--workloads", "scale"]


def rounds(folder):
    """The complete events of rounds on disk."""
    path = folder / "out" / NAME
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [event for event in map(json.loads, lines) if "median_s" in event]


def children(pid):
    """The child processes of a process."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return [int(word) for word in found.stdout.split()]


def alive(pid):
    """Whether a process exists and is not a zombie."""
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return found.stdout.strip() not in ("", "Z", "Zl")


@pytest.mark.skipif(sys.platform != "linux" or which("ps") is None, reason="needs the ps of Linux")
@pytest.mark.parametrize("after", [1, 9])
def test_killed_and_resumed(arguments, tmp_path, after):
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = monotonic() + 600
    while len(rounds(tmp_path)) < after and monotonic() < deadline:
        sleep(0.01)
    workers = children(process.pid)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert workers
    while any(map(alive, workers)) and monotonic() < deadline:
        sleep(0.01)
    assert not any(map(alive, workers))  # even frozen workers end with the run
    before = rounds(tmp_path)
    assert len(before) >= after
    done = subprocess.run([*arguments, "--resume"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    events = rounds(tmp_path)
    assert events[: len(before)] == before
    assert set(Counter((event["cell"], event["process"]) for event in events).values()) == {ROUNDS}
    rows = Results.read(tmp_path / "out").rows
    assert [[len(medians) for medians in row.medians_s] for row in rows] == [[ROUNDS, ROUNDS]] * 3
    again = subprocess.run([*arguments, "--resume"], capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert rounds(tmp_path) == events
    assert [row.median_s for row in Results.read(tmp_path / "out").rows] == [row.median_s for row in rows]


def test_changed_code_is_measured_again(arguments, tmp_path):
    command = [*arguments, "--workloads", "scale 1"]
    assert subprocess.run(command, capture_output=True).returncode == 0
    first = rounds(tmp_path)
    (tmp_path / "mine.py").write_text(FILE + "\n# changed\n")
    assert subprocess.run([*command, "--resume"], capture_output=True).returncode == 0
    assert len(rounds(tmp_path)) == 2 * len(first)


def test_a_timeout_is_measured_again(arguments, tmp_path):
    (tmp_path / "mine.py").write_text(
        FILE.replace("import numpy as np", "import os, time\nimport numpy as np").replace(
            "        return xo.multiply(x, factor)",
            "        time.sleep(float(os.environ['NAP']))\n        return xo.multiply(x, factor)",
        )
    )
    command = [*arguments, "--workloads", "scale 1", "--resume"]
    for nap, timeout, status in (("1000", "2", "timeout"), ("0", "600", "ok")):
        subprocess.run([*command, "--timeout", timeout], capture_output=True, env={**os.environ, "NAP": nap})
        assert [row.status for row in Results.read(tmp_path / "out").rows] == [status]


class TestJournal:
    def test_an_incomplete_line_is_overwritten(self, tmp_path):
        journal = Journal(tmp_path)
        journal.append({"a": 1})
        journal.append({"b": 2})
        whole = (tmp_path / NAME).read_bytes()
        for cut in range(len(whole)):
            (tmp_path / NAME).write_bytes(whole[:cut])
            resumed = Journal(tmp_path, resume=True)
            assert resumed.earlier == [{"a": 1}, {"b": 2}][: whole[:cut].count(b"\n")]
            resumed.append({"c": 3})
            assert Journal(tmp_path, resume=True).earlier == [*resumed.earlier, {"c": 3}]

    @pytest.mark.parametrize("invalid", [b"\xff\xfe\n", b"not json\n", b"3\n", b"{}{}\n"])
    def test_reading_ends_at_an_invalid_line(self, tmp_path, invalid):
        (tmp_path / NAME).write_bytes(b'{"a": 1}\n' + invalid + b'{"b": 2}\n')
        assert Journal(tmp_path, resume=True).earlier == [{"a": 1}]

    def test_another_run_replaces_it_with_its_first_event(self, tmp_path):
        (tmp_path / NAME).write_bytes(b'{"a": 1}\n{"b": 2}\n')
        journal = Journal(tmp_path)
        assert journal.earlier == []
        assert (tmp_path / NAME).read_bytes().count(b"\n") == 2
        journal.append({"c": 3})
        assert (tmp_path / NAME).read_bytes() == b'{"c": 3}\n'
