"""Shared by all tests: the quick tests, the kept compiled programs, and the environment of processes with CuPy."""

from __future__ import annotations

import gc
import json
import math
import os
import re
import shutil
import subprocess
import zlib
from collections import Counter
from collections.abc import Callable, Generator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import xarrayops as xo

# By default JAX reserves three quarters of a GPU's memory, and other test processes fail.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

FOLDER = Path(__file__).parent
STANDIN = FOLDER / "standins" / "cupy"
WITHOUT_DEVICES = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu"}
"""The stand-in reports host memory as device memory; a library with a real device would use these addresses there."""
CACHE = Path(os.environ.get("XARRAYOPS_TEST_CACHE") or Path.home() / ".cache" / "xarrayops-tests")
"""Compiled programs, which later runs use again."""
DURATIONS = FOLDER / "durations.json"
"""The processor seconds of the tests that take long: ``make durations`` writes it."""
SECONDS_OF_QUICK_TESTS = 700.0
"""The processor seconds of all recorded quick tests: whole small groups, and a selection of the others."""
SECONDS_OF_A_SWEEP = 20.0
"""The seconds of each sweep in a run of all tests; ``--sweeps`` runs all of it."""
RECORDED_FROM = 0.5
"""The seconds from which a group of tests is recorded. A group that is not recorded is quick."""
_GROUP, _STARTED = pytest.StashKey[str](), pytest.StashKey[float]()


def pytest_configure(config: pytest.Config) -> None:
    """Let all processes of this run share compiled programs, and keep them for later runs."""
    if config.getoption("--record-durations"):
        config.pluginmanager.register(Recorder(), "durations")
    if hasattr(config, "workerinput"):
        return
    if config.getoption("--sweeps"):
        config.pluginmanager.register(Results(Path(config.getoption("--sweeps"))), "sweeps")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
    # PyTorch replaces files as a whole, so that its processes can share the folder. Its keys contain the versions.
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(CACHE / "inductor"))
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        config.add_cleanup(_shared_programs_of_jax(CACHE / "jax"))


