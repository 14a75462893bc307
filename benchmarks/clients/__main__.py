"""Run the tests of packages that use array-api-compat, with it and with `xarrayops.compat` in its place.

    python benchmarks/clients NAME... [--modules ours,base,compat] [--sample N] [--failures] [--keep FOLDER]

NAME is one of the clients in clients.py, or ``all``, which are those without a GPU. The tests run in this environment:
`make clients` makes one with the packages. ``base`` is the array-api-compat that the package has, ``compat`` the
installed one in its place, and ``ours`` is `xarrayops.compat`; client_plugin.py replaces the package, and nothing else
of the client is changed. ``--sample N`` takes the tests with ``crc32(test id) % N == 0``. ``--failures`` runs only what
fails with ``ours`` with the other modules: half of the time, but what passes only with ours stays unknown. A long run
that is stopped continues with the modules of tests that are complete in the folder of ``--keep``, which is for one
version of xarrayops. A test that fails
with ``ours`` only must have a reason in reasons.py; otherwise the exit status is 1.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tarfile
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from clients import CLIENTS, Client
from reasons import reason

FOLDER = Path(__file__).parent
RESULTS = FOLDER.parent / "results" / "clients"
ENVIRONMENT = {
    "JAX_PLATFORMS": "cpu",
    "JAX_ENABLE_X64": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",  # there is a process for each core
    "OPENBLAS_NUM_THREADS": "1",
}
VERSIONS = ("array-api-compat", "numpy", "torch", "jax", "dask", "scipy")
NO_TESTS = 5
"""The exit status of pytest if a module has no test in the sample."""
PASSING = ("passed", "xpassed")
Outcomes = dict[str, tuple[str, str]]


def sources(client: Client, folder: Path) -> Path:
    """The unpacked sdist of a client: some wheels have no tests."""
    package = client.package
    command = [*(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"), f"--no-binary={package}"]
    subprocess.run([*command, "-d", str(folder), f"{package}=={version(package)}"], check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    return unpacked


def run(name: str, modules: str, sample: int, keep: Path, *, failures: bool) -> Outcomes:
    """The outcome of each test, with the message of its error. Outcomes that are in the folder are used again.

    With ``failures``, only of the tests that fail with ours, which is in the folder.
    """
    outcomes: Outcomes = {}
    for target in CLIENTS[name].tests:
        own = f"{sample}.{target.replace('/', '.')}.json"
        kept, only = keep / f"{name}.{modules}.{own}", None
        if failures:
            kept = kept.with_name(f"{name}.{modules}.failures.{own}")
            of_ours = json.loads((keep / f"{name}.ours.{own}").read_text())
            only = {test for test, (outcome, _) in of_ours.items() if outcome == "failed"}
        if not kept.exists() and only != set():
            run_target(CLIENTS[name], target, modules, sample, kept, only)
        if kept.exists():
            outcomes |= {test: tuple(found) for test, found in json.loads(kept.read_text()).items()}
    return outcomes


def run_target(client: Client, target: str, modules: str, sample: int, out: Path, only: set[str] | None) -> None:
    """Run one folder or module of tests, and write the outcomes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        place = sources(client, folder) if client.sdist else folder
        command = [
            *(sys.executable, "-m", "pytest", "-q", "-p", "client_plugin", "-p", "no:cacheprovider", "--tb=short"),
            *("-n", "auto", "-W", "ignore::DeprecationWarning", "--disable-warnings"),
            *(*(() if client.sdist else ("--pyargs",)), target, *client.options),
        ]
        settings = {"PLACE": client.place, "MODULES": modules, "SAMPLE": str(sample), "FIXTURE": client.fixture}
        if only is not None:
            settings["ONLY"] = str(folder / "only.json")
            Path(settings["ONLY"]).write_text(json.dumps(sorted(only)))
        environment = {
            **(os.environ | ENVIRONMENT | client.environment),
            **{f"CLIENT_{name}": value for name, value in settings.items()},
            "CLIENT_OUT": str(out),
            "PYTHONPATH": os.pathsep.join(filter(None, (str(FOLDER), os.environ.get("PYTHONPATH")))),
        }
        ended = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
        if ended.returncode not in (0, 1, NO_TESTS) or not out.exists():
            out.unlink(missing_ok=True)
            raise SystemExit(f"the tests did not run:\n{ended.stdout[-3000:]}{ended.stderr[-3000:]}")


def run_all(name: str, order: list[str], sample: int, keep: Path | None, *, failures: bool) -> dict[str, Outcomes]:
    """The outcomes with all modules, in their order."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        return {each: run(name, each, sample, folder, failures=failures and each != "ours") for each in order}


def counts(outcomes: Outcomes) -> dict[str, int]:
    """How many tests have each outcome."""
    found = [outcome for outcome, _ in outcomes.values()]
    return {outcome: found.count(outcome) for outcome in sorted(set(found))}


def summary(name: str, runs: dict[str, Outcomes], sample: int, seconds: float) -> dict[str, Any]:
    """The counts of all runs, the new failures by their reason, and what passes only with ours."""
    ours, base = runs.get("ours", {}), runs.get("base", {})
    others = [outcomes for modules, outcomes in runs.items() if modules != "ours"]
    new: dict[str, list[str]] = {}
    for test, (outcome, message) in sorted(ours.items()):
        if outcome == "failed" and any(other.get(test, ("passed", ""))[0] != "failed" for other in others):
            new.setdefault(reason(name, test, message) or "unexplained", []).append(f"{test}: {message}")
    gained = [
        test
        for test, (outcome, _) in ours.items()
        if outcome in PASSING and base.get(test, ("passed",))[0] not in PASSING
    ]
    return {
        "client": name,
        "version": version(CLIENTS[name].package),
        "sample": sample,
        "runs": {modules: counts(outcomes) for modules, outcomes in runs.items()},
        "new failures": new,
        "passes only with ours": sorted(gained),
        "seconds": round(seconds),
        "versions": {
            **{name: version(name) for name in VERSIONS if importlib.util.find_spec(name.replace("-", "_"))},
            "python": platform.python_version(),
        },
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "device": CLIENTS[name].device,
    }


def main() -> int:
    """Run the clients, write the counts, and return 1 if a new failure has no reason."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=[*CLIENTS, "all"], metavar="NAME", help=", ".join(CLIENTS))
    parser.add_argument("--modules", default="ours,base", help="of: ours, base, compat")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="one test in N")
    parser.add_argument("--failures", action="store_true", help="base and compat: only what fails with ours")
    parser.add_argument("--keep", type=Path, help="a folder for outcomes; a later run continues with them")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.failures and not options.modules.startswith("ours,"):
        parser.error("--failures needs the failures of ours first: --modules ours,base")
    without_reason = 0
    on_cpu = [name for name, client in CLIENTS.items() if client.device == "cpu"]
    for name in on_cpu if options.names == ["all"] else options.names:
        start = time.monotonic()
        runs = run_all(name, options.modules.split(","), options.sample, options.keep, failures=options.failures)
        found = summary(name, runs, options.sample, time.monotonic() - start)
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")
        unexplained = found["new failures"].get("unexplained", [])
        without_reason += len(unexplained)
        print(f"{name}: {found['runs']}; new failures: {sum(map(len, found['new failures'].values()))}")
        print(*(f"  {each}" for each in unexplained), sep="\n", flush=True)
    return 1 if without_reason else 0


if __name__ == "__main__":
    sys.exit(main())
