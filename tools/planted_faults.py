"""Plant faults one at a time and record which tests find them: a measure of what the tests are worth.

The faults are data, in tests/faults/<family>.toml. A ``[[group]]`` has ``tests``, the files and folders of its family,
and ``select``, an expression for pytest's ``-k``. Each ``[[group.fault]]`` has a ``name``, the reason ``why`` it is one
(what a user would see), and the texts ``old`` and ``new``. ``old`` occurs once in the sources (`SOURCES`), in any file,
so that moved code needs no change in the data.

Nothing is edited in the checkout: the tracked files, or those of a commit, are copied to a temporary folder. There each
group of tests first runs without a fault and must pass. Then each fault is applied, its tests run until the first
failure, and the file is restored. The quick tests (not marked ``long``) run first, the long ones only if the quick ones
pass, so that one run shows what each tier finds.

Usage: planted_faults.py [--only NAME ...] [--tests quick|all] [--commit COMMIT] [--out FILE] [--against FILE]

The exit status is 1 if a selection fails without a fault, if a fault does not apply, or if a fault that the file of
``--against`` records as found is not found.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FAULTS = ROOT / "tests" / "faults"
RESULTS = ROOT / "benchmarks" / "results" / "planted_faults.json"
SOURCES = ("xarrayops", "backends")
"""The folders in which faults are planted."""
TIERS = {"quick": "not long", "long": "long"}
"""The marks of the tests of each tier, in the order in which the tiers run."""
LIBRARIES = ("numpy", "scipy", "numba", "torch", "jax", "dask", "libcst", "pytest")
NO_TESTS = 5
"""The exit status of pytest if it has collected nothing."""


class Fault(NamedTuple):
    """A fault; see the docstring of this module."""

    name: str
    family: str
    why: str
    old: str
    new: str
    tests: tuple[str, ...]
    select: str


class Run(NamedTuple):
    """What a run of some tests gave: "passed", "failed", "no tests", "time limit" or "error"."""

    outcome: str
    test: str | None
    """The first test that failed."""
    seconds: float
    output: str


def read_faults(folder: Path = FAULTS) -> list[Fault]:
    """The faults of all files of a folder."""
    found = []
    for path in sorted(folder.glob("*.toml")):
        for group in tomllib.loads(path.read_text())["group"]:
            tests, select = tuple(group["tests"]), group.get("select", "")
            found += [Fault(family=path.stem, tests=tests, select=select, **each) for each in group["fault"]]
    names = [fault.name for fault in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SystemExit(f"two faults have one name: {', '.join(twice)}")
    return found


def read_sources(tree: Path) -> dict[Path, str]:
    """The text of each Python file in which faults are planted."""
    return {path: path.read_text() for folder in SOURCES for path in sorted((tree / folder).rglob("*.py"))}


def place_of(fault: Fault, sources: dict[Path, str]) -> Path:
    """The file that a fault changes; raises a ValueError unless its text occurs once in all files."""
    places = [path for path, text in sources.items() for _ in range(text.count(fault.old))]
    if len(places) != 1:
        where = ", ".join(map(str, places[:3])) or "nowhere"
        raise ValueError(f"the text occurs {len(places)} times instead of once: {where}")
    return places[0]


def copy_tree(target: Path, commit: str | None) -> None:
    """The tracked files as they are in the checkout, or those of a commit."""
    target.mkdir()
    if commit is not None:
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", target], input=archive.stdout, check=True)
        return
    for name in git("ls-files", "-z").split("\0"):
        if name and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def git(*arguments: str) -> str:
    """What git prints."""
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


class Tree:
    """A temporary copy of the sources and tests, in which faults are planted."""

    def __init__(self, folder: Path, commit: str | None, limit: float) -> None:
        self.folder, self.limit = folder, limit
        copy_tree(folder, commit)
        self.sources = read_sources(folder)
        path = [folder, folder / "backends", folder / "tests" / "sample_backend"]
        self.environment = {
            "JAX_COMPILATION_CACHE_DIR": str(folder.parent / "jax"),  # the key of a program is its code
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, path)),
        }
        self._passed: dict[tuple[Any, ...], Run] = {}
        self._time = time.time()
        self._require_own_sources()

    def _require_own_sources(self) -> None:
        """Raise if Python would import the package from elsewhere."""
        code = "import xarrayops, xarrayops_backends; print(xarrayops.__file__, xarrayops_backends.__file__)"
        printed = subprocess.check_output(
            [sys.executable, "-c", code], cwd=self.folder, env=self.environment, text=True
        )
        if not all(name.startswith(str(self.folder)) for name in printed.split()):
            raise SystemExit(f"the tests would import {printed}")

    def write(self, path: Path, text: str) -> None:
        """Write a source with a new time in seconds, which decides whether Python and numba compile it anew."""
        path.write_text(text)
        self._time += 2
        os.utime(path, (self._time, self._time))

    def run(self, fault: Fault, tier: str) -> Run:
        """Run the tests of a fault that belong to a tier, up to the first failure."""
        missing = [name for name in fault.tests if not (self.folder / name).exists()]
        if missing:
            return Run("error", None, 0, f"there is no {', '.join(missing)}")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--tb=short"]
        command += ["-m", TIERS[tier], *(("-k", fault.select) if fault.select else ()), *fault.tests]
        start = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=self.limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # and the processes that tests have started
            output, _ = process.communicate()
            return Run("time limit", None, time.monotonic() - start, output)
        failed = re.search(r"^(?:FAILED|ERROR) (tests/.*?)(?: - .*)?$", output, re.MULTILINE)
        outcome = {0: "passed", 1: "failed", NO_TESTS: "no tests"}.get(process.returncode, "error")
        outcome = "failed" if failed else outcome  # a test file that cannot be imported is an error of pytest
        return Run(outcome, failed and failed[1], time.monotonic() - start, output)

    def run_without_fault(self, fault: Fault, tier: str) -> Run:
        """The tests of a fault without it; each selection runs once."""
        key = fault.tests, fault.select, tier
        if key not in self._passed:
            self._passed[key] = self.run(fault, tier)
        return self._passed[key]

    def try_fault(self, fault: Fault, tiers: Sequence[str]) -> dict[str, Any]:
        """What the tests of a fault say about it."""
        try:
            path = place_of(fault, self.sources)
        except ValueError as error:
            return {"status": "does not apply", "reason": str(error)}
        seconds = 0.0
        for tier in tiers:
            before = self.run_without_fault(fault, tier)
            if before.outcome == "no tests":
                continue
            if before.outcome != "passed":
                return {"status": "fails without the fault", "reason": f"{before.outcome}: {before.test}", "tier": tier}
            self.write(path, self.sources[path].replace(fault.old, fault.new))
            try:
                run = self.run(fault, tier)
            finally:
                self.write(path, self.sources[path])
            seconds += run.seconds
            if run.outcome != "passed":
                status = "found" if run.outcome == "failed" else run.outcome
                return {"status": status, "tier": tier, "test": run.test, "seconds": round(seconds, 1)}
        return {"status": "not found", "tiers": [*tiers], "seconds": round(seconds, 1)}


def versions() -> dict[str, str]:
    """The versions of Python and of the libraries that are installed."""
    found = {"python": sys.version.split()[0]}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def commit_name(commit: str | None) -> str:
    """The hash of a commit, or that of the checkout with a note if files differ from it."""
    name = git("rev-parse", "--short=12", commit or "HEAD")
    return name if commit is not None or not git("status", "--porcelain", *SOURCES, "tests") else f"{name} with changes"


def read_results(path: Path, commit: str) -> dict[str, Any]:
    """The results in a file if they are of the same commit, so that a run with ``--only`` adds to them."""
    found = json.loads(path.read_text()) if path.exists() else {}
    return found["faults"] if found.get("commit") == commit else {}


def lost(found: dict[str, Any], before: dict[str, Any]) -> list[str]:
    """The faults that were found before and are not found now; those that were not tried are left out."""
    return [
        name
        for name, record in before.items()
        if record["status"] == "found" and found.get(name, record)["status"] != "found"
    ]


def main() -> int:
    """Parse the arguments, try the faults, and write and print what was found."""
    parser = argparse.ArgumentParser(description="Plant faults one at a time and record which tests find them.")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="the names of faults or of families")
    parser.add_argument("--tests", choices=("quick", "all"), default="all", help="the tiers that run (default: all)")
    parser.add_argument("--commit", help="try the faults in the sources and tests of this commit")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the file of the results")
    parser.add_argument("--against", type=Path, metavar="FILE", help="fail if a fault that FILE has as found is lost")
    parser.add_argument("--limit", type=float, default=120, help="the seconds of one run of tests (default: 120)")
    options = parser.parse_args()
    faults = read_faults()
    wanted = set(options.only or ())
    unknown = wanted - {fault.name for fault in faults} - {fault.family for fault in faults}
    if unknown:
        parser.error(f"no fault or family is named {', '.join(sorted(unknown))}")
    tiers = [tier for tier in TIERS if options.tests == "all" or tier == options.tests]
    commit = commit_name(options.commit)
    results = read_results(options.out, commit)
    tried: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="planted-faults-") as folder:
        tree = Tree(Path(folder) / "tree", options.commit, options.limit)
        for fault in faults:
            if wanted and not wanted & {fault.name, fault.family}:
                continue
            record = tree.try_fault(fault, tiers)
            tried[fault.name] = results[fault.name] = {"family": fault.family, "why": fault.why, **record}
            where = record.get("test") or record.get("reason") or ""
            seconds = f"{record.get('seconds', 0):6.1f} s"
            print(f"{fault.name:42} {record['status']:16} {record.get('tier', ''):6} {seconds}  {where}", flush=True)
            write_results(options.out, commit, results)
    found = [record for record in tried.values() if record["status"] == "found"]
    quick = sum(record["tier"] == "quick" for record in found)
    print(f"\n{len(found)} of {len(tried)} faults found, {quick} of them by the quick tests. Results: {options.out}")
    wrong = [name for name, record in tried.items() if record["status"] not in ("found", "not found")]
    if wrong:
        print(f"Without a result: {', '.join(wrong)}")
    missed = []
    if options.against is not None:
        missed = lost(tried, json.loads(options.against.read_text())["faults"])
        if missed:
            print(f"Found in {options.against} and not now: {', '.join(missed)}")
    return int(bool(wrong or missed))


def write_results(path: Path, commit: str, results: dict[str, Any]) -> None:
    """Write the results after each fault, so that an interrupted run keeps them."""
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    content = {"commit": commit, "date": date, "versions": versions(), "faults": dict(sorted(results.items()))}
    path.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
