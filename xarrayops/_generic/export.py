"""Exports on a standard namespace: there are none."""

from __future__ import annotations

from types import ModuleType

from xarrayops._protocol.export_hooks import Exporter


def exporters(xp: ModuleType) -> tuple[Exporter, ...]:
    """None."""
    return ()
