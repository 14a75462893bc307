"""Overflow of results."""

from __future__ import annotations

from xarrayops.plugin.host import sums

has_overflowed = sums.has_overflowed
