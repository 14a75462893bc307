"""The exporters of a library."""

from __future__ import annotations

from types import ModuleType

from xarrayops.plugin.export import Exporter


def exporters(xp: ModuleType) -> tuple[Exporter, ...]:
    """The exporters of functions of the library's arrays."""
    return ()
