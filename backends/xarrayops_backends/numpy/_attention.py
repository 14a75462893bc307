"""Attention: the kernel over host memory."""

from xarrayops.plugin.host import attention as host

ATTENTION_CANDIDATES = [("blocked", host.attention, host.refusal)]
