"""What the rows of a run have in common, as `environment.json` holds it."""

from __future__ import annotations

from typing import Any, TypedDict


class InterleavedRun(TypedDict):
    """Which environment of an interleaved run the results belong to.

    ``index`` is its position in the two lists: the Python executables, and the folders of their xarrayops.
    """

    index: int
    pythons: list[str]
    packages: list[str]


class TableOfMachines(TypedDict):
    """Facts of several machines: the labels of the machines, and lines of text."""

    columns: list[str]
    lines: list[tuple[str, ...]]


class RunEnvironment(TypedDict, total=False):
    """What the rows of a run have in common, as `environment.json` holds it.

    Attributes
    ----------
    command, date, seconds
        The command line, the start (UTC), and the duration of the run or of its resumed part.
    interrupted
        True if the run was interrupted.
    interleaved
        For interleaved runs only.
    python, xarrayops
        Their versions.
    machine, gpus, gpu_states
        Facts of the machine; facts of each NVIDIA GPU; clocks, power and temperature of each GPU during the run.
    machines
        For results of several machines only: a table of facts, with a column for each machine.
    prices
        For results of several machines only: by label, the price of an hour.
    warnings
        For results of several machines only: the warnings of each run.
    size, size_asked
        The size of the inputs, and the size that was requested ("" if none was).
    load, others
        The load average before the run, and the share of CPU time that other programs used during the run.
    settings, switches, versions, devices, pools
        Environment variables; and by backend: the global precision settings, the versions, the devices, and the thread
        pools and BLAS kernels as threadpoolctl reports them.
    choices
        The digest of the measured choices that served, where ``XARRAYOPS_MEASURED`` is set; otherwise empty.
    roofs, launch_s
        The measured rooflines by device and dtype; the time of the smallest call by backend and device.
    operations
        By backend and device, the times of each kind of operation by size, the time to take a number out of an array,
        and the rate of transfers. `xarrayops.port` forecasts with them. Empty unless the run was one with ``--all``.
    resolution
        The relative difference of the same work measured twice. Smaller differences are ties. None if unknown.
    workloads
        By workload, what is timed: a description, the source code, and a digest that changes with the code.
    """

    command: str
    date: str
    seconds: float
    interrupted: bool
    interleaved: InterleavedRun | None
    python: str
    xarrayops: str
    machine: dict[str, Any]
    warnings: list[str]
    machines: TableOfMachines
    prices: dict[str, float]
    gpus: list[dict[str, Any]]
    gpu_states: list[dict[str, Any]]
    size: str
    size_asked: str
    load: float | None
    others: float | None
    settings: dict[str, str]
    choices: str
    switches: dict[str, Any]
    versions: dict[str, dict[str, str]]
    devices: dict[str, list[dict[str, Any]]]
    pools: dict[str, list[dict[str, Any]]]
    roofs: list[dict[str, Any]]
    launch_s: dict[str, float]
    operations: list[dict[str, Any]]
    resolution: float | None
    workloads: dict[str, dict[str, str]]
