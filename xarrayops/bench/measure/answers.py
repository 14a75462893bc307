"""The answer to a command: its results checked against the oracle, or the status, reason and fix for an exception.

The oracle is computed in float64.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops._system.process import REPORT_BUG, failure
from xarrayops._system.texts import counted
from xarrayops.bench.measure.timing import NotSynchronised
from xarrayops.bench.results import Status
from xarrayops.bench.workload import Case, MissingData

_OUT_OF_MEMORY = (
    "out of memory",
    "resource_exhausted",
    "can't allocate memory",
    "cannot allocate memory",
    "alloc_failed",
)
"""The last one occurs in messages of cuBLAS and cuDNN, such as CUBLAS_STATUS_ALLOC_FAILED."""


class WrongAnswer(Exception):
    """The results differ from the oracle by more than the tolerance."""


def check(case: Case, results: tuple[Any, ...], dtype: str) -> float:
    """The largest error among the results, each relative to the largest magnitude in its oracle.

    Floating-point results must have the measured dtype. Integer and boolean results may have any integer or boolean
    dtype and must be equal.

    Raises
    ------
    WrongAnswer
        A result has another shape or dtype, an error beyond the tolerance, or NaN where the oracle has none.
    """
    if len(results) != len(case.expected):
        raise WrongAnswer(f"{counted(len(results), 'result')} instead of {len(case.expected)}")
    worst = 0.0
    for result, expected in zip(results, case.expected, strict=True):
        got = xo.convert(result, "numpy")
        exact = expected.dtype.kind in "iub"
        fits = got.dtype.kind in "iub" if exact else got.dtype.name == dtype
        if got.shape != expected.shape or not fits:
            wanted = expected.dtype.name if exact else dtype
            raise WrongAnswer(
                f"shape {got.shape} and dtype {got.dtype.name} instead of shape {expected.shape} and dtype {wanted}"
            )
        error = relative_error(got, expected)
        tolerance = 0.0 if exact else case.tolerance
        if not error <= tolerance:
            raise WrongAnswer(f"relative error {error:.1e}, tolerance {tolerance:.1e} for {dtype}")
        worst = max(worst, error)
    return worst


def relative_error(got: Any, expected: Any) -> float:
    """``max |got - expected| / max |expected|``, in float64."""
    difference = np.subtract(got, expected, dtype=np.float64)
    largest = float(np.max(np.abs(expected, dtype=np.float64), initial=0.0))
    error = float(np.max(np.abs(difference), initial=0.0))
    return error / largest if largest else error


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
