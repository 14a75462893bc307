"""The planted faults apply to the sources, and the script says what the tests of each did."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))
import planted_faults  # noqa: E402

sys.path.remove(str(ROOT / "tools"))

FAULT = planted_faults.Fault("off by one", "loops", "the last item is lost", "n + 1", "n", ("tests",), "")
PASSED = planted_faults.Run("passed", 1.0)
FAILED = planted_faults.Run("failed", 2.0, "long", "tests/test_a.py::b")


def test_each_fault_applies_once_and_its_tests_exist():
    faults, sources = planted_faults.read_faults(), planted_faults.read_sources(ROOT)
    wrong = []
    for fault in faults:
        try:
            planted_faults.place_of(fault, sources)
        except ValueError as error:
            wrong.append(f"{fault.name}: {error}")
        wrong += [f"{fault.name}: there is no {path}" for path in fault.tests if not (ROOT / path).exists()]
        wrong += [f"{fault.name}: it changes nothing"] * (fault.old == fault.new)
    assert not wrong, "\n".join(wrong)
    assert len(faults) >= 44
    assert sum(fault.family in ("engines", "exchange", "sparse") for fault in faults) >= 14


@pytest.mark.parametrize("text", ["n - 1", "n + 1, n + 1"])
def test_a_text_that_does_not_occur_once_raises(text):
    with pytest.raises(ValueError, match=r"occurs [02] times instead of once"):
        planted_faults.place_of(FAULT, {Path("a.py"): text, Path("b.py"): ""})


class Tree(planted_faults.Tree):
    """A tree of one file, with the results of tests without the fault and with it."""

    def __init__(self, path, text, without, planted):
        path.write_text(text)
        self.path, self.sources, self.without, self.planted = path, {path: text}, without, planted
        self._time = 0.0

    def run(self, fault):
        is_planted = fault.new == self.path.read_text()
        assert is_planted or fault.tests == (self.planted.test,), "only the test that failed runs without the fault"
        return self.planted if is_planted else self.without


@pytest.mark.parametrize(
    ("text", "without", "planted", "expected"),
    [
        ("n + 1", PASSED, FAILED, {"status": "found", "tier": "long", "test": "tests/test_a.py::b"}),
        ("n + 1", PASSED, PASSED, {"status": "not found"}),
        ("n + 1", PASSED, planted_faults.Run("time limit", 120.0), {"status": "time limit"}),
        ("n + 1", FAILED, FAILED, {"status": "failed without the fault"}),
        ("n - 1", PASSED, PASSED, {"status": "does not apply"}),
    ],
)
def test_the_record_of_a_fault(tmp_path, text, without, planted, expected):
    path = tmp_path / "a.py"
    record = Tree(path, text, without, planted).try_fault(FAULT)
    assert record.items() >= expected.items()
    assert path.read_text() == text, "the fault must be taken back"


def test_faults_that_are_found_no_more():
    before = {"a": "found", "b": "found", "c": "not found", "not tried now": "found"}
    now = {"a": "found", "b": "does not apply", "c": "not found"}
    records = ({name: {"status": status} for name, status in each.items()} for each in (now, before))
    assert planted_faults.lost(*records) == ["b"]
