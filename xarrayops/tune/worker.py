"""The worker process that measures calls: it reads descriptions from stdin and writes records to stdout, as lines."""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops._core.backends import registry
from xarrayops._ops.choices.calls import Description
from xarrayops._ops.choices.verdicts import CHECK, PROOF, Requirement, reaches
from xarrayops._system.process import die_with_parent, keep_stdout
from xarrayops.bench.measure.answers import guarded
from xarrayops.bench.measure.timing import READING_S, calls_per_reading, finished, timed
from xarrayops.bench.workloads import WORKLOADS
from xarrayops.tune.calls import calls_of, default_calls
from xarrayops.tune.candidates import Candidates, engines

ROUNDS, LONGER_S = 15, 5e-3
"""The rounds, and the shortest reading (a batch of calls) for the few candidates of later processes."""
LOOKUP_S = 1e-6
"""What the look-up of a choice adds to a call (`benchmarks/peers/choices.py` measures it)."""
HOPELESS = 3
"""A candidate that is not faster in any of so many first rounds gets no others."""
SIDE = 256
"""The rows and columns of the products between calls: libraries compute them in several threads."""
TOLERANCE = 1e-2
_PROCESS = uuid.uuid4().hex[:12]


def measured(description: Description, only: Sequence[str] | None = None, *, is_check: bool = False) -> dict[str, Any]:
    """The records for a call: the ratio of the default's time over that of each candidate, in each round.

    ``reaching`` has the candidates that show what this process requires. ``only`` has the names of the candidates; by
    default all are measured. In a check each call follows a matrix product by the library of the arrays, whose time
    counts.
    """
    found = Candidates(description)
    before = product_by(description["library"]) if is_check else None
    least = CHECK if is_check else PROOF
    default = _call(found.function, found, before)
    mark = {"check": True} if is_check else {}
    records, reaching, skipped = [], [], {}
    want = list(finished(default()))  # the first call may compile
    calls = calls_per_reading(default, (), READING_S if only is None else LONGER_S)
    for name in found.others if only is None else only:
        function = found.others[name]
        candidate = _call(function, found, before)
        try:
            got = list(finished(candidate()))
        except Exception as error:  # libraries raise various errors, and the default serves then
            skipped[name] = f"{type(error).__name__}: {error}"[:200]
            continue
        ratios = [round(ratio, 4) for ratio in _ratios(default, candidate, calls, least)]
        is_exact = None  # not known: to compare values takes longer than to measure most calls
        if reaches(least, ratios):
            if not _are_close(want, got):
                skipped[name] = "its values differ"
                continue
            is_exact = found.is_exact(name, want, got)
            reaching.append(name)
        names = {"call": description, "default": found.default, "candidate": name, "process": _PROCESS, **mark}
        records.append({**names, "ratios": ratios, "exact": is_exact, "date": f"{date.today()}"})
    return {"status": "ok", "records": records, "reaching": reaching, "skipped": skipped}


def listed(verbs: Sequence[str], libraries: Sequence[str]) -> dict[str, Any]:
    """The calls of the list of ``tune``, for the libraries that are installed."""
    return {"calls": default_calls([name for name in libraries if registry.status(name).available], verbs)}


def calls_of_workload(workload: str, libraries: Sequence[str]) -> dict[str, Any]:
    """The calls that a workload of the benchmark makes on arrays of some libraries, at its default sizes."""
    found = next(each for each in WORKLOADS if each.name == workload)
    calls = []
    with TemporaryDirectory() as folder:
        for dtype, n in product(found.dtypes, found.ladder("default")):
            given = found.case(dtype, n).inputs
            for library in libraries:
                log = Path(folder, f"{dtype} {n} {library}")
                with suppress(Exception), xo.choices(log):  # not every library can run every workload
                    finished(found.function(*found.arrange(*(xo.convert(x, library) for x in given))))
                calls += calls_of(log) if log.exists() else []
    return {"calls": calls}


def product_by(library: str) -> Callable[[], Any]:
    """A function that computes a matrix product by a library."""
    x = xo.convert(np.ones((SIDE, SIDE), np.float32), library)
    return lambda: list(finished(xo.matmul(x, x)))


def _call(
    function: Callable[..., Any], found: Candidates, before: Callable[[], Any] | None = None
) -> Callable[[], Any]:
    def call() -> Any:
        if before is not None:
            before()
        results = function(*found.args, **found.kwargs)  # some kernels of attention have no second one
        return tuple(x for x in results if x is not None) if type(results) is tuple else results

    return call


def _ratios(default: Callable[[], Any], candidate: Callable[[], Any], calls: int, least: Requirement) -> list[float]:
    """In each round one reading of each, in alternating order, after a call of each that does not count.

    The rounds end when the candidate cannot be proved any more.
    """
    found: list[float] = []
    most_below = ROUNDS - least.of_15
    timed(candidate, ())
    while len(found) < ROUNDS and sum(ratio < least.ratio for ratio in found) <= most_below:
        if len(found) == HOPELESS and max(found) < min(least.ratio, 1.0):
            break
        pair = (candidate, default) if len(found) % 2 else (default, candidate)
        first, second = (timed(function, (), calls)[0] for function in pair)
        slow, quick = (second, first) if len(found) % 2 else (first, second)
        found.append(slow / (quick + LOOKUP_S))
    return found


def _are_close(want: list[Any], got: list[Any]) -> bool:
    """Whether the results agree within a generous bound: it refuses wrong candidates, not other roundings."""
    for a, b in zip(want, got, strict=False):
        x, y = (np.asarray(xo.convert(each, "numpy")).astype("complex128") for each in (a, b))
        if x.shape != y.shape or a.dtype != b.dtype or type(a) is not type(b):
            return False
        finite = np.abs(x[np.isfinite(x)])
        scale = float(finite.max()) if finite.size else 0.0
        if not np.allclose(x, y, rtol=TOLERANCE, atol=TOLERANCE * min(scale, 1e300), equal_nan=True):
            return False
    return True


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    if "workload" in request:
        return calls_of_workload(**request)
    return listed(**request) if "verbs" in request else measured(**request)


def main() -> None:
    """Answer until stdin is closed."""
    die_with_parent()
    with keep_stdout() as answers:
        from xarrayops._core.backends import find

        engines(find.named("numpy"))  # imports all libraries
        print(json.dumps({"status": "ok"}), file=answers, flush=True)
        for line in sys.stdin:
            request = json.loads(line)
            with np.errstate(all="ignore"):
                found = guarded(lambda: _answer(request))  # noqa: B023 - called at once
            print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    main()
