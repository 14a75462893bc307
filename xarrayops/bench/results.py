"""The rows: one per cell, as `results.jsonl` holds them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

Status = Literal[
    "ok",
    "not-installed",
    "no-device",
    "unsupported",
    "out-of-memory",
    "timeout",
    "crashed",
    "wrong-answer",
    "over-budget",
    "interrupted",
]
"""Whether a cell was measured, or the kind of reason why not."""
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass
class Row:
    """One cell. Times in seconds, sizes in bytes, rates per second; None where it was not measured.

    Attributes
    ----------
    device, device_kind, device_label : str
        The name that selects it ("cuda:0"), its kind ("cuda"), and what people call it.
    shape : list of lists of int
        The shapes of the inputs.
    status, reason, fix : str
        "ok", or a reason code, the reason in words, and what would fill the cell.
    median_s, low_s, high_s, confidence : float
        Steady time of a call over the rounds, the interval, and how likely it contains the true median.
    throughput, throughput_unit : float, str
        The workload's operations or bytes by the median time.
    peak_bytes : int
        Host memory that one call adds at its peak.
    error, tolerance : float
        The largest error seen, and the largest that passes, as parts of the largest value in the float64 oracle.
    roof, roof_throughput, roof_fraction : str, float, float
        What binds, "memory" or "compute"; the throughput that the device's roof allows; the part of it reached,
        which cannot be more than 1 where the roof is right.
    first_call_s, transfer_s, import_s : float
        The first call, compilation included; the conversion of the inputs from NumPy, the median of several; the
        import of the library with its start-up, a tiny call on each device.
    rounds, calls : int
        How many rounds, and timed calls in all, stand behind the median.
    versions : dict
        The library's version, and those of what it runs on.
    machine : str
        CPU, cores, memory and system.
    load : float
        How many programs wanted a CPU in the minute before the run.
    """

    workload: str
    backend: str
    device: str
    dtype: str
    shape: list[list[int]]
    status: Status = "over-budget"
    reason: str = ""
    fix: str = ""
    median_s: float | None = None
    low_s: float | None = None
    high_s: float | None = None
    confidence: float | None = None
    throughput: float | None = None
    throughput_unit: str = ""
    peak_bytes: int | None = None
    error: float | None = None
    tolerance: float | None = None
    roof: str | None = None
    roof_throughput: float | None = None
    roof_fraction: float | None = None
    first_call_s: float | None = None
    transfer_s: float | None = None
    import_s: float | None = None
    rounds: int = 0
    calls: int = 0
    versions: dict[str, str] = field(default_factory=dict)
    device_kind: str = ""
    device_label: str = ""
    machine: str = ""
    load: float | None = None

    @property
    def measured(self) -> bool:
        """Whether the row holds a time, which it does only for checked answers."""
        return self.status == "ok"


def write(rows: Iterable[Row], path: Path) -> None:
    """One JSON object per line. The file is replaced as a whole, so that it is never half written."""
    text = "".join(json.dumps(asdict(row)) + "\n" for row in rows)
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a results file as data."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
