"""The entries in which the environments of runs differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from xarrayops.bench.environment import RunEnvironment

_VARYING = {
    *("date", "command", "seconds", "load", "others", "roofs", "workloads", "resolution", "launch_s", "operations"),
    *("interrupted", "interleaved", "gpu_states"),
}
"""The entries of an environment that differ between any two runs."""
_SHOWN = ("xarrayops", "python", "machine.", "versions.", "settings.", "switches.", "gpus.")


def differences(environments: Sequence[RunEnvironment]) -> list[tuple[str, ...]]:
    """The relevant entries that differ: the dotted name, and the value in each environment ("" for none)."""
    known = [dict(_entries(environment)) for environment in environments]
    names = dict.fromkeys(name for entries in known for name in entries)
    lines = [(name, *(entries.get(name, "") for entries in known)) for name in names]
    return [line for line in lines if len(set(line[1:])) > 1]


def shown_differences(environments: Sequence[RunEnvironment]) -> list[tuple[str, ...]]:
    """The differences that belong above a table."""
    return [line for line in differences(environments) if line[0].startswith(_SHOWN)]


def changed_workloads(environments: Sequence[RunEnvironment]) -> list[str]:
    """The workloads whose code is known in two environments and differs."""
    digests: dict[str, list[str]] = {}
    for environment in environments:
        for name, known in environment.get("workloads", {}).items():
            digests.setdefault(name, []).extend([known["digest"]] if "digest" in known else [])
    return [name for name, found in digests.items() if any(a != b for a, b in pairwise(found))]


def _entries(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """The leaves of nested data, with dotted names."""
    if isinstance(value, dict):
        inner = [(str(key), each) for key, each in value.items() if name or key not in _VARYING]
    elif isinstance(value, list):
        inner = [(str(i), each) for i, each in enumerate(value)]
    else:
        yield name, str(value)
        return
    for key, each in inner:
        yield from _entries(each, f"{name}.{key}" if name else key)
