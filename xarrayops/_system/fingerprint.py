"""What measured times depend on: the machine, the CPUs that this process may use, the versions, and our own code."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from xarrayops._system import gpus, machine

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "XLA_FLAGS")
_KERNELS = (".py", ".cpp", ".cu")


def facts(packages: Iterable[str], folders: Iterable[str]) -> dict[str, Any]:
    """The facts: CPU, CPUs allowed, GPUs, versions of the packages, thread settings, a digest of the code in folders.

    No package is imported. A change of any fact changes the fingerprint.
    """
    return {
        "cpu": machine.cpu_model(),
        "instructions": digest(sorted(machine.cpu_flags())),
        "cpus": machine.usable_cpus(),
        "cpu_quota": machine.cpu_quota(),
        "gpus": [[gpu.get("name"), gpu.get("driver"), gpu.get("mig")] for gpu in gpus.facts()],
        "visible": {name: os.environ[name] for name in gpus.VISIBLE if name in os.environ},
        "versions": dict(zip(packages, map(_version, packages), strict=True)),
        "threads": {name: os.environ[name] for name in _THREADS if name in os.environ},
        "code": _code(tuple(folders)),
    }


def digest(facts: Any) -> str:
    """16 hexadecimal digits that identify plain data."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


@cache
def _version(package: str) -> str | None:
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(package)
    return None


@cache
def _code(folders: tuple[str, ...]) -> str:
    found = hashlib.sha256()
    for file in sorted(file for folder in folders for file in Path(folder).rglob("*") if file.suffix in _KERNELS):
        found.update(file.read_bytes())
    return found.hexdigest()[:16]
