"""Which candidate displaces the default: the statistics of measured rounds.

In each round the default and a candidate are called one after the other, so a disturbance that lasts longer than a
round does not change their ratio. A candidate is proved if, in each of the last two processes that measured it, the
rounds in `PROOF` show it at least `GAIN` times as fast, copies and waiting included. Two processes are
needed because the times of one process share its memory layout: medians of two processes of the same code differ by 6 %
in the middle, and by 28 % in one of ten cases. In the last check, a process between whose calls other work is done, the
rounds must reach `CHECK`: see `xarrayops.tune.run`. A round of a check differs from the next one by up to 10 %, because
the other work counts: a kernel that is as fast as the default would miss 11 of 15 rounds in one half of the checks.

Between two measured sizes a candidate serves only if it is proved for both. Beyond the measured sizes the default
serves.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Any

from xarrayops._ops.choices.calls import Description, Key, is_description, key_of, shown
from xarrayops._system import fingerprint
from xarrayops.plugin.arrays import Record

GAIN = 1.10
"""A candidate must be proved to be this many times as fast as the default."""
PROCESSES, ROUNDS = 2, 12
"""The least number of processes, and of rounds in each."""


class Requirement(Record):
    """What the rounds of one process must show: the least ratio, and how many of 15 rounds reach it."""

    ratio: float
    of_15: int


PROOF, CHECK = Requirement(GAIN, 11), Requirement(0.95, 8)
"""What a process must show that measures a gain, and one that checks that a kernel is not slower."""


class Choice(Record):
    """The candidate that was chosen for a kind of call: ``gain`` is the median ratio, default over candidate.

    The date is empty if the call was not measured, so that the default serves.
    """

    description: Description
    default: str
    candidate: str
    gain: float
    rounds: int
    date: str
    exact: bool

    @property
    def is_default(self) -> bool:
        """Whether the default serves."""
        return self.candidate == self.default

    def __str__(self) -> str:
        if self.is_default:
            measured = f"no other kernel is proved to be {GAIN} times as fast ({self.date})"
            return measured if self.date else "not measured"
        same = "same values" if self.exact else "values not the same to the last bit"
        rounds = f"{PROCESSES} processes, {self.rounds} rounds interleaved"
        return f"{self.gain:.2g} times as fast as {self.default} ({rounds}, {self.date}); {same}"


class Table(Record):
    """By kind of call and by extents, the candidates that are proved, the greatest gain first, or the default."""

    by_kind: dict[str, dict[tuple[int, ...], list[Choice]]]

    def choice(self, key: Key) -> Choice | None:
        """The choice for a call; None if its kind was not measured, or no kernel is proved around its sizes."""
        measured = self.by_kind.get(key.kind, {})
        if key.extents in measured:
            return measured[key.extents][0]
        below = [each for each in measured if _is_within(each, key.extents)]
        above = [each for each in measured if _is_within(key.extents, each)]
        if not below or not above:
            return None
        gains = {each.candidate: each.gain for each in measured[min(above, key=sum)]}
        both = [each for each in measured[max(below, key=sum)] if each.candidate in gains]
        return max(both, key=lambda each: min(each.gain, gains[each.candidate]), default=None)

    @property
    def choices(self) -> list[Choice]:
        """All choices, the greatest gain first."""
        found = [choices[0] for sizes in self.by_kind.values() for choices in sizes.values()]
        return sorted(found, key=lambda choice: -choice.gain)

    def __str__(self) -> str:
        found = [each for each in self.choices if not each.is_default]
        if not found:
            return "no measured choices: the defaults serve (python -m xarrayops.tune measures)"
        return "\n".join(f"{shown(each.description)}: {each.candidate}, {each}" for each in found)

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that identify the choices."""
        sizes = ((kind, extents, each) for kind, found in _sorted(self) for extents, each in sorted(found.items()))
        return fingerprint.digest([[kind, list(e), [c.candidate for c in each]] for kind, e, each in sizes])


def _sorted(table: Table) -> list[tuple[str, dict[tuple[int, ...], list[Choice]]]]:
    return sorted(table.by_kind.items())


def _is_within(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    return len(small) == len(large) and all(a <= b for a, b in zip(small, large, strict=True))


def table_of(choices: Iterable[list[Choice]]) -> Table:
    """The table of the choices for some calls; later ones replace earlier ones of the same key."""
    found = Table({})
    for each in choices:
        key = key_of(each[0].description)
        found.by_kind.setdefault(key.kind, {})[key.extents] = each
    return found


def decided(records: Iterable[dict[str, Any]], *, only_exact: bool) -> Table:
    """The choices that the records of a store prove."""
    measured: dict[Key, dict[str, list[dict[str, Any]]]] = {}
    for record in filter(_is_sound, records):
        by_name = measured.setdefault(key_of(record["call"]), {})
        if record.get("demoted") or (only_exact and record["exact"] is False):
            by_name[record["candidate"]] = [{**record, "ratios": []}]  # earlier measurements do not count any more
        else:
            by_name.setdefault(record["candidate"], []).append(record)
    return table_of(map(_best, filter(None, measured.values())))


def _best(candidates: dict[str, list[dict[str, Any]]]) -> list[Choice]:
    """The proved candidates, the greatest gain first, or the default."""
    last = max((found[-1] for found in candidates.values()), key=lambda record: record["date"])
    default = last["default"]
    proved = [choice for found in candidates.values() if (choice := _proved(found)) and choice.default == default]
    none = Choice(last["call"], default, default, 1.0, 0, last["date"], True)
    return sorted(proved, key=lambda choice: -choice.gain) or [none]


def reaches(least: Requirement, ratios: list[float]) -> bool:
    """Whether the rounds of one process show this. Another process has to confirm a gain."""
    return len(ratios) >= ROUNDS and 15 * sum(ratio >= least.ratio for ratio in ratios) >= least.of_15 * len(ratios)


def _proved(records: list[dict[str, Any]]) -> Choice | None:
    """The choice of a candidate, if its records prove the gain."""
    by_process: dict[str, list[float]] = {}
    checked: list[float] = []
    for record in records:
        if record.get("check"):
            checked = record.get("ratios", [])
        else:
            by_process.setdefault(record["process"], []).extend(record.get("ratios", []))
    last = [ratios for ratios in by_process.values() if ratios][-PROCESSES:]
    is_faster = len(last) == PROCESSES and all(reaches(PROOF, ratios) for ratios in last)
    if not is_faster or not reaches(CHECK, checked):
        return None
    record, ratios = records[-1], [ratio for each in last for ratio in each]
    gain = min(map(statistics.median, last))
    exact = next((each["exact"] for each in reversed(records) if each["exact"] is not None), False)
    return Choice(record["call"], record["default"], record["candidate"], gain, len(ratios), record["date"], exact)


def _is_sound(record: dict[str, Any]) -> bool:
    """Whether a line has what a record needs: other versions and other programs may have written to the file."""
    ratios = record.get("ratios", [])
    texts = [record.get(name) for name in ("default", "candidate", "process", "date")]
    are_ratios = isinstance(ratios, list) and all(isinstance(each, float) and each > 0 for each in ratios)
    are_texts = all(isinstance(text, str) for text in texts)
    return is_description(record["call"]) and are_ratios and are_texts and "exact" in record
