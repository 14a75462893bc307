"""A worker process as its parent holds it: silence, death and a stubborn end all become answers."""

from __future__ import annotations

import pytest

from xarrayops._system.process import Worker

BODY = """
import json, sys, time
print(json.dumps({"status": "ok"}), flush=True)
for line in sys.stdin:
    command = json.loads(line)
    if command["do"] == "sleep":
        time.sleep(1000)
    if command["do"] == "die":
        sys.exit("the last words")
    print(json.dumps({"status": "ok", **command}), flush=True)
"""
PATIENCE_S = 300.0


@pytest.fixture
def worker(tmp_path, monkeypatch):
    (tmp_path / "obedient.py").write_text(BODY)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    worker = Worker("obedient")
    assert worker.answer(PATIENCE_S) == {"status": "ok"}
    yield worker
    worker.close()


def test_a_frozen_worker_answers_when_it_is_asked(worker):
    worker.freeze()
    assert worker.ask({"do": "echo", "n": 3}, PATIENCE_S) == {"status": "ok", "do": "echo", "n": 3}
    assert worker.alive


def test_silence_is_a_timeout_and_the_end_of_the_process(worker):
    found = worker.ask({"do": "sleep"}, 0.01)
    assert (found["status"], found["reason"]) == ("timeout", "no answer within 0 s")
    assert not worker.alive


def test_a_death_is_told_with_its_last_words(worker):
    found = worker.ask({"do": "die"}, PATIENCE_S)
    assert found["status"] == "crashed"
    assert found["reason"].endswith("exit status 1: the last words")
    assert not worker.alive
