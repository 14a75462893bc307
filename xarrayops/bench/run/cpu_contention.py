"""How much of the CPUs other programs take while the benchmark runs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from time import monotonic

from xarrayops._system import machine


class Others:
    """Everybody but this process and its workers, from when it is made."""

    def __init__(self) -> None:
        self._start, self._worked_s = monotonic(), _worked_s(())

    def part(self, workers: Iterable[int]) -> float | None:
        """The part of the usable CPUs' time that went to others; None where the system does not tell.

        ``workers`` are the processes that are alive. Other machines of a hypervisor are others, too.
        """
        worked_s = _worked_s(workers)
        if worked_s is None or self._worked_s is None:
            return None
        whole_s = (monotonic() - self._start) * len(machine.usable_cpus())
        return min(1.0, max(0.0, worked_s - self._worked_s) / whole_s)


def _worked_s(workers: Iterable[int]) -> float | None:
    busy_s, (user, system, ended_user, ended_system, _) = machine.busy_seconds(), os.times()
    if busy_s is None:
        return None
    return busy_s - sum((user, system, ended_user, ended_system, *map(machine.process_seconds, workers)))
