"""What has run on each kind of accelerator, or was only compiled for it: data that tools/readme.py writes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def _known() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(files(__package__).joinpath("evidence.json").read_text())
    return found


def summary() -> str:
    """The levels of the evidence for all backends with accelerators, and all kinds, in a line."""
    levels = {
        backend: ", ".join(f"{kind} {' and '.join(proven['levels'])}" for kind, proven in kinds.items())
        for backend, kinds in _known().items()
    }
    listed = "; ".join(f"{backend}: {found}" for backend, found in levels.items())
    return f"Evidence for accelerators, here or not (docs: Evidence by function): {listed}"


def lines(devices: Iterable[tuple[str, str]]) -> list[str]:
    """The evidence for pairs of a backend and a kind of device, in words; nothing for those that it does not cover."""
    pairs = [(backend, kind) for backend, kind in dict.fromkeys(devices) if kind in _known().get(backend, {})]
    return [f"xarrayops with {backend} on {kind}: {_known()[backend][kind]['text']}" for backend, kind in pairs]
