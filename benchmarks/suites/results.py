"""What a run of a suite gave, and the file that keeps it."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from reasons import REASONS

import xarrayops as xo


@dataclass
class Outcome:
    """The counts of one suite on one library. ``failures`` holds the message of each test that failed."""

    passed: int
    failures: dict[str, str]
    skipped: int = 0
    calls: Mapping[str, int] = field(default_factory=dict)
    """How many calls our verbs served, and how many the suite's own library served because ours has no such case."""
    settings: Mapping[str, Any] = field(default_factory=dict)


def reason(suite: str, library: str, test: str, message: str = "") -> str | None:
    """Why a test may fail, by its name or its message; None if it must pass."""
    return next(
        (
            why
            for name, libraries, pattern, why in REASONS
            if name == suite
            and (libraries == "any" or library in libraries.split())
            and (re.search(pattern, test) or re.search(pattern, message))
        ),
        None,
    )


def unexplained(suite: str, library: str, outcome: Outcome) -> dict[str, str]:
    """The failures without a reason, with their messages."""
    return {test: why for test, why in outcome.failures.items() if reason(suite, library, test, why) is None}


def record(path: Path, suite: str, library: str, outcome: Outcome, checkout: Path | None, seconds: float) -> None:
    """Write the counts of a run. They replace those of an earlier run of the suite on the library."""
    by_reason: dict[str, list[str]] = {}
    for test in sorted(outcome.failures):
        by_reason.setdefault(reason(suite, library, test, outcome.failures[test]) or "unexplained", []).append(test)
    run = {
        "suite": suite,
        "library": library,
        **({"commit": commit(checkout)} if checkout else {}),
        "passed": outcome.passed,
        "failed": len(outcome.failures),
        "skipped": outcome.skipped,
        "unexplained": len(by_reason.get("unexplained", ())),
        "seconds": round(seconds),
        **({"calls": dict(outcome.calls)} if outcome.calls else {}),
        **outcome.settings,
        "versions": versions(library),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, CPU only",
        "failures": by_reason,
    }
    runs = json.loads(path.read_text())["runs"] if path.exists() else []
    others = [each for each in runs if (each["suite"], each["library"]) != (suite, library)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"runs": in_order([*others, run])}, indent=1) + "\n")


def in_order(runs: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The runs by suite and library."""
    return sorted(runs, key=lambda run: (run["suite"], run["library"]))


def versions(library: str) -> dict[str, str]:
    """The versions of Python, of xarrayops and of the library."""
    return {
        "python": platform.python_version(),
        "xarrayops": version("xarrayops"),
        **{name: str(number) for name, number in xo.backend(library).versions.items()},
    }


def commit(checkout: Path) -> str:
    """The commit of a checkout; "installed" for an installed package."""
    if not (checkout / ".git").exists():
        return "installed"
    command = ["git", "log", "-1", "--format=%h"]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=True).stdout.strip()
