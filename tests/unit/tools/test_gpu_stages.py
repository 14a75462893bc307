"""``make gpu``: a stage does not affect the others, no results are lost, and stale wheels are refused."""

from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import sys
import time
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
GPU = runpy.run_path(str(ROOT / "tools" / "gpu.py"))
ENVIRONMENT = runpy.run_path(str(ROOT / "tools" / "environment.py"))
PROBES = ROOT / "tests" / "gpu"


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Child processes take SIGINT, also if this process ignores it, as one that a shell starts in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def stage(name: str, code: str, limit: float | None = 60.0) -> Any:
    return GPU["Stage"](name, [sys.executable, "-c", code], limit)


def run(stages: list[Any], tmp_path: Path, seconds: float = 120.0) -> list[Any]:
    with (tmp_path / "log").open("w") as log:
        ran = GPU["run"](stages, time.monotonic() + seconds, tmp_path / "gpu.json", log)
    return list(ran)


def test_no_stage_stops_another(tmp_path: Path) -> None:
    stages = [
        stage("fails", "import sys; print('one'); sys.exit(3)"),
        stage("dies", "import os; print('two', flush=True); os.abort()"),
        GPU["Stage"]("is missing", [str(tmp_path / "no-such-program")], 60.0),
        stage("works", "print('three')"),
    ]
    ran = run(stages, tmp_path)
    assert [s.status for s in ran[:2]] == ["failed: status 3", "failed: status -6"]
    assert ran[2].status.startswith("failed: ")
    assert ran[3].status == "passed"
    assert [s["status"] for s in json.loads((tmp_path / "gpu.json").read_text())] == [s.status for s in ran]
    assert {"one", "two", "three"} <= set((tmp_path / "log").read_text().split("\n"))


def test_a_stopped_stage_can_write_its_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stage is interrupted, and its child processes end too. The time limit is simulated."""
    ready, evidence, limit = tmp_path / "ready", tmp_path / "evidence", 1000.0
    code = f"""
import subprocess, sys, time, pathlib
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
try:
    pathlib.Path({str(ready)!r}).touch()
    time.sleep(600)
except KeyboardInterrupt:
    pathlib.Path({str(evidence)!r}).write_text(str(child.pid))
"""

    class Impatient(subprocess.Popen):
        def wait(self, timeout: float | None = None) -> int:
            if timeout == limit and "ready" in self.args[-1]:
                while not ready.exists():
                    time.sleep(0.01)
                raise subprocess.TimeoutExpired(self.args, timeout)
            return super().wait(timeout)

    monkeypatch.setattr(subprocess, "Popen", Impatient)
    ran = run([stage("waits", code, limit), stage("follows", "print('next')")], tmp_path, seconds=2 * limit)
    assert [s.status for s in ran] == [f"stopped after {limit:.0f} s", "passed"]
    status = Path(f"/proc/{int(evidence.read_text())}/stat")
    assert not status.exists() or status.read_text().split()[2] == "Z"


def test_the_last_stage_gets_the_remaining_time(tmp_path: Path) -> None:
    last = GPU["Stage"]("last", [sys.executable, "-c", "import sys; print('given', sys.argv[1])", GPU["LEFT"]], None)
    run([last], tmp_path, seconds=100.0)
    (given,) = [line for line in (tmp_path / "log").read_text().splitlines() if line.startswith("given")]
    assert 100 - 3 * GPU["GRACE_S"] <= int(given.split()[1]) <= 100 - 2 * GPU["GRACE_S"]
    late = stage("late", "print('runs')")
    assert run([late], tmp_path, seconds=GPU["GRACE_S"])[0].status == "not run: no time left"


def test_a_worker_whose_device_is_broken_is_replaced(tmp_path: Path) -> None:
    """One test fails with its own reason; the other tests are not affected."""
    pytest.importorskip("xdist")
    (tmp_path / "test_devices.py").write_text(
        """
import pytest
BROKEN = []

@pytest.mark.parametrize("i", range(6))
def test(i):
    if i == 1:
        BROKEN.append(i)
    if BROKEN:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")
"""
    )
    journal = tmp_path / "tests.jsonl"
    command = [sys.executable, "-m", "pytest", "-q", "-n", "1", "-p", "tests.gpu.journal", "--journal", str(journal)]
    options = ["-p", "no:cacheprovider", f"--rootdir={tmp_path}", str(tmp_path)]
    done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    outcomes: dict[str, set[str]] = {}
    for line in lines:
        outcomes.setdefault(line["test"].rpartition("[")[2], set()).add(line["outcome"])
    assert outcomes == {f"{i}]": {"failed" if i == 1 else "passed"} for i in range(6)}
    assert any("illegal memory access" in line.get("reason", "") for line in lines)


def test_wheels_of_other_sources_are_refused(tmp_path: Path) -> None:
    assert ENVIRONMENT["differing"](tmp_path) == ["there is no wheel of xarrayops"]
    sources = [*(ROOT / "xarrayops").rglob("*.py"), *(ROOT / "backends" / "xarrayops_backends").rglob("*.py")]
    for changed in (None, "xarrayops/_core/dispatch/lookup.py", "xarrayops_backends/numpy/__init__.py"):
        with zipfile.ZipFile(tmp_path / "xarrayops-0.1.0-py3-none-any.whl", "w") as wheel:
            for path in sources:
                name = path.relative_to(ROOT).as_posix().removeprefix("backends/")
                wheel.writestr(name, path.read_text() + ("\n" if name == changed else ""))
        assert ENVIRONMENT["differing"](tmp_path) == ([] if changed is None else [changed])


def test_an_environment_of_a_python_without_ensurepip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Debian. The packages of the Python are visible, and its executable is a link."""
    pytest.importorskip("pip")

    def missing(*_: Any) -> None:
        raise AssertionError("ensurepip was called")

    monkeypatch.setattr(venv.EnvBuilder, "_setup_pip", missing)
    ENVIRONMENT["create"](tmp_path / "env", "gpu")
    python = tmp_path / "env" / "bin" / "python"
    assert python.is_symlink()
    subprocess.run([str(python), "-c", "import pip, pytest, numpy"], check=True)


