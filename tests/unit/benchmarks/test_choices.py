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


def case(side, measured, *, twice=({}, {}), program=None, again=1.0, chosen="a", **more):
    """A row as three processes measure it: the ratios of the default to the candidates and to the measured choice."""
    given = {"case": f"{side}", "side": side, "default": "own", "chosen": chosen}
    ratios = [{"default": 1.0, "default again": again, "measured": measured} for _ in range(3)]
    for of_process, of_candidates in zip(
        ratios, (twice[0], program or dict.fromkeys(twice[0], 1.0), twice[1]), strict=True
    ):
        of_process.update(of_candidates)
    ratios[1]["measured"] = more.get("in_program", 1.0)
    ratios[2]["measured"] = more.get("other", measured)
    return [given | {"default over": each} for each in ratios]


def joined(script, *cases):
    return script.joined(*map(list, zip(*cases, strict=True)))


def summary(script, *cases):
    return script.summary(*map(list, zip(*cases, strict=True)))


def test_the_best_candidate_of_one_process_is_timed_in_the_other(script):
    noisy = case(128, 1.0, twice=({"a": 4.0, "b": 1.0}, {"a": 1.0, "b": 9.0}))
    steady = case(128, 1.0, twice=({"a": 2.0}, {"a": 8.0}))
    first, second = joined(script, noisy, steady)
    assert first["best over"] == 1.0, "each of them is fast in one process only"
    assert first["best"] == "b"
    assert second["best over"] == 4.0


def test_a_candidate_that_is_slower_in_the_program_does_not_count(script):
    twice = ({"a": 3.0, "b": 2.0}, {"a": 3.0, "b": 2.0})

    def best(program, again=1.0):
        (found,) = joined(script, case(128, 1.0, twice=twice, program=program, again=again))
        return found["best"], found["best over"], found["refused"]

    assert best(None) == ("a", 3.0, [])
    assert best({"a": 0.92, "b": 0.96}) == ("a", 3.0, []), "the resolution is at least 5 %"
    assert best({"a": 0.85, "b": 0.96}) == ("b", 2.0, ["a"])
    assert best({"a": 0.85, "b": 0.96}, again=1.2) == ("a", 3.0, [])
    assert best({"a": 0.2, "b": 0.2}) == ("default", 1.0, ["a", "b"])


def test_shares(script):
    gain = ({"a": 4.0}, {"a": 4.0})
    found = summary(
        script,
        case(128, 4.0, twice=gain),
        case(256, 2.0, twice=gain),
        case(512, 1.0, twice=({"a": 0.5}, {"a": 0.5})),
        case(700, 1.0, twice=gain),
        case(180, 9.0, twice=gain),
    )
    assert found["tuned sizes"] == {"rows": 3, "with a gain": 2, "best": 2.52, "measured": 2.0, "recovered": 0.75}
    assert found["sizes between"]["recovered"] == 0.5, "a choice recovers at most the best gain"
    assert found["slower"] == []
    assert found["rows with a refused kernel"] == 0


def test_rows_slower_than_the_default_are_listed(script):
    def slower(measured=1.0, **ratios):
        equal = {"a": 1.0}, {"a": 1.0}
        return summary(script, case(256, 1.0), case(128, measured, twice=equal, **ratios))["slower"]

    assert slower() == slower(0.92) == []
    assert slower(0.85) == ["128"]
    assert slower(0.85, other=1.0) == []
    assert slower(in_program=0.85) == ["128"]
    assert slower(in_program=0.85, chosen="own") == [], "the default serves this row"
    assert slower(0.85, again=1.3) == [], "the times of the run differ by more than that"
