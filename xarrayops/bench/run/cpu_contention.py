"""The share of CPU time that other programs use during the benchmark."""

from __future__ import annotations

import os
from collections.abc import Iterable
from time import monotonic

from xarrayops._system import machine


class CpuContention:
    """The CPU time of all programs except this process and its workers, since the object was created."""

    def __init__(self) -> None:
        self._start, self._foreign_s = monotonic(), _foreign_seconds(())

    def share(self, workers: Iterable[int]) -> float | None:
        """The share of the time of the usable CPUs that other programs used; None where the system does not say.

        ``workers`` are the ids of the live worker processes. Other virtual machines on the host count as others.
        """
        foreign_s = _foreign_seconds(workers)
        if foreign_s is None or self._foreign_s is None:
            return None
        total_s = (monotonic() - self._start) * len(machine.usable_cpus())
        return min(1.0, max(0.0, foreign_s - self._foreign_s) / total_s)


def _foreign_seconds(workers: Iterable[int]) -> float | None:
    busy_s, (user, system, ended_user, ended_system, _) = machine.busy_seconds(), os.times()
    if busy_s is None:
        return None
    return busy_s - sum((user, system, ended_user, ended_system, *map(machine.process_seconds, workers)))