def _shared_programs_of_jax(kept: Path) -> Callable[[], None]:
    """Set JAX's folder of programs for this run, and return a function that keeps the new ones when the run ends.

    JAX writes a program in place and never replaces it: a process that is killed meanwhile would leave a part of it for
    good. (A process that reads such a part compiles the program itself; pyproject.toml ignores the warning.) So a run
    has a folder of its own, and only a run that ends adds its programs to those that are kept. A program of the folder
    is the right one: JAX's key is a hash of the computation, the compile options, the flags of XLA, the devices, and
    the versions of jaxlib and of the compiler.
    """
    folder = TemporaryDirectory(prefix="xarrayops-programs-")
    kept.mkdir(parents=True, exist_ok=True)
    for program in kept.glob("*-cache"):
        shutil.copy2(program, folder.name)
    os.environ["JAX_COMPILATION_CACHE_DIR"] = folder.name

    def keep() -> None:
        for program in Path(folder.name).glob("*-cache"):
            if not (kept / program.name).exists() and program.stat().st_size:
                part = kept / f"{program.name}.{os.getpid()}"
                shutil.copy2(program, part)
                part.replace(kept / program.name)  # another run may do the same at this moment
        folder.cleanup()

    return keep


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as long the tests that are not chosen by recorded duration, and those that ``long_except`` does not match.

    Of a sweep, leave out what is not chosen. This runs before ``-m``.
    """
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        item.stash[_GROUP] = group_of(item)
        groups.setdefault(item.stash[_GROUP], []).append(item)
        for mark in item.iter_markers("long_except"):
            (quick,) = mark.args
            if not re.match(quick, item.callspec.id):
                item.add_marker(pytest.mark.long)
    recorded = json.loads(DURATIONS.read_text()) if DURATIONS.exists() else {}
    seconds = {group: total for group, (_, total) in recorded.get("groups", {}).items()}
    of_a_group = limit_of_groups(recorded, SECONDS_OF_QUICK_TESTS)
    of_sweep: Counter[str] = Counter()
    for group, members in groups.items():
        of_sweep[sweep_of(members[0])] += seconds.get(group, 0)
    left_out: set[pytest.Item] = set()
    for group, members in groups.items():
        names, sweep = [item.nodeid for item in members], sweep_of(members[0])
        total = max(seconds.get(group, 0), 1e-3)
        # Each sweep has its seconds, of which a group of its tests has the part that it takes of the whole.
        limit = SECONDS_OF_A_SWEEP * total / max(of_sweep[sweep], total) if sweep else math.inf
        if config.getoption("--sweeps"):
            left_out.update(() if sweep else members)
            continue
        kept = chosen(names, group, recorded, limit, SECONDS_OF_A_SWEEP)
        quick = chosen(names, group, recorded, min(limit, of_a_group), of_a_group)
        for item in members:
            if item.nodeid not in kept:
                left_out.add(item)
            elif item.nodeid not in quick:
                item.add_marker(pytest.mark.long)
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


def sweep_of(item: pytest.Item) -> str:
    """The sweep of a test: the variant whose engine compiles each row, or a function with the mark; empty if none."""
    variant = item.callspec.params.get("variant") if hasattr(item, "callspec") else None
    if getattr(variant, "is_sweep", False):
        return str(variant)
    return item.nodeid.partition("[")[0] if item.get_closest_marker("sweep") else ""


def group_of(item: pytest.Item) -> str:
    """The group of a test: its file and function, and the variant or library that it tests."""
    file = item.nodeid.partition("::")[0].removeprefix("tests/")
    given = item.callspec.params if hasattr(item, "callspec") else {}
    of = given.get("variant", given.get("library"))
    function = item.name.partition("[")[0]
    return f"{file}::{function}" if of is None else f"{file}::{function}[{of}]"


def limit_of_groups(recorded: dict[str, Any], seconds: float) -> float:
    """The seconds that the tests of one group may take, so that all groups together take the given seconds.

    So many short tests are preferred to few long ones: they find more per second.
    """
    sizes = [(total, total / count) for count, total in recorded.get("groups", {}).values()]
    sizes += [(alone, alone) for alone in recorded.get("tests", {}).values()]

    def cost(limit: float) -> float:
        return sum(total if total <= limit else limit if each <= limit else 0 for total, each in sizes)

    low, high = 0.0, seconds
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if cost(middle) <= seconds else (low, middle)
    return low


def chosen(names: list[str], group: str, recorded: dict[str, Any], seconds: float, most: float) -> set[str]:
    """The tests of a group that together take the given seconds, as recorded.

    The choice depends on the name of a test, and not on which others exist. At least one test of a group is chosen,
    unless a test of it takes more than ``most`` seconds.
    """
    alone, (count, total) = recorded.get("tests", {}), recorded.get("groups", {}).get(group, (1, 0.0))
    found = {name for name in names if name in recorded.get("keep", ()) or 0 < alone.get(name, 0) <= seconds}
    rest = [name for name in names if name not in alone]
    if total <= seconds:
        return found.union(rest)
    found.update(name for name in rest if zlib.crc32(name.encode()) < seconds / total * 2**32)
    if not found and rest and total / count <= most:
        found.add(min(rest, key=lambda name: zlib.crc32(name.encode())))
    return found


class Recorder:
    """Records the processor seconds of each test and its child processes, and merges them into the file."""

    def __init__(self) -> None:
        self.members: Counter[str] = Counter()
        self.seconds: dict[str, dict[str, float]] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.members.update(item.stash[_GROUP] for item in items)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None]:
        item.stash[_STARTED] = sum(os.times()[:4])
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None]:
        result = yield
        # xdist carries the properties of a report from its worker to the process that writes the file.
        item.user_properties.append(("duration", (item.stash[_GROUP], sum(os.times()[:4]) - item.stash[_STARTED])))
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            for name, (group, seconds) in (p for p in report.user_properties if p[0] == "duration"):
                assert name
                self.seconds.setdefault(group, {})[report.nodeid] = seconds

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workerinput"):
            return
        old = json.loads(DURATIONS.read_text()) if DURATIONS.exists() else {}
        DURATIONS.write_text(json.dumps(merged(old, self.seconds, self.members), indent=1, sort_keys=True) + "\n")


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
    return {"groups": groups, "keep": old.get("keep", []), "tests": alone}


class Results:
    """Writes the counts of outcomes of the sweeps, a file for each file of tests, with the date and the commit."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.outcomes: dict[str, dict[str, Counter[str]]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            file, _, test = report.nodeid.partition("::")
            counts = self.outcomes.setdefault(Path(file).stem, {}).setdefault(test.partition("[")[0], Counter())
            counts[report.outcome] += 1

    def pytest_sessionfinish(self) -> None:
        git = ["git", "-C", str(FOLDER), "rev-parse", "--short", "HEAD"]
        commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, outcomes in self.outcomes.items():
            found = {"commit": commit, "date": f"{datetime.now(UTC):%Y-%m-%d}", "outcomes": outcomes}
            (self.folder / f"{name}.json").write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


@pytest.fixture
def sweeping(pytestconfig: pytest.Config) -> bool:
    """Whether this run is a sweep, which has no time limit."""
    return bool(pytestconfig.getoption("--sweeps"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect the tests without garbage collection: nearly all objects made meanwhile stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Exempt the libraries and the collected tests, millions of objects, from garbage collection."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def standin_environment() -> dict[str, str]:
    """The environment in which ``import cupy`` imports the stand-in, and no library sees a real device."""
    path = os.pathsep.join(filter(None, (str(STANDIN), os.environ.get("PYTHONPATH"))))
    return {**os.environ, **WITHOUT_DEVICES, "PYTHONPATH": path}


@pytest.fixture
def real_cupy() -> bool:
    """Whether the real CuPy is installed and has a device. Then it is tested instead of the stand-in."""
    (status,) = (s for s in xo.backends() if s.name == "cupy")
    return bool(status.available and status.backend.devices() and "standin" not in status.backend.versions["cupy"])


@pytest.fixture
def cupy_environment(real_cupy: bool, standin_environment: dict[str, str]) -> dict[str, str]:
    """The environment of a process that needs CuPy: the real CuPy if it has a device, else the stand-in."""
    return dict(os.environ) if real_cupy else standin_environment
