"""The doctor: what is installed, what is missing and how to install it, and what is configured badly.

Each library is examined in a separate process: a crash at import does not affect the others, and the report shows the
threads and BLAS that the library itself gets. Unknown facts are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any

from xarrayops import __version__
from xarrayops._core.backends import known_bugs, registry
from xarrayops._core.backends.registry import Backend
from xarrayops._system import evidence, gpus, machine
from xarrayops.errors import InvalidBackend, Unsupported, install_command
from xarrayops.plugin.arrays import Device
from xarrayops.plugin.candidates import KnownBad

OWN_SETTINGS = "XARRAYOPS_"
"""The prefix of our environment variables; a backend lists the variables of its library."""
TIMEOUT_S = 120.0
"""The seconds that a library may take to be imported and to list its devices."""
_MARK = "xarrayops-doctor:"
OPTIONAL = {
    "SciPy": ("scipy", "sparse", "sparse matrices on NumPy"),
    "numba": ("numba", "fast", "faster sparse matrices and random numbers on the host"),
    "ml_dtypes": ("ml_dtypes", "lowp", "bfloat16 and float8 on NumPy and Dask"),
    "LibCST": ("libcst", "port", "python -m xarrayops.port rewrite"),
}
"""Packages that are not array libraries: the distribution, the extra that installs it, and what it adds."""


def diagnose() -> dict[str, Any]:
    """All facts that the doctor reports, as plain data; sizes in bytes."""
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
    known["optional"] = optional_packages()
    found = ((b["name"], d["kind"]) for b in known["backends"] for d in b.get("devices", ()))
    known["evidence"] = [evidence.summary(), *evidence.lines(found)]
    for backend in known["backends"]:
        known["settings"] |= backend.pop("settings", {})
    known["pools"] = _merge_pools(known["backends"])
    slow = machine.slow_openblas(known["pools"])
    warnings += [slow] if slow else []
    warnings += [text for backend in known["backends"] for text in backend.get("known_bad", ())]
    known["warnings"] = warnings
    return known


def optional_packages() -> list[dict[str, str]]:
    """The optional packages with their versions; without a version, how to install them. Nothing is imported."""
    found = []
    for name, (distribution, extra, adds) in OPTIONAL.items():
        try:
            state = {"version": metadata.version(distribution)}
        except metadata.PackageNotFoundError:
            state = {"hint": install_command(extra)}
        found.append({"name": name, "adds": adds, **state})
    return found


def own_settings() -> dict[str, str]:
    """Our environment variables that are set."""
    return {name: value for name, value in sorted(os.environ.items()) if name.startswith(OWN_SETTINGS)}


def wrong_default() -> list[str]:
    """A warning if XARRAYOPS_BACKEND names no backend: every creation function would raise."""
    name = os.environ.get("XARRAYOPS_BACKEND") or "numpy"
    return [] if registry.module_of(name) else [str(registry.unknown(name))]


def examine_all(names: Iterable[str]) -> list[dict[str, Any]]:
    """The result of `examine` for each backend, each in a separate process."""
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        return list(pool.map(_examine_in_process, names))


def _examine_in_process(name: str) -> dict[str, Any]:
    broken = {"name": name, "available": False, "hint": f"To see the error: python -c 'import {name}'"}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "xarrayops._cli.doctor", name], capture_output=True, text=True, timeout=TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        return {**broken, "reason": f"importing it and listing its devices takes more than {TIMEOUT_S:.0f} s"}
    found = [line for line in done.stdout.splitlines() if line.startswith(_MARK)]
    if not found:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        return {**broken, "reason": f"importing it ends the process (exit status {done.returncode}) {last}".strip()}
    examined: dict[str, Any] = json.loads(found[-1].removeprefix(_MARK))
    return examined


def examine(name: str) -> dict[str, Any]:
    """The facts of one backend, in this process: status, versions, settings, devices, thread pools, known bugs."""
    status = registry.status(name)
    found: dict[str, Any] = {"name": name, "available": status.available}
    if not status.available:
        found.update(reason=status.reason, hint=status.hint)
    if status.backend is not None:
        devices = status.backend.devices()
        found["versions"] = status.backend.versions
        found["settings"] = status.backend.environment
        found["devices"] = [{"kind": d.kind, "name": d.name, "label": d.label} for d in devices]
    if status.available:
        found["pools"] = thread_pools()
    if status.backend is not None:  # after the pools: sparse matrices load libraries that have pools too
        faults = [*status.backend.known_bad, *_sparse_faults(status.backend)]
        found["known_bad"] = bugs_here(faults, found["versions"], devices)
    return found


def bugs_here(faults: Iterable[KnownBad], versions: dict[str, str], devices: Iterable[Device]) -> list[str]:
    """The known bugs of a backend that affect the installed versions and devices."""
    kinds = {device.kind for device in devices} | {"any"}
    return known_bugs.texts((fault for fault in faults if fault.device in kinds), versions)


def _sparse_faults(backend: Backend) -> tuple[KnownBad, ...]:
    """The known bugs of the library's sparse matrices."""
    try:
        return getattr(backend.sparse.module, "KNOWN_BAD", ())
    except Unsupported:
        return ()


