"""What rows say of a claim: a ratio with an interval, and a verdict, or the reason why there is none."""

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
"""Up to this factor from what is claimed, a claim holds: the published figures have two digits at best."""
BY_THE_WAY = 1 << 18
"""Bytes by which a process's resident memory may differ from what a call adds: it is counted in batches of pages."""

Rows = Mapping[tuple[str, str, str], Sequence[Row]]
"""By workload, backend and kind of device; smallest size first."""


class NotComparable(Exception):
    """There is no ratio, for the reason that the message tells."""


class Ratio(NamedTuple):
    """How many times more the baseline takes, within which bounds, and how sure the intervals behind these are."""

    found: float
    low: float | None
    high: float | None
    confidence: float | None = 1.0


@dataclass(frozen=True)
class Finding:
    """What was found of a claim in one place, as it stands in the file."""

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
    def told(self) -> str:
        """The finding in words."""
        if self.found is None:
            return f"claimed {self.claimed:g}"
        bounds = "" if self.low is None else f" ({ratio_text(self.low)} to {ratio_text(self.high)})"
        return f"found {ratio_text(self.found)}{bounds}, claimed {self.claimed:g}"


def ratio_text(ratio: float | None) -> str:
    """A ratio with three digits, or whole where it is large."""
    return "" if ratio is None else f"{ratio:.0f}" if ratio >= 99.95 else f"{ratio:#.3g}"


def zones(claimed: float) -> list[tuple[float, Verdict]]:
    """The verdicts from the smallest ratio to the largest, each with the border where it ends.

    A gain of less than a tenth is none, and then a claim of more does not hold; nor does one of equality where the
    contestant is slower by more than that.
    """
    near, beyond = claimed / NEAR, claimed * NEAR
    return [(min(NEAR, near), "does not hold"), (near, "weaker"), (beyond, "holds"), (math.inf, "stronger")]


def verdict(claimed: float, ratio: Ratio) -> tuple[Verdict, str]:
    """What the ratio says of the claim, and why it says nothing where its interval contains a border."""
    if ratio.low is None or ratio.high is None or ratio.confidence is None:
        return "undecided", "one round is too few for an interval: a longer --budget"
    if ratio.confidence < CONFIDENCE:
        return "undecided", f"from so few rounds the intervals are only {ratio.confidence:.0%} sure: a longer --budget"
    borders = zones(claimed)
    last = next(i for i, (end, _) in enumerate(borders) if ratio.high < end)
    first = next(i for i, (end, _) in enumerate(borders) if ratio.low <= end)
    if first != last:
        between = f"{borders[first][1]!r} and {borders[last][1]!r}"
        return "undecided", f"the interval reaches over a border: between {between}"
    return borders[first][1], ""


def judge(claim: Claim, backend: str, device: str, rows: Rows) -> Finding:
    """The finding on one kind of device of one library."""
    baselines = rows.get((claim.baseline, claim.against or backend, "cpu" if claim.against else device), ())
    contestants = rows.get((claim.contestant, backend, device), ())
    try:
        for row in (*baselines, *contestants):
            _demand_time(row)
        if not baselines or not contestants:
            raise NotComparable(f"{claim.needs}: there is no row of it")
        ratio, figures = _RATIOS[claim.quantity](baselines, contestants)
    except NotComparable as reason:
        return unmeasured(claim, str(reason), backend, device)
    told, why = verdict(claim.claimed, ratio)
    sizes = [row.size for row in contestants]
    blank = unmeasured(claim, why, backend, device)
    return replace(blank, verdict=told, sizes=sizes, figures=figures, **ratio._asdict())


def unmeasured(claim: Claim, reason: str, backend: str = "", device: str = "") -> Finding:
    """The finding where nothing was measured."""
    told = (claim.id, claim.words, vars(claim.source), claim.needs, claim.claimed, claim.quantity)
    return Finding(*told, backend, device, "cannot be measured here", reason)


def _demand_time(row: Row) -> None:
    """Raise where a row has no time."""
    if not row.measured:
        raise NotComparable(f"{row.workload} on {row.place}: {row.status}, {row.reason}. {row.fix}".strip())


def _of_times(baselines: Sequence[Row], contestants: Sequence[Row]) -> tuple[Ratio, dict[str, float]]:
    """The median of the ratios at the largest size, one for each round of each process, and an interval around it.

    What disturbs the machine for longer than a round disturbs both times of it, and their ratio less than either.
    """
    slow, fast = baselines[-1], contestants[-1]
    figures = {f"{role}_s": row.median_s or 0.0 for role, row in (("baseline", slow), ("contestant", fast))}
    return Ratio(*median_of_rounds([slow_s / fast_s for slow_s, fast_s in slow.paired(fast)])), figures


def _of_memory(baselines: Sequence[Row], contestants: Sequence[Row]) -> tuple[Ratio, dict[str, float]]:
    """The ratio of inputs and what a call adds to them."""
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
    """How much more the baseline's memory grows from the smallest size to the largest."""
    slow, fast = _growth(baselines), _growth(contestants)
    if slow.low is None or slow.high is None or fast.low is None or fast.high is None:
        raise NotComparable("so little memory that what a process takes by the way could be all of it: a larger --size")
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
    """What a call adds, at least, as measured, and at most."""
    if row.peak_bytes is None:
        needs = "it takes Linux, or an accelerator's library that reports it, and time (--budget)"
        raise NotComparable(f"{row.workload} on {row.place}: no peak of memory; {needs}")
    return max(0.0, row.peak_bytes - BY_THE_WAY), float(row.peak_bytes), float(row.peak_bytes + BY_THE_WAY)


def _input_bytes(row: Row) -> float:
    return float(sum(math.prod(shape) for shape in row.shape) * np.dtype(row.dtype).itemsize)


_RATIOS = {"time": _of_times, "memory": _of_memory, "memory growth": _of_growth}
