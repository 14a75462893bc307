"""The content of all reports: the ranking, the matrix, the tables, the empty cells, and the warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from xarrayops._cli.doctor import device_text
from xarrayops._system import evidence, texts
from xarrayops.bench.compare import break_even
from xarrayops.bench.compare.ranking import CLEARLY_SLOWER, QUANTILE, fastest
from xarrayops.bench.environment import RunEnvironment
from xarrayops.bench.measure.cell import TRANSFERS
from xarrayops.bench.place import MAX_CACHE_BYTES, METHOD
from xarrayops.bench.report.formatting import bytes_text, rate_text, seconds_text, shapes_text
from xarrayops.bench.results import Results, Row, labelled
from xarrayops.bench.run.plan import AUTO, LARGE, NO_ACCELERATORS, PROCESSES

COLUMNS = (
    *("backend", "device", "time", "interval", "throughput", "of roofline", "cold", "first call", "transfer"),
    *("wins after", "peak memory", "error", ""),
)
NOTED = " †"
"""After the time of a cell that has a note."""
NO_INTERVAL = "1 round"
"""The entry under "interval" for a cell with a single round."""
INTERRUPTED = "The run was interrupted."
BUSY_LOAD, CONTENTION, COARSE_RESOLUTION = 0.5, 0.1, 0.5
"""Limits for warnings: load per CPU before the run, share of CPU time of other programs during the run, resolution."""
MISSING_COLUMNS = ("backend", "workloads", "status", "reason", "fix")
NOTES = (
    "time: median of a call over interleaved rounds. Workloads and backends alternate in random order. Each answer is "
    f"checked against a float64 oracle before and after timing. {PROCESSES} processes measure each backend, one after "
    "the other. Functions run one by one, not compiled (no jax.jit, no torch.compile).",
    "interval: contains the true median of these processes with the confidence given in results.jsonl, at least 95 % "
    f"from six rounds on. It needs two rounds; {NO_INTERVAL!r} means that the budget allowed only one. The difference "
    "between processes is part of the resolution, not of the interval.",
    f"resolution: {QUANTILE:.0%} of the cells differ by less than this between two processes of the same library. A "
    "cell ties with the fastest if its time is within the resolution, or if the sign test over its rounds does not "
    f"exclude a tie (95 %) and its best round takes less than {CLEARLY_SLOWER:g} times as long.",
    "regret: the geometric mean, over the rows that a library was measured in, of its time over the time of the "
    "fastest. A tie counts as 1.00. Rows with a single library are not counted.",
    "of roofline: fraction of the limit of this device. The limits are the fastest memory copy (of the same size) and "
    "the fastest matrix product that any library reached here with a checked answer, and the library's own smallest "
    "call. The word names the limit that binds: memory, compute or launch. The roofline is not trusted where a cell "
    "exceeds it even after a second measurement; the time is valid in either case. Empty for integers, and where the "
    "roofline could not be measured or the budget ended first.",
    "cold: time of a call with cold caches: other data of twice the size of the largest cache "
    f"({bytes_text(MAX_CACHE_BYTES)} at most) was accessed before. It is measured in the first rounds of each "
    "process.",
    "first call: the first call at this shape, with compilation, without import and start-up of the library.",
    f"transfer: conversion of the inputs from NumPy, the median of {TRANSFERS}.",
    "wins after: the number of calls after which the total time is below NumPy's, transfer and first call included. "
    "'up to N calls only' means a faster start but slower calls. Differences below the resolution count too.",
    f"peak memory: {METHOD}. Empty where the library does not report it, and where the budget ended first.",
    "error: the largest difference from the oracle, relative to the oracle's largest value.",
)


def notes(results: Results) -> list[str]:
    """How to read the reports, and what is known of xarrayops on these kinds of devices."""
    devices = results.environment.get("devices", {})
    return [
        *cell_notes(results.rows),
        *NOTES,
        *evidence.lines((name, each["kind"]) for name, found in devices.items() for each in found),
    ]


def cell_notes(rows: Sequence[Row]) -> list[str]:
    """What `NOTED` means in these rows."""
    return [f"{NOTED.strip()}: {note}." for note in dict.fromkeys(row.note for row in rows) if note]


def disturbance(results: Results) -> str | None:
    """A warning if the CPUs were busy before or during the run, or if processes differ for an unknown reason.

    Known causes come first.
    """
    known = results.environment
    load, cpus = known.get("load") or 0.0, known.get("machine", {}).get("usable_cpus", 1)
    others, resolution = known.get("others") or 0.0, known.get("resolution") or 0.0
    if others > CONTENTION:
        cause = f"Other programs or virtual machines used {others:.0%} of the CPUs during the run"
    elif load >= BUSY_LOAD * cpus:
        cause = f"The machine was busy before the run (load {load:.1f} on {cpus} CPUs)"
    elif resolution > COARSE_RESOLUTION:
        cause = "The run was disturbed"
    else:
        return None
    text = f"{cause}: times are longer and vary more than on an idle machine, most of all for multithreaded libraries."
    if resolution > COARSE_RESOLUTION:
        text += f" The resolution is only {resolution:.0%}. Measure again on an idle machine."
    return text


def doubts(rows: Sequence[Row]) -> str | None:
    """A warning if a cell exceeds the roofline of its device."""
    count = sum(bool(row.roof_doubt) for row in rows)
    if not count:
        return None
    return (
        f"The roofline is not trusted in {count} cell{'s' * (count > 1)} that exceeded it. Possible causes: its "
        "measurement was disturbed, the data fit into a faster cache, or a kernel needs fewer operations. The times "
        "are valid."
    )


def warnings(results: Results) -> list[str]:
    """The warnings to read before the numbers; for several machines, those of each run."""
    if "warnings" in results.environment:
        return results.environment["warnings"]
    cut = f"{INTERRUPTED} The report shows the results so far." if results.environment.get("interrupted") else None
    return [warning for warning in (cut, disturbance(results), doubts(results.rows)) if warning]


def groups(rows: Sequence[Row]) -> Iterator[tuple[Row, list[Row]]]:
    """The rows of each workload, dtype and size, after one of them that represents the group."""
    for _, group in groupby(rows, key=lambda row: (row.workload, row.dtype, row.size)):
        cells = list(group)
        yield next((row for row in cells if row.measured), cells[0]), cells


def title(row: Row) -> str:
    """The heading of a table: workload, dtype and the shapes of the inputs."""
    return ", ".join(part for part in (f"{row.workload}: {row.dtype}", shapes_text(row.shape)) if part)


def matrix(
    results: Results, text: Callable[[float | None], str] = seconds_text
) -> tuple[list[str], list[tuple[str, list[tuple[str, str]]]]]:
    """The backends and devices, and a line for each workload, dtype and size with the text and mark of each cell.

    The text is that of the time, or the status. Unavailable backends have no column; they are in the table of empty
    cells.
    """
    places = list(dict.fromkeys(row.place for row in results.rows if row.device))
    lines = []
    for head, rows in groups(results.rows):
        marks = fastest(rows, results.environment.get("resolution"))
        texts = {row.place: (text(row.median_s) + noted(row), marks.get(row.place, "")) for row in rows if row.measured}
        texts |= {row.place: (row.status, "missing") for row in rows if not row.measured}
        lines.append((row_name(head), [texts.get(place, ("", "")) for place in places]))
    return places, lines


def noted(row: Row) -> str:
    """The sign of a cell that has a note."""
    return NOTED if row.note else ""


def row_name(row: Row) -> str:
    """Workload, dtype and size."""
    return f"{row.workload} {row.dtype} {row.size}"


def tables(results: Results) -> Iterator[tuple[Row, list[tuple[str, ...]]]]:
    """The measured rows of each workload, dtype and size as text under `COLUMNS`, fastest first."""
    numpy = break_even.baselines(results.rows)
    for head, rows in groups(results.rows):
        marks = fastest(rows, results.environment.get("resolution"))
        measured = sorted((row for row in rows if row.measured), key=lambda row: row.median_s or 0.0)
        if measured:
            yield head, [cells(row, marks, numpy.get(break_even.baseline_of(row))) for row in measured]


def cells(row: Row, marks: dict[str, str], numpy: Row | None = None) -> tuple[str, ...]:
    """A measured row as text, under `COLUMNS`."""
    return (
        labelled(row.label, row.backend),
        device_text(row.device, row.device_kind, row.device_label),
        seconds_text(row.median_s) + noted(row),
        NO_INTERVAL if row.low_s is None else f"{seconds_text(row.low_s)} to {seconds_text(row.high_s)}",
        rate_text(row.throughput, row.throughput_unit),
        _roofline_text(row),
        seconds_text(row.cold_s),
        seconds_text(row.first_call_s),
        seconds_text(row.transfer_s),
        str(break_even.ahead(row, numpy) or ""),
        bytes_text(row.peak_bytes),
        f"{row.error:.0e}" if row.error else "0",
        marks.get(row.place, ""),
    )


def _roofline_text(row: Row) -> str:
    if row.roof_fraction is None:
        return ""
    fraction = f"{row.roof_fraction:.0%} {row.roof}"
    return f"not trusted ({fraction})" if row.roof_doubt else fraction


def missing(rows: Sequence[Row], most: int | None = None) -> list[tuple[str, ...]]:
    """The empty cells under `MISSING_COLUMNS`. Workloads with the same reason share a line.

    With more than ``most`` workloads, the line names the first ones and counts the others.
    """
    lines: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        if not row.measured:
            names = lines.setdefault((row.place, row.status, row.reason, row.fix), [])
            names.append(row_name(row))
    every = len(set(map(row_name, rows)))
    return [
        (place, "all" if len(names) == every else _listed(names, most), status, reason, fix)
        for (place, status, reason, fix), names in lines.items()
    ]


def _listed(names: Sequence[str], most: int | None) -> str:
    if most is None or len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def summary(results: Results) -> str:
    """The number of measured cells, the resolution, and the size of the inputs if it was chosen for an accelerator."""
    text = f"{counted(results)}; {resolution_text(results.environment.get('resolution'))}"
    return f"{text}; {size}" if (size := size_text(results)) else text


def size_text(results: Results) -> str:
    """Why the inputs are large, where no size was requested; empty for the default size."""
    known = results.environment
    if known.get("size_asked") != AUTO or known.get("size") != LARGE:
        return ""
    names = dict.fromkeys(row.place for row in results.rows if row.device and row.device_kind not in NO_ACCELERATORS)
    return f"--size {LARGE} was chosen, because the default sizes are launch-bound on {', '.join(names)}"


GPU_COLUMNS = ("GPU", "when", "clock", "memory clock", "power", "temperature", "state")


def gpu_lines(known: RunEnvironment) -> list[tuple[str, ...]]:
    """The state of the GPUs during the run, under `GPU_COLUMNS`."""
    return [
        (
            str(gpu.get("index", "")),
            gpu["when"],
            *(f"{gpu[name] / 1e6:.0f} MHz" if name in gpu else "" for name in ("clock_hz", "memory_clock_hz")),
            f"{gpu['power_w']:g} W" if "power_w" in gpu else "",
            f"{gpu['temperature_c']:g} °C" if "temperature_c" in gpu else "",
            gpu.get("performance_state", ""),
        )
        for gpu in known.get("gpu_states", ())
    ]


def gpu_text(gpu: dict[str, Any]) -> str:
    """The constant facts of a GPU, in a line."""
    parts = [
        f"{gpu.get('index', '')}: {gpu.get('name', '')}".strip(": "),
        "memory_bytes" in gpu and bytes_text(gpu["memory_bytes"]),
        "driver" in gpu and f"driver {gpu['driver']}",
        "clock_max_hz" in gpu and f"up to {gpu['clock_max_hz'] / 1e6:.0f} MHz",
        "power_limit_w" in gpu and f"up to {gpu['power_limit_w']:g} W",
        *(f"{word} {gpu[name].lower()}" for name, word in _GPU_MODES.items() if name in gpu),
    ]
    return ", ".join(part for part in parts if part)


_GPU_MODES = {"ecc": "ECC", "mig": "MIG", "compute_mode": "compute mode", "persistence": "persistence mode"}


def counted(results: Results) -> str:
    """How many of the cells of available libraries were measured."""
    runnable = [row for row in results.rows if row.device]
    text = f"{sum(row.measured for row in runnable)} of {texts.counted(len(runnable), 'cell')} measured"
    absent = len(results.rows) - len(runnable)
    return (
        f"{text} ({absent} more {'belongs' if absent == 1 else 'belong'} to unavailable libraries)" if absent else text
    )


def resolution_text(resolution: float | None) -> str:
    """The differences that count as ties."""
    if resolution is None:
        return "resolution unknown (too few cells were measured twice)"
    return f"differences below {resolution:.1%} are ties"
