"""Which tests ``make test`` and ``make test-all`` run, by the processor seconds that tests/durations.json records.

Tests are chosen by group: a function of a file, with the variant or library that it tests. A short group runs whole,
and of a long one a choice, so that all groups together take the seconds that the caller gives. ``make sweeps`` runs the
groups of which ``make test-all`` runs a choice.
"""

from __future__ import annotations

import json
import os
import zlib
from collections import Counter
from collections.abc import Generator, Iterable
from pathlib import Path
from statistics import median
from typing import Any

import pytest

FILE = Path(__file__).with_suffix(".json")
"""The processor seconds of the tests that take long: ``make durations`` writes it."""
RECORDED_FROM = 0.5
"""The seconds from which a group of tests is recorded. A group that is not recorded is short."""
WEIGHTS = {"contract/test_contract.py": 4.0, "docs/": 8.0, "policy/": 8.0}
"""Groups that get more seconds than others: their tests find most, or a change of any text can break them."""
KEEP = ("keep in make test", "keep in make test-all")
"""The lists of tests that these commands always run."""
GROUP = pytest.StashKey[str]()
_STARTED = pytest.StashKey[float]()


def recorded() -> dict[str, Any]:
    """The recorded durations."""
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def group_of(item: pytest.Item) -> str:
    """The group of a test: its file and function, and the variant or library that it tests."""
    file = item.nodeid.partition("::")[0].removeprefix("tests/")
    given = item.callspec.params if hasattr(item, "callspec") else {}
    of = given.get("variant", given.get("library"))
    function = item.name.partition("[")[0]
    return f"{file}::{function}" if of is None else f"{file}::{function}[{of}]"


def limit_of_groups(recorded: dict[str, Any], seconds: float, most: float) -> float:
    """The seconds that the tests of one group may take, so that all groups together take the given seconds.

    So many short tests are preferred to few long ones: they find more per second. One test of a group is chosen
    although it takes longer than the limit, up to ``most`` seconds.
    """

    def cost(limit: float) -> float:
        total = sum(min(whole, _allowed(group, limit, whole / count, most)) for group, (count, whole) in groups)
        return total + sum(alone for name, alone in tests if alone <= limit * weight(name))

    groups, tests = recorded.get("groups", {}).items(), recorded.get("tests", {}).items()
    low, high = 0.0, seconds
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if cost(middle) <= seconds else (low, middle)
    return low


def weight(name: str) -> float:
    """How many times the limit a group or a test may take."""
    name = name.removeprefix("tests/")
    return next((weight for start, weight in WEIGHTS.items() if name.startswith(start)), 1.0)


def _allowed(group: str, limit: float, each: float, most: float) -> float:
    """The seconds that the chosen tests of a long group take: at least one test, unless it takes too long."""
    limit *= weight(group)
    return limit if each <= limit else each if each <= most else 0.0


def chosen(
    names: list[str], group: str, recorded: dict[str, Any], limit: float, most: float, keep: Iterable[str] = ()
) -> set[str]:
    """The tests of a group that together take the seconds of a group, as recorded.

    The choice depends on the name of a test, and not on which others exist. At least one test of a group is chosen,
    unless a test of it takes more than ``most`` seconds. The tests in ``keep`` are always chosen.
    """
    limit *= weight(group)
    alone, (count, total) = recorded.get("tests", {}), recorded.get("groups", {}).get(group, (1, 0.0))
    found = {name for name in names if name in keep or 0 < alone.get(name, 0) <= limit}
    rest = [name for name in names if name not in alone]
    if total <= limit:
        return found.union(rest)
    each = total / count
    if each <= limit:
        found.update(name for name in rest if zlib.crc32(name.encode()) < limit / total * 2**32)
    if not found and rest and each <= max(limit, most):
        found.add(min(rest, key=lambda name: zlib.crc32(name.encode())))
    return found


class Recorder:
    """Records the processor seconds of each test and its child processes, and merges them into the file."""

    def __init__(self) -> None:
        self.members: Counter[str] = Counter()
        self.seconds: dict[str, dict[str, float]] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.members.update(item.stash[GROUP] for item in items)

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        self.members.update(item.stash[GROUP] for item in items)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None]:
        item.stash[_STARTED] = sum(os.times()[:4])
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None]:
        result = yield
        # xdist carries the properties of a report from its worker to the process that writes the file.
        item.user_properties.append(("duration", (item.stash[GROUP], sum(os.times()[:4]) - item.stash[_STARTED])))
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            for name, (group, seconds) in (p for p in report.user_properties if p[0] == "duration"):
                assert name
                self.seconds.setdefault(group, {})[report.nodeid] = seconds

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workerinput"):
            return
        FILE.write_text(json.dumps(merged(recorded(), self.seconds, self.members), indent=1, sort_keys=True) + "\n")


def merged(old: dict[str, Any], seconds: dict[str, dict[str, float]], members: Counter[str]) -> dict[str, Any]:
    """The recorded durations with new ones: groups as [tests, seconds of all], and apart the tests that stand out.

    If only some tests of a group ran, the others are taken to last as long as these.
    """
    groups = {group: value for group, value in old.get("groups", {}).items() if group not in seconds}
    ran = {name for each in seconds.values() for name in each}
    alone = {name: value for name, value in old.get("tests", {}).items() if name not in ran}
    for group, each in seconds.items():
        middle = median(each.values())
        apart = {name: s for name, s in each.items() if s >= RECORDED_FROM and s > 4 * middle}
        alone |= {name: round(s, 1) for name, s in apart.items()}
        rest = [s for name, s in each.items() if name not in apart]
        count = max(members[group], len(each)) - len(apart)
        total = sum(rest) / len(rest) * count
        if total >= RECORDED_FROM:
            groups[group] = [count, float(f"{total:.2g}")]
    return {"groups": groups, **{key: old[key] for key in KEEP if key in old}, "tests": alone}
