"""Facts of GPUs, reported by nvidia-smi and amd-smi; empty where there are none.

Fields and format are those of ``nvidia-smi --help-query-gpu``, and of ``amd-smi static --json`` and ``amd-smi metric
--json``. All GPUs of the machine are included, in the driver's order, whatever CUDA_VISIBLE_DEVICES says.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
"""The environment variables that select GPUs."""
TIMEOUT_S = 20.0
"""The time limit for the driver. The first query may initialise every GPU."""
_MHZ, _MIB = 10**6, 1 << 20
_FACTS: dict[str, tuple[str, float | None]] = {
    "index": ("index", 1),
    "name": ("name", None),
    "driver_version": ("driver", None),
    "memory.total": ("memory_bytes", _MIB),
    "clocks.max.sm": ("clock_max_hz", _MHZ),
    "clocks.max.memory": ("memory_clock_max_hz", _MHZ),
    "power.limit": ("power_limit_w", 1),
    "ecc.mode.current": ("ecc", None),
    "mig.mode.current": ("mig", None),
    "compute_mode": ("compute_mode", None),
    "persistence_mode": ("persistence", None),
}
"""Constant facts: the name in nvidia-smi, our name, and the unit of a number."""
_STATE: dict[str, tuple[str, float | None]] = {
    "index": ("index", 1),
    "clocks.sm": ("clock_hz", _MHZ),
    "clocks.mem": ("memory_clock_hz", _MHZ),
    "power.draw": ("power_w", 1),
    "temperature.gpu": ("temperature_c", 1),
    "pstate": ("performance_state", None),
    "memory.used": ("memory_used_bytes", _MIB),
}
"""Facts that change while programs run, in the same form."""
_AMD_FACTS = {
    "gpu": "index",
    "asic.market_name": "name",
    "asic.target_graphics_version": "capability",
    "driver.version": "driver",
    "vram.size": "memory_bytes",
    "limit.max_power": "power_limit_w",
}
"""The same facts of AMD's GPUs: the places in the output of ``amd-smi static``, and our names."""
_AMD_STATE = {
    "gpu": "index",
    "clock.gfx_0.clk": "clock_hz",
    "clock.mem_0.clk": "memory_clock_hz",
    "power.socket_power": "power_w",
    "temperature.hotspot": "temperature_c",
    "mem_usage.used_vram": "memory_used_bytes",
}
"""The same for ``amd-smi metric``."""
_AMD_UNITS = {"MB": _MIB, "MHz": _MHZ}
_UNKNOWN = ("", "n/a", "not supported", "unknown error", "not available")
_EXCLUSIVE = "Exclusive_Process"


def facts() -> list[dict[str, Any]]:
    """The name, driver, memory, maximum clocks, power limit and modes of each GPU. Unknown values are left out."""
    return _queried(_FACTS) + _queried_amd("static", _AMD_FACTS)


def state() -> list[dict[str, Any]]:
    """The current clocks, power, temperature and memory in use of each GPU."""
    return _queried(_STATE) + _queried_amd("metric", _AMD_STATE)


def capabilities(kind: str) -> list[str]:
    """The compute capabilities of the devices of a kind, such as "9.0" for "cuda", if the driver reports them."""
    known = _queried({"compute_cap": ("capability", None)}) if kind == "cuda" else _queried_amd("static", _AMD_FACTS)
    return sorted({gpu["capability"] for gpu in known if "capability" in gpu})


def _queried(fields: Mapping[str, tuple[str, float | None]]) -> list[dict[str, Any]]:
    text = _output(["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"])
    return _parsed(text, list(fields.values()))


def _queried_amd(report: str, fields: Mapping[str, str]) -> list[dict[str, Any]]:
    try:
        found = json.loads(_output(["amd-smi", report, "--json"]) or "[]")
    except ValueError:  # a message of the driver
        return []
    listed = found.get("gpu_data", []) if isinstance(found, dict) else found  # versions differ
    gpus = [{name: _amd_value(gpu, place) for place, name in fields.items()} for gpu in listed]
    return [{name: value for name, value in gpu.items() if value is not None} for gpu in gpus]


def _amd_value(gpu: Any, place: str) -> Any:
    """A text, or a number in our units; None if it is unknown."""
    for key in place.split("."):
        gpu = gpu.get(key) if isinstance(gpu, dict) else None
    if isinstance(gpu, dict):
        value = gpu.get("value")
        return value * _AMD_UNITS.get(gpu.get("unit", ""), 1) if isinstance(value, (int, float)) else None
    return None if isinstance(gpu, str) and gpu.lower() in _UNKNOWN else gpu


def _output(command: Sequence[str]) -> str:
    """What a program prints; nothing if it is missing, fails or hangs."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "" if done.returncode else done.stdout


def _parsed(text: str, fields: Sequence[tuple[str, float | None]]) -> list[dict[str, Any]]:
    """An entry for each GPU. Lines with another number of fields are error messages."""
    lines = [line for line in csv.reader(text.splitlines(), skipinitialspace=True) if len(line) == len(fields)]
    gpus = [[(name, _value(each, unit)) for (name, unit), each in zip(fields, line, strict=True)] for line in lines]
    return [{name: value for name, value in gpu if value is not None} for gpu in gpus]


def _value(text: str, unit: float | None) -> str | float | None:
    """A text, or a number in our units; None if it is unknown."""
    if unit is None:
        return None if text.strip().strip("[]").lower() in _UNKNOWN else text.strip()
    try:
        number = float(text) * unit
    except ValueError:
        return None
    return int(number) if number.is_integer() else number


def mps_is_running() -> bool:
    """Whether CUDA's multi-process service is running, judged by the pipe of its control daemon."""
    folder = os.environ.get("CUDA_MPS_PIPE_DIRECTORY") or Path("/tmp") / "nvidia-mps"
    return Path(folder, "control").exists()


def sharing_problem(known: Sequence[Mapping[str, Any]], processes: int) -> tuple[str, str] | None:
    """Why several processes, all but one frozen, cannot share the GPUs, and the fix; None if they can."""
    if processes and known and mps_is_running():
        return (
            "CUDA's multi-process service is running; a process that is frozen between rounds would block the others",
            "Stop it: echo quit | nvidia-cuda-mps-control",
        )
    exclusive = [str(gpu.get("index", "?")) for gpu in known if gpu.get("compute_mode") == _EXCLUSIVE]
    if processes > 1 and exclusive:
        return (
            f"GPU {', '.join(exclusive)} admits one process (compute mode {_EXCLUSIVE}), but {processes} libraries "
            "need one each",
            "Select one of them with --backends, or run nvidia-smi --compute-mode=DEFAULT",
        )
    return None
