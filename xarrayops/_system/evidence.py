"""What has run on each kind of accelerator, or was only compiled for it: data that tools/readme.py writes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files


@cache
def _known() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(files(__package__).joinpath("evidence.json").read_text())
    return found


def lines(devices: Iterable[tuple[str, str]]) -> list[str]:
    """The evidence for pairs of a backend and a kind of device, in words; nothing for those that it does not cover."""
    pairs = [(backend, kind) for backend, kind in dict.fromkeys(devices) if kind in _known().get(backend, {})]
    return [f"xarrayops with {backend} on {kind}: {_known()[backend][kind]}" for backend, kind in pairs]
