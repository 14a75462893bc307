"""What a run leaves behind: a row per cell in `results.jsonl`, and what they have in common in `environment.json`."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Self, get_args

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
"""Whether a cell was measured, or the kind of reason why not."""
STATUSES: tuple[Status, ...] = get_args(Status)
ROWS, ENVIRONMENT = "results.jsonl", "environment.json"


@dataclass
class Row:
    """One cell. Times in seconds, sizes in bytes, rates per second; None where it was not measured.

    Attributes
    ----------
    workload, group : str
        The workload's name, and what it shares with its kin.
    size : int
        What the workload calls n.
    shape : list of lists of int
        The shapes of the inputs; empty where none were made.
    device, device_kind, device_label : str
        The name that selects it ("cuda:0"), its kind ("cuda"), and what people call it.
    status, reason, fix : str
        "ok", or a reason code, the reason in words, and what would fill the cell.
    median_s, low_s, high_s, confidence : float
        Steady time of a call with its inputs as warm as the call before left them: the median over the rounds, an
        interval, and how likely it contains the true median.
    cold_s : float
        The same after the caches were filled with other data, the median over the first rounds of each process.
    first_call_s, transfer_s, import_s : float
        The first call, compilation included; the conversion of the inputs from NumPy, the median of several; the
        import of the library with its start-up, a tiny call on each device.
    throughput, throughput_unit : float, str
        The workload's operations or bytes by the median time.
    peak_bytes : int
        Memory that one call adds at its peak: of the host, or of the accelerator that it runs on.
    error, tolerance : float
        The largest error seen, and the largest that passes, as parts of the largest value in the float64 oracle.
    operations, nbytes : float
        What the task needs at least.
    roof, roof_throughput, roof_fraction : str, float, float
        What binds, "memory", "compute" or "launch" (the time of the library's smallest call); the throughput that it
        allows; the part of it reached, which is more than 1 where the probes of the roof found too little.
    roof_doubt : str
        Why the roof is not trusted; empty if nothing speaks against it. The time is valid all the same.
    medians_s : list of lists of float
        The median of each round, by process: every backend is measured in processes started one after the other. Empty
        where a process did not measure it.
    calls : int
        How many timed calls stand behind the median.
    versions : dict
        The library's version, and those of what it runs on.
    machine : str
        CPU, cores, memory and system.
    load : float
        How many programs wanted a CPU in the minute before the run.
    key : str
        Tells whether a cell of an earlier run is this one: code, versions, machine and settings go into it.
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
    medians_s: list[list[float]] = field(default_factory=list)
    calls: int = 0
    versions: dict[str, str] = field(default_factory=dict)
    device_kind: str = ""
    device_label: str = ""
    machine: str = ""
    load: float | None = None
    key: str = ""

    @property
    def measured(self) -> bool:
        """Whether the row holds a time, which it does only for checked answers."""
        return self.status == "ok"

    @property
    def rounds_s(self) -> list[float]:
        """The median of each round, of all processes."""
        return [seconds for process in self.medians_s for seconds in process]

    @property
    def best_s(self) -> float:
        """The best round: what disturbs a round makes it longer, never shorter."""
        return min(self.rounds_s)

    def paired(self, other: Row) -> list[tuple[float, float]]:
        """The medians of the rounds that both have: the first of the first process of either, and so on."""
        processes = zip(self.medians_s, other.medians_s, strict=False)
        return [pair for process in processes for pair in zip(*process, strict=False)]

    @property
    def place(self) -> str:
        """Backend and device."""
        return f"{self.backend} {self.device}".strip()


@dataclass
class Results:
    """The rows of a run and what they have in common.

    ``environment`` is plain data: "command", "date" (UTC), "seconds" (how long the run, or its last part if it was
    resumed, took), "machine" (facts by name), "gpus" (facts of each NVIDIA GPU, by nvidia-smi) and "gpu_states"
    (clocks, power and temperature of each, and "when"), "size" and "size_asked" (how large the inputs are, and what was
    asked for: nothing if it is ""), "load" (before the run), "others" (the part of the CPUs that other programs had;
    None where nobody tells), "settings" (environment variables), "switches" (by backend, the global settings that
    decide on the precision of products), "pools" (thread pools and BLAS kernels by backend, as threadpoolctl tells
    them), "versions" and "devices" (by backend), "roofs" (by device and dtype: rates and who reached them), "launch_s"
    (the smallest call by place), "resolution" (the spread of the same work measured twice, as a part: differences below
    it are ties; None where it is not known), "workloads" (by name: "timed", "code" and its "digest"), "python" and
    "xarrayops" (their versions), "turns" (the "side" that this environment was in a run by turns, and of each side what
    starts its Python, "pythons", and where its xarrayops is, "packages"; None in other runs) and, if the run was cut
    short, "interrupted".
    """

    rows: list[Row]
    environment: dict[str, Any]

    def write(self, folder: Path) -> None:
        """Each file is replaced as a whole, so that it is never half written."""
        folder.mkdir(exist_ok=True)
        _replace(folder / ROWS, "".join(json.dumps(asdict(row)) + "\n" for row in self.rows))
        _replace(folder / ENVIRONMENT, json.dumps(self.environment, indent=1) + "\n")

    @classmethod
    def read(cls, folder: Path) -> Self:
        """What `write` left.

        Raises
        ------
        ValueError
            There are no such files, or they are none of this version's; the message says which and why.
        """
        try:
            lines = (folder / ROWS).read_text(encoding="utf-8").splitlines()
            rows = [Row(**json.loads(line)) for line in lines]
            return cls(rows, json.loads((folder / ENVIRONMENT).read_text(encoding="utf-8")))
        except (OSError, TypeError, ValueError) as error:
            raise ValueError(f"{folder} holds no results of this version: {error}") from None


def _replace(path: Path, text: str) -> None:
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)
