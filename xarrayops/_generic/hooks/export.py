"""Exports on a standard namespace: there are none."""

from __future__ import annotations

from types import ModuleType

from xarrayops.plugin.export import Exporter


def exporters(xp: ModuleType) -> tuple[Exporter, ...]:
    """None."""
    return ()
