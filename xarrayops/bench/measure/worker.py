"""The process in which one backend is measured: commands come in on stdin, answers go out on stdout, a line each.

``python -m xarrayops.bench.measure.worker BACKEND SOURCE...``, where the sources have the workloads. The first answer
tells whether the backend can be used. A command's "do" is "prove", "roofs", "measure" or, last of all, "memory"; the
worker ends with its stdin.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import Any, TextIO

from xarrayops._cli.doctor import thread_pools
from xarrayops._core import registry
from xarrayops._core.backend import Backend
from xarrayops._system.process import die_with_parent, keep_stdout
from xarrayops.bench import workload_sources
from xarrayops.bench.measure import roofline, sync_check
from xarrayops.bench.measure.cell import Cell, warm_up
from xarrayops.bench.measure.cell_cache import ReadyCells
from xarrayops.bench.measure.failures import A_BUG, guarded
from xarrayops.bench.place import Place
from xarrayops.bench.workload import Workload
from xarrayops.errors import BackendNotFound, InvalidBackend
from xarrayops.plugin import Device


def greeting(backend: str) -> dict[str, Any]:
    """Whether the backend can be used here, its versions and settings, and the first device of each kind, warmed up.

    ``import_s`` includes the warming up: the library's start belongs to no workload. Where it fails, the cells tell.
    """
    start = perf_counter()
    with suppress(BackendNotFound, InvalidBackend):  # the status will tell
        for name, value in registry.backend_by_name(backend).shared_environment.items():
            os.environ.setdefault(name, value)
    status = registry.status(backend)
    found: dict[str, Any] = {"versions": {}, "devices": []}
    if status.backend is not None:
        found["versions"] = status.backend.versions
    if status.available and status.backend is not None:
        first = {d.kind: d for d in reversed(status.backend.devices())}
        found["devices"] = [described(status.backend, device) for device in reversed(first.values())]
        for device in first.values():
            with suppress(Exception):
                warm_up(backend, device.name)
        found["settings"] = status.backend.environment
        found["switches"] = status.backend.functions["precision_switches"]()
        pools = thread_pools()
        found["pools"] = [{name: known for name, known in pool.items() if name != "filepath"} for pool in pools]
        took = perf_counter() - start
        return {
            "status": "ok",
            "import_s": took,
            "code": workload_sources.library_digest(status.backend.module),
            **found,
        }
    code = "crashed" if status.code == "broken" else status.code
    return {"status": code, "reason": status.reason, "fix": status.hint, "import_s": perf_counter() - start, **found}


def described(backend: Backend, device: Device) -> dict[str, Any]:
    """A device as plain data; what the library fails to say of it is left out."""
    found = {"name": device.name, "kind": device.kind, "label": device.label, "index": device.index, "attributes": {}}
    with suppress(Exception):
        found["attributes"] = backend.device_attributes(device)
    return found


def measure(command: dict[str, Any], cell: Cell) -> dict[str, Any]:
    """One round of a cell, or its peak of memory."""
    if command["do"] == "memory":
        return {"peak_bytes": cell.peak_bytes()}
    return {"first": cell.first, **cell.round(command["seconds"], cold=command["cold"])}


def obey(command: dict[str, Any], backend: str, workloads: dict[str, Workload], cells: ReadyCells) -> dict[str, Any]:
    """The answer to a command. A cell that failed is forgotten; "device_works" says whether its device survived."""
    place = Place(backend, command["device"], command["kind"])
    found = _obey(command, place, workloads, cells)
    place.release()  # the parent freezes this process now, with all that it holds
    if found["status"] == "ok" or place.kind == "cpu" or works(place):
        return found
    if found["status"] != "out-of-memory":
        reason = f"{found['reason']}; the device no longer works in this process"
        found |= {"status": "crashed", "reason": reason, "fix": A_BUG}
    return {**found, "device_works": False}


def works(place: Place) -> bool:
    """Whether the library can still use the device: an error there may end all that a process can do with it."""
    try:
        warm_up(place.backend, place.device)
    except Exception:  # whatever a library makes of it
        return False
    return True


def _obey(command: dict[str, Any], place: Place, workloads: dict[str, Workload], cells: ReadyCells) -> dict[str, Any]:

    def with_cell(again: bool) -> dict[str, Any]:
        cell = cells.get(workload, place, command["dtype"], command["size"])
        if again:  # what was compiled in the first attempt is not compiled again
            cell.first["first_call_s"] = None
        try:
            return measure(command, cell)
        except BaseException:
            cells.forget(cell)
            raise

    match command["do"]:
        case "prove":
            return guarded(partial(sync_check.prove, place.backend, place.device))
        case "roofs":
            return guarded(lambda: cells.with_room(lambda again: roofline.probe(place, command["dtype"])))
        case _:
            workload = workloads[command["workload"]]
            return guarded(lambda: cells.with_room(with_cell), workload_sources.file_of(workload))


def serve(backend: str, sources: list[str], commands: TextIO, answers: TextIO) -> None:
    """Answer commands until there are no more."""

    def answer(found: dict[str, Any]) -> None:
        print(json.dumps(found), file=answers, flush=True)

    answer(greeting(backend))
    workloads = {workload.name: workload for workload in workload_sources.load(sources)}
    cells = ReadyCells()
    gc.freeze()  # what libraries hold for good: to look through it before each round would take longer than a round
    for line in commands:
        answer(obey(json.loads(line), backend, workloads, cells))


def main() -> None:
    """Keep stdout for the answers."""
    die_with_parent()
    with keep_stdout() as answers:
        serve(sys.argv[1], sys.argv[2:], sys.stdin, answers)


if __name__ == "__main__":
    main()
