"""A plugin of pytest: it replaces array-api-compat in the package under test, and keeps the outcome of each test.

Environment variables, which workers of pytest-xdist inherit:

CLIENT_PLACE
    The import name of array-api-compat for the package under test, such as ``scipy._lib.array_api_compat``.
CLIENT_MODULES
    ``base``: as the package has it; ``compat``: the installed array-api-compat; ``ours``: `xarrayops.compat`.
CLIENT_SAMPLE
    n: only tests with ``crc32(test id) % n == 0``.
CLIENT_FIXTURE
    Only tests that use this fixture.
CLIENT_ONLY
    A file with the ids of the tests to run, as JSON.
CLIENT_OUT
    The file that gets the outcomes, as JSON.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import json
import os
import sys
import zlib
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

PLACE = os.environ.get("CLIENT_PLACE", "")
MODULES = os.environ.get("CLIENT_MODULES", "base")
SAMPLE = int(os.environ.get("CLIENT_SAMPLE", "1"))
FIXTURE = os.environ.get("CLIENT_FIXTURE", "")
ONLY = os.environ.get("CLIENT_ONLY", "")
INSTALLED = "array_api_compat"
outcomes: dict[str, list[str]] = {}


class Replacement(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The package under a name, instead of the one that the client has vendored."""

    def __init__(self, place: str) -> None:
        self.place = place

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The replacement; its own modules are found in its folder."""
        if name != self.place:
            return None
        if MODULES == "ours":
            return importlib.util.spec_from_loader(name, self, is_package=True)
        file = importlib.util.find_spec(INSTALLED).origin  # type: ignore[union-attr]
        folder = [str(Path(str(file)).parent)]
        return importlib.util.spec_from_file_location(name, file, submodule_search_locations=folder)

    def exec_module(self, module: ModuleType) -> None:
        """What the file ``__init__.py`` of a vendored package does."""
        from xarrayops.compat import vendor

        vendor(module.__name__)


def replace_installed() -> None:
    """Give the modules of `xarrayops.compat` the names of array-api-compat's, which it has imported itself."""
    import xarrayops as xo
    from xarrayops import compat

    for name in ("numpy", "torch", "dask.array", "cupy"):
        library = name.partition(".")[0]
        if importlib.util.find_spec(library) is None:
            sys.modules[f"{INSTALLED}.{name}"] = None  # type: ignore[assignment]
            continue
        xo.backend(library)
        for extension in ("", ".linalg", ".fft"):
            importlib.import_module(f"{compat.__name__}.{name}{extension}").__name__ = f"{INSTALLED}.{name}{extension}"
    for name, module in list(sys.modules.items()):
        if name == compat.__name__ or name.startswith(f"{compat.__name__}."):
            sys.modules[INSTALLED + name.removeprefix(compat.__name__)] = module


if MODULES != "base" and PLACE == INSTALLED:
    replace_installed()
elif MODULES != "base":
    sys.meta_path.insert(0, Replacement(PLACE))


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Keep the tests of the sample that use the fixture."""
    only = set(json.loads(Path(ONLY).read_text())) if ONLY else None
    kept = [
        item
        for item in items
        if zlib.crc32(item.nodeid.encode()) % SAMPLE == 0
        and (not FIXTURE or FIXTURE in item.fixturenames)
        and (only is None or item.nodeid in only)
    ]
    removed = set(items).difference(kept)
    if removed:
        config.hook.pytest_deselected(items=[*removed])
        items[:] = kept


def pytest_runtest_logreport(report: Any) -> None:
    """Keep the outcome, and the last line of the error."""
    if report.when == "call" or report.outcome != "passed":
        outcome = report.outcome
        if hasattr(report, "wasxfail"):
            outcome = "xfailed" if report.skipped else "xpassed"
        if outcome == "failed" or report.nodeid not in outcomes:
            outcomes[report.nodeid] = [outcome, message(report) if outcome == "failed" else ""]


def message(report: Any) -> str:
    """The error of a failed test, in one line."""
    crash = getattr(report.longrepr, "reprcrash", None)
    return " ".join(str(crash.message if crash else report.longrepr).split())[:300]


def pytest_sessionfinish(session: Any) -> None:
    """Write the outcomes. Workers of pytest-xdist have none."""
    if not hasattr(session.config, "workerinput") and "CLIENT_OUT" in os.environ:
        Path(os.environ["CLIENT_OUT"]).write_text(json.dumps(outcomes))


def pytest_report_header() -> Sequence[str]:
    """The package that serves the place."""
    return [f"{PLACE}: {MODULES}"]
