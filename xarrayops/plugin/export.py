"""The definitions of `xarrayops._protocol`."""

from __future__ import annotations

from xarrayops._protocol.export_hooks import Exporter as Exporter, Program as Program, Run as Run
