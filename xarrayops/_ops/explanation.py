"""The results of `explain`, and the explanation of a call that a backend serves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xarrayops._system.texts import amount
from xarrayops.plugin.arrays import Record
from xarrayops.plugin.candidates import Call, Kernel, copies_of, refusal
from xarrayops.plugin.sharding import Cost


class Candidate(Record):
    """One way to serve a call: its name (``library:kernel``), whether it can serve, the reason, and what it copies.

    For split arrays ``moves`` are the bytes that a device or a task receives from others, ``holds`` those of its
    arguments, results and temporary arrays, and ``sharding`` says how the result is split. They are None if unknown.
    """

    name: str
    ok: bool
    reason: str = ""
    copies: tuple[str, ...] = ()
    moves: int | None = None
    holds: int | None = None
    sharding: str | None = None

    def costing(self, cost: Cost | None) -> Candidate:
        """The candidate with its cost."""
        return self if cost is None else self._replace(**cost._asdict())


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
        is_split = any((c.moves, c.holds, c.sharding) != (None,) * 3 for c in self.candidates)
        rows = [("", "candidate", "can", *(("moves", "holds", "result") if is_split else ()), "why")]
        for c in self.candidates:
            mark, why = "->" if c.name == self.chosen else "", "; ".join(t for t in (c.reason, *c.copies) if t)
            numbers = ("unknown" if each is None else amount(each) for each in (c.moves, c.holds))
            costs = (*numbers, c.sharding or "unknown") if is_split else ()
            rows.append((mark, c.name, "yes" if c.ok else "no", *costs, why))
        warnings = (f"WARNING: {text}" for text in self.warnings)
        return "\n".join([f"{self.verb}: {self.summary}", *aligned(rows), *warnings])


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """A line for each row of a table, with its columns aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def candidates(
    library: str, kernels: Iterable[Kernel], call: Call, usual: Callable[[], Cost | None] = lambda: None
) -> tuple[Candidate, ...]:
    """The kernels of a library, and whether each can serve the call; ``usual`` is the cost of those without a rule."""
    return tuple(_candidate(f"{library}:{kernel[0]}", kernel, call, usual) for kernel in kernels)


def _candidate(name: str, kernel: Kernel, call: Call, usual: Callable[[], Cost | None]) -> Candidate:
    reason = refusal(kernel, call)
    if reason is not None:
        return Candidate(name, False, reason)
    own = getattr(kernel[1], "cost", None)
    return Candidate(name, True, "", copies_of(kernel, call)).costing(usual() if own is None else own(call))


def chosen_name(listed: Iterable[Candidate]) -> str | None:
    """The name of the candidate that would serve the call; None if none can."""
    return next((candidate.name for candidate in listed if candidate.ok), None)
