"""The doctor: what is here, what is missing and how to get it, and what is set up badly.

Each library is examined in a process of its own, so one that crashes at import cannot take the others along, and the
threads and BLAS that are shown are those that the library itself would get. What is not known is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from xarrayops import __version__
from xarrayops._core import registry
from xarrayops._protocol.candidates import KnownBad, affected
from xarrayops._protocol.devices import Device
from xarrayops._system import gpus, machine
from xarrayops.errors import InvalidBackend

OWN_SETTINGS = "XARRAYOPS_"
"""How the environment variables begin that are ours; a backend knows those of its library."""
TIMEOUT_S = 120.0
"""How long a library may take to be imported and to list its devices, in seconds."""
_MARK = "xarrayops-doctor:"


def diagnose() -> dict[str, Any]:
    """All that the doctor knows, as plain data; sizes in bytes."""
    known: dict[str, Any] = {
        "xarrayops": __version__,
        "python": platform.python_version(),
        "executable": sys.executable,
        "machine": machine.facts(),
        "gpus": gpus.facts(),
        "settings": own_settings(),
    }
    warnings: list[str] = []
    try:
        known["backends"] = examine_all(registry.names())
        warnings += wrong_default()
    except InvalidBackend as error:
        known["backends"] = []
        warnings.append(str(error))
    for backend in known["backends"]:
        known["settings"] |= backend.pop("settings", {})
    known["pools"] = _merge_pools(known["backends"])
    slow = machine.slow_openblas(known["pools"])
    warnings += [slow] if slow else []
    warnings += [text for backend in known["backends"] for text in backend.get("known_bad", ())]
    known["warnings"] = warnings
    return known


def own_settings() -> dict[str, str]:
    """The environment variables that are ours, as far as they are set."""
    return {name: value for name, value in sorted(os.environ.items()) if name.startswith(OWN_SETTINGS)}


def wrong_default() -> list[str]:
    """A warning where XARRAYOPS_BACKEND names no backend: every creation function would raise."""
    name = os.environ.get("XARRAYOPS_BACKEND") or "numpy"
    return [] if name in registry.entry_points() else [str(registry.unknown(name))]


def examine_all(names: Iterable[str]) -> list[dict[str, Any]]:
    """What `examine` finds about each backend, each in a process of its own."""
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        return list(pool.map(_examine_apart, names))


def _examine_apart(name: str) -> dict[str, Any]:
    broken = {"name": name, "available": False, "hint": f"See for yourself: python -c 'import {name}'"}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "xarrayops._cli.doctor", name], capture_output=True, text=True, timeout=TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        return {**broken, "reason": f"its import or its list of devices takes more than {TIMEOUT_S:.0f} s"}
    found = [line for line in done.stdout.splitlines() if line.startswith(_MARK)]
    if not found:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        return {**broken, "reason": f"importing it ends the process (exit status {done.returncode}) {last}".strip()}
    examined: dict[str, Any] = json.loads(found[-1].removeprefix(_MARK))
    return examined


def examine(name: str) -> dict[str, Any]:
    """What one backend says of itself, in this process: status, versions, settings, devices, thread pools, faults."""
    status = registry.status(name)
    found: dict[str, Any] = {"name": name, "available": status.available}
    if not status.available:
        found.update(reason=status.reason, hint=status.hint)
    if status.backend is not None:
        devices = status.backend.devices()
        found["versions"] = status.backend.versions
        found["settings"] = status.backend.environment
        found["devices"] = [{"kind": d.kind, "name": d.name, "label": d.label} for d in devices]
        found["known_bad"] = known_faults(status.backend.known_bad, found["versions"], devices)
    if status.available:
        found["pools"] = thread_pools()
    return found


def known_faults(faults: Iterable[KnownBad], versions: dict[str, str], devices: Iterable[Device]) -> list[str]:
    """Those of a backend's known faults that concern the versions and devices that are here."""
    kinds = {device.kind for device in devices} | {"any"}
    return [
        f"{fault.library} {versions[fault.library]}, device {fault.device}: {fault.condition} ({fault.issue})"
        for fault in affected(faults, versions)
        if fault.device in kinds
    ]


