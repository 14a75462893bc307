"""In a worker of the sparse fuzzer: ``python -m xarrayops.testing._sparse_fuzz_worker LIBRARY``, seeds on stdin."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from xarrayops._system.process import keep_stdout
from xarrayops.errors import Unsupported, XArrayOpsError
from xarrayops.testing._sparse_hostile import NATIVE, RIGHT, WRONG, draw
from xarrayops.testing._variant import Variant

CLEAR = (XArrayOpsError, ValueError, TypeError, MemoryError, OverflowError)
"""The errors that a hostile call may raise, with a message."""
SPARE_BYTES = 2 << 30
"""What a worker may map beyond what it has when it begins: huge extents end in MemoryError, not in swapping."""
Run = Callable[[Variant, int], tuple[str, str]]


def run(variant: Variant, seed: int) -> tuple[str, str]:
    """Make the call of a seed: its outcome, and what is wrong about it, if anything is."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            drawn = draw(variant, seed)
        except XArrayOpsError as error:  # the library refuses an array of the call by itself
            return type(error).__name__, ""
        wrong = ""
        try:
            got = drawn.call()
        except CLEAR as error:
            outcome = type(error).__name__
            if not str(error).strip():
                wrong = f"{outcome} without a message"
            elif drawn.due == RIGHT and not isinstance(error, (Unsupported, MemoryError)):
                wrong = f"what is legal was refused: {outcome}: {error}"
        except Exception as error:
            outcome = type(error).__name__
            if drawn.due == NATIVE:
                return outcome, ""
            wrong = f"{type(error).__name__}: {error}"
        else:
            outcome, wrong = _checked(drawn.due, drawn.check, got)
    return ("finding", f"{wrong[:300]} [{drawn.words[:400]}]") if wrong else (outcome, "")


def _checked(due: str, check: Callable[[Any], None] | None, got: Any) -> tuple[str, str]:
    if check is None or due == WRONG:
        return "unchecked answer", "an answer to what is malformed" if due == WRONG else ""
    try:
        check(got)
    except Exception as error:
        return "wrong answer", f"{type(error).__name__}: {error}"
    return "right answer", ""


def serve(run: Run = run) -> None:
    """In a worker: make the calls of the seeds that come in, a line of outcome for each."""
    with keep_stdout() as answers:
        variant = Variant(sys.argv[-1])
        run(variant, 0)  # what is loaded on first need is loaded before memory is limited
        _limit_memory()
        print(json.dumps({"status": "ready"}), file=answers, flush=True)
        for line in sys.stdin:
            first, last = json.loads(line)["seeds"]
            for seed in range(first, last):
                outcome, finding = run(variant, seed)
                print(json.dumps({"status": outcome, "reason": finding}), file=answers, flush=True)


def _limit_memory() -> None:
    import resource  # not there on Windows

    with open("/proc/self/statm", encoding="ascii") as pages:
        mapped = int(pages.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + SPARE_BYTES, resource.RLIM_INFINITY))


if __name__ == "__main__":
    serve()
