"""Attention: the kernel over host memory."""

from __future__ import annotations

from xarrayops.plugin.attention import host

ATTENTION_CANDIDATES = [("blocked", host.attention, host.refusal)]
