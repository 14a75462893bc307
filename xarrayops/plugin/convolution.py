"""The definitions of `xarrayops._protocol`."""

from __future__ import annotations

from xarrayops._protocol.convolution import Windows as Windows
