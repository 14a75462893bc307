"""The cells of the matrix and their outcomes."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from benchmarks.exchange_matrix.containers import CONTAINERS
from benchmarks.exchange_matrix.memory_kinds import KINDS, LARGE
from xarrayops._core.backends import registry
from xarrayops._core.backends.registry import Backend
from xarrayops.plugin.dtypes import DTYPE_NAMES

DTYPES: tuple[str, ...] = tuple(DTYPE_NAMES)
ALL_KINDS = (*KINDS, *CONTAINERS)
COPIES: dict[str, bool | None] = {"None": None, "False": False, "True": True}
OUTCOMES = ("zero-copy", "copy", "refused", "not made", "skipped", "crashed", "timeout", "fault")
"""Converted without a copy; with a copy; refused; the producer has no such memory; too large for this machine; the
process died; no answer in time; wrong behaviour."""
FAULTY = ("crashed", "timeout", "fault")
GENERIC = ("array_api_strict",)
"""Libraries without an entry point that are included if installed, as examples of other conforming libraries."""


class Pair(NamedTuple):
    """A producer and a consumer in one process. ``setting`` names the environment variables that one of them needs.

    ``device`` is the name of the producer's device; empty for its host device, or else for its default device.
    """

    producer: str
    consumer: str
    setting: str = ""
    environment: tuple[tuple[str, str], ...] = ()
    device: str = ""

    @property
    def origin(self) -> str:
        """The producer and its device, as shown in tables."""
        return f"{self.producer} on {self.device}" if self.device else self.producer

    @property
    def label(self) -> str:
        """The pair, as shown in tables."""
        setting = f" ({self.setting})" if self.setting else ""
        return f"{self.origin} -> {self.consumer}{setting}"


class Cell(NamedTuple):
    """One conversion of the matrix."""

    dtype: str
    kind: str
    copy: bool | None


class Result(NamedTuple):
    """The outcome of a cell. ``action`` and ``nbytes`` are the forecast of explain."""

    pair: Pair
    cell: Cell
    outcome: str
    reason: str = ""
    action: str = ""
    nbytes: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """The line in the results file."""
        return {
            **{name: getattr(self.pair, name) for name in ("producer", "consumer", "setting", "device")},
            **self.cell._asdict(),
            **{name: getattr(self, name) for name in ("outcome", "reason", "action", "nbytes")},
        }


def libraries() -> dict[str, Backend | None]:
    """Every available library by name; None for a library without an entry point."""
    here: dict[str, Backend | None] = {s.name: s.backend for s in registry.statuses() if s.available}
    return here | {name: None for name in GENERIC if importlib.util.find_spec(name) is not None}


def pairs(
    known: dict[str, Backend | None], producers: Sequence[str] = (), consumers: Sequence[str] = ()
) -> Iterator[Pair]:
    """Every pair of libraries, for each setting that one of the two needs and each device of the producer."""
    for producer in producers or known:
        for consumer in consumers or known:
            both = [backend for name in {producer, consumer} if (backend := known[name]) is not None]
            shared = {name: value for backend in both for name, value in backend.shared_environment.items()}
            settings = {name: values for backend in both for name, values in backend.settings.items()} or {"": {}}
            for setting, values in settings.items():
                for device in _devices(known[producer]):
                    yield Pair(producer, consumer, setting, tuple((shared | values).items()), device)


def _devices(producer: Backend | None) -> list[str]:
    """The names of the producer's devices. The first device, the host or the default, has the empty name."""
    others = [] if producer is None else producer.devices()[1:]
    return ["", *(device.name for device in others if device.kind != "cpu")]


def cells(dtypes: Sequence[str] = (), kinds: Sequence[str] = (), *, large: bool = False) -> Iterator[Cell]:
    """The cells of a pair. Very large arrays are optional and have one dtype."""
    for dtype in dtypes or DTYPES:
        for kind in kinds or ALL_KINDS:
            for copy in COPIES.values():
                yield Cell(dtype, kind, copy)
    if large:
        for copy in COPIES.values():
            yield Cell("uint8", LARGE, copy)
