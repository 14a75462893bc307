"""The worker process that converts arrays. It reads commands from stdin and writes answers to stdout.

``python -m benchmarks.exchange_matrix.worker PRODUCER CONSUMER [DEVICE]``, with a device of the producer. The
first answer is the handshake; each further answer is the result of a cell. The worker ends when stdin is closed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, TextIO

from benchmarks.exchange_matrix.check import examine
from xarrayops._core.backends import find, registry
from xarrayops._core.backends.registry import Backend
from xarrayops._system.process import keep_stdout

Examine = Callable[..., dict[str, Any]]


def library(name: str) -> Backend:
    """The backend with this name, or the backend for the namespace module with this name."""
    if name in registry.entry_points():
        return find.named(name)
    return find.library(import_module(name))


def serve(
    producer: str, consumer: str, commands: TextIO, answers: TextIO, examine: Examine, *, device: str = ""
) -> None:
    """Answer commands until stdin is closed. An exception becomes a fault of the cell."""

    def answer(found: dict[str, Any]) -> None:
        print(json.dumps(found), file=answers, flush=True)

    both = library(producer), library(consumer)
    answer({"status": "ok", "versions": {name: v for b in both for name, v in b.versions.items()}})
    options = {"device": both[0].native_device(device)} if device else {}
    for line in commands:
        try:
            answer({"status": "ok", **examine(*both, **json.loads(line), **options)})
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            answer({"status": "ok", "outcome": "fault", "reason": " ".join(reason.split())})


def main(examine: Examine = examine) -> None:
    """Serve commands, with stdout reserved for the answers."""
    with keep_stdout() as answers:
        serve(sys.argv[1], sys.argv[2], sys.stdin, answers, examine, device="".join(sys.argv[3:]))


if __name__ == "__main__":
    main()
