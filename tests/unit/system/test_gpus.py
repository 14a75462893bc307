"""GPUs through nvidia-smi and amd-smi: their output in the documented formats, on machines with and without one."""

from __future__ import annotations

import json
import stat
import sys
from io import StringIO

import pytest
from rich.console import Console

from xarrayops._cli import doctor
from xarrayops._system import gpus
from xarrayops.bench.compare.environments import differences
from xarrayops.bench.report import markdown, page, tables, terminal
from xarrayops.bench.results import Results, Row

FACTS = """\
0, NVIDIA H200, 570.124.06, 143771, 1980, 3201, 700.00, Enabled, Disabled, Default, Enabled
1, NVIDIA GeForce RTX 4090, 570.124.06, 24564, 3105, 10501, 450.00, [N/A], [N/A], Exclusive_Process, Disabled
"""
STATE = """\
0, 1755, 3201, 412.35, 54, P0, 1024
1, 210, 405, [N/A], 33, P8, 1
"""
H200 = {
    "index": 0,
    "name": "NVIDIA H200",
    "driver": "570.124.06",
    "memory_bytes": 143771 << 20,
    "clock_max_hz": 1_980_000_000,
    "memory_clock_max_hz": 3_201_000_000,
    "power_limit_w": 700,
    "ecc": "Enabled",
    "mig": "Disabled",
    "compute_mode": "Default",
    "persistence": "Enabled",
}
EXCLUSIVE = H200 | {"compute_mode": "Exclusive_Process"}