def thread_pools() -> list[dict[str, Any]]:
    """The BLAS and OpenMP libraries in this process, with version, kernel (``architecture``) and threads."""
    from threadpoolctl import threadpool_info

    pools: list[dict[str, Any]] = threadpool_info()
    return pools


def _merge_pools(backends: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One entry for each library file and setting, with the backends whose process has it loaded."""
    merged: dict[str, dict[str, Any]] = {}
    for backend in backends:
        for pool in backend.pop("pools", []):
            key = json.dumps(pool, sort_keys=True)
            merged.setdefault(key, {**pool, "loaded_with": []})["loaded_with"].append(backend["name"])
    return list(merged.values())


def show(known: dict[str, Any]) -> None:
    """Print what `diagnose` found."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for line in _heading(known):
        console.print(Text(line))
    console.print(_backend_table(known["backends"]))
    if known["pools"]:
        console.print(_pool_table(known["pools"]))
    for warning in known["warnings"]:
        console.print(Text(f"WARNING: {warning}", style="bold yellow"))


def _heading(known: dict[str, Any]) -> list[str]:
    machine = known["machine"]
    usable = machine.get("usable_cpus")
    cpus = "" if "cpus" not in machine else f"{machine['cpus']} logical CPUs" + (f", {usable} usable" if usable else "")
    memory = f"{machine['memory_bytes'] / 2**30:.1f} GiB memory" if "memory_bytes" in machine else ""
    if "memory_limit_bytes" in machine:
        memory += f" (limited to {machine['memory_limit_bytes'] / 2**30:.1f} GiB)"
    lines = [
        f"xarrayops {known['xarrayops']}, Python {known['python']} ({known['executable']})",
        ", ".join(part for part in (machine.get("cpu"), cpus, memory) if part),
        f"{machine['os']}",
    ]
    settings = [f"{name}={value}" for name, value in known["settings"].items()]
    lines += [f"GPU {', '.join(f'{name} {value}' for name, value in gpu.items())}" for gpu in known["gpus"]]
    return [*lines, *([f"Environment: {', '.join(settings)}"] if settings else [])]


def _backend_table(backends: list[dict[str, Any]]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Backends", title_justify="left")
    for column in ("backend", "versions", "devices, or why there are none and what helps"):
        table.add_column(column, overflow="fold")
    for backend in backends:
        versions = ", ".join(f"{name} {version}" for name, version in backend.get("versions", {}).items())
        devices = [device_text(**device) for device in backend.get("devices", ())]
        told = ", ".join(devices) if backend["available"] else f"{backend['reason']}\n{backend['hint']}"
        style = "" if backend["available"] else "dim"
        table.add_row(
            Text(backend["name"], style=style or "bold"), Text(versions, style=style), Text(told, style=style)
        )
    return table


def device_text(name: str, kind: str, label: str) -> str:
    """The name that selects a device, and what people call it where that says more."""
    return name if label.lower() in ("", kind) else f"{name} ({label})"


def _pool_table(pools: list[dict[str, Any]]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(title="BLAS and OpenMP", title_justify="left")
    for column in ("library", "version", "kernel", "threads", "loaded with"):
        table.add_column(column, overflow="fold")
    for pool in pools:
        path = Path(pool["filepath"])
        cells = (
            f"{pool['internal_api']}: {path.parent.name}/{path.name}",
            *(str(pool.get(field) or "") for field in ("version", "architecture", "num_threads")),
            ", ".join(pool["loaded_with"]),
        )
        table.add_row(*map(Text, cells))
    return table


def main(arguments: list[str] | None = None) -> int:
    """The command line; always 0, for a missing library is no failure of the doctor."""
    parser = argparse.ArgumentParser(
        prog="xarrayops doctor",
        description="What is installed, what is missing and how to get it, devices, threads, BLAS, known faults.",
    )
    parser.add_argument("--json", action="store_true", help="print the same as JSON")
    options = parser.parse_args(arguments)
    known = diagnose()
    if options.json:
        print(json.dumps(known, indent=2))
    else:
        show(known)
    return 0


if __name__ == "__main__":
    print(_MARK + json.dumps(examine(sys.argv[1])))
