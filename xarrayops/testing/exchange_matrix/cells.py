"""Which cells the matrix has, and what can come of one."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from xarrayops._core import registry
from xarrayops._core.registry import Backend
from xarrayops._protocol.dtypes import DTYPE_NAMES
from xarrayops.testing.exchange_matrix.containers import CONTAINERS
from xarrayops.testing.exchange_matrix.memory_kinds import KINDS, LARGE

DTYPES: tuple[str, ...] = tuple(DTYPE_NAMES)
ALL_KINDS = (*KINDS, *CONTAINERS)
COPIES: dict[str, bool | None] = {"None": None, "False": False, "True": True}
OUTCOMES = ("zero-copy", "copy", "refused", "not made", "skipped", "crashed", "timeout", "fault")
"""Converted without a byte moved, with, not at all; the producer cannot make such memory; too large for this machine;
the process died; no answer in time; and something that must not be."""
FAULTY = ("crashed", "timeout", "fault")
GENERIC = ("array_api_strict",)
"""Libraries without an entry point, taken in where they are installed, as any library of the standard would be."""


class Pair(NamedTuple):
    """From one library to another in one process; ``setting`` names the environment that one of them asks for.

    ``device`` is the producer's device, by name; empty for the one whose memory NumPy can see, or else its default.
    """

    producer: str
    consumer: str
    setting: str = ""
    environment: tuple[tuple[str, str], ...] = ()
    device: str = ""

    @property
    def origin(self) -> str:
        """Where the arrays come from, as the tables show it."""
        return f"{self.producer} on {self.device}" if self.device else self.producer

    @property
    def label(self) -> str:
        """The pair as the tables show it."""
        setting = f" ({self.setting})" if self.setting else ""
        return f"{self.origin} -> {self.consumer}{setting}"


class Cell(NamedTuple):
    """One conversion of the matrix."""

    dtype: str
    kind: str
    copy: bool | None


class Result(NamedTuple):
    """A cell and what came of it: ``action`` and ``nbytes`` are what explain said before."""

    pair: Pair
    cell: Cell
    outcome: str
    reason: str = ""
    action: str = ""
    nbytes: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """The line of the results file."""
        return {
            **{name: getattr(self.pair, name) for name in ("producer", "consumer", "setting", "device")},
            **self.cell._asdict(),
            **{name: getattr(self, name) for name in ("outcome", "reason", "action", "nbytes")},
        }


def libraries() -> dict[str, Backend | None]:
    """Every library that is here, by name; None for one that only its namespace names."""
    here: dict[str, Backend | None] = {s.name: s.backend for s in registry.statuses() if s.available}
    return here | {name: None for name in GENERIC if importlib.util.find_spec(name) is not None}


def pairs(
    known: dict[str, Backend | None], producers: Sequence[str] = (), consumers: Sequence[str] = ()
) -> Iterator[Pair]:
    """Every pair of libraries, once for each setting that one of the two asks for and each device of the producer."""
    for producer in producers or known:
        for consumer in consumers or known:
            both = [backend for name in {producer, consumer} if (backend := known[name]) is not None]
            shared = {name: value for backend in both for name, value in backend.shared_environment.items()}
            settings = {name: values for backend in both for name, values in backend.settings.items()} or {"": {}}
            for setting, values in settings.items():
                for device in _devices(known[producer]):
                    yield Pair(producer, consumer, setting, tuple((shared | values).items()), device)


def _devices(producer: Backend | None) -> list[str]:
    """The devices from which arrays may come, by name; the first one, the host or the default, is meant without one."""
    others = [] if producer is None else producer.devices()[1:]
    return ["", *(device.name for device in others if device.kind != "cpu")]


def cells(dtypes: Sequence[str] = (), kinds: Sequence[str] = (), *, large: bool = False) -> Iterator[Cell]:
    """The cells of a pair; those of very large memory only if asked for, and of one dtype."""
    for dtype in dtypes or DTYPES:
        for kind in kinds or ALL_KINDS:
            for copy in COPIES.values():
                yield Cell(dtype, kind, copy)
    if large:
        for copy in COPIES.values():
            yield Cell("uint8", LARGE, copy)
