"""Shared by all tests: the quick tests, the kept compiled programs, and the environment of processes with CuPy."""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import pytest

import xarrayops as xo
from tests import durations, programs
from xarrayops._core.backends import registry

# By default JAX reserves three quarters of a GPU's memory, and other test processes fail.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

FOLDER = Path(__file__).parent
STANDIN = FOLDER / "standins" / "cupy"
WITHOUT_DEVICES = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu"}
"""The stand-in reports host memory as device memory; a library with a real device would use these addresses there."""
CACHE = Path(os.environ.get("XARRAYOPS_TEST_CACHE") or Path.home() / ".cache" / "xarrayops-tests")
"""Compiled programs, which later runs use again."""
SECONDS = 110.0, 520.0
"""The processor seconds of the recorded tests of ``make test`` and of ``make test-all``, without those always run."""
MOST = 0.5, 5.2
"""The seconds up to which at least one test of a long group is chosen. Tests that take longer run in `make sweeps`."""


def pytest_configure(config: pytest.Config) -> None:
    """Let all processes of this run share compiled programs, and keep them for later runs."""
    if config.getoption("--record-durations"):
        config.pluginmanager.register(durations.Recorder(), "durations")
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
    """Leave out what only sweeps run, and mark as long what ``make test`` does not run. This runs before ``-m``.

    A sweep runs the tests marked more_in_sweeps, and the groups of which other runs make a choice.
    """
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        item.stash[durations.GROUP] = durations.group_of(item)
        groups.setdefault(item.stash[durations.GROUP], []).append(item)
    recorded = durations.recorded()
    limits = [durations.limit_of_groups(recorded, *given) for given in zip(SECONDS, MOST, strict=True)]
    keep = [recorded.get(key, ()) for key in durations.KEEP]
    every_test = config.getoption("--every-test") or config.getoption("--record-durations")
    left_out: set[pytest.Item] = set()
    for group, members in groups.items():
        names = [item.nodeid for item in members]
        quick, kept = (
            durations.chosen(names, group, recorded, *given) for given in zip(limits, MOST, keep, strict=True)
        )
        for item in members:
            if config.getoption("--sweeps"):
                if len(kept) == len(names) and not item.get_closest_marker("more_in_sweeps"):
                    left_out.add(item)
            elif item.nodeid in quick:
                continue
            elif item.nodeid in kept or every_test:
                item.add_marker(pytest.mark.long)
                if item.nodeid not in kept:
                    item.add_marker(pytest.mark.sweep)
            else:
                left_out.add(item)
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


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
def registry_memory() -> Generator[tuple[dict[Any, Any], ...]]:
    """What the registry knows of classes and libraries; what it learns during the test is forgotten afterwards."""
    with ExitStack() as stack:
        for memory in registry.MEMORY:
            stack.enter_context(mock.patch.dict(memory))
        yield registry.MEMORY


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


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Bound the memory of sweeps."""
    if item.config.getoption("--sweeps"):
        programs.forget_many()


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