def test_only_the_benchmark_times_kernels_of_xla(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other flags of the user stay."""
    monkeypatch.setenv("XLA_FLAGS", "--xla_of_user=1")
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to("/bin/false")  # the survey of libraries fails, and finds none
    found = {stage.name: stage.environment for stage in GPU["stages"](tmp_path, tmp_path)}
    for name in ("probes", "tests"):
        assert found[name]["XLA_FLAGS"] == "--xla_of_user=1 --xla_gpu_autotune_level=0"
    assert "XLA_FLAGS" not in found["benchmark"]


def test_the_tests_leave_the_memory_of_a_gpu_to_all_processes() -> None:
    assert os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] == "false"


def lines_of(tmp_path: Path, *options: str) -> tuple[int, list[dict[str, Any]]]:
    out = tmp_path / "probes.jsonl"
    command = [sys.executable, str(PROBES), "--out", str(out), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, [json.loads(line) for line in out.read_text().splitlines()]


@pytest.fixture
def standin(standin_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Separate processes import the stand-in CuPy, and use no device, even if there is one."""
    for name, value in standin_environment.items():
        monkeypatch.setenv(name, value)


def test_a_probe_that_takes_too_long_gets_its_own_line(tmp_path: Path) -> None:
    status, lines = lines_of(tmp_path, "--only", "devices", "--limit", "0.01")
    assert status == 1
    assert [(line["probe"], line["verdict"], line["reason"]) for line in lines] == [
        ("devices", "failed", "took more than 0 s")
    ]


@pytest.mark.parametrize("last", ['{"case": "a", "kernel": "k"}', '{"case": "half a li'])
@pytest.mark.parametrize("status", [0, 1, 3, 7])
def test_the_end_of_a_probe_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, last: str
) -> None:
    """The probe may have written lines before. Status 3 is a completed probe with a bad verdict."""
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\nprintf '%s\\n' '{last}'\necho Traceback >&2\nexit {status}\n")
    python.chmod(0o755)
    isolated = runpy.run_path(str(PROBES / "__main__.py"), run_name="probes")["isolated"]
    monkeypatch.setattr(sys, "executable", str(python))
    lines: list[str] = []
    assert isolated("devices", 60.0, lines.append) == (status == 0)
    process = json.loads(lines[-1])
    if status in (0, 3):
        assert process["verdict"] == "ended"
    else:
        assert (process["verdict"], process["stderr"]) == ("failed", "Traceback\n")
        assert process["after"]["case"] == ("a" if last.endswith("}") else None)


def test_probes_skipped_by_an_interrupt_are_listed(tmp_path: Path) -> None:
    out, command = tmp_path / "probes.jsonl", [sys.executable, str(PROBES), "--jobs", "1", "--limit", "600"]
    command += ["--out", str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()  # the first probe has started
        process.send_signal(signal.SIGINT)
        status = process.wait(300)
        os.killpg(process.pid, signal.SIGKILL)  # the probe that still runs
    assert status == 130
    left = [found["probe"] for found in map(json.loads, out.read_text().splitlines()) if found["verdict"] == "not run"]
    assert left[-1] == "decoding"
    assert "devices" not in left


def test_a_probe_of_the_command_line_passes(tmp_path: Path, standin: None) -> None:
    status, lines = lines_of(tmp_path, "--only", "devices", "--limit", "600")
    assert status == 0
    assert [line["verdict"] for line in lines if line["probe"] == "devices"][-1] == "ended"


TOGETHER = """
import runpy, sys

probes = runpy.run_path(sys.argv[1], run_name="probes")
for name in probes["ORDER"]:
    probes["run"](name)
"""


def test_probes_run_on_the_stand_in_and_the_cpu(standin: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every probe has a case, and no verdict is bad. All run in one process, which imports and compiles once."""
    for name, value in runpy.run_path(str(PROBES / "__main__.py"), run_name="probes")["SETTINGS"].items():
        monkeypatch.setenv(name, value)
    # On some CPUs XLA writes to stderr when it reads a compiled program.
    monkeypatch.setenv("JAX_ENABLE_COMPILATION_CACHE", "false")
    together = [sys.executable, "-c", TOGETHER, str(PROBES / "__main__.py")]
    done = subprocess.run(together, cwd=PROBES, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert not [line for line in lines if line["verdict"] in ("wrong", "failed")]
    listed = subprocess.run([sys.executable, str(PROBES), "--list"], capture_output=True, text=True, check=True)
    assert {line.split()[0] for line in listed.stdout.splitlines()} == {line["probe"] for line in lines}
