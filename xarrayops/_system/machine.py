"""The machine, as far as it can be known without guessing: what is not known is left out."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

_AVX512 = frozenset({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})
"""What the AVX-512 kernels of OpenBLAS are compiled for."""
_INSTRUCTIONS = (
    *("avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16", "amx_int8"),
    *("asimd", "asimdhp", "bf16", "i8mm", "sve", "sve2", "sme"),
)
"""As /proc/cpuinfo names them."""
_AVX2_KERNELS = frozenset({"haswell", "zen"})


def facts() -> dict[str, Any]:
    """Operating system, CPU, logical CPUs (all, and those this process may use), clock, caches and memory in bytes.

    Of the CPU's instructions, those that decide how fast it calculates.
    """
    known = {
        "os": platform.platform(),
        "machine": platform.machine(),
        "cpu": cpu_model(),
        "cpus": os.cpu_count(),
        "usable_cpus": len(usable_cpus()),
        "clock_hz": clock_hz(),
        "instructions": [name for name in _INSTRUCTIONS if name in cpu_flags()],
        "caches_bytes": cache_bytes(),
        "governor": governor(),
        "memory_bytes": memory_bytes(),
        "memory_limit_bytes": memory_limit_bytes(),
    }
    return {name: value for name, value in known.items() if value}


def summary(known: dict[str, Any]) -> str:
    """Those facts in one line."""
    parts = [known.get("cpu") or known["machine"]]
    if "usable_cpus" in known or "cpus" in known:
        parts.append(f"{known.get('usable_cpus', known.get('cpus'))} CPUs")
    if "memory_bytes" in known:
        parts.append(f"{known['memory_bytes'] / 2**30:.0f} GiB")
    return ", ".join([*parts, known["os"]])


def cpu_model() -> str | None:
    """What the CPU calls itself."""
    if platform.system() == "Darwin":
        asked = subprocess.run(["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True)
        return asked.stdout.strip() or None
    return _cpuinfo("model name") or platform.processor() or None


def cpu_flags() -> frozenset[str]:
    """The instruction sets of the CPU; empty where the system does not tell."""
    return frozenset((_cpuinfo("flags") or _cpuinfo("Features") or "").split())


def clock_hz() -> float | None:
    """The highest clock of the first CPU, or, where the system does not set it, the one that it runs at."""
    highest, now = _read("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"), _cpuinfo("cpu MHz")
    return int(highest) * 1e3 if highest else float(now) * 1e6 if now else None


def _cpuinfo(field: str) -> str | None:
    """The first value of a field of /proc/cpuinfo."""
    for line in (_read("/proc/cpuinfo") or "").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == field:
            return value.strip()
    return None


def cache_bytes() -> list[int]:
    """The sizes of the first CPU's data caches, in bytes; empty where the system does not tell."""
    sizes = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind, size = (_read(str(index / name)) for name in ("type", "size"))
        if kind and size and kind.strip() != "Instruction" and size.strip().endswith("K"):
            sizes.append(int(size.strip().removesuffix("K")) * 1024)
    return sizes


def governor() -> str | None:
    """How the system sets the CPU's clock, as Linux names it."""
    return (_read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") or "").strip() or None


def memory_bytes() -> int | None:
    """The memory of the machine, in bytes."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def memory_limit_bytes() -> int | None:
    """The limit that a container sets, in bytes, where it is below the machine's memory."""
    limit = (_read("/sys/fs/cgroup/memory.max") or "").strip()
    if not limit.isdecimal() or int(limit) >= (memory_bytes() or 0):
        return None
    return int(limit)


def available_bytes() -> int | None:
    """The memory that programs could still get, in bytes, within a container's limit; None where nobody tells."""
    for line in (_read("/proc/meminfo") or "").splitlines():
        if line.startswith("MemAvailable:"):
            free = int(line.split()[1]) * 1024
            limit, used = memory_limit_bytes(), (_read("/sys/fs/cgroup/memory.current") or "").strip()
            if limit is None or not used.isdecimal():
                return free
            cached = dict(entry.split() for entry in (_read("/sys/fs/cgroup/memory.stat") or "").splitlines())
            return min(free, limit - int(used) + int(cached.get("inactive_file", 0)))
    return None


def busy_seconds() -> float | None:
    """The seconds that the CPUs which this process may use have worked, for anyone; None where nobody tells.

    What a hypervisor gave to other machines counts as work.
    """
    names = {f"cpu{number}" for number in usable_cpus()}
    lines = [line.split() for line in (_read("/proc/stat") or "").splitlines()]
    ticks = [sum(map(int, (*line[1:4], *line[6:9]))) for line in lines if line and line[0] in names]  # no idling
    return sum(ticks) / os.sysconf("SC_CLK_TCK") if ticks else None


def process_seconds(pid: int) -> float:
    """The seconds that a process and its ended children have worked; 0 where nobody tells, or it is gone."""
    fields = (_read(f"/proc/{pid}/stat") or "").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def usable_cpus() -> list[int]:
    """The numbers of the CPUs that this process may use."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))


def load() -> float | None:
    """How many programs wanted a CPU, on average over the last minute; None where the system does not tell."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return None


def oom_kills() -> int | None:
    """How many processes the system has killed for want of memory since it started; None where it does not tell."""
    for line in (_read("/proc/vmstat") or "").splitlines():
        name, _, count = line.partition(" ")
        if name == "oom_kill":
            return int(count)
    return None


def slow_openblas(pools: list[dict[str, Any]]) -> str | None:
    """A warning where OpenBLAS runs AVX2 kernels on a CPU with AVX-512, told from threadpoolctl's facts.

    OpenBLAS may take a CPU that is younger than itself for an older one, and OPENBLAS_CORETYPE may have been set for
    another machine.
    """
    kernels = {
        str(pool["architecture"])
        for pool in pools
        if pool.get("internal_api") == "openblas" and str(pool.get("architecture")).lower() in _AVX2_KERNELS
    }
    if not kernels or not cpu_flags() >= _AVX512:
        return None
    asked = os.environ.get("OPENBLAS_CORETYPE")
    cause = f"as OPENBLAS_CORETYPE={asked} asks" if asked else "by its own choice"
    return (
        f"OpenBLAS runs its {' and '.join(sorted(kernels))} kernels (AVX2) on a CPU with AVX-512, {cause}. Try "
        f"OPENBLAS_CORETYPE=SKYLAKEX in the environment: on one EPYC machine it took a 2048x2048 float32 product from "
        f"75 to 39 ms."
    )


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text()
    except OSError:
        return None
