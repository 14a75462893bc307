"""The record of a cell in the parent process: its events, and the row that follows from them."""

from __future__ import annotations

import hashlib
import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from xarrayops.bench.measure.roofline import Roofline, RooflineKey
from xarrayops.bench.measure.timing import median_of_rounds
from xarrayops.bench.results import Row

DOUBTFUL_FRACTION = 1.05
"""Beyond this fraction the roofline is not trusted. Smaller excesses are within the noise of both measurements."""

_RETRIED = ("timeout", "out-of-memory", "crashed", "interrupted")
"""The statuses that a resumed run measures again: more time or memory may have fixed them."""


@dataclass
class Record:
    """A workload on a device of a backend, at one dtype and size, with its measurements so far.

    ``device`` is empty where the backend is not available.
    """

    row: Row
    device: dict[str, Any]
    first: dict[str, Any] = field(default_factory=dict)
    medians: dict[int, list[float]] = field(default_factory=dict)
    cold: list[float] = field(default_factory=list)
    cost_s: float = 0.0

    @property
    def roofline_key(self) -> RooflineKey:
        """The key of the cell's roofline."""
        return self.device["kind"], self.device["index"], self.row.dtype

    @property
    def pending(self) -> bool:
        """Whether the cell can still be measured: its library is available, and nothing has failed."""
        return bool(self.device) and (self.row.measured or self.row.status == "over-budget")

    def rounds(self, process: int) -> int:
        """The number of rounds that a process has measured."""
        return len(self.medians.get(process, ()))

    def address(self) -> dict[str, Any]:
        """The part of a worker command that selects the cell."""
        row = self.row
        place = {"device": row.device, "kind": row.device_kind}
        return {"workload": row.workload, "dtype": row.dtype, "size": row.size, **place}

    def apply(self, event: dict[str, Any]) -> None:
        """Apply an answer of a worker, from this run or from the resumed one."""
        if event["status"] != "ok":
            self.fail(event)
        elif "peak_bytes" in event:
            self.row.peak_bytes = event["peak_bytes"]
        else:
            self.first = self.first or event["first"]
            self.medians.setdefault(event["process"], []).append(event["median_s"])
            self.cold += [event["cold_s"]] if "cold_s" in event else []
            self.row.calls += event["calls"]
            self.row.error = max(self.row.error or 0.0, event["error"])
            self.row.status, self.row.reason, self.row.fix = "ok", "", ""

    def fail(self, answer: dict[str, Any]) -> None:
        """Record a failure. Earlier times of the cell are removed."""
        self.first, self.medians, self.cold = {}, {}, []
        self.row.calls, self.row.error, self.row.peak_bytes = 0, None, None
        self.row.status, self.row.reason, self.row.fix = answer["status"], answer["reason"], answer["fix"]

    def filled(self, roofline: Roofline | None, launch_s: float | None) -> Row:
        """The row with statistics and the roofline fraction; unchanged for a cell that was not measured."""
        if not self.row.measured:
            return replace(self.row)
        first = self.first
        median, low, high, confidence = median_of_rounds([s for each in self.medians.values() for s in each])
        amount = first["operations"] if self.row.throughput_unit == "FLOP/s" else first["nbytes"]
        row = replace(
            self.row,
            median_s=median,
            low_s=low,
            high_s=high,
            confidence=confidence,
            cold_s=statistics.median(self.cold),
            throughput=amount / median,
            medians_s=[list(self.medians.get(process, ())) for process in range(1 + max(self.medians))],
            **first,
        )
        if roofline is None or launch_s is None:
            return row  # the binding limit is unknown
        bounds = {
            "memory": first["nbytes"] / roofline.memory_rate(first["nbytes"]),
            "compute": first["operations"] / roofline.compute,
            "launch": launch_s,
        }
        roof = max(bounds, key=lambda name: bounds[name])
        fraction = bounds[roof] / median
        is_doubtful = roof != "launch" and fraction > DOUBTFUL_FRACTION
        doubt = f"the cell reached {fraction:.0%} of the measured {roof} limit" if is_doubtful else ""
        return replace(row, roof=roof, roof_throughput=amount / bounds[roof], roof_fraction=fraction, roof_doubt=doubt)


def resume(records: Iterable[Record], events: Iterable[dict[str, Any]]) -> None:
    """Apply the events of the earlier run to the records of their cells."""
    known = {record.row.key: record for record in records if record.device}
    for event in events:
        if event.get("cell") in known and event["status"] not in _RETRIED:
            known[event["cell"]].apply(event)


def short_digest(parts: Sequence[Any]) -> str:
    """A short digest of plain data."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]
