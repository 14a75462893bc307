"""The definitions of `xarrayops._protocol`."""

from __future__ import annotations

from xarrayops._protocol.precision import refuse_forced_tf32 as refuse_forced_tf32
