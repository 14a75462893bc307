"""The script that finds what measured choice recovers, on made-up times whose gains are known."""

import importlib
import sys
from pathlib import Path

import pytest

PEERS = Path(__file__).parents[3] / "benchmarks" / "peers"


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(PEERS))
    yield importlib.import_module("choices")
    for name in ("choices", "measuring"):
        sys.modules.pop(name, None)


def row(script, side, measured, *, twice=({}, {}), program=None, again=1.0):
    """A row as three processes measure it: the ratios of the default to the candidates and to the measured choice."""
    processes = (twice[0], program or dict.fromkeys(twice[0], 1.0), twice[1])
    shared = {"default": 1.0, "default again": again, "measured": measured}
    each = ({"case": f"{side}", "side": side, "chosen": "", "default over": shared | one} for one in processes)
    return script.joined(*each)


def test_the_best_candidate_of_one_process_is_timed_in_the_other(script):
    found = row(script, 128, 1.0, twice=({"a": 4.0, "b": 1.0}, {"a": 1.0, "b": 9.0}))
    assert found["best over"] == 1.0, "each of them is fast in one process only"
    assert found["best"] == "b"
    assert row(script, 128, 1.0, twice=({"a": 2.0}, {"a": 8.0}))["best over"] == 4.0


def test_a_candidate_that_is_slower_in_the_program_does_not_count(script):
    twice = ({"a": 3.0, "b": 2.0}, {"a": 3.0, "b": 2.0})
    assert row(script, 128, 1.0, twice=twice)["best"] == "a"
    found = row(script, 128, 1.0, twice=twice, program={"a": 0.9, "b": 0.96})
    assert (found["best"], found["best over"]) == ("b", 2.0)
    found = row(script, 128, 1.0, twice=twice, program={"a": 0.2, "b": 0.2})
    assert (found["best"], found["best over"]) == ("default", 1.0)


def test_shares(script):
    gain = ({"a": 4.0}, {"a": 4.0})
    rows = [
        row(script, 128, 4.0, twice=gain),
        row(script, 256, 2.0, twice=gain),
        row(script, 512, 1.0, twice=({"a": 0.5}, {"a": 0.5})),
        row(script, 700, 1.0, twice=gain),
        row(script, 180, 9.0, twice=gain),
    ]
    found = script.summary(rows)
    assert found["tuned sizes"] == {"rows": 3, "with a gain": 2, "best": 2.52, "measured": 2.0, "recovered": 0.75}
    assert found["sizes between"]["recovered"] == 0.5, "a choice recovers at most the best gain"
    assert found["slower"] == []


def test_rows_slower_than_the_default_are_listed(script):
    def slower(**ratios):
        rows = [row(script, 256, 1.0), row(script, 128, ratios.get("measured", 1.0), again=ratios.get("again", 1.0))]
        if "program" in ratios:
            rows[1]["in the program"]["measured"] = ratios["program"]
        return script.summary(rows)["slower"]

    assert slower() == slower(measured=0.92) == []
    assert slower(measured=0.85) == ["128"]
    assert slower(program=0.85) == ["128"]
    assert slower(measured=0.85, again=1.3) == [], "the times of the run differ by more than that"
