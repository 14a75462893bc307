"""Shared by all probes: the libraries and their devices, and a JSON line for each case, written at once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.plugin import Device

GPU_LIBRARIES = ("torch", "cupy", "jax")
BAD = ("wrong", "failed")
"""The verdicts that fail a run: a wrong answer, and an error that is not a refusal."""


class Wrong(AssertionError):
    """A wrong answer."""


class Probe:
    """Writes one line for each case. ``bad`` counts the cases that fail the run."""

    def __init__(self, name: str) -> None:
        self.name, self.bad = name, 0

    def note(self, case: str, verdict: str, **found: Any) -> None:
        """Write the line of a case."""
        self.bad += verdict in BAD
        print(json.dumps({"probe": self.name, "case": case, "verdict": verdict, **found}, default=str), flush=True)

    def examine(self, case: str, function: Callable[[], dict[str, Any]], **more: Any) -> None:
        """Run a case. A result is written as "ok", an exception as "wrong", "refused" or "failed"."""
        try:
            found, verdict = function(), "ok"
        except Wrong as error:
            found, verdict = {"reason": str(error)}, "wrong"
        except xo.XArrayOpsError as error:
            found, verdict = {"reason": str(error)}, "refused"
        except Exception as error:
            found, verdict = {"reason": f"{type(error).__name__}: {error}"[:600]}, "failed"
        self.note(case, verdict, **more, **found)


def libraries(names: Iterable[str] = GPU_LIBRARIES) -> list[str]:
    """The available libraries that have a device."""
    here = {s.name: s for s in xo.backends() if s.available}
    return [name for name in names if name in here and here[name].backend.devices()]


def places(library: str) -> list[Device]:
    """The accelerators of a library, or its CPU if it has none, so that every probe runs on every machine."""
    devices = xo.backend(library).devices()
    return [d for d in devices if d.kind != "cpu"] or devices[:1]


def on(library: str, a: Any, place: Device | None = None) -> Any:
    """A copy of a NumPy array on a device, by default the first."""
    return xo.convert(a, library, device=(place or places(library)[0]).native, copy=True)


def accelerated(library: str) -> bool:
    """Whether the library's first device is an accelerator with its own memory."""
    return places(library)[0].kind != "cpu" and "standin" not in str(xo.backend(library).versions)


def seconds(function: Callable[[], Any], times: int = 3) -> float:
    """The shortest of several calls after a first one, including synchronisation."""
    found = []
    for _ in range(times + 1):
        start = time.perf_counter()
        xo.synchronize(function())
        found.append(time.perf_counter() - start)
    return min(found[1:])


def grid(shape: tuple[int, ...], seed: int = 0) -> Any:
    """Multiples of 1/4 in float32, which are exact in every dtype, so that all dtypes share one oracle."""
    return (np.random.default_rng(seed).integers(-8, 9, shape) / 4).astype("float32")
