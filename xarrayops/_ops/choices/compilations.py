"""How long compilations take on this machine: in blocks of measured choice `xo.jit` records it, and expects as much."""

from __future__ import annotations

from functools import cache
from statistics import median

from xarrayops._ops.choices.block import current

LATEST = 9
"""The number of compilations that count."""


def record(library: str, seconds: float) -> None:
    """Note how long a library took to compile a function."""
    if _is_measured():
        from xarrayops._ops.choices import machine  # here: `import xarrayops` does not need it

        machine.store().append({"call": {"compilation": library}, "seconds": seconds})


def expected_s(library: str) -> float | None:
    """The median of the latest compilations, in seconds; None outside of blocks, and if there were none."""
    return _recorded(library) if _is_measured() else None


def _is_measured() -> bool:
    found = current()
    return found is not None and not found.is_pinned


@cache
def _recorded(library: str) -> float | None:
    """As `expected_s`. It is read once, so that a process never changes its choices."""
    from xarrayops._ops.choices import machine

    records = [each for each in machine.store().records() if each["call"] == {"compilation": library}]
    times = [each["seconds"] for each in records if isinstance(each.get("seconds"), float) and each["seconds"] > 0]
    return median(times[-LATEST:]) if times else None
