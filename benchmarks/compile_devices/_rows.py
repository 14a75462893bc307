"""The rows of the contract suite, with a name for each, and the calls of a row that are compiled."""

from __future__ import annotations

from collections import Counter
from functools import cache

from xarrayops.testing import ContractSuite, Variant
from xarrayops.testing._suite.suite import rows
from xarrayops.testing._suite.table import Row, dtype_class, supported_cases


@cache
def named_rows() -> list[tuple[str, Row]]:
    """All rows. Several rows of the same name are numbered from the second on."""
    seen: Counter[str] = Counter()
    found = []
    for row in rows(ContractSuite):
        seen[str(row)] += 1
        found.append((str(row) if seen[str(row)] == 1 else f"{row} ({seen[str(row)]})", row))
    return found


def first_calls(variant: Variant, row: Row, *, each_class: bool) -> dict[str, int]:
    """The position of the first call, with elements if possible, of each class of dtypes, or of all classes as ""."""
    first: dict[str, int] = {}
    calls = supported_cases(variant, row)
    for position in sorted(range(len(calls)), key=lambda k: any(not x.size for x in calls[k].arrays)):
        first.setdefault(dtype_class(calls[position]) if each_class else "", position)
    return first
