"""Run all tests and benchmarks for accelerators within a time limit, correctness first.

    python tools/gpu.py ENVIRONMENT OUT [--seconds 570] [--list]

The stages, in this order: the environment, the doctor, the probes of tests/gpu, the tests with the mark ``device``, and
the benchmark, which gets the remaining time. Each stage writes its results to OUT at once, so that a stage that dies or
is stopped loses nothing and does not affect the others:

    gpu.json        the stages: command, status, seconds; written after each stage
    gpu.log         the output of all stages
    probes.jsonl    a line for each case of a probe
    tests.jsonl     a line for each test
    benchmark/      the results and reports of the benchmark

Exit status: 1 if a stage failed. ``--list`` shows the stages and their commands without running them.
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
"""The additional time of a stopped stage to write its results."""
JOBS = 12
JOB_BYTES = 4 << 30
"""The device memory of a test process: three libraries, each with its own context."""
SETTINGS = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "PYTHONUNBUFFERED": "1"}
SECONDS = 570.0
"""Ten minutes, minus the time to start the command and to end the last stage."""
SURVEY_S = 60.0
"""The time limit for listing the devices of the libraries."""
CACHE_RACES = tuple(f"ignore:Error {done} persistent compilation cache:UserWarning" for done in ("reading", "writing"))
"""JAX's cache has no locks: a worker may read an incomplete entry of another worker. It then compiles by itself."""
NO_AUTOTUNING = "--xla_gpu_autotune_level=0"
"""XLA would time several kernels for each product of the probes and tests. The benchmark gets its fastest kernels."""
LEFT = "{seconds left}"
TESTS = (
    "tests/contract",
    "tests/unit/backends/torch/test_attention_cuda.py",
    "tests/unit/backends/test_random_devices.py",
    "tests/unit/ops/operations/test_native_devices.py",
)
"""The tests with the mark ``device``. Others need packages that such a machine may lack."""
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
    """A command and its time limit in seconds. None means the remaining time, which replaces `LEFT` in the command."""

    name: str
    command: list[str]
    limit: float | None
    environment: Mapping[str, str] = field(default_factory=dict)
    status: str = "not run: no time left"
    seconds: float = 0.0

    def run(self, left: float, log: IO[str]) -> None:
        """Run the command in its own process group and record its status."""
        start = time.monotonic()
        limit = left if self.limit is None else min(self.limit, left)
        self.command = [part.replace(LEFT, str(int(limit - GRACE_S))) for part in self.command]
        _print(f"\n== {self.name}, at most {limit:.0f} s: {' '.join(self.command)}\n", log)
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
            _print(line, log)


def _print(text: str, log: IO[str]) -> None:
    for target in (sys.stdout, log):
        target.write(text)
        target.flush()


def _stop(process: subprocess.Popen[str]) -> None:
    """Interrupt the process, so that it writes its results, then end its process group."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def stages(environment: Path, out: Path, seconds: float = SECONDS) -> Iterator[Stage]:
    """The stages. Each is created when the previous one has ended, because its command depends on what is installed."""
    python = str(environment / "bin" / "python")
    caches = environment / "caches"
    checks = {
        "JAX_ENABLE_X64": "1",
        "JAX_COMPILATION_CACHE_DIR": str(caches / "jax"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "CUPY_CACHE_DIR": str(caches / "cupy"),
        "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {NO_AUTOTUNING}".strip(),
    }
    yield Stage("environment", [sys.executable, "tools/environment.py", str(environment), "gpu"], 0.4 * seconds)
    yield Stage("doctor", [python, "-m", "xarrayops"], 0.1 * seconds)
    probes = [python, "tests/gpu", "--limit", "90", "--out", str(out / "probes.jsonl")]
    yield Stage("probes", probes, 0.3 * seconds, checks)
    survey = _survey(python)
    tests = [python, "-m", "pytest", "-q", "-m", "device", "-p", "no:cacheprovider", "--tb=short"]
    tests += [option for warning in CACHE_RACES for option in ("-W", warning)]
    tests += ["-p", "tests.gpu.journal", "--journal", str(out / "tests.jsonl"), *_workers(survey), *_files(survey)]
    # Other installed plug-ins may emit warnings, and warnings are errors.
    yield Stage("tests", tests, 0.4 * seconds, {**checks, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
    benchmark = [python, "-m", "xarrayops.bench", "--all", "--budget", LEFT, "--out", str(out / "benchmark")]
    yield Stage("benchmark", benchmark, None)


def _survey(python: str) -> dict[str, Any]:
    """Whether xdist is installed, whether CuPy has a device, and the memory of the smallest device."""
    environment = {**os.environ, **SETTINGS}
    with suppress(subprocess.SubprocessError):
        done = subprocess.run(
            [python, "-c", SURVEY], cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True, timeout=SURVEY_S
        )
        return dict(json.loads(done.stdout))
    return {"xdist": False, "memory": None, "cupy": False}


def _workers(survey: Mapping[str, Any]) -> list[str]:
    """The pytest options for parallel tests, limited by cores and device memory; none without xdist."""
    if not survey["xdist"]:
        return []
    most = JOBS if survey["memory"] is None else max(1, survey["memory"] // JOB_BYTES)
    return ["-p", "xdist", "-n", str(min(most, JOBS, os.cpu_count() or 1)), "--dist", "worksteal"]


def _files(survey: Mapping[str, Any]) -> list[str]:
    return [*TESTS, *(CUPY_SUITES if survey["cupy"] else ())]


def show(environment: Path, out: Path, seconds: float) -> int:
    """Print the stages and their commands."""
    python = str(environment / "bin" / "python")
    more = {
        "probes": [[python, "tests/gpu", "--list"], [python, "tests/gpu", "--only", "devices"]],
        "tests": [[python, "-m", "pytest", "-q", "-m", "device", "--collect-only", *_files(_survey(python))]],
        "benchmark": [[python, "-m", "xarrayops.bench", "--list"]],
    }
    for stage in stages(environment, out, seconds):
        limit = "with the remaining time" if stage.limit is None else f"at most {stage.limit:.0f} s"
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
    parser.add_argument("--seconds", type=float, default=SECONDS, help="time limit (default: %(default)s)")
    parser.add_argument("--list", action="store_true", help="show the stages without running them")
    options = parser.parse_args()
    environment, out = options.environment.absolute(), options.out.absolute()
    if options.list:
        return show(environment, out, options.seconds)
    out.mkdir(parents=True, exist_ok=True)
    with (out / "gpu.log").open("w") as log:
        ran = run(stages(environment, out, options.seconds), start + options.seconds, out / "gpu.json", log)
        for stage in ran:
            _print(f"{stage.name:12s} {stage.seconds:6.1f} s  {stage.status}\n", log)
    return int(any(stage.status != "passed" for stage in ran))


def run(given: Iterable[Stage], end: float, record: Path, log: IO[str]) -> list[Stage]:
    """Run stages until a time of the monotonic clock, even if some fail. The record is written after each stage."""
    ran = []
    for stage in given:
        ran.append(stage)
        stage.run(end - time.monotonic() - GRACE_S, log)
        record.write_text(json.dumps([asdict(s) for s in ran], indent=1) + "\n")
    return ran


if __name__ == "__main__":
    sys.exit(main())