def thread_pools() -> list[dict[str, Any]]:
    """The BLAS and OpenMP libraries of this process, with version, kernel (``architecture``) and threads."""
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return []
    pools: list[dict[str, Any]] = threadpool_info()
    return pools


def _merge_pools(backends: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One entry for each library file and setting, with the backends whose process loads it."""
    merged: dict[str, dict[str, Any]] = {}
    for backend in backends:
        for pool in backend.pop("pools", []):
            key = json.dumps(pool, sort_keys=True)
            merged.setdefault(key, {**pool, "loaded_with": []})["loaded_with"].append(backend["name"])
    return list(merged.values())


def show(known: dict[str, Any]) -> None:
    """Print what `diagnose` found."""
    from xarrayops._cli.arguments import console, table
    from xarrayops._cli.terminal import HINT, Text

    shown = console()
    for line in _heading(known):
        shown.print(Text(line))
    columns = ("backend", "versions", "devices, or why it is missing and how to get it")
    shown.print(table("Backends", columns, _backend_rows(known["backends"])))
    columns = ("package", "version", "what it adds, and how to get it if it is missing")
    shown.print(table("Optional packages", columns, _optional_rows(known["optional"])))
    if known["pools"]:
        pools = ("library", "version", "kernel", "threads", "loaded with")
        shown.print(table("BLAS and OpenMP", pools, map(_pool_row, known["pools"])))
    for line in known["evidence"]:
        shown.print(Text(line), soft_wrap=True)
    for warning in known["warnings"]:
        # not wrapped, so that a command in it can be copied
        shown.print(Text(f"WARNING: {warning}", style="bold yellow"), soft_wrap=True)
    if HINT:
        shown.print(Text(HINT), soft_wrap=True)


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


def _backend_rows(backends: list[dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
    from xarrayops._cli.terminal import Text

    for backend in backends:
        versions = ", ".join(f"{name} {version}" for name, version in backend.get("versions", {}).items())
        devices = [device_text(**device) for device in backend.get("devices", ())]
        state = ", ".join(devices) if backend["available"] else f"{backend['reason']}\n{backend['hint']}"
        style = "" if backend["available"] else "dim"
        yield Text(backend["name"], style=style or "bold"), Text(versions, style=style), Text(state, style=style)


def _optional_rows(packages: list[dict[str, str]]) -> Iterator[tuple[Any, ...]]:
    from xarrayops._cli.terminal import Text

    for package in packages:
        state = "\n".join(package[key] for key in ("adds", "hint") if key in package)
        cells = (package["name"], package.get("version", "not installed"), state)
        yield tuple(Text(cell, style="" if "version" in package else "dim") for cell in cells)


def device_text(name: str, kind: str, label: str) -> str:
    """The name that selects a device, and its product name if that adds something."""
    return name if label.lower() in ("", kind) else f"{name} ({label})"


def _pool_row(pool: dict[str, Any]) -> tuple[str, ...]:
    path = Path(pool["filepath"])
    return (
        f"{pool['internal_api']}: {path.parent.name}/{path.name}",
        *(str(pool.get(field) or "") for field in ("version", "architecture", "num_threads")),
        ", ".join(pool["loaded_with"]),
    )


def main(arguments: list[str] | None = None) -> int:
    """The command line; the status is always 0, because a missing library is not a failure of the doctor."""
    parser = argparse.ArgumentParser(
        prog="xarrayops doctor",
        description="What is installed, what is missing and how to install it, devices, threads, BLAS, known bugs.",
    )
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")
    options = parser.parse_args(arguments)
    known = diagnose()
    if options.json:
        print(json.dumps(known, indent=2))
    else:
        show(known)
    return 0


if __name__ == "__main__":
    print(_MARK + json.dumps(examine(sys.argv[1])))
