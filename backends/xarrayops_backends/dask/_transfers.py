"""Transfers: each run of a scheduler of this process, and what a client of a cluster computes and fetches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import RLock
from typing import Any

import dask.callbacks

from xarrayops.plugin import ReportingMethods

_callbacks: Any = dask.callbacks
"""Typed as Any: Dask does not annotate it."""
_reports: list[Callable[..., None]] = []
_changing = RLock()


@contextmanager
def crossings(report: Callable[..., None], /) -> Iterator[None]:
    """Let the schedulers of this process and the client of `distributed` report, in the thread that computes."""
    with _of_client(report):
        with _changing:
            if not _reports:
                _runs.register()
            _reports.append(report)
        try:
            yield
        finally:
            with _changing:
                _reports.remove(report)
                if not _reports:
                    _runs.unregister()


def _started(graph: Any) -> None:
    for report in dict.fromkeys(_reports):
        report("compute", "dask", 0)


_runs = _callbacks.Callback(start=_started)


def _of_client(report: Callable[..., None]) -> AbstractContextManager[None]:
    """A client exists only if its package is imported, which takes long."""
    module = sys.modules.get("distributed")
    return nullcontext() if module is None else _methods(module.Client).reporting(report)


@cache
def _methods(client: type) -> ReportingMethods:
    names = ("compute", "gather", "get", "persist")
    return ReportingMethods(client, names, _kind, "Client", lambda kind, x: 0)


def _kind(name: str, *arguments: Any) -> str:
    return "transfer" if name == "gather" else "compute"
