"""The process in which one backend is measured: commands come in on stdin, answers go out on stdout, a line each.

``python -m xarrayops.bench.worker BACKEND MODULE``, where ``MODULE.WORKLOADS`` lists the workloads. The first answer
tells whether the backend can be used. A command's "do" is "roofs", "measure" or, last of all, "memory"; the worker ends
with its stdin.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from functools import partial
from importlib import import_module
from time import perf_counter
from typing import Any, TextIO

from xarrayops import registry
from xarrayops.bench import roofs
from xarrayops.bench.cell import Cell, guarded, warm_up
from xarrayops.bench.process import keep_stdout
from xarrayops.bench.workloads._contract import Workload
from xarrayops.errors import BackendNotFound, InvalidBackend

_cells: dict[tuple[str, ...], Cell] = {}


def greeting(backend: str) -> dict[str, Any]:
    """Whether the backend can be used here, its versions, and the first device of each kind, each warmed up.

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
        found["devices"] = [
            {"name": d.name, "kind": d.kind, "label": d.label, "index": d.index} for d in reversed(first.values())
        ]
        for device in first.values():
            with suppress(Exception):
                warm_up(backend, device.name)
        return {"status": "ok", "import_s": perf_counter() - start, **found}
    code = "crashed" if status.code == "broken" else status.code
    return {"status": code, "reason": status.reason, "fix": status.hint, "import_s": perf_counter() - start, **found}


def measure(command: dict[str, Any], backend: str, workloads: dict[str, Workload]) -> dict[str, Any]:
    """One round of a cell, or its peak of memory; before the first of these, the cell is prepared.

    A cell that failed is forgotten, and its memory given back.
    """
    key = tuple(str(command[field]) for field in ("workload", "device", "dtype", "size"))
    try:
        if key not in _cells:
            name, device, dtype, size = key
            _cells[key] = Cell(workloads[name], backend, device, dtype, size)
        cell = _cells[key]
        if command["do"] == "memory":
            return {"peak_bytes": cell.peak_bytes()}
        return {"first": cell.first, **cell.round(command["seconds"])}
    except BaseException:
        _cells.pop(key, None)
        raise


def serve(backend: str, module: str, commands: TextIO, answers: TextIO) -> None:
    """Answer commands until there are no more."""

    def answer(found: dict[str, Any]) -> None:
        print(json.dumps(found), file=answers, flush=True)

    answer(greeting(backend))
    workloads = {workload.name: workload for workload in import_module(module).WORKLOADS}
    for line in commands:
        command = json.loads(line)
        if command["do"] == "roofs":
            place = (command["device"], command["kind"], command["dtype"])
            answer(guarded(partial(roofs.probe, backend, *place)))
        else:
            answer(guarded(partial(measure, command, backend, workloads)))


def main() -> None:
    """Keep stdout for the answers."""
    with keep_stdout() as answers:
        serve(sys.argv[1], sys.argv[2], sys.stdin, answers)


if __name__ == "__main__":
    main()
