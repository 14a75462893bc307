"""What the steps of make compile-devices share. The compilers themselves run in the steps alone."""

import os
import sys
from argparse import Namespace
from types import SimpleNamespace

import pytest

from benchmarks.compile_devices import __main__ as command, _report, _workers

ARGUMENTS = Namespace(cases="", fresh=False, workers=1, seconds=60.0)


def test_runs_with_the_same_results_write_the_same_file(monkeypatch, tmp_path):
    monkeypatch.setattr(_report, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(_report, "RESULTS", tmp_path)
    texts = []
    for seconds in (1.0, 2.0):

        def compile_cases(module, cases, arguments, keep, environment, seconds=seconds):
            for case in cases:
                keep({**case, "state": "compiled", "seconds": seconds})

        monkeypatch.setattr(_report, "compile_cases", compile_cases)
        cases = [{"row": "abs"}, {"operation": "attention"}]
        arguments = Namespace(**{**vars(ARGUMENTS), "fresh": True})
        found = _report.run("a_step", cases, {"jax": "1.0"}, arguments, targets=["GPU X (sm_1)"])
        texts.append((tmp_path / "a_step.json").read_text())
    assert texts[0] == texts[1]
    assert found["targets"] == ["GPU X (sm_1)"]
    assert found["records"] == [{"row": "abs", "state": "compiled"}, {"operation": "attention", "state": "compiled"}]


def test_the_reason_of_a_worker_that_died_has_no_time(monkeypatch):
    reason = "it was ended by SIGABRT: E1128 21:28:15.919969    9071 process_state.cc] aborted"
    worker = SimpleNamespace(
        alive=True, ask=lambda case, limit: {"status": "crashed", "reason": reason}, close=lambda: None
    )
    monkeypatch.setattr(_workers, "start", lambda module, environment: worker)
    records = []
    _workers.compile_cases("a_module", [{"row": "abs"}], ARGUMENTS, records.append)
    (found,) = records
    assert found["reason"] == "crashed: it was ended by SIGABRT: process_state.cc] aborted"


def test_steps_are_imported_without_looking_for_a_device(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["compile_devices", "--only", "xla_cuda", "--here"])
    monkeypatch.setattr(os, "environ", dict(os.environ))
    seen = {}

    def import_module(name):
        seen.update(os.environ)
        return SimpleNamespace(main=lambda arguments: {"counts": {"compiled": 1}})

    monkeypatch.setattr(command, "import_module", import_module)
    assert command.main() == 0
    assert seen.items() >= {"JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1", "TPU_SKIP_MDS_QUERY": "1"}.items()


def test_the_help_says_what_each_step_needs(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["compile_devices", "--help"])
    with pytest.raises(SystemExit):
        command.main()
    text = capsys.readouterr().out
    assert "``" not in text
    for step in command.STEPS:
        assert f"\n{step} " in text
