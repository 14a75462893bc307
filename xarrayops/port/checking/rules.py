"""All rules, and the findings of a program in the order of its lines."""

from __future__ import annotations

from xarrayops.port.checking import (
    creation,
    dtypes,
    foreign,
    indices,
    methods,
    names,
    operators,
    randomness,
    scalars,
    writes,
)
from xarrayops.port.checking.places import Analysed
from xarrayops.port.findings import Finding
from xarrayops.port.source import Program

TOPICS = (names, creation, methods, operators, indices, writes, scalars, dtypes, randomness, foreign)
"""One file for each topic, each with a function ``rules``."""


def findings(program: Program) -> tuple[Finding, ...]:
    """What differs by library, in the order of the source; the same text at the same place is said once."""
    analysed = Analysed(program)
    return tuple(sorted({finding for topic in TOPICS for finding in topic.rules(analysed)}))
