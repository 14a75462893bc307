"""The worker process that measures one backend. It reads commands from stdin and writes answers to stdout, as lines.

``python -m xarrayops.bench.measure.worker BACKEND SOURCE...``, where the sources define the workloads. The first answer
is the handshake, which says whether the backend can be used. The "do" of a command is "check-sync", "roofline",
"operations", "measure" or, after all others, "memory". The worker ends when stdin is closed.
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
from xarrayops._core.backends import find, registry
from xarrayops._core.backends.backend import Backend
from xarrayops._system.process import REPORT_BUG, die_with_parent, keep_stdout
from xarrayops.bench.measure import roofline, timing
from xarrayops.bench.measure.answers import guarded
from xarrayops.bench.measure.cell import CellCache, warm_up
from xarrayops.bench.place import Place
from xarrayops.bench.workload import Workload
from xarrayops.bench.workload_sources import file_of, library_digest, load
from xarrayops.errors import BackendNotFound, InvalidBackend
from xarrayops.plugin import Device
from xarrayops.plugin.runs import RunMode


def handshake(backend: str) -> dict[str, Any]:
    """Whether the backend can be used, its versions and settings, and the first device of each kind, warmed up.

    ``import_s`` includes the warm-up. A warm-up that fails is ignored here, because the cells will report the error.
    """
    start = perf_counter()
    with suppress(BackendNotFound, InvalidBackend):  # the status below reports them
        for name, value in find.named(backend).shared_environment.items():
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
        return {"status": "ok", "import_s": took, "code": library_digest(status.backend.module), **found}
    code = "crashed" if status.code == "broken" else status.code
    return {"status": code, "reason": status.reason, "fix": status.hint, "import_s": perf_counter() - start, **found}


def described(backend: Backend, device: Device) -> dict[str, Any]:
    """A device as plain data, without attributes where the library fails to report them."""
    found = {"name": device.name, "kind": device.kind, "label": device.label, "index": device.index, "attributes": {}}
    with suppress(Exception):
        found["attributes"] = backend.device_attributes(device)
    return found


def handle(command: dict[str, Any], backend: str, workloads: dict[str, Workload], cells: CellCache) -> dict[str, Any]:
    """The answer to a command. "device_works" is False if the device can no longer be used in this process."""
    place = Place(backend, command["device"], command["kind"])
    mode = _mode(backend, command.get("dtype"))
    with mode.context():
        found = _handle(command, place, workloads, cells)
    if "first" in found:
        found["first"]["note"] = mode.note
    place.release()  # the parent now freezes this process
    if found["status"] == "ok" or place.kind == "cpu" or works(place):
        return found
    if found["status"] != "out-of-memory":
        reason = f"{found['reason']}; the device no longer works in this process"
        found |= {"status": "crashed", "reason": reason, "fix": REPORT_BUG}
    return {**found, "device_works": False}


def _mode(backend: str, dtype: str | None) -> RunMode:
    """The mode that has a dtype which the library lacks otherwise, as JAX has 64-bit types that can be switched on."""
    functions = find.named(backend).functions
    lacks = dtype is not None and functions["import_refusal"](dtype) is not None
    return functions["run_modes"]()[0] if lacks else RunMode()


def works(place: Place) -> bool:
    """Whether the library can still use the device. Many device errors are permanent for a process."""
    try:
        warm_up(place.backend, place.device)
    except Exception:  # libraries raise various errors
        return False
    return True


def _handle(command: dict[str, Any], place: Place, workloads: dict[str, Workload], cells: CellCache) -> dict[str, Any]:

    def with_cell(again: bool) -> dict[str, Any]:
        """One round of a cell, or its peak memory."""
        cell = cells.get(workload, place, command["dtype"], command["size"])
        if again:  # the first attempt may have compiled already
            cell.first["first_call_s"] = None
        try:
            if command["do"] == "memory":
                return {"peak_bytes": cell.peak_bytes()}
            return {"first": cell.first, **cell.round(command["seconds"], cold=command["cold"])}
        except BaseException:
            cells.remove(cell)
            raise

    match command["do"]:
        case "check-sync":
            return guarded(partial(timing.check_synchronisation, place.backend, place.device))
        case "operations":
            from xarrayops.port.trace import operations  # only here: it imports the analysis of programs

            return guarded(partial(operations.measure_operations, place.backend, place.device))
        case "roofline":
            return guarded(lambda: cells.retried(lambda again: roofline.measure_roofline(place, command["dtype"])))
        case _:
            workload = workloads[command["workload"]]
            return guarded(lambda: cells.retried(with_cell), file_of(workload))


def serve(backend: str, sources: list[str], commands: TextIO, answers: TextIO) -> None:
    """Answer commands until stdin is closed."""

    def answer(found: dict[str, Any]) -> None:
        print(json.dumps(found), file=answers, flush=True)

    answer(handshake(backend))
    workloads = {workload.name: workload for workload in load(sources)}
    cells = CellCache()
    gc.freeze()  # collecting the permanent objects of libraries before each round would take longer than a round
    for line in commands:
        answer(handle(json.loads(line), backend, workloads, cells))


def main() -> None:
    """Serve commands, with stdout reserved for the answers."""
    die_with_parent()
    with keep_stdout() as answers:
        serve(sys.argv[1], sys.argv[2:], sys.stdin, answers)


if __name__ == "__main__":
    main()
