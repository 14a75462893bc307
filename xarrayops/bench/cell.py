"""One cell inside a worker: prepare, transfer, check, time, check again; before the first, the library's start-up."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import xarrayops as xo
from xarrayops.bench import caches, memory
from xarrayops.bench.oracle import WrongAnswer, check
from xarrayops.bench.proof import NotSynchronised
from xarrayops.bench.results import Status
from xarrayops.bench.timing import finished, timed, timed_round
from xarrayops.bench.workloads._contract import MissingData, Workload
from xarrayops.plugin import Array

TRANSFERS = 5
"""How many conversions of the inputs stand behind a transfer time."""
_OUT_OF_MEMORY = ("out of memory", "resource_exhausted", "can't allocate memory", "cannot allocate memory")


class Place(NamedTuple):
    """A device of a backend: its name, and its kind ("cpu", "cuda", ...)."""

    backend: str
    device: str
    kind: str


class Cell:
    """A workload on one device of one library, at one dtype and size, ready to be timed.

    Making one converts the inputs and calls the function for the first time; ``first`` holds what that told, its times
    in seconds. The answer of that call has been checked.
    """

    def __init__(self, workload: Workload, place: Place, dtype: str, n: int) -> None:
        self.function, self.place, self.dtype = workload.function, place, dtype
        self.case = workload.case(dtype, n)
        transfer, moved = transferred(self.case.inputs, place.backend, place.device)
        self.inputs = workload.arrange(*moved)
        start = perf_counter()
        raw = self.function(*self.inputs)
        results = finished(raw)
        first_call = perf_counter() - start
        self.lazy = xo.is_lazy(raw[0] if isinstance(raw, tuple) else raw)
        self.error = check(self.case, results, dtype)
        del raw, results
        self.first: dict[str, Any] = {
            "transfer_s": transfer,
            "first_call_s": first_call,
            "operations": self.case.operations,
            "nbytes": self.case.nbytes,
            "tolerance": self.case.tolerance,
            "shape": [list(x.shape) for x in self.case.inputs],
        }

    def round(self, seconds: float) -> dict[str, Any]:
        """Timed calls for so many seconds, then one with cold caches.

        The result of the last of either kind is checked before any time is given away.
        """
        found = timed_round(self.function, self.inputs, seconds, lazy=self.lazy)
        hot = self._checked(found.results)
        caches.fill(*self.place)
        cold_s, results = timed(self.function, self.inputs)
        return {
            "median_s": statistics.median(found.samples),
            "calls": found.calls,
            "cold_s": cold_s,
            "error": max(hot, self._checked(results)),
        }

    def _checked(self, results: tuple[Any, ...]) -> float:
        return max(self.error, check(self.case, results, self.dtype))

    def peak_bytes(self) -> int | None:
        """The host memory that one call adds at its peak; nothing may be timed in this process afterwards."""
        return memory.peak_bytes(lambda: timed(self.function, self.inputs))


def transferred(arrays: tuple[Any, ...], backend: str, device: str) -> tuple[float, tuple[Array, ...]]:
    """Seconds in which NumPy's arrays reach a device, the median of `TRANSFERS` times, and what arrived last."""
    samples: list[float] = []
    moved: tuple[Array, ...] = ()
    for _ in range(TRANSFERS):
        moved = ()  # a device need not hold the inputs twice
        start = perf_counter()
        moved = tuple(xo.convert(x, backend, device=device) for x in arrays)
        xo.synchronize(*moved)
        samples.append(perf_counter() - start)
    return statistics.median(samples), moved


def warm_up(backend: str, device: str) -> None:
    """Let the library start on a device: contexts, threads and handles are no part of any workload's first call.

    The shape is none of a workload's, so what is compiled for one of them is still compiled in its first call.
    """
    _, (x,) = transferred((np.ones((3, 3), dtype="float32"),), backend, device)
    _, (total,) = timed(lambda x: xo.sum(xo.add(xo.matmul(x, x), x)), (x,))
    xo.convert(total, "numpy")


def guarded(action: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """What the action gives, with status "ok"; or the reason code, the reason and the fix for what it raised."""
    try:
        return {"status": "ok", **action()}
    except WrongAnswer as error:
        return _failure("wrong-answer", str(error), "The time of a wrong answer is not shown; report it as a bug.")
    except NotSynchronised as error:
        return _failure("not-synchronised", str(error), "Report it as a bug: times of this library are not shown.")
    except MissingData as error:
        return _failure("not-installed", str(error), error.fix)
    except (NotImplementedError, xo.XArrayOpsError) as error:
        reason, _, instead = str(error).partition("Instead: ")
        return _failure("unsupported", reason, instead or "Another --dtype, or another backend.")
    except Exception as error:
        text = _text(error)
        if is_out_of_memory(error):
            return _failure("out-of-memory", text, "A smaller --size, or a machine with more memory.")
        return _failure("crashed", f"raised {text}", "Report it as a bug, with the versions of this row.")


def is_out_of_memory(error: Exception) -> bool:
    """Whether a library says so, each in its own class of errors and in its own words."""
    return isinstance(error, MemoryError) or any(sign in _text(error).lower() for sign in _OUT_OF_MEMORY)


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _failure(status: Status, reason: str, fix: str) -> dict[str, Any]:
    return {"status": status, "reason": " ".join(reason.split()), "fix": fix}
