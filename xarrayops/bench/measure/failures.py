"""Turns an exception in a worker into a status code, a reason and a fix."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import xarrayops as xo
from xarrayops._system.process import REPORT_BUG, failure
from xarrayops.bench.measure.oracle import WrongAnswer
from xarrayops.bench.measure.sync_check import NotSynchronised
from xarrayops.bench.results import Status
from xarrayops.bench.workload import MissingData

_OUT_OF_MEMORY = (
    "out of memory",
    "resource_exhausted",
    "can't allocate memory",
    "cannot allocate memory",
    "alloc_failed",
)
"""The last one occurs in messages of cuBLAS and cuDNN, such as CUBLAS_STATUS_ALLOC_FAILED."""


def guarded(action: Callable[[], Mapping[str, Any]], file: str = "") -> dict[str, Any]:
    """The result of the action with status "ok"; or the status, reason and fix for the exception that it raised.

    ``file`` is the user's file that defines the workload; empty for built-in workloads.
    """
    name = Path(file).name
    try:
        return {"status": "ok", **action()}
    except WrongAnswer as error:
        fix = f"Check the function, expected and tolerance in {name}." if file else REPORT_BUG
        return _failure("wrong-answer", str(error), f"The time of a wrong answer is not shown. {fix}")
    except NotSynchronised as error:
        return _failure("not-synchronised", str(error), f"Times of this library are not shown. {REPORT_BUG}")
    except MissingData as error:
        return _failure("not-installed", error.reason, error.fix)
    except (NotImplementedError, xo.XArrayOpsError) as error:
        reason, _, instead = str(error).partition("Instead: ")
        call, _, fact = reason.partition("): ") if reason.startswith("xo.") else (reason, "", "")
        fact = fact or call  # without the call, so that it is the same for all shapes
        return _failure("unsupported", fact, instead or "Use another --dtype or another backend.")
    except Exception as error:
        if is_out_of_memory(error):
            return _failure("out-of-memory", _text(error), "Use a smaller --size or a machine with more memory.")
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        line = f" (line {lines[-1]} of {name})" if lines else ""
        return _failure("crashed", f"raised {_text(error)}{line}", f"Fix {name}." if file else REPORT_BUG)


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error means out of memory. Every library has its own exception class and message."""
    return isinstance(error, MemoryError) or any(sign in _text(error).lower() for sign in _OUT_OF_MEMORY)


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _failure(status: Status, reason: str, fix: str) -> dict[str, Any]:
    return failure(status, " ".join(reason.split()), fix)
