"""What the reports say, before it is drawn: who is fastest, the matrix, the tables, what is missing, warnings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from xarrayops._cli.doctor import device_text
from xarrayops.bench.compare import break_even
from xarrayops.bench.compare.noise_floor import QUANTILE
from xarrayops.bench.compare.ranking import APART, fastest
from xarrayops.bench.measure import cold_caches
from xarrayops.bench.measure.cell import TRANSFERS
from xarrayops.bench.place import METHOD
from xarrayops.bench.report.formatting import bytes_text, rate_text, seconds_text, shapes_text
from xarrayops.bench.results import Results, Row
from xarrayops.bench.run.plan import AUTO, LARGE, NO_ACCELERATORS, PROCESSES

COLUMNS = (
    *("backend", "device", "time", "interval", "throughput", "of roof", "cold", "first call", "transfer", "wins after"),
    *("peak memory", "error", ""),
)
NO_INTERVAL = "1 round"
"""What stands under "interval" where there is none."""
INTERRUPTED = "The run was interrupted."
BUSY, OTHERS, COARSE = 0.5, 0.1, 0.5
"""From when on a warning is due: load per CPU before the run, part of the CPUs for others during it, resolution."""
MISSING_COLUMNS = ("backend", "workloads", "status", "why", "what helps")
NOTES = (
    "time: median of a call over rounds that alternate between all cells, the work and the libraries that do it in "
    "random order; each answer was checked against a float64 oracle before and after timing. "
    f"{PROCESSES} processes measure each backend, one after the other. Functions run one by one, under no compiler (no "
    "jax.jit, no torch.compile).",
    "interval: holds the true median of these processes with the confidence in results.jsonl, 95 % or more from six "
    f"rounds on; it takes two, and {NO_INTERVAL!r} stands where the budget left none for a second. What other "
    "processes would make of a cell the resolution tells.",
    f"resolution: {QUANTILE:.0%} of the cells differ between two processes of the same library by less. A cell is a "
    "tie with the fastest if its time is within the resolution of it, or if it was as fast in so many rounds that "
    f"chance may explain the others (sign test, 95 %) and its best round took less than {APART:g} times as long as the "
    "other's.",
    "of roof: part of what this device allows, by the best copy (of as many bytes) and matrix product that any library "
    "here reached on it, their answers checked, and by the library's own smallest call; the word says which of the "
    "three binds (memory, compute, launch). A roof is not trusted where a cell reached more than its probes, though "
    "these were repeated; the time is valid all the same. Empty for integers, and where the probes failed or the "
    "budget ended before them.",
    f"cold: a call after twice as much other data as the largest cache holds, {bytes_text(cold_caches.MOST)} at most, "
    "went through all caches, in the first rounds of each process. first call: the workload's first at this shape, "
    "with compilation, without the library's import and start-up. "
    f"transfer: the conversion of the inputs from NumPy, the median of {TRANSFERS}.",
    "wins after: how many calls it takes to be ahead of NumPy, transfer and first call included; 'up to N calls only' "
    "of what starts sooner but runs slower. Differences below the resolution count here too.",
    f"peak memory: {METHOD}. Empty where the library does not tell, and where the budget ended first.",
    "error: largest difference from the oracle, as a part of the oracle's largest value.",
)


def disturbance(results: Results) -> str | None:
    """A warning where others kept the CPUs busy, before the run or during it, or where processes differ for any reason.

    Of these, what is known for certain comes first.
    """
    known = results.environment
    load, cpus = known.get("load") or 0.0, known.get("machine", {}).get("usable_cpus", 1)
    others, apart = known.get("others") or 0.0, known.get("resolution") or 0.0
    if others > OTHERS:
        cause = f"Other programs, or other machines on this host, had {others:.0%} of the CPUs during the run"
    elif load >= BUSY * cpus:
        cause = f"The machine was busy before the run (load {load:.1f} on {cpus} CPUs)"
    elif apart > COARSE:
        cause = "Something disturbed the run"
    else:
        return None
    told = (
        f"{cause}: times are longer and vary more than on an idle machine, most of all where a library runs several "
        "threads."
    )
    if apart > COARSE:
        told += f" The same work differed by {apart:.0%}: this table tells little apart. Measure again when it is idle."
    return told


def doubts(rows: Sequence[Row]) -> str | None:
    """A warning where a cell is beyond the roof of its device."""
    count = sum(bool(row.roof_doubt) for row in rows)
    if not count:
        return None
    return (
        f"The roof is not trusted in {count} cell{'s' * (count > 1)}, which reached more than the probes of the roof: "
        "the probes were disturbed, the data lie in a nearer cache than the probes', or a kernel has a quicker way to "
        "the same answer. The times are valid."
    )


def warnings(results: Results) -> list[str]:
    """What must be known before a number is believed."""
    cut = f"{INTERRUPTED} This is what was measured until then." if results.environment.get("interrupted") else None
    return [warning for warning in (cut, disturbance(results), doubts(results.rows)) if warning]


def groups(rows: Sequence[Row]) -> Iterator[tuple[Row, list[Row]]]:
    """The rows of each workload, dtype and size, and one that stands for them."""
    for _, group in groupby(rows, key=lambda row: (row.workload, row.dtype, row.size)):
        cells = list(group)
        yield next((row for row in cells if row.measured), cells[0]), cells


def title(row: Row) -> str:
    """The heading of a table: workload, dtype and the shapes of the inputs."""
    return ", ".join(part for part in (f"{row.workload}: {row.dtype}", shapes_text(row.shape)) if part)


def matrix(results: Results) -> tuple[list[str], list[tuple[str, list[tuple[str, str]]]]]:
    """Every cell by workload (with dtype and size) and place: time or reason code, and what is said of it.

    Places where nothing can run have no column: the table of what is missing has them.
    """
    places = list(dict.fromkeys(row.place for row in results.rows if row.device))
    lines = []
    for head, rows in groups(results.rows):
        marks = fastest(rows, results.environment.get("resolution"))
        known = {row.place: row for row in rows}
        drawn = [_shown(known[place], marks) if place in known else ("", "") for place in places]
        lines.append((f"{head.workload} {head.dtype} {head.size}", drawn))
    return places, lines


def _shown(row: Row, marks: dict[str, str]) -> tuple[str, str]:
    if not row.measured:
        return row.status, "missing"
    return seconds_text(row.median_s), marks.get(row.place, "")


def tables(results: Results) -> Iterator[tuple[Row, list[tuple[str, ...]]]]:
    """The measured rows of each workload, dtype and size as text under `COLUMNS`, fastest first."""
    numpy = break_even.baselines(results.rows)
    for head, rows in groups(results.rows):
        marks = fastest(rows, results.environment.get("resolution"))
        measured = sorted((row for row in rows if row.measured), key=lambda row: row.median_s or 0.0)
        if measured:
            base = numpy.get((head.workload, head.dtype, head.size))
            yield head, [cells(row, marks, base) for row in measured]


def cells(row: Row, marks: dict[str, str], numpy: Row | None = None) -> tuple[str, ...]:
    """A measured row as text, under `COLUMNS`."""
    return (
        row.backend,
        device_text(row.device, row.device_kind, row.device_label),
        seconds_text(row.median_s),
        NO_INTERVAL if row.low_s is None else f"{seconds_text(row.low_s)} to {seconds_text(row.high_s)}",
        rate_text(row.throughput, row.throughput_unit),
        _roof_text(row),
        seconds_text(row.cold_s),
        seconds_text(row.first_call_s),
        seconds_text(row.transfer_s),
        str(break_even.ahead(row, numpy) or ""),
        bytes_text(row.peak_bytes),
        f"{row.error:.0e}" if row.error else "0",
        marks.get(row.place, ""),
    )


def _roof_text(row: Row) -> str:
    if row.roof_fraction is None:
        return ""
    part = f"{row.roof_fraction:.0%} {row.roof}"
    return f"not trusted ({part})" if row.roof_doubt else part


def from_size_on(results: Results) -> list[tuple[str, ...]]:
    """For each workload of several sizes, from which on each place beats NumPy, in words."""
    lines: list[tuple[str, ...]] = []
    for workload, dtype, by_place in break_even.sizes(results.rows, results.environment.get("resolution") or 0.0):
        told = (f"{place}: {'at none of them' if n is None else f'from {n} on'}" for place, n in by_place.items())
        lines.append((f"{workload} {dtype}", "; ".join(told)))
    return lines


def missing(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """The empty cells under `MISSING_COLUMNS`; workloads that fail for one reason share a line."""
    lines: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        if not row.measured:
            told = lines.setdefault((row.place, row.status, row.reason, row.fix), [])
            told.append(f"{row.workload} {row.dtype} {row.size}")
    every = len({(row.workload, row.dtype, row.size) for row in rows})
    return [
        (place, "all" if len(names) == every else ", ".join(names), status, reason, fix)
        for (place, status, reason, fix), names in lines.items()
    ]


def summary(results: Results) -> str:
    """How many cells were measured, the resolution, and the sizes if they were chosen for an accelerator."""
    told = f"{counted(results)}; {resolution_text(results.environment.get('resolution'))}"
    return f"{told}; {size}" if (size := size_text(results)) else told


def size_text(results: Results) -> str:
    """Why the inputs are as large as they are, where nobody asked for it and it is not the default."""
    known = results.environment
    if known.get("size_asked") != AUTO or known.get("size") != LARGE:
        return ""
    names = dict.fromkeys(row.place for row in results.rows if row.device and row.device_kind not in NO_ACCELERATORS)
    return f"--size {LARGE}, for the default sizes would show the launch alone on {', '.join(names)}"


GPU_COLUMNS = ("GPU", "when", "clock", "memory clock", "power", "temperature", "state")


def gpu_lines(known: dict[str, Any]) -> list[tuple[str, ...]]:
    """The GPUs as their driver described them during the run, under `GPU_COLUMNS`."""
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
    """What stays as it is of a GPU, in a line."""
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
    """How many cells were measured, of those that a library which is here could fill."""
    runnable = [row for row in results.rows if row.device]
    told = f"{sum(row.measured for row in runnable)} of {len(runnable)} cells measured"
    absent = len(results.rows) - len(runnable)
    return f"{told} (and {absent} of libraries that cannot run here)" if absent else told


def resolution_text(resolution: float | None) -> str:
    """What differences mean nothing."""
    if resolution is None:
        return "too little was measured twice to tell the resolution"
    return f"differences below {resolution:.1%} are ties"
