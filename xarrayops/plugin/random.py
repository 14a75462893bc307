"""The definitions of `xarrayops._protocol`."""

from __future__ import annotations

from xarrayops._protocol.random import (
    GROUPS as GROUPS,
    PARITY as PARITY,
    ROTATIONS as ROTATIONS,
    WORD as WORD,
    Draw as Draw,
    threefry as threefry,
)
