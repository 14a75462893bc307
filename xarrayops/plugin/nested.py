"""The definitions of `xarrayops._protocol`."""

from __future__ import annotations

from xarrayops._protocol.nested import fill as fill, leaves as leaves, leaves_as as leaves_as
