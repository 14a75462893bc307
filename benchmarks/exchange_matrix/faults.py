"""Checks that dense arrays and sparse containers share."""

from __future__ import annotations

import numpy as np

from benchmarks.exchange_matrix.memory_kinds import Host

_CHUNK = 2**26
"""How many bytes are compared at a time, so that comparing large arrays needs little memory."""


def refusal_faults(action: str, message: str) -> list[str]:
    """The faults of a refused conversion: a wrong forecast, or a message without an alternative."""
    faults = [] if action == "refuse" else [f"explain said {action}, convert refused: {message}"]
    return faults if "Instead: " in message else [*faults, f"the message names no alternative: {message}"]


def same_bits(values: Host, want: Host) -> bool:
    """Whether two arrays hold the same bits."""
    if values.shape != want.shape or values.itemsize != want.itemsize:
        return False
    first, second = (np.ascontiguousarray(a).reshape(-1).view(np.uint8) for a in (values, want))
    chunks = range(0, first.size, _CHUNK)
    return all(np.array_equal(first[i : i + _CHUNK], second[i : i + _CHUNK]) for i in chunks)
