"""The results of `explain`, and the explanation of a call that a backend serves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from xarrayops.plugin.arrays import Record
from xarrayops.plugin.candidates import Call, Kernel, copies_of, refusal


class Candidate(Record):
    """One way to serve a call: its name (``library:kernel``), whether it can serve, the reason, and what it copies."""

    name: str
    ok: bool
    reason: str = ""
    copies: tuple[str, ...] = ()


class Explanation(Record):
    """The explanation of a call. ``str()`` gives a table, ``as_dict()`` gives plain data.

    ``candidates`` are in order of preference; ``chosen`` is the name of the one that would serve the call, or None.
    Conversions, updates and changes of layout also have ``action`` ("zero-copy", "copy" or "refuse"), ``nbytes``, the
    number of bytes that would be copied (None if unknown), and ``reason``. ``warnings`` are the known bugs of the
    library's version that xarrayops cannot avoid in every program, with what to do.
    """

    verb: str
    summary: str
    candidates: tuple[Candidate, ...]
    chosen: str | None
    action: str | None = None
    nbytes: int | None = None
    reason: str | None = None
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The explanation as plain data."""
        return self._asdict() | {"candidates": tuple(c._asdict() for c in self.candidates)}

    def __str__(self) -> str:
        rows = [("", "candidate", "can", "why")]
        for c in self.candidates:
            mark, why = "->" if c.name == self.chosen else "", "; ".join(t for t in (c.reason, *c.copies) if t)
            rows.append((mark, c.name, "yes" if c.ok else "no", why))
        warnings = (f"WARNING: {text}" for text in self.warnings)
        return "\n".join([f"{self.verb}: {self.summary}", *aligned(rows), *warnings])


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """A line for each row of a table, with its columns aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def candidates(library: str, kernels: Iterable[Kernel], call: Call) -> tuple[Candidate, ...]:
    """The kernels of a library, and whether each can serve the call."""
    return tuple(_candidate(f"{library}:{kernel[0]}", kernel, call) for kernel in kernels)


def _candidate(name: str, kernel: Kernel, call: Call) -> Candidate:
    reason = refusal(kernel, call)
    return Candidate(name, reason is None, reason or "", copies_of(kernel, call) if reason is None else ())


def chosen_name(listed: Iterable[Candidate]) -> str | None:
    """The name of the candidate that would serve the call; None if none can."""
    return next((candidate.name for candidate in listed if candidate.ok), None)
