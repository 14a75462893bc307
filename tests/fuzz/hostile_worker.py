"""A worker of the sparse fuzzer: ``python -m tests.fuzz.hostile_worker LIBRARY``, seeds on stdin."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.fuzz.hostile import ERROR, NATIVE, RESULT, draw
from xarrayops._system.process import keep_stdout
from xarrayops.errors import Unsupported, XArrayOpsError
from xarrayops.testing._suite.variant import Variant

CLEAR_ERRORS = (XArrayOpsError, ValueError, TypeError, IndexError, MemoryError, OverflowError)
"""The errors that a hostile call may raise, with a message."""
EXTRA_BYTES = 2 << 30
"""The memory that a worker may map after its start. Huge extents then raise MemoryError instead of swapping."""
Run = Callable[[Variant, int], tuple[str, str]]


def run(variant: Variant, seed: int) -> tuple[str, str]:
    """Make the call of a seed; return its outcome, and the finding or an empty string."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            drawn = draw(variant, seed)
        except XArrayOpsError as error:  # the library does not support an array of the call
            return type(error).__name__, ""
        wrong = ""
        try:
            got = drawn.call()
        except CLEAR_ERRORS as error:
            outcome = type(error).__name__
            if not str(error).strip():
                wrong = f"{outcome} without a message"
            elif drawn.expected == RESULT and not isinstance(error, (Unsupported, MemoryError)):
                wrong = f"a valid call raised {outcome}: {error}"
        except Exception as error:
            outcome = type(error).__name__
            if drawn.expected == NATIVE:
                return outcome, ""
            wrong = f"{type(error).__name__}: {error}"
        else:
            outcome, wrong = _checked(drawn.expected, drawn.check, got)
    return ("finding", f"{wrong[:300]} [{drawn.description[:400]}]") if wrong else (outcome, "")


def _checked(expected: str, check: Callable[[Any], None] | None, got: Any) -> tuple[str, str]:
    if check is None or expected == ERROR:
        return "unchecked result", "an invalid call returned a result" if expected == ERROR else ""
    try:
        check(got)
    except Exception as error:
        return "wrong result", f"{type(error).__name__}: {error}"
    return "correct result", ""


def serve(run: Run = run) -> None:
    """Read ranges of seeds from stdin, make their calls, and write one line of JSON for each outcome."""
    with keep_stdout() as answers:
        variant = Variant(sys.argv[-1])
        run(variant, 0)  # lazy imports happen before memory is limited
        _limit_memory()
        print(json.dumps({"status": "ready"}), file=answers, flush=True)
        for line in sys.stdin:
            first, last = json.loads(line)["seeds"]
            for seed in range(first, last):
                outcome, finding = run(variant, seed)
                print(json.dumps({"status": outcome, "reason": finding}), file=answers, flush=True)


def _limit_memory() -> None:
    import resource  # not available on Windows

    with open("/proc/self/statm", encoding="ascii") as pages:
        mapped = int(pages.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + EXTRA_BYTES, resource.RLIM_INFINITY))


if __name__ == "__main__":
    serve()
