"""The evaluation of a claim: a ratio with an interval and a verdict, or the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from xarrayops.bench.measure.timing import CONFIDENCE, median_of_rounds
from xarrayops.bench.results import Row

if TYPE_CHECKING:
    from catalogue import Claim

Verdict = Literal["holds", "weaker", "stronger", "does not hold", "undecided", "cannot be measured here"]
NEAR = 1.1
"""A claim holds up to this factor from the claimed value. Published figures have two digits at best."""
MEMORY_NOISE = 1 << 18
"""The uncertainty of a memory measurement in bytes: the system counts resident pages in batches."""

Rows = Mapping[tuple[str, str, str], Sequence[Row]]
"""The rows by workload, backend and kind of device, smallest size first."""


class NotComparable(Exception):
    """There is no ratio; the message gives the reason."""


class Ratio(NamedTuple):
    """The ratio of baseline to contestant, its interval, and the confidence of the interval."""

    found: float
    low: float | None
    high: float | None
    confidence: float | None = 1.0


@dataclass(frozen=True)
class Finding:
    """The finding on a claim for one backend and device, as in the results file."""

    id: str
    claim: str
    source: dict[str, object]
    needs: str
    claimed: float
    quantity: str
    backend: str
    device: str
    verdict: Verdict
    reason: str
    sizes: list[int] = field(default_factory=list)
    found: float | None = None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    figures: dict[str, float] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """The finding as text."""
        if self.found is None:
            return f"claimed {self.claimed:g}"
        bounds = "" if self.low is None else f" ({ratio_text(self.low)} to {ratio_text(self.high)})"
        return f"found {ratio_text(self.found)}{bounds}, claimed {self.claimed:g}"


def ratio_text(ratio: float | None) -> str:
    """A ratio with three digits; large ratios as integers."""
    return "" if ratio is None else f"{ratio:.0f}" if ratio >= 99.95 else f"{ratio:#.3g}"


def zones(claimed: float) -> list[tuple[float, Verdict]]:
    """The verdicts from the smallest ratio to the largest, each with its upper limit.

    A gain of less than a tenth counts as none, so that a claim of a gain does not hold. A claim of equality does not
    hold if the contestant is slower by more than a tenth.
    """
    near, beyond = claimed / NEAR, claimed * NEAR
    return [(min(NEAR, near), "does not hold"), (near, "weaker"), (beyond, "holds"), (math.inf, "stronger")]


def verdict(claimed: float, ratio: Ratio) -> tuple[Verdict, str]:
    """The verdict on a claim, and the reason where it is undecided."""
    if ratio.low is None or ratio.high is None or ratio.confidence is None:
        return "undecided", "one round gives no interval; use a longer --budget"
    if ratio.confidence < CONFIDENCE:
        return "undecided", f"too few rounds ({ratio.confidence:.0%} confidence); use a longer --budget"
    limits = zones(claimed)
    last = next(i for i, (end, _) in enumerate(limits) if ratio.high < end)
    first = next(i for i, (end, _) in enumerate(limits) if ratio.low <= end)
    if first != last:
        between = f"{limits[first][1]!r} and {limits[last][1]!r}"
        return "undecided", f"the interval crosses a limit: between {between}"
    return limits[first][1], ""


def judge(claim: Claim, backend: str, device: str, rows: Rows) -> Finding:
    """The finding on one kind of device of one library."""
    baselines = rows.get((claim.baseline, claim.against or backend, "cpu" if claim.against else device), ())
    contestants = rows.get((claim.contestant, backend, device), ())
    try:
        for row in (*baselines, *contestants):
            _require_time(row)
        if not baselines or not contestants:
            raise NotComparable(f"no results for {claim.needs}")
        ratio, figures = _RATIOS[claim.quantity](baselines, contestants)
    except NotComparable as reason:
        return unmeasured(claim, str(reason), backend, device)
    found, reason = verdict(claim.claimed, ratio)
    sizes = [row.size for row in contestants]
    blank = unmeasured(claim, reason, backend, device)
    return replace(blank, verdict=found, sizes=sizes, figures=figures, **ratio._asdict())


def unmeasured(claim: Claim, reason: str, backend: str = "", device: str = "") -> Finding:
    """The finding for a claim that was not measured."""
    known = (claim.id, claim.words, vars(claim.source), claim.needs, claim.claimed, claim.quantity)
    return Finding(*known, backend, device, "cannot be measured here", reason)


def _require_time(row: Row) -> None:
    """Raise `NotComparable` if the row has no time."""
    if not row.measured:
        raise NotComparable(f"{row.workload} on {row.place}: {row.status}, {row.reason}. {row.fix}".strip())


def _of_times(baselines: Sequence[Row], contestants: Sequence[Row]) -> tuple[Ratio, dict[str, float]]:
    """The median ratio of paired rounds at the largest size, and its interval.

    A disturbance that is longer than a round affects both times of a pair, and their ratio less than either.
    """
    slow, fast = baselines[-1], contestants[-1]
    figures = {f"{role}_s": row.median_s or 0.0 for role, row in (("baseline", slow), ("contestant", fast))}
    return Ratio(*median_of_rounds([slow_s / fast_s for slow_s, fast_s in slow.paired(fast)])), figures


def _of_memory(baselines: Sequence[Row], contestants: Sequence[Row]) -> tuple[Ratio, dict[str, float]]:
    """The ratio of the memory of inputs and call."""
    slow, fast = baselines[-1], contestants[-1]
    slow_inputs, fast_inputs = _input_bytes(slow), _input_bytes(fast)
    slow_least, slow_peak, slow_most = _peak(slow)
    fast_least, fast_peak, fast_most = _peak(fast)
    ratio = Ratio(
        (slow_inputs + slow_peak) / (fast_inputs + fast_peak),
        (slow_inputs + slow_least) / (fast_inputs + fast_most),
        (slow_inputs + slow_most) / (fast_inputs + fast_least),
    )
    return ratio, {"inputs_bytes": slow_inputs, "baseline_added_bytes": slow_peak, "contestant_added_bytes": fast_peak}


def _of_growth(baselines: Sequence[Row], contestants: Sequence[Row]) -> tuple[Ratio, dict[str, float]]:
    """The ratio of the growth of memory from the smallest size to the largest."""
    slow, fast = _growth(baselines), _growth(contestants)
    if slow.low is None or slow.high is None or fast.low is None or fast.high is None:
        raise NotComparable("the memory is not larger than the measurement noise; use a larger --size")
    ratio = Ratio(slow.found / fast.found, slow.low / fast.high, slow.high / fast.low)
    figures = {
        f"{role}_added_bytes_at_{row.size}": _peak(row)[1]
        for role, rows in (("baseline", baselines), ("contestant", contestants))
        for row in rows
    }
    return ratio, figures


def _growth(rows: Sequence[Row]) -> Ratio:
    small, large = _peak(rows[0]), _peak(rows[-1])
    if not small[0] or not large[0]:
        return Ratio(math.nan, None, None)
    return Ratio(large[1] / small[1], large[0] / small[2], large[2] / small[0])


def _peak(row: Row) -> tuple[float, float, float]:
    """The lower bound, the measured value and the upper bound of the memory that a call adds."""
    if row.peak_bytes is None:
        needs = "this needs Linux, or an accelerator library that reports it, and enough --budget"
        raise NotComparable(f"{row.workload} on {row.place}: no peak memory; {needs}")
    return max(0.0, row.peak_bytes - MEMORY_NOISE), float(row.peak_bytes), float(row.peak_bytes + MEMORY_NOISE)


def _input_bytes(row: Row) -> float:
    return float(sum(math.prod(shape) for shape in row.shape) * np.dtype(row.dtype).itemsize)


_RATIOS = {"time": _of_times, "memory": _of_memory, "memory growth": _of_growth}
