"""What becomes of an exception in a worker: a reason code, the reason, and what would fill the cell."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import xarrayops as xo
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
"""The last is of cuBLAS, cuDNN and their like: CUBLAS_STATUS_ALLOC_FAILED."""
A_BUG = "Report it as a bug, with the versions of this row."


def guarded(action: Callable[[], Mapping[str, Any]], file: str = "") -> dict[str, Any]:
    """What the action gives, with status "ok"; or the reason code, the reason and the fix for what it raised.

    ``file`` is the user's file that the workload is from, where it is from one: it may be wrong itself.
    """
    name = Path(file).name
    try:
        return {"status": "ok", **action()}
    except WrongAnswer as error:
        mend = f"Look at the function, expected and tolerance in {name}." if file else A_BUG
        return _failure("wrong-answer", str(error), f"The time of a wrong answer is not shown. {mend}")
    except NotSynchronised as error:
        return _failure("not-synchronised", str(error), f"Times of this library are not shown. {A_BUG}")
    except MissingData as error:
        return _failure("not-installed", str(error), error.fix)
    except (NotImplementedError, xo.XArrayOpsError) as error:
        reason, _, instead = str(error).partition("Instead: ")
        call, _, fact = reason.partition("): ") if reason.startswith("xo.") else (reason, "", "")
        fact = fact or call  # the same for all shapes
        return _failure("unsupported", fact, instead or "Another --dtype, or another backend.")
    except Exception as error:
        if is_out_of_memory(error):
            return _failure("out-of-memory", _text(error), "A smaller --size, or a machine with more memory.")
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        place = f" (line {lines[-1]} of {name})" if lines else ""
        return _failure("crashed", f"raised {_text(error)}{place}", f"Mend {name}." if file else A_BUG)


def is_out_of_memory(error: Exception) -> bool:
    """Whether a library says so, each in its own class of errors and in its own words."""
    return isinstance(error, MemoryError) or any(sign in _text(error).lower() for sign in _OUT_OF_MEMORY)


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _failure(status: Status, reason: str, fix: str) -> dict[str, Any]:
    return {"status": status, "reason": " ".join(reason.split()), "fix": fix}
