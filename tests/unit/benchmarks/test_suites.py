"""The runners of other projects' tests: what they count, what they write, and which failures need a reason."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import xarrayops as xo

FOLDER = Path(__file__).parents[3] / "benchmarks" / "suites"
TESTS = """
import numpy as np
import pytest

class TestEinsum:
    def test_einsum_views(self):
        assert False, "known"

    @pytest.mark.xfail(strict=True)
    def test_better_than_expected(self):
        pass

    def test_trace(self):
        assert np.einsum("ii", np.eye(3)) == 3
        assert np.einsum(np.eye(3), [0, 0], dtype="f4", casting="unsafe").dtype == np.float32
        assert np.einsum("ii", np.eye(3, dtype=object)) == 3

    @pytest.mark.skip
    def test_skipped(self):
        pass

def test_new_fault():
    assert np.einsum("i->", np.ones(2)) == 3
"""


@pytest.fixture
def modules():
    """The modules that have no entry point. They are removed from sys.modules afterwards."""
    names = ("reasons", "results", "indexing", "torch_attention")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        yield {name: importlib.import_module(name) for name in names}
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def checkout(tmp_path):
    """A checkout of a NumPy with five tests of einsum, two of which fail."""
    path = tmp_path / "numpy" / "numpy" / "_core" / "tests" / "test_einsum.py"
    path.parent.mkdir(parents=True)
    path.write_text(TESTS)
    author = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for command in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "Tests"]):
        subprocess.run(["git", *command], cwd=tmp_path / "numpy", check=True)
    return tmp_path / "numpy"


def run(*arguments):
    return subprocess.run([sys.executable, FOLDER, *map(str, arguments)], capture_output=True, text=True, check=False)


def test_a_suite_is_counted_and_recorded(checkout, tmp_path):
    pytest.importorskip("torch")
    out = tmp_path / "suites.json"
    earlier = {"suite": "numpy-einsum", "library": "torch", "passed": 99}, {"suite": "indexing", "library": "jax"}
    out.write_text(json.dumps({"runs": earlier}))
    ended = run("numpy-einsum", "--checkout", checkout, "--libraries", "torch", "--out", out)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    counts = "2 passed, 2 failed, 1 skipped; failures without a reason: 1"
    assert f"{counts}\n  test_einsum::test_new_fault: " in ended.stdout
    other, result = json.loads(out.read_text())["runs"]
    assert other == earlier[1]
    assert (result["passed"], result["failed"], result["skipped"], result["unexplained"]) == (2, 2, 1, 1)
    assert result["calls"] == {"ours": 3, "native": 1}
    assert len(result["commit"]) >= 7
    assert result["versions"].keys() >= {"python", "xarrayops", "torch"}
    explained, unexplained = sorted(result["failures"].values())
    assert (explained, unexplained) == (["TestEinsum::test_einsum_views"], ["test_einsum::test_new_fault"])


def test_a_suite_that_does_not_run(checkout):
    (checkout / "numpy/_core/tests/test_einsum.py").write_text("import nothing_of_this_name")
    ended = run("numpy-einsum", "--checkout", checkout, "--libraries", "numpy")
    assert ended.returncode == 1
    assert "the tests did not run" in ended.stderr


def test_a_checkout_is_required():
    assert "numpy-einsum needs --checkout" in run("numpy-einsum").stderr


def test_reasons_apply_to_their_libraries(modules):
    reason = modules["results"].reason
    assert reason("numpy-einsum", "torch", "TestEinsum::test_einsum_views")
    assert reason("numpy-einsum", "numpy", "TestEinsum::test_einsum_views") is None
    assert reason("scipy-sparse", "torch", "TestEinsum::test_einsum_views") is None
    outcome = modules["results"].Outcome(0, {"a": "wrong", "TestEinsum::test_einsum_views": "known"})
    assert modules["results"].unexplained("numpy-einsum", "torch", outcome) == {"a": "wrong"}


def test_index_expressions(modules, monkeypatch):
    monkeypatch.setattr(modules["indexing"], "PIECE", 20)
    *_, outcome = modules["indexing"].run("numpy", 50, 7)
    assert (outcome.passed, outcome.failures) == (50, {})
    assert outcome.settings["seeds"] == "7 to 9"
    monkeypatch.setattr(type(xo.at(np.ones(1))), "__getitem__", lambda self, index: self)
    *_, outcome = modules["indexing"].run("numpy", 20, 7)
    assert outcome.failures
    assert outcome.passed + len(outcome.failures) == 20


def test_attention_cases(modules, monkeypatch):
    pytest.importorskip("torch")
    suite = modules["torch_attention"]
    assert len({str(case) for case in suite.cases()}) == len(list(suite.cases()))
    outcome = suite.run("numpy", "float64-4-2-11-17-causal")
    assert (outcome.passed, outcome.failures) == (1, {})
    found = suite.run("torch", "float32-3-3-11-17-none")
    assert (found.passed, found.failures, found.settings) == (1, {}, {"gradients": True})
    attention = xo.attention
    monkeypatch.setattr(xo, "attention", lambda *arrays, **options: attention(*arrays, **options) * 1.001)
    (message,) = suite.run("numpy", "float32-3-3-11-17-none").failures.values()
    assert "the result differs" in message