@pytest.fixture
def smi(tmp_path, monkeypatch):
    """An nvidia-smi, or another program, that prints a text, or runs a given body."""

    def install(body, name="nvidia-smi"):
        path = tmp_path / name
        path.write_text(f"#!{sys.executable}\nimport sys, time\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IEXEC)
        monkeypatch.setenv("PATH", str(tmp_path))

    return install


def printing(text):
    return f"sys.stdout.write({text!r})"


def test_facts(smi):
    smi(printing(FACTS))
    first, second = gpus.facts()
    assert first == H200
    assert second["name"] == "NVIDIA GeForce RTX 4090"
    assert not {"ecc", "mig"} & second.keys(), "what is not known is left out"


def test_state(smi):
    smi(printing(STATE))
    first, second = gpus.state()
    assert first == {
        "index": 0,
        "clock_hz": 1_755_000_000,
        "memory_clock_hz": 3_201_000_000,
        "power_w": 412.35,
        "temperature_c": 54,
        "performance_state": "P0",
        "memory_used_bytes": 1 << 30,
    }
    assert "power_w" not in second


def test_compute_capabilities(smi):
    smi("sys.stdout.write('9.0\\n8.6\\n9.0\\n' if '--query-gpu=compute_cap' in sys.argv else '')")
    assert gpus.capabilities("cuda") == ["8.6", "9.0"]
    assert gpus.capabilities("rocm") == []


STATIC = {
    "gpu": 0,
    "asic": {"market_name": "AMD Instinct MI300X", "target_graphics_version": "gfx942", "num_compute_units": 304},
    "driver": {"name": "amdgpu", "version": "6.12.12"},
    "vram": {"type": "HBM", "size": {"value": 196592, "unit": "MB"}},
    "limit": {"max_power": {"value": 750, "unit": "W"}},
}
METRIC = {
    "gpu": 0,
    "clock": {"gfx_0": {"clk": {"value": 132, "unit": "MHz"}}, "mem_0": {"clk": {"value": 900, "unit": "MHz"}}},
    "power": {"socket_power": {"value": 141, "unit": "W"}},
    "temperature": {"edge": "N/A", "hotspot": {"value": 41, "unit": "C"}},
    "mem_usage": {"used_vram": {"value": 283, "unit": "MB"}},
}
UNKNOWN = {"gpu": 1, "asic": {"market_name": "N/A"}, "vram": "N/A", "power": {"socket_power": "N/A"}, "clock": {}}


@pytest.mark.parametrize("listed", [lambda gpus: gpus, lambda gpus: {"gpu_data": gpus}], ids=["older", "newer"])
def test_gpus_of_amd(smi, listed):
    written = {report: json.dumps(listed([gpu, UNKNOWN])) for report, gpu in (("static", STATIC), ("metric", METRIC))}
    smi(f"assert sys.argv[2] == '--json'\nsys.stdout.write({written!r}[sys.argv[1]])", "amd-smi")
    assert gpus.facts() == [
        {
            "index": 0,
            "name": "AMD Instinct MI300X",
            "capability": "gfx942",
            "driver": "6.12.12",
            "memory_bytes": 196592 << 20,
            "power_limit_w": 750,
        },
        {"index": 1},
    ]
    assert gpus.state() == [
        {
            "index": 0,
            "clock_hz": 132_000_000,
            "memory_clock_hz": 900_000_000,
            "power_w": 141,
            "temperature_c": 41,
            "memory_used_bytes": 283 << 20,
        },
        {"index": 1},
    ]
    assert gpus.capabilities("rocm") == ["gfx942"]
    assert gpus.capabilities("cuda") == []


def test_it_is_asked_for_numbers_without_units(smi):
    smi("sys.stdout.write(','.join('x' * len(a) for a in sys.argv[1].split(',')) if 'nounits' in sys.argv[2] else '')")
    assert [set(gpu) for gpu in gpus.facts()] == [{"name", "driver", "ecc", "mig", "compute_mode", "persistence"}]


@pytest.mark.parametrize(
    "body",
    [
        "sys.exit(9)",
        printing("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"),
        printing("No devices were found\n"),
        printing(""),
        printing('Field "power.limit" is not a valid field to query.\n') + "; sys.exit(2)",
    ],
)
def test_a_driver_that_does_not_answer(smi, body):
    smi(body)
    smi(body, "amd-smi")
    assert gpus.facts() == gpus.state() == []


def test_no_driver(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gpus.facts() == gpus.state() == []


def test_a_driver_that_hangs(smi, monkeypatch):
    smi("time.sleep(1000)")
    monkeypatch.setattr(gpus, "TIMEOUT_S", 0.1)
    assert gpus.facts() == []


class TestSharing:
    @pytest.fixture(autouse=True)
    def folder(self, monkeypatch, tmp_path):
        monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", str(tmp_path))
        return tmp_path

    def test_processes_share_a_gpu_by_default(self):
        assert gpus.sharing_problem([H200], 3) is None
        assert gpus.sharing_problem([], 3) is None

    def test_one_that_admits_one_process(self):
        reason, fix = gpus.sharing_problem([H200, EXCLUSIVE | {"index": 1}], 2)
        assert "GPU 1 admits one process (compute mode Exclusive_Process), but 2 libraries" in reason
        assert "--backends" in fix
        assert gpus.sharing_problem([EXCLUSIVE], 1) is None

    def test_the_multi_process_service(self, folder):
        (folder / "control").touch()
        reason, fix = gpus.sharing_problem([H200], 1)
        assert "multi-process service" in reason
        assert "quit" in fix
        assert gpus.sharing_problem([], 0) is None


def results(**known):
    row = Row("w", "torch", "cuda:0", "float32", 2, status="ok", median_s=1.0, device_kind="cuda", peak_bytes=3 << 20)
    roofs = {"command": "a test", "date": "today", "roofs": [], "versions": {}, "pools": {}}
    return Results([row], roofs | {"workloads": {"w": {"timed": "a thing", "code": ""}}} | known)


def test_the_reports_show_them():
    states = [
        {"when": "before the run", "index": 0, "clock_hz": 345e6, "power_w": 76.2, "temperature_c": 31},
        {"when": "after process 1 of 2", "index": 0, "clock_hz": 1755e6, "performance_state": "P0"},
    ]
    found = results(gpus=[H200], gpu_states=states, switches={"torch": {"cuda.matmul.fp32_precision": "none"}})
    text = markdown.report(found)
    assert "0: NVIDIA H200, 140 GiB, driver 570.124.06, up to 1980 MHz, up to 700 W, ECC enabled, MIG disabled" in text
    assert "| 0 | before the run | 345 MHz |  | 76.2 W | 31 °C |  |" in text
    assert "| 0 | after process 1 of 2 | 1755 MHz |  |  |  | P0 |" in text
    assert "3.00 MiB" in text
    html = page.html(found)
    for text in ("NVIDIA H200", "after process 1 of 2", "cuda.matmul.fp32_precision"):
        assert text in html
    assert "## GPUs" not in markdown.report(results())


def test_what_differs_between_runs_is_what_stays_as_it_is():
    old, new = results(gpus=[H200], gpu_states=[{"clock_hz": 1}]), results(gpus=[EXCLUSIVE], gpu_states=[])
    assert differences([old.environment, new.environment]) == [("gpus.0.compute_mode", "Default", "Exclusive_Process")]


def test_a_size_that_was_chosen_is_said():
    chosen, asked = results(size="large", size_asked=""), results(size="large", size_asked="large")
    for found, said in ((chosen, True), (asked, False), (results(size="default", size_asked=""), False)):
        console = Console(width=200, file=StringIO())
        terminal.show(found, console)
        assert ("--size large" in tables.summary(found)) == said
        assert ("--size large" in markdown.report(found)) == said
    assert "torch cuda:0" in tables.size_text(chosen)


def test_the_doctor_shows_them(smi, monkeypatch, capsys):
    smi(printing(FACTS))
    monkeypatch.setattr(doctor, "examine_all", lambda names: [])
    known = doctor.diagnose()
    assert known["gpus"][0] == H200
    doctor.show(known)
    assert "NVIDIA H200" in " ".join(capsys.readouterr().out.split())
