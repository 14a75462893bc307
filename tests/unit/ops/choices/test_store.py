"""The store: several writers, killed writers, torn lines, folders that cannot be written."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import warnings

import pytest

from tests.unit.ops.choices.records import call, record
from xarrayops._ops.choices import machine
from xarrayops._ops.choices.store import LONGEST, Store
from xarrayops._ops.choices.verdicts import decided

WRITER = """
import sys
from pathlib import Path
from xarrayops._ops.choices.store import Store
store, process = Store(Path(sys.argv[1])), sys.argv[2]
for i in range(int(sys.argv[3])):
    store.append({"call": {"verb": "sort"}, "process": process, "number": i, "text": "x" * (i % 700)})
    if i == 0:
        print("started", flush=True)
"""


def writers(path, count, records):
    command = [sys.executable, "-c", WRITER, str(path)]
    started = [
        subprocess.Popen([*command, str(number), str(records)], stdout=subprocess.PIPE, text=True)
        for number in range(count)
    ]
    for each in started:
        assert each.stdout.readline() == "started\n"
    return started


def numbers(store, process):
    return [each["number"] for each in store.records() if each["process"] == str(process)]


def test_several_processes_lose_nothing(tmp_path):
    path = tmp_path / "store.jsonl"
    for each in writers(path, 4, 250):
        assert each.wait() == 0
        each.stdout.close()
    assert len([*filter(None, path.read_bytes().splitlines())]) == 1000
    assert all(numbers(Store(path), process) == [*range(250)] for process in range(4))


def test_killed_processes_lose_no_record_that_was_written(tmp_path):
    path, chance = tmp_path / "store.jsonl", random.Random(0)
    for process in (started := writers(path, 4, 10**7)):
        time.sleep(chance.random() / 20)
        process.send_signal(signal.SIGKILL)
    for process in started:
        process.wait()
        process.stdout.close()
    store = Store(path)
    lines = [*filter(None, path.read_bytes().split(b"\n"))]
    # The system may stop a write between two pages: of each killed process the record that it was writing may be torn.
    assert 0 <= len(lines) - len(store.records()) <= 4
    for process in range(4):
        found = numbers(store, process)
        assert found == [*range(len(found))]


def test_a_write_that_another_process_did_not_finish_loses_no_other_record(tmp_path, monkeypatch):
    path, write = tmp_path / "store.jsonl", os.write

    def after_a_torn_record(file, line):
        with path.open("ab") as other:
            other.write(line[: len(line) // 2])
        return write(file, line)

    monkeypatch.setattr(os, "write", after_a_torn_record)
    store = Store(path)
    for process in "ab":
        store.append(record(call(10), [1.0], process))
    assert [each["process"] for each in Store(path).records()] == ["a", "b"]


@pytest.mark.parametrize("garbage", [b"\xff\xfe\x00", b"{", b'{"call": 1}', b"[]", b"null", b"x" * 10**6, b"[" * 10**5])
def test_torn_and_foreign_lines_are_skipped(tmp_path, garbage):
    path = tmp_path / "store.jsonl"
    path.write_bytes(garbage)
    store = Store(path)
    store.append(record(call(10), [1.0], "a"))
    assert [each["process"] for each in store.records()] == ["a"]
    assert path.read_bytes().startswith(garbage + b"\n")


@pytest.mark.parametrize(
    "change",
    [
        {"ratios": "x"},
        {"ratios": [0.0]},
        {"date": 1},
        {"call": {"verb": "sort"}},
        {"call": call(10) | {"args": [{"shape": 5}]}},
        {"call": call(10) | {"args": [{"shape": ["a"]}]}},
    ],
)
def test_records_of_other_programs_decide_nothing(change):
    assert decided([record(call(10), [2.0] * 9, "a") | change], only_exact=True).choices == []


def test_a_record_that_is_too_long_is_refused(tmp_path):
    store = Store(tmp_path / "store.jsonl")
    store.append({"call": {"verb": "x" * LONGEST}})
    assert store.records() == []


def test_a_place_that_cannot_be_written_warns_once(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    store = Store(blocked / "store.jsonl")
    with pytest.warns(RuntimeWarning, match="in memory only"):
        store.append(record(call(10), [1.0], "a"))
    for _ in range(2):  # warnings are errors
        store.append(record(call(10), [1.0], "a"))
    assert len(store.records()) == 3


def test_a_store_that_is_a_folder_raises_nothing(tmp_path):
    store = Store(tmp_path)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        assert store.records() == []


CODE = """
import json
from xarrayops._ops.choices import machine
from xarrayops._system import fingerprint
print(json.dumps([machine.facts(), str(machine.store().path)]))
"""


def facts(**environment):
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True, env={**os.environ, **environment}
    )
    return json.loads(done.stdout)


def test_another_thread_setting_has_another_store(tmp_path):
    cache = {"XARRAYOPS_CACHE": str(tmp_path)}
    first, path = facts(**cache)
    assert facts(**cache) == [first, path]
    assert path.startswith(str(tmp_path))
    other, elsewhere = facts(**cache, OMP_NUM_THREADS="3")
    assert other != first
    assert elsewhere != path


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity") or os.cpu_count() == 1, reason="needs two CPUs and Linux")
def test_fewer_allowed_cpus_have_another_store():
    before = os.sched_getaffinity(0)
    first, _ = facts()
    try:
        os.sched_setaffinity(0, {min(before)})
        other, _ = facts()
    finally:
        os.sched_setaffinity(0, before)
    assert other["cpus"] != first["cpus"]


def test_another_version_has_another_store(monkeypatch):
    from xarrayops._system import fingerprint

    first = fingerprint.digest(machine.facts())
    monkeypatch.setattr(fingerprint, "_version", lambda package: "0.0")
    assert fingerprint.digest(machine.facts()) != first
