"""The calls of all names for some seeds, and the differences that they find."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.fuzz.differential.calls import draw_call
from tests.fuzz.differential.draw import Call
from tests.fuzz.differential.known import ROWS
from tests.fuzz.differential.outcomes import KINDS, Outcome, compared, evaluated

IMPORTS = "\nimport numpy, xarrayops as xo, xarrayops.numpy as np\nfrom numpy import inf, nan"
"""What the snippets need."""
Key = tuple[str, str, str]
"""The kind of a difference, the name, and what differs."""


@dataclass
class Found:
    """The differences, each with the shortest call that shows it."""

    outcomes: dict[str, Counter[str]] = field(default_factory=dict)
    """The number of calls by library and outcome."""
    examples: dict[Key, tuple[Call, int, Outcome]] = field(default_factory=dict)
    libraries: dict[Key, set[str]] = field(default_factory=dict)
    counts: Counter[Key] = field(default_factory=Counter)
    listed: Counter[str] = field(default_factory=Counter)
    """The number of differences of each row of the table."""

    def add(self, call: Call, seed: int, library: str, outcome: Outcome) -> None:
        self.outcomes.setdefault(library, Counter())[outcome.kind] += 1
        if not outcome.is_difference and outcome.kind != "refused":
            return
        row = next((row for row in ROWS if row.lists(call, library, outcome)), None)
        if row is not None:
            self.listed[row.what] += 1
            return
        key = outcome.kind, call.name, _general(outcome)
        self.counts[key] += 1
        self.libraries.setdefault(key, set()).add(library)
        if key not in self.examples or call.size < self.examples[key][0].size:
            self.examples[key] = call, seed, outcome

    @property
    def unlisted(self) -> list[Key]:
        """The differences, the worst first."""
        keys = [key for key in self.examples if key[0] in KINDS]
        return sorted(keys, key=lambda key: (KINDS.index(key[0]), self.examples[key][0].size))

    def report(self, *, refused: bool = False) -> str:
        lines = [
            f"{library}: {counts.total()} calls: " + ", ".join(f"{n} {kind}" for kind, n in counts.most_common())
            for library, counts in self.outcomes.items()
        ]
        lines.append(f"{self.listed.total()} differences are in the table, {len(self.unlisted)} kinds are not")
        keys = self.unlisted + sorted(key for key in self.examples if refused and key[0] == "refused")
        return "\n".join([*lines, *([IMPORTS] if keys else []), *map(self.shown, keys)])

    def shown(self, key: Key) -> str:
        """A difference as a runnable snippet."""
        call, seed, outcome = self.examples[key]
        libraries = sorted(self.libraries[key])
        library = libraries[0].removesuffix("-32")
        lines = [
            f"\n# {outcome.kind}: {call.name}, {', '.join(libraries)}, {self.counts[key]} times, seed {seed}",
            f"# {outcome.detail}",
        ]
        lines += [f"{name} = {x.code()}" for name, x in call.operands.items()]
        converted = [f"{name} = xo.convert({name}, {library!r})" for name in call.operands]
        converted = [f"xo.set_default({library!r})", *converted] if library != "numpy" else []
        return "\n".join([*lines, f"{call.code.replace('np.', 'numpy.')}", *converted, call.code])


def _general(outcome: Outcome) -> str:
    """What differs, without the values of the example."""
    if outcome.kind in ("values", "operands", "shape", "structure"):
        return ""
    if outcome.kind == "dtype":
        return outcome.detail
    return re.sub(r"\([^()]*\)|\[[^\]]*\]|'[^']*'|\d[\d.e+-]*", "…", outcome.detail)[:60]


def search(names: Sequence[str], seeds: Iterable[int], libraries: Sequence[str]) -> Found:
    """Make the calls of the seeds for each name, on each library."""
    found = Found()
    for seed in seeds:
        for name in names:
            drawn = draw_call(name, seed)
            if drawn is None:
                continue
            references: dict[str, Any] = {}
            for library in libraries:
                kind = library if library in ("numpy", "jax-32") else "other"
                call = of_library(drawn, library)
                if kind not in references:
                    references[kind] = evaluated(call, "numpy")
                found.add(call, seed, library, compared(call, library, references[kind]))
    return _smaller(found)


def of_library(call: Call, library: str) -> Call:
    """The call with operands that the library has."""
    if library == "numpy":
        return call
    return call.writable().narrow() if library == "jax-32" else call.writable()


def _smaller(found: Found) -> Found:
    """The differences with arguments left out that do not matter."""
    for key, (call, seed, outcome) in found.examples.items():
        library = min(found.libraries[key])
        tried = call.simpler()
        while tried:
            simpler = tried.pop()
            again = compared(simpler, library, evaluated(simpler, "numpy"))
            if (again.kind, simpler.name, _general(again)) == key:
                call, outcome = simpler, again
                tried = call.simpler()
        found.examples[key] = call, seed, outcome
    return found
