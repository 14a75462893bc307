"""The results of a run: a row per cell in `results.jsonl`, and what the rows have in common in `environment.json`."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, Self, get_args

from xarrayops.bench.environment import RunEnvironment

Status = Literal[
    "ok",
    "not-installed",
    "no-device",
    "unsupported",
    "out-of-memory",
    "timeout",
    "crashed",
    "wrong-answer",
    "not-synchronised",
    "over-budget",
    "interrupted",
]
"""The status of a cell: "ok", or the code of the reason why it was not measured."""
STATUSES: tuple[Status, ...] = get_args(Status)
MEANINGS: dict[Status, str] = {
    "not-installed": "the library is not installed",
    "no-device": "the library has no device here",
    "unsupported": "the library does not support it",
    "out-of-memory": "the memory did not suffice",
    "timeout": "no answer within the time limit of a cell, --timeout",
    "crashed": "the process ended",
    "wrong-answer": "the answer differs from the oracle's",
    "not-synchronised": "the timer does not wait for the work of the library, so its times are not shown",
    "over-budget": "the time of the run ended before",
    "interrupted": "the run was interrupted before",
}
"""Why a cell with a status other than "ok" was not measured."""
ROWS, ENVIRONMENT = "results.jsonl", "environment.json"


@dataclass
class Row:
    """One cell. Times are in seconds, sizes in bytes, rates per second; None where not measured.

    Attributes
    ----------
    workload, group : str
        The names of the workload and of its group.
    size : int
        The n of the workload.
    shape : list of lists of int
        The shapes of the inputs; empty where none were made.
    device, device_kind, device_label : str
        The name that selects the device ("cuda:0"), its kind ("cuda"), and its product name.
    status, reason, fix : str
        "ok" or a reason code; the reason; what would fill the cell.
    median_s, low_s, high_s, confidence : float
        Steady time of a call with warm inputs: the median over the rounds, an interval, and the probability that the
        interval contains the true median.
    cold_s : float
        The time of a call with cold caches: the median over the first rounds of each process.
    first_call_s, transfer_s, import_s : float
        The first call, compilation included; the conversion of the inputs from NumPy, a median; the import of the
        library with its start-up, which is a tiny call on each device.
    throughput, throughput_unit : float, str
        The operations or bytes of the workload, divided by the median time.
    peak_bytes : int
        The memory that one call adds at its peak, on the host or on the accelerator.
    error, tolerance : float
        The largest error found and the largest error allowed, relative to the largest value of the float64 oracle.
    operations, nbytes : float
        The operations and bytes that the task needs at least.
    roof, roof_throughput, roof_fraction : str, float, float
        The limit that binds: "memory", "compute" or "launch" (the time of the library's smallest call); the throughput
        at that limit; the fraction of it that was reached, more than 1 where the roofline was measured too low.
    roof_doubt : str
        Why the roofline is not trusted; empty if it is. The time is valid in either case.
    note : str
        How the cell differs from a program with the default settings, such as JAX's 64-bit types switched on.
    medians_s : list of lists of float
        The median of each round, by process. The processes of a backend run one after the other. Empty for a process
        that did not measure the cell.
    calls : int
        The number of timed calls.
    versions : dict
        The versions of the library and of what it runs on.
    host : str
        The name of the machine in its network.
    machine : str
        CPU, cores, memory and operating system.
    load : float
        The load average of the minute before the run.
    fingerprint : str
        A digest of what the times depend on besides the cell: code, versions, machine and settings.
    key : str
        Identifies the cell across runs: a digest of the fingerprint and the cell.
    label, resolution : str, float
        The label of the machine and the resolution of its run, in results of several machines.
    """

    workload: str
    backend: str
    device: str
    dtype: str
    size: int
    group: str = ""
    shape: list[list[int]] = field(default_factory=list)
    status: Status = "over-budget"
    reason: str = ""
    fix: str = ""
    median_s: float | None = None
    low_s: float | None = None
    high_s: float | None = None
    confidence: float | None = None
    cold_s: float | None = None
    first_call_s: float | None = None
    transfer_s: float | None = None
    import_s: float | None = None
    throughput: float | None = None
    throughput_unit: str = ""
    peak_bytes: int | None = None
    error: float | None = None
    tolerance: float | None = None
    operations: float | None = None
    nbytes: float | None = None
    roof: str | None = None
    roof_throughput: float | None = None
    roof_fraction: float | None = None
    roof_doubt: str = ""
    note: str = ""
    medians_s: list[list[float]] = field(default_factory=list)
    calls: int = 0
    versions: dict[str, str] = field(default_factory=dict)
    device_kind: str = ""
    device_label: str = ""
    host: str = ""
    machine: str = ""
    load: float | None = None
    fingerprint: str = ""
    key: str = ""
    label: str = ""
    resolution: float | None = None

    @property
    def measured(self) -> bool:
        """Whether the row holds a time. It does only if the answer was checked."""
        return self.status == "ok"

    @property
    def rounds_s(self) -> list[float]:
        """The median of each round, of all processes."""
        return [seconds for process in self.medians_s for seconds in process]

    @property
    def best_s(self) -> float:
        """The shortest round: a disturbance makes a round longer, never shorter."""
        return min(self.rounds_s)

    def paired(self, other: Row) -> list[tuple[float, float]]:
        """The medians of the rounds that both have, paired by process and number."""
        processes = zip(self.medians_s, other.medians_s, strict=False)
        return [pair for process in processes for pair in zip(*process, strict=False)]

    def spread(self, time_of: Callable[[list[float]], float]) -> float | None:
        """The log ratio of the slowest and the fastest process, by a time of each; None with a single process."""
        times = [time_of(process) for process in self.medians_s if process]
        return math.log(max(times) / min(times)) if len(times) > 1 else None

    @property
    def place(self) -> str:
        """Backend and device; in a table of several machines, after the label of the machine."""
        return labelled(self.label, f"{self.backend} {self.device}".strip())


def labelled(label: str, name: str) -> str:
    """A name after the label of its machine, if it has one."""
    return f"{label}: {name}" if label else name


@dataclass
class Results:
    """The rows of a run and what they have in common."""

    rows: list[Row]
    environment: RunEnvironment

    @property
    def mode(self) -> str:
        """The engines or the measured choices of the run; empty if neither served."""
        if digest := self.environment.get("choices"):
            return f"measured choices {digest}"
        engines = self.environment.get("settings", {}).get("XARRAYOPS_ENGINES")
        return f"engines {engines}" if engines else ""

    def write(self, folder: Path) -> None:
        """Write both files. Each is replaced atomically, so that it is never incomplete."""
        folder.mkdir(exist_ok=True)
        _replace(folder / ROWS, "".join(json.dumps(asdict(row)) + "\n" for row in self.rows))
        _replace(folder / ENVIRONMENT, json.dumps(self.environment, indent=1) + "\n")

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read what `write` wrote.

        Raises
        ------
        ValueError
            The files are missing or were written by another version.
        """
        try:
            lines = (folder / ROWS).read_text(encoding="utf-8").splitlines()
            rows = [Row(**json.loads(line)) for line in lines]
            return cls(rows, json.loads((folder / ENVIRONMENT).read_text(encoding="utf-8")))
        except (OSError, TypeError, ValueError) as error:
            raise ValueError(f"{folder} has no results of this version: {error}") from None


def _replace(path: Path, text: str) -> None:
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)
