"""Measured rates in the user's cache, by the machine, its devices and settings, and the versions of a library."""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
from collections.abc import Collection
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any

from xarrayops import __version__
from xarrayops._core.backends.entry_points import entry_points, module_of
from xarrayops._system import cache, gpus, machine

_MOST_DAYS = 30
"""Older rates are measured anew."""
_SETTINGS = ("CUDA", "HIP", "JAX", "XLA", "OMP", "MKL", "OPENBLAS", "NVIDIA", "ROCR", "TORCH", "XARRAYOPS_BACKEND")
"""The starts of the names of the environment variables that decide devices and threads."""


def path_of(backend: str) -> Path:
    """The file of the rates of a library."""
    settings = {name: value for name, value in sorted(os.environ.items()) if name.startswith(_SETTINGS)}
    here = [platform.node(), machine.facts(), gpus.facts(), settings, platform.python_version(), __version__]
    text = json.dumps([backend, here, _versions(backend)])
    return cache.folder("rates") / f"{backend}-{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"


def _versions(backend: str) -> list[str]:
    """The distributions of a library, and NumPy, with their versions."""
    roots = [root for root, entry in entry_points().items() if entry.value == module_of(backend)]
    by_package = metadata.packages_distributions()
    names = {name for root in ("numpy", *roots) for name in by_package.get(root, ())}
    return sorted(f"{name} {metadata.version(name)}" for name in names)


def read(path: Path, today: date) -> dict[str, Any] | None:
    """Rates as `write` wrote them; None if there are none, they are too old, or the file is damaged."""
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        age = (today - date.fromisoformat(data["measured"])).days
        is_whole = isinstance(data["device"], str) and {*data["kinds"]} >= {kind for kind, _, _ in data["operations"]}
        points = [number for _, _, points in data["operations"] for point in points for number in point]
        numbers = [*points, data["number_s"], data["transfer_rate"] or 0.0]
        is_whole &= all(isinstance(each, int | float) and math.isfinite(each) and each >= 0 for each in numbers)
        is_whole &= all(points and all(len(point) == 2 for point in points) for _, _, points in data["operations"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return data if is_whole and 0 <= age <= _MOST_DAYS else None


def write(path: Path, found: dict[str, Any], kinds: Collection[str], before: dict[str, Any] | None, today: date) -> Any:
    """Keep the rates of some kinds of operations, with those of other kinds that were kept before; returns all."""
    data = {**found, "kinds": [*kinds], "measured": today.isoformat()}
    if before is not None:
        data["operations"] = [*before["operations"], *found["operations"]]
        data |= {"kinds": [*before["kinds"], *kinds], "measured": before["measured"]}
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    partial.write_text(json.dumps(data), encoding="utf-8")
    os.replace(partial, path)
    return data
