"""What the parent knows of a cell: what its events tell, and the row that they make."""

from __future__ import annotations

import hashlib
import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from xarrayops.bench.measure.roofline import Roofs
from xarrayops.bench.measure.timing import median_of_rounds
from xarrayops.bench.results import Row
from xarrayops.bench.run.rooflines import RoofPlace

BEYOND = 1.05
"""From what part of a roof on the roof is not trusted: the probe of a roof and a time differ by chance, too."""


@dataclass
class Record:
    """A workload on a device of a backend, at one dtype and size, with what is known of it so far.

    ``device`` is empty where the backend is not here.
    """

    row: Row
    device: dict[str, Any]
    first: dict[str, Any] = field(default_factory=dict)
    medians: dict[int, list[float]] = field(default_factory=dict)
    cold: list[float] = field(default_factory=list)
    cost_s: float = 0.0

    @property
    def roof_place(self) -> RoofPlace:
        """Which roofs are the cell's."""
        return self.device["kind"], self.device["index"], self.row.dtype

    @property
    def pending(self) -> bool:
        """Whether it can still be measured: its library is here, and nothing has failed."""
        return bool(self.device) and (self.row.measured or self.row.status == "over-budget")

    def rounds(self, process: int) -> int:
        """How many rounds a process has measured."""
        return len(self.medians.get(process, ()))

    def address(self) -> dict[str, Any]:
        """How a worker is told which cell is meant."""
        row = self.row
        place = {"device": row.device, "kind": row.device_kind}
        return {"workload": row.workload, "dtype": row.dtype, "size": row.size, **place}

    def apply(self, event: dict[str, Any]) -> None:
        """Take in what a worker answered, now or in the run that is resumed."""
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
        """A cell without an answer shows no time, not even one from before."""
        self.first, self.medians, self.cold = {}, {}, []
        self.row.calls, self.row.error, self.row.peak_bytes = 0, None, None
        self.row.status, self.row.reason, self.row.fix = answer["status"], answer["reason"], answer["fix"]

    def filled(self, roofs: Roofs | None, launch_s: float | None) -> Row:
        """The row with what rounds and roofs allow to say; of a cell that was not measured, as it is."""
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
        if roofs is None or launch_s is None:
            return row  # which of them binds cannot be told
        bounds = {
            "memory": first["nbytes"] / roofs.memory_rate(first["nbytes"]),
            "compute": first["operations"] / roofs.compute,
            "launch": launch_s,
        }
        roof = max(bounds, key=lambda name: bounds[name])
        fraction = bounds[roof] / median
        beyond = roof != "launch" and fraction > BEYOND
        doubt = f"{fraction:.0%} of the {roof} roof that was probed" if beyond else ""
        return replace(row, roof=roof, roof_throughput=amount / bounds[roof], roof_fraction=fraction, roof_doubt=doubt)


def key(parts: Sequence[Any]) -> str:
    """A short name for plain data, the same for the same data."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]
