"""A pytest plug-in for accelerators: each outcome is written at once, and a broken device context is not used again.

    python -m pytest -p tests.gpu.journal --journal FILE

After an illegal access every CUDA call of the process fails. An xdist worker with such a failure ends itself. xdist
starts another one, so that the following tests are not affected.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

LASTING = (
    *("illegal memory access", "misaligned address", "device-side assert", "unspecified launch failure"),
    *("illegal instruction", "cudaErrorIllegalAddress", "hipErrorIllegalAddress", "cudaErrorLaunchFailure"),
)
"""Errors after which the device context cannot be used."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--journal", type=Path, metavar="FILE", help="append each outcome to FILE, as a line of JSON")


def pytest_configure(config: pytest.Config) -> None:
    journal = config.getoption("--journal")
    in_worker = hasattr(config, "workerinput")
    if in_worker:
        config.pluginmanager.register(EndsBrokenWorkers())
    elif journal is not None:
        config.pluginmanager.register(Journal(journal))


class Journal:
    """Writes a line for each test that has an outcome."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            line = {"test": report.nodeid, "outcome": report.outcome, "seconds": round(report.duration, 3)}
            if report.outcome != "passed":
                line["reason"] = report.longreprtext[-3000:]
            with self.file.open("a") as file:
                file.write(json.dumps(line) + "\n")


class EndsBrokenWorkers:
    """Ends the process after the report of a test that broke its device context."""

    broken = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.broken |= report.failed and any(sign in report.longreprtext for sign in LASTING)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self, nodeid: str, location: Any) -> None:
        if self.broken:
            os._exit(os.EX_SOFTWARE)
