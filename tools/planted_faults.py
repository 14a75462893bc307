# Long: one command: faults, trees, runs and the table.
"""Plant faults one at a time and record which tests find them: a measure of what the tests are worth.

The faults are data, in tests/faults/<family>.toml. A ``[[group]]`` has ``tests``, the files and folders of its family,
and ``select``, an expression for pytest's ``-k``. Each ``[[group.fault]]`` has a ``name``, the reason ``why``
(what a user would see), and the texts ``old`` and ``new``. ``old`` occurs once in the sources (`SOURCES`), in any file,
so that moved code needs no change in the data.

Nothing is edited in the checkout: the tracked files, or those of a commit, are copied to a temporary folder. There each
fault is applied, its tests run until the first failure, and the file is restored. The test that failed must then pass
without the fault. This module is also the plug-in of these runs: the quick tests (not marked ``long``) run first, and
those of the sweeps last, so that one run shows which tier finds the fault.

Usage: planted_faults.py [--only NAME ...] [--tests quick|all] [--commit COMMIT] [--out FILE] [--against FILE]

The exit status is 1 if a test fails without the fault too, if a fault does not apply, or if a fault that the file of
``--against`` records as found is not found.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FAULTS = ROOT / "tests" / "faults"
RESULTS = ROOT / "benchmarks" / "results" / "planted_faults.json"
SOURCES = ("xarrayops", "backends")
"""The folders in which faults are planted."""
LONG, SWEEP = "long", "sweep"
"""The marks of the tests that are not quick, and of those among them that only sweeps run."""
TIERS = ("quick", LONG, SWEEP)
FAILURES = "PLANTED_FAULTS_FAILURES"
"""The variable that names the file to which a run of tests writes its failures."""
LIBRARIES = ("numpy", "scipy", "numba", "torch", "jax", "dask", "libcst", "pytest")
EVERY_TEST = "--every-test"
"""The option with which the tests of the sweeps run, in commits that have it."""
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
    seconds: float
    tier: str = ""
    """The tier of the first test that failed: "quick", "long" or "sweep"."""
    test: str = ""
    """The first test that failed."""


def read_faults(folder: Path = FAULTS) -> list[Fault]:
    """The faults of all files of a folder."""
    found = []
    for path in sorted(folder.glob("*.toml")):
        for group in tomllib.loads(path.read_text())["group"]:
            tests, select = tuple(group["tests"]), " ".join(group.get("select", "").split())
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


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Run the quick tests first, and those of the sweeps last."""
    items.sort(key=lambda item: TIERS.index(tier(item.keywords)))


def tier(marks: Any) -> str:
    """The tier of a test with these marks."""
    if LONG not in marks:
        return "quick"
    return SWEEP if SWEEP in marks else LONG


def pytest_runtest_logreport(report: Any) -> None:
    """Write the tier and the name of a test that fails."""
    if report.failed:
        with Path(os.environ[FAILURES]).open("a") as file:
            print(tier(getattr(report, "keywords", ())), report.nodeid, file=file)


pytest_collectreport = pytest_runtest_logreport


class Tree:
    """A temporary copy of the sources and tests, in which faults are planted."""

    def __init__(self, folder: Path, commit: str | None, *, limit: float, is_quick: bool) -> None:
        self.folder, self.limit, self.is_quick = folder, limit, is_quick
        copy_tree(folder, commit)
        self.sources = read_sources(folder)
        self.has_sweeps = EVERY_TEST in (folder / "conftest.py").read_text()
        path = [folder, folder / "backends", folder / "tests" / "sample_backend", ROOT / "tools"]
        self.environment = {
            "JAX_COMPILATION_CACHE_DIR": str(folder.parent / "jax"),  # the key of a program is its code
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, path)),
        }
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

    def run(self, fault: Fault) -> Run:
        """Run the tests of a fault up to the first failure."""
        if any(not (self.folder / name.partition("::")[0]).exists() for name in fault.tests):
            return Run("no tests", 0)
        marked = ["-m", f"not {LONG}"] if self.is_quick else [EVERY_TEST] if self.has_sweeps else []
        selected = ["-k", fault.select] if fault.select else []
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", Path(__file__).stem]
        failures = self.folder.parent / "failures"
        failures.write_text("")
        start = time.monotonic()
        process = subprocess.Popen(
            [*command, *marked, *selected, *fault.tests],
            cwd=self.folder,
            env={**self.environment, FAILURES: str(failures)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            status = process.wait(self.limit)
        except subprocess.TimeoutExpired:
            return Run("time limit", self.limit)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # and the processes that tests have started
        seconds = time.monotonic() - start
        first = failures.read_text().partition("\n")[0]
        if first:
            return Run("failed", seconds, *first.split(" ", 1))
        return Run({0: "passed", NO_TESTS: "no tests"}.get(status, "error"), seconds)

    def try_fault(self, fault: Fault) -> dict[str, Any]:
        """Whether the tests find a fault."""
        try:
            path = place_of(fault, self.sources)
        except ValueError as error:
            return {"status": "does not apply", "reason": str(error)}
        self.write(path, self.sources[path].replace(fault.old, fault.new))
        try:
            run = self.run(fault)
        finally:
            self.write(path, self.sources[path])
        record = {"status": run.outcome, "seconds": round(run.seconds, 1)}
        if run.outcome == "passed":
            return record | {"status": "not found"}
        if run.outcome == "failed":
            without = self.run(fault._replace(tests=(run.test,), select=""))
            status = "found" if without.outcome == "passed" else f"{without.outcome} without the fault"
            return record | {"status": status, "tier": run.tier, "test": run.test}
        return record


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


def read_results(path: Path, commit: str, names: set[str]) -> dict[str, Any]:
    """The results in a file for these faults, if they are of the same commit: a run with ``--only`` adds to them."""
    found = json.loads(path.read_text()) if path.exists() else {}
    records = found["faults"] if found.get("commit") == commit else {}
    return {name: record for name, record in records.items() if name in names}


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
    parser.add_argument("--tests", choices=("quick", "all"), default="all", help="the tests that run (default: all)")
    parser.add_argument("--commit", help="try the faults in the sources and tests of this commit")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the file of the results")
    parser.add_argument("--against", type=Path, metavar="FILE", help="fail if a fault that FILE has as found is lost")
    parser.add_argument("--limit", type=float, default=120, help="the seconds of one run of tests (default: 120)")
    options = parser.parse_args()
    faults = read_faults()
    wanted = set(options.only or ())
    names = {fault.name for fault in faults}
    unknown = wanted - names - {fault.family for fault in faults}
    if unknown:
        parser.error(f"no fault or family is named {', '.join(sorted(unknown))}")
    commit = commit_name(options.commit)
    results = read_results(options.out, commit, names)
    tried: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="planted-faults-") as folder:
        tree = Tree(Path(folder) / "tree", options.commit, limit=options.limit, is_quick=options.tests == "quick")
        for fault in faults:
            if wanted and not wanted & {fault.name, fault.family}:
                continue
            record = tree.try_fault(fault)
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
