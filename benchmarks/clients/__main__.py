"""Run the tests of packages that use array-api-compat, with it and with `xarrayops.compat` in its place.

    python benchmarks/clients NAME... [--modules base,ours] [--sample N] [--libraries LIST] [--out FOLDER]

NAME is one of the clients in clients.py. The tests run in this environment: `make clients` makes one with the
packages. ``base`` is the array-api-compat that the package has, ``compat`` the installed one in its place, and ``ours``
is `xarrayops.compat`; client_plugin.py replaces the package, and nothing else of the client is changed. ``--sample N``
takes the tests with ``crc32(test id) % N == 0``. A test that passes with ``base`` and fails with ``ours`` must have a
reason in reasons.py; otherwise the exit status is 1.
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
ENVIRONMENT = {"JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "1", "PYTHONDONTWRITEBYTECODE": "1"}
VERSIONS = ("array-api-compat", "numpy", "torch", "jax", "dask", "scipy")
Outcomes = dict[str, tuple[str, str]]


def sources(client: Client, folder: Path) -> Path:
    """The unpacked sdist of a client: some wheels have no tests."""
    package = client.package
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        f"--no-binary={package}",
        "-d",
        str(folder),
    ]
    subprocess.run([*command, f"{package}=={version(package)}"], check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    return unpacked


def run(client: Client, modules: str, sample: int) -> Outcomes:
    """The outcome of each test, with the message of its error."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        place = sources(client, folder) if client.sdist else folder
        out = folder / "outcomes.json"
        command = [
            *(sys.executable, "-m", "pytest", "-q", "-p", "client_plugin", "-p", "no:cacheprovider", "--tb=short"),
            *("-n", "auto", "-W", "ignore::DeprecationWarning", "--disable-warnings", *client.tests),
        ]
        settings = {"PLACE": client.place, "MODULES": modules, "SAMPLE": str(sample), "FIXTURE": client.fixture}
        environment = {
            **(os.environ | ENVIRONMENT | client.environment),
            **{f"CLIENT_{name}": value for name, value in settings.items()},
            "CLIENT_OUT": str(out),
            "PYTHONPATH": os.pathsep.join(filter(None, (str(FOLDER), os.environ.get("PYTHONPATH")))),
        }
        ended = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
        outcomes = json.loads(out.read_text()) if out.exists() else {}
        if ended.returncode not in (0, 1) or not outcomes:
            raise SystemExit(f"the tests did not run:\n{ended.stdout[-3000:]}{ended.stderr[-3000:]}")
        return {test: tuple(found) for test, found in outcomes.items()}


def counts(outcomes: Outcomes) -> dict[str, int]:
    """How many tests have each outcome."""
    found = [outcome for outcome, _ in outcomes.values()]
    return {outcome: found.count(outcome) for outcome in sorted(set(found))}


def summary(name: str, runs: dict[str, Outcomes], sample: int, seconds: float) -> dict[str, Any]:
    """The counts of all runs, the new failures by their reason, and what passes only with ours."""
    ours, base = runs.get("ours", {}), runs.get("base", {})
    passing = ("passed", "xpassed")
    new: dict[str, list[str]] = {}
    for test, (outcome, message) in sorted(ours.items()):
        if outcome == "failed" and base.get(test, ("passed", ""))[0] in ("passed", "xfailed", "xpassed"):
            new.setdefault(reason(name, test, message) or "unexplained", []).append(f"{test}: {message}")
    gained = [
        test
        for test, (outcome, _) in ours.items()
        if outcome in passing and base.get(test, ("passed",))[0] not in passing
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
        "device": CLIENTS[name].environment.get("SCIPY_DEVICE", "cpu"),
    }


def main() -> int:
    """Run the clients, write the counts, and return 1 if a new failure has no reason."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=CLIENTS, metavar="NAME", help=", ".join(CLIENTS))
    parser.add_argument("--modules", default="base,ours", help="of: base, compat, ours")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="one test in N")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    without_reason = 0
    for name in options.names:
        start = time.monotonic()
        runs = {m: run(CLIENTS[name], m, options.sample) for m in options.modules.split(",")}
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
