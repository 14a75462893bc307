"""The verdict for each backend, with its reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from xarrayops.plugin.arrays import Record
from xarrayops.port.findings import ALL, COSTS, NOTES, NUMPY_CODE, NUMPY_DTYPE, Finding
from xarrayops.port.trace.forecast import Forecast, shown

READY, UNKNOWN, SMALL_FIXES, REDESIGN, STAY = "ready", "unknown", "small fixes", "redesign", "stay on the CPU"
_MANY_VIEWS = 3
"""From this number of writes through views on, the verdict is "redesign"."""
_MOST_REASONS = 5


class Verdict(Record):
    """The advice on moving a program to a backend: one of the constants of this module, with reasons."""

    backend: str
    verdict: str
    reasons: tuple[str, ...]


def verdicts(findings: Sequence[Finding]) -> tuple[Verdict, ...]:
    """The verdicts from the source alone, in the order of `ALL`; guesses are at most small fixes."""
    return tuple(_verdict(backend, [f for f in findings if backend in f.backends]) for backend in ALL)


def _verdict(backend: str, found: list[Finding]) -> Verdict:
    findings = [finding for finding in found if finding.certain]
    guesses = [finding for finding in found if not finding.certain]
    only_here = [f for f in findings if NUMPY_DTYPE in f.what or NUMPY_CODE in f.what]
    loops = [f for f in findings if f.kind in ("loop", "scalar")]
    views = [f for f in findings if f.kind == "view"]
    fixes = [f for f in findings if f.kind not in (*COSTS, *NOTES)]
    if only_here:
        return Verdict(backend, STAY, _reasons(only_here))
    unknown = [f for f in guesses if f.kind == "unknown"]
    perhaps = (*(f"perhaps {reason}" for reason in _reasons([f for f in guesses if f not in unknown])),)
    if loops or len(views) >= _MANY_VIEWS:
        reasons = _reasons([*loops, *views, *(f for f in fixes if f not in views)])
        return Verdict(backend, REDESIGN, (*reasons, *perhaps, *_reasons(unknown)))
    if fixes or perhaps:
        return Verdict(backend, SMALL_FIXES, (*_reasons(fixes), *perhaps, *_reasons(unknown)))
    if unknown:
        return Verdict(backend, UNKNOWN, _reasons(unknown))
    return Verdict(backend, READY, _reasons(findings) or ("nothing differs by library",))


def with_forecasts(found: Sequence[Verdict], forecasts: Sequence[Forecast]) -> tuple[Verdict, ...]:
    """The verdicts with the forecast: a port does not pay on a library that is not faster than NumPy."""
    base = next((forecast for forecast in forecasts if forecast.backend == "numpy"), None)
    return tuple(_with_forecast(verdict, base, forecasts) for verdict in found)


def _with_forecast(verdict: Verdict, base: Forecast | None, forecasts: Sequence[Forecast]) -> Verdict:
    own = (forecast for forecast in forecasts if forecast.backend == verdict.backend)
    best = min(own, key=lambda forecast: forecast.seconds, default=None)
    if base is None or best is None:
        return verdict
    ratio = base.seconds / best.seconds if best.seconds else 1.0
    reason = f"on {best.device} {shown(best.seconds)}, {best.bound}: {_compared(ratio)}"
    pays = ratio > 1 or verdict.verdict == REDESIGN
    return Verdict(verdict.backend, verdict.verdict if pays else STAY, (reason, *verdict.reasons))


def _compared(ratio: float) -> str:
    """The time on NumPy divided by that on another library, in words."""
    if f"{ratio:.2g}" == "1":
        return "as fast as NumPy"
    return f"{ratio:.2g} times as fast as NumPy" if ratio > 1 else f"{1 / ratio:.2g} times the time of NumPy"


def _reasons(findings: Sequence[Finding]) -> tuple[str, ...]:
    """The kinds with their number and the first line of each."""
    counted = Counter(finding.kind for finding in findings)
    first = {finding.kind: finding.line for finding in reversed(findings)}
    most = counted.most_common(_MOST_REASONS)
    return tuple(f"{kind}: {count} (first in line {first[kind]})" for kind, count in most)
