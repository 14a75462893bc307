"""Which tests are quick: by their recorded duration, by marks, and never by their position."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.durations import KEEP, chosen, limit_of_groups, merged

TESTS = Path(__file__).parents[1]
RECORDED = json.loads((TESTS / "durations.json").read_text())
LIMIT = 1.5
"""The seconds of a group in these tests."""


def functions(file: str) -> set[str]:
    """The functions that a file of tests defines or assigns, or inherits from the contract suite."""
    paths = [TESTS / file, TESTS.parent / file]
    if file.startswith("contract/"):
        paths += (TESTS.parent / "xarrayops" / "testing" / "_suite").rglob("*.py")
    trees = [ast.parse(path.read_text()) for path in paths if path.is_file()]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    bodies = [node.body for node in nodes if isinstance(node, ast.Module | ast.ClassDef)]
    targets = [target for body in bodies for node in body if isinstance(node, ast.Assign) for target in node.targets]
    assigned = {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return assigned | {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


def test_recorded_tests_exist() -> None:
    names = {re.sub(r"\[.*", "", name) for name in RECORDED["groups"]}
    kept = [name for key in KEEP for name in RECORDED[key]]
    names |= {re.sub(r"\[.*", "", name.removeprefix("tests/")) for name in (*RECORDED["tests"], *kept)}
    defined = {file: functions(file) for file in {name.partition("::")[0] for name in names}}
    stale = {name for name in names if re.split(r"::|\.", name)[-1] not in defined[name.partition("::")[0]]}
    assert not stale, "run make durations: these tests do not exist"


NAMES = [f"test_x[{i}]" for i in range(200)]


def test_a_test_that_is_not_recorded_is_quick() -> None:
    assert chosen(NAMES, "test_x", {}, LIMIT, LIMIT) == {*NAMES}
    assert chosen(NAMES, "test_x", {"groups": {"test_x": [200, LIMIT]}}, LIMIT, LIMIT) == {*NAMES}


def test_a_choice_does_not_depend_on_other_tests() -> None:
    recorded = {"groups": {"test_x": [200, 10 * LIMIT]}}
    found = chosen(NAMES, "test_x", recorded, LIMIT, LIMIT)
    assert 8 < len(found) < 40
    assert chosen(["test_x[new]", *NAMES[::2]], "test_x", recorded, LIMIT, LIMIT) & {*NAMES} == found & {*NAMES[::2]}


def test_one_test_of_a_group_is_chosen_unless_it_takes_too_long() -> None:
    assert len(chosen(NAMES, "test_x", {"groups": {"test_x": [200, 190 * LIMIT]}}, LIMIT, LIMIT)) >= 1
    assert len(chosen(NAMES[:2], "test_x", {"groups": {"test_x": [2, 2 * LIMIT]}}, LIMIT / 1000, LIMIT)) == 1
    assert not chosen(NAMES[:2], "test_x", {"groups": {"test_x": [2, 2.1 * LIMIT]}}, LIMIT / 1000, LIMIT)


def test_a_group_of_the_contract_suite_gets_more_seconds() -> None:
    name = "contract/test_contract.py::TestContract::test_x"
    recorded = {"groups": {name: [200, 2 * LIMIT], "test_x": [200, 2 * LIMIT]}}
    assert chosen(NAMES, name, recorded, LIMIT, LIMIT) == {*NAMES}
    assert 50 < len(chosen(NAMES, "test_x", recorded, LIMIT, LIMIT)) < 150
    assert limit_of_groups({"groups": {name: [200, 40.0]}}, 20.0, 1.0) == pytest.approx(5.0)


def test_tests_that_stand_out_are_judged_alone() -> None:
    recorded = {
        "tests": {"test_x[0]": 2 * LIMIT, "test_x[1]": 2 * LIMIT, "test_x[2]": LIMIT / 2},
    }
    assert {*NAMES} - chosen(NAMES, "test_x", recorded, LIMIT, LIMIT, ["test_x[1]"]) == {"test_x[0]"}


def test_all_groups_together_take_the_seconds() -> None:
    recorded = {"groups": {"small": [10, 1.0], "large": [100, 50.0], "slow": [2, 80.0]}, "tests": {"alone": 3.0}}
    assert limit_of_groups(recorded, 11.0, 0.4) == pytest.approx(7.0)  # 1 + 7 + 3
    assert limit_of_groups(recorded, 4.0, 0.4) == pytest.approx(2.99, abs=0.02)  # 1 + 2.99
    assert limit_of_groups(recorded, 54.0, 50.0) == pytest.approx(10.0)  # 1 + 10 + 40 + 3
    assert limit_of_groups({}, 11.0, 0.4) == pytest.approx(11.0)


def test_durations_are_merged() -> None:
    old = {"groups": {"a": [2, 9.0], "b": [1, 5.0]}, "tests": {"a[1]": 8.0, "b[1]": 3.0}, "keep in make test": ["b[1]"]}
    new = {"a": {"a[1]": 0.01, "a[2]": 0.01}, "c": {f"c[{i}]": 0.1 for i in range(10)} | {"c[slow]": 7.04}}
    assert merged(old, new, Counter({"a": 2, "c": 21})) == {
        "groups": {"b": [1, 5.0], "c": [20, 2.0]},
        "tests": {"b[1]": 3.0, "c[slow]": 7.0},
        "keep in make test": ["b[1]"],
    }
