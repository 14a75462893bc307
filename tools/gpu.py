"""Run everything that an accelerator can show, correctness first, within a limit of time.

    python tools/gpu.py ENVIRONMENT OUT [--seconds 570] [--list]

The stages, one after the other: the environment, the doctor, the probes of tests/gpu, the tests with the mark
``device``, and the benchmark, which gets the time that is left. Each writes what it finds into OUT as it goes, so that
a stage that dies or is stopped loses nothing and stops no other:

    gpu.json        the stages: command, status, seconds; written anew after each
    gpu.log         all that they print
    probes.jsonl    a line for each case of a probe
    tests.jsonl     a line for each test
    benchmark/      the benchmark's results and report

Ends with 1 if a stage failed. ``--list`` shows the stages, and what they would run on a device, and runs none.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Thread
from typing import IO, Any

ROOT = Path(__file__).resolve().parent.parent
GRACE_S = 15.0
"""What a stage has after its time for writing what it found until then."""
JOBS = 12
JOB_BYTES = 4 << 30
"""Memory of the device that a process of the tests may take: three libraries, each with a context of its own."""
SETTINGS = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "PYTHONUNBUFFERED": "1"}
SECONDS = 570.0
"""Ten minutes, less what the start of the command and the end of the last stage take."""
SURVEY_S = 60.0
"""How long the libraries may take to say what there is."""
CACHE_RACES = tuple(f"ignore:Error {done} persistent compilation cache:UserWarning" for done in ("reading", "writing"))
"""JAX's cache has no locks: a worker may read an entry that another one has half written, and then compiles itself."""
LEFT = "{seconds left}"
TESTS = ("tests/contract", "tests/unit/backends/torch/test_attention_cuda.py")
"""Where tests have the mark ``device``; others need packages that such a machine may lack."""
CUPY_SUITES = tuple(f"tests/standins/cupy_{name}_suite.py" for name in ("dense", "sparse", "order", "products"))
SURVEY = """
import importlib.util, json, xarrayops as xo
devices = [(s.backend, d) for s in xo.backends() if s.available for d in s.backend.devices() if d.kind != "cpu"]
memory = [backend.device_attributes(d).get("memory_bytes") for backend, d in devices]
found = {
    "xdist": importlib.util.find_spec("xdist") is not None,
    "memory": min(filter(None, memory), default=None),
    "cupy": any(backend.name == "cupy" for backend, d in devices),
}
print(json.dumps(found))
"""


