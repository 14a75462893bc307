"""Shared by the scripts of this folder: options, interleaved timing, the peak memory of a call, the machine."""

from __future__ import annotations

import argparse
import ctypes
import gc
import importlib.util
import os
import platform
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

Calls = dict[str, Callable[[], Any]]
Times = dict[str, list[float]]
MISSED = 3
"""The exit status of a script that measured everything and missed a bar."""


def common_options(
    description: str | None,
    *,
    rounds: int,
    pause: float | None = None,
    libraries: str | None = None,
    only: bool = False,
) -> argparse.ArgumentParser:
    """The options that several scripts have, with these defaults; None and False leave an option out."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--out", type=Path, help="a file for the results, in JSON")
    if pause is not None:
        parser.add_argument("--pause", type=float, default=pause, help="seconds before each timing")
    if libraries is not None:
        parser.add_argument("--libraries", default=libraries, help="separated by commas")
    if only:
        parser.add_argument("--only", default="", help="only cases whose name contains this text")
    return parser


def interleaved(calls: Calls, rounds: int, pause: float, *, number: int = 1, again: bool = True) -> Times:
    """Seconds of each call, by round. The calls are interleaved, after a pause in which idle threads stop spinning.

    ``again`` makes an untimed call before each timing. A time is the mean of ``number`` calls.
    """
    times: Times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            time.sleep(pause)
            if again:
                call()
            start = time.perf_counter()
            for _ in range(number):
                result = call()
            times[name].append((time.perf_counter() - start) / number)
            del result
    return times


def over(times: Times, ours: str = "ours") -> dict[str, float]:
    """The median over the rounds of each contestant's time divided by ours."""
    return {
        name: median(a / b for a, b in zip(each, times[ours], strict=True))
        for name, each in times.items()
        if name != ours
    }


def machine(libraries: Iterable[str]) -> dict[str, Any]:
    """Facts of the machine and the versions."""
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "threads": os.environ.get("XARRAYOPS_THREADS", "one per core"),
        "versions": {name: version(name) for name in libraries if importlib.util.find_spec(name)},
    }


def resident(key: str) -> float:
    """The resident memory of this process in MB: VmRSS is the current value, VmHWM the peak since it was reset."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(key)) / 1024


def peak(call: Callable[[], Any]) -> float:
    """The peak memory of a second call in MB."""
    call()
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    call()
    return resident("VmHWM") - before
