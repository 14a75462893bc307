"""The results of several machines in one table, and their cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from xarrayops.bench.compare.environments import changed_workloads, differences, shown_differences
from xarrayops.bench.compare.verdict import CellName
from xarrayops.bench.environment import RunEnvironment
from xarrayops.bench.results import ROWS, Results, Row, labelled

_SECONDS_OF_AN_HOUR, _CALLS = 3600.0, 1e6


@dataclass
class _Machine:
    """The runs that share a column of the table: the parts of one run."""

    host: str
    label: str
    folders: list[Path] = field(default_factory=list)
    runs: list[Results] = field(default_factory=list)

    def takes(self, host: str, run: Results) -> bool:
        """Whether a run is another part: the same host, versions and options, and other cells."""
        mine = {CellName.of(row) for each in self.runs for row in each.rows}
        return (
            host == self.host
            and not differences([self.runs[0].environment, run.environment])
            and mine.isdisjoint(map(CellName.of, run.rows))
        )


def folders_of_results(folders: Iterable[Path]) -> list[Path]:
    """The folders; for one that has no results itself, its subfolders with results."""
    found = []
    for folder in folders:
        inner = [] if (folder / ROWS).exists() else sorted(path.parent for path in folder.glob(f"*/{ROWS}"))
        found += inner or [folder]
    return found


def merged(
    folders: Sequence[Path], prices: Mapping[str, float], command: str, warnings: Callable[[Results], list[str]]
) -> Results:
    """The results of several machines as those of one run.

    The label of a machine is the name of its host, and the engines or the measured choices of the run. Runs of one host
    share it if they are the parts of one run (``--part``); otherwise the name of the folder follows. Each row keeps the
    resolution of its run.

    Parameters
    ----------
    folders : sequence of Path
        The folders of the runs.
    prices : mapping of str to float
        The price of an hour by label, in any currency.
    command : str
        The command line that merges.
    warnings : callable
        The warnings of one run.

    Raises
    ------
    ValueError
        A folder has no results or those of several machines, or a price has an unknown label.
    """
    machines: list[_Machine] = []
    for folder in folders:
        _add(machines, folder, Results.read(folder))
    labels = [machine.label for machine in machines]
    unknown = [label for label in prices if label not in labels]
    if unknown:
        raise ValueError(f"no machine {unknown[0]!r}; the machines are {', '.join(labels)}")
    rows = [
        replace(row, label=machine.label, resolution=run.environment.get("resolution"))
        for machine in machines
        for run in machine.runs
        for row in run.rows
    ]
    return Results(_in_order(rows), _environment(machines, prices, command, warnings))


def _add(machines: list[_Machine], folder: Path, run: Results) -> None:
    """Add a run to the machine that it is a part of, or as a new machine."""
    if not run.rows or any(row.label for row in run.rows):
        what = "the results of several machines: merge the folders of its runs" if run.rows else "no rows"
        raise ValueError(f"{folder} has {what}")
    host = run.rows[0].host or folder.resolve().name
    machine = next((each for each in machines if each.takes(host, run)), None)
    if machine is None:
        named = f"{host}, {run.mode}" if run.mode else host
        names = (named, f"{named} {folder.resolve().name}", f"{named} {folder}")
        label = next((name for name in names if all(name != each.label for each in machines)), names[-1])
        machine = _Machine(host, label)
        machines.append(machine)
    machine.folders.append(folder)
    machine.runs.append(run)


def _in_order(rows: Sequence[Row]) -> list[Row]:
    """The rows by workload and dtype, as the runs have them, and by size."""
    workloads = {name: i for i, name in enumerate(dict.fromkeys(row.workload for row in rows))}
    dtypes = {name: i for i, name in enumerate(dict.fromkeys((row.workload, row.dtype) for row in rows))}
    return sorted(rows, key=lambda row: (workloads[row.workload], dtypes[row.workload, row.dtype], row.size))


def _environment(
    machines: Sequence[_Machine],
    prices: Mapping[str, float],
    command: str,
    warnings: Callable[[Results], list[str]],
) -> RunEnvironment:
    """What the runs have in common, and by machine what they do not."""
    runs = [(machine.label, run) for machine in machines for run in machine.runs]
    known = [run.environment for _, run in runs]
    settings = [each.get("settings", {}) for each in known]
    roofs = [(label, roof) for label, run in runs for roof in run.environment.get("roofs", ())]
    found = [labelled(label, warning) for label, run in runs for warning in warnings(run)]
    if changed := changed_workloads(known):
        found.append(f"The code of these workloads differs between the runs: {', '.join(changed)}.")
    return {
        "command": command,
        "date": max(each.get("date", "") for each in known),
        "seconds": sum(each.get("seconds", 0.0) for each in known),
        "interrupted": any(each.get("interrupted", False) for each in known),
        "warnings": list(dict.fromkeys(found)),
        "machines": {"columns": ["", *(machine.label for machine in machines)], "lines": _facts(machines)},
        "prices": dict(prices),
        "machine": {},
        "gpus": [
            {**gpu, "name": labelled(label, str(gpu.get("name", "")))}
            for label, run in runs
            for gpu in run.environment.get("gpus", ())
        ],
        "size": ", ".join(dict.fromkeys(each.get("size", "") for each in known)),
        "settings": {name: value for name, value in settings[0].items() if all(s.get(name) == value for s in settings)},
        "switches": _by_machine(runs, "switches"),
        "versions": _by_machine(runs, "versions"),
        "devices": _by_machine(runs, "devices"),
        "pools": _by_machine(runs, "pools"),
        "roofs": [{**roof, "device": labelled(label, roof["device"])} for label, roof in roofs],
        "resolution": max((each.get("resolution") or 0.0 for each in known), default=0.0) or None,
        "workloads": {name: about for each in reversed(known) for name, about in each.get("workloads", {}).items()},
    }


def _by_machine(runs: Iterable[tuple[str, Results]], name: str) -> dict[str, Any]:
    """An entry by backend of all runs, with the label of the machine before the backend."""
    entries: list[tuple[str, Any]] = [(label, run.environment.get(name, {})) for label, run in runs]
    return {labelled(label, backend): value for label, known in entries for backend, value in known.items()}


def _facts(machines: Sequence[_Machine]) -> list[tuple[str, ...]]:
    """The facts of each machine, and the versions and options that differ."""

    def of_runs(fact: Callable[[Results], str]) -> list[str]:
        return [", ".join(dict.fromkeys(map(fact, machine.runs))) for machine in machines]

    return [
        ("machine", *of_runs(lambda run: run.rows[0].machine)),
        ("folder", *(", ".join(map(str, machine.folders)) for machine in machines)),
        ("date", *of_runs(lambda run: run.environment.get("date", ""))),
        ("command", *of_runs(lambda run: run.environment.get("command", ""))),
        ("resolution", *of_runs(_resolution)),
        *shown_differences([machine.runs[0].environment for machine in machines]),
    ]


def _resolution(run: Results) -> str:
    found = run.environment.get("resolution")
    return "unknown" if found is None else f"{found:.1%}"


def priced(results: Results) -> Results:
    """The results with the cost of a million calls instead of times; without machines that have no price."""
    prices = results.environment["prices"]
    rows = []
    for row in results.rows:
        if row.label in prices and row.measured:
            factor = prices[row.label] / _SECONDS_OF_AN_HOUR * _CALLS
            rounds = [[seconds * factor for seconds in process] for process in row.medians_s]
            median_s, low_s, high_s = (_times(time, factor) for time in (row.median_s, row.low_s, row.high_s))
            rows.append(replace(row, medians_s=rounds, median_s=median_s, low_s=low_s, high_s=high_s))
    return Results(rows, results.environment)


def _times(seconds: float | None, factor: float) -> float | None:
    return None if seconds is None else seconds * factor