@dataclass
class Stage:
    """A command, and what it may take in seconds: None for all that is left, which it is told in place of LEFT."""

    name: str
    command: list[str]
    limit: float | None
    environment: Mapping[str, str] = field(default_factory=dict)
    status: str = "not run: no time is left"
    seconds: float = 0.0

    def run(self, left: float, log: IO[str]) -> None:
        """Run it in a process group of its own, and note what became of it."""
        start = time.monotonic()
        limit = left if self.limit is None else min(self.limit, left)
        self.command = [part.replace(LEFT, str(int(limit - GRACE_S))) for part in self.command]
        _tell(f"\n== {self.name}, at most {limit:.0f} s: {' '.join(self.command)}\n", log)
        if limit <= GRACE_S:
            return
        try:
            process = subprocess.Popen(
                self.command,
                cwd=ROOT,
                env={**os.environ, **SETTINGS, **self.environment},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            self.status = f"failed: {error}"
            return
        reader = Thread(target=_copy, args=(process.stdout, log), daemon=True)
        reader.start()
        try:
            status = process.wait(limit)
            self.status = "passed" if status == 0 else f"failed: status {status}"
        except subprocess.TimeoutExpired:
            self.status = f"stopped after {limit:.0f} s"
        finally:
            _stop(process)
            reader.join(GRACE_S)
            self.seconds = round(time.monotonic() - start, 1)


def _copy(source: IO[str], log: IO[str]) -> None:
    with source:
        for line in source:
            _tell(line, log)


def _tell(text: str, log: IO[str]) -> None:
    for target in (sys.stdout, log):
        target.write(text)
        target.flush()


def _stop(process: subprocess.Popen[str]) -> None:
    """Interrupt what still runs, so that it writes what it has; then end all of its group."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def stages(environment: Path, out: Path, seconds: float = SECONDS) -> Iterator[Stage]:
    """The stages; each is made when its turn has come, for what it runs depends on what is there by then."""
    python = str(environment / "bin" / "python")
    caches = environment / "caches"
    checks = {
        "JAX_ENABLE_X64": "1",
        "JAX_COMPILATION_CACHE_DIR": str(caches / "jax"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "CUPY_CACHE_DIR": str(caches / "cupy"),
    }
    yield Stage("environment", [sys.executable, "tools/environment.py", str(environment), "gpu"], 0.4 * seconds)
    yield Stage("doctor", [python, "-m", "xarrayops"], 0.1 * seconds)
    probes = [python, "tests/gpu", "--limit", "90", "--out", str(out / "probes.jsonl")]
    yield Stage("probes", probes, 0.3 * seconds, checks)
    survey = _survey(python)
    tests = [python, "-m", "pytest", "-q", "-m", "device", "-p", "no:cacheprovider", "--tb=short"]
    tests += [option for warning in CACHE_RACES for option in ("-W", warning)]
    tests += ["-p", "tests.gpu.journal", "--journal", str(out / "tests.jsonl"), *_workers(survey), *_files(survey)]
    # Other plug-ins that happen to be there may warn, and warnings are errors.
    yield Stage("tests", tests, 0.4 * seconds, {**checks, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
    benchmark = [python, "-m", "xarrayops.bench", "--all", "--budget", LEFT, "--out", str(out / "benchmark")]
    yield Stage("benchmark", benchmark, None)


def _survey(python: str) -> dict[str, Any]:
    """Whether xdist is there, whether CuPy has a device, and the memory of the smallest device."""
    environment = {**os.environ, **SETTINGS}
    with suppress(subprocess.SubprocessError):
        done = subprocess.run(
            [python, "-c", SURVEY], cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True, timeout=SURVEY_S
        )
        return dict(json.loads(done.stdout))
    return {"xdist": False, "memory": None, "cupy": False}


def _workers(survey: Mapping[str, Any]) -> list[str]:
    """pytest's options for as many processes as the cores and the memory of the device allow, where xdist is there."""
    if not survey["xdist"]:
        return []
    most = JOBS if survey["memory"] is None else max(1, survey["memory"] // JOB_BYTES)
    return ["-p", "xdist", "-n", str(min(most, JOBS, os.cpu_count() or 1)), "--dist", "worksteal"]


def _files(survey: Mapping[str, Any]) -> list[str]:
    return [*TESTS, *(CUPY_SUITES if survey["cupy"] else ())]


def show(environment: Path, out: Path, seconds: float) -> int:
    """Print the stages, and what they would run on a device."""
    python = str(environment / "bin" / "python")
    more = {
        "probes": [[python, "tests/gpu", "--list"], [python, "tests/gpu", "--only", "devices"]],
        "tests": [[python, "-m", "pytest", "-q", "-m", "device", "--collect-only", *_files(_survey(python))]],
        "benchmark": [[python, "-m", "xarrayops.bench", "--list"]],
    }
    for stage in stages(environment, out, seconds):
        limit = "with the time that is left" if stage.limit is None else f"at most {stage.limit:.0f} s"
        print(f"\n== {stage.name}, {limit}: {' '.join(stage.command)}", flush=True)
        for command in more.get(stage.name, ()):
            subprocess.run(command, cwd=ROOT, env={**os.environ, **SETTINGS}, check=False)
    return 0


def main() -> int:
    """Run the command line."""
    start = time.monotonic()
    parser = argparse.ArgumentParser(prog="python tools/gpu.py", description=__doc__.splitlines()[0])
    parser.add_argument("environment", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for all stages together (%(default)s)")
    parser.add_argument("--list", action="store_true", help="show what would run, and end")
    options = parser.parse_args()
    environment, out = options.environment.absolute(), options.out.absolute()
    if options.list:
        return show(environment, out, options.seconds)
    out.mkdir(parents=True, exist_ok=True)
    with (out / "gpu.log").open("w") as log:
        ran = run(stages(environment, out, options.seconds), start + options.seconds, out / "gpu.json", log)
        for stage in ran:
            _tell(f"{stage.name:12s} {stage.seconds:6.1f} s  {stage.status}\n", log)
    return int(any(stage.status != "passed" for stage in ran))


def run(given: Iterable[Stage], end: float, record: Path, log: IO[str]) -> list[Stage]:
    """Run stages until a time of the monotonic clock, whatever becomes of each; the record is written after each."""
    ran = []
    for stage in given:
        ran.append(stage)
        stage.run(end - time.monotonic() - GRACE_S, log)
        record.write_text(json.dumps([asdict(s) for s in ran], indent=1) + "\n")
    return ran


if __name__ == "__main__":
    sys.exit(main())
