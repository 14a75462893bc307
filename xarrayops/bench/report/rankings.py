"""The tables that rank the libraries: the regret, the cost, and the sizes from which one is faster than NumPy."""

from __future__ import annotations

from collections.abc import Sequence

from xarrayops.bench.compare import break_even, machines
from xarrayops.bench.compare.ranking import FASTEST, TIE, regrets
from xarrayops.bench.report import tables
from xarrayops.bench.results import Results

SIGNS = {FASTEST: " *", TIE: " =", "missing": "  ", "": "  "}
LEGEND = "*: fastest, =: tie"
"""The signs after a time in tables of text."""
REGRET_COLUMNS = ("backend and device", "regret", "rows", "farthest behind")
Ranking = tuple[str, Sequence[str], list[tuple[str, ...]]]
"""A title, columns and lines."""


def regret_lines(results: Results, unit: str = "times as long") -> list[tuple[str, ...]]:
    """The regret of each backend and device as text, under `REGRET_COLUMNS`."""
    found = regrets((rows for _, rows in tables.groups(results.rows)), results.environment.get("resolution"))
    return [
        (
            regret.place,
            f"{regret.factor:.2f}",
            str(regret.rows),
            f"{tables.row_name(regret.behind)} ({regret.most:.3g} {unit})" if regret.behind else "",
        )
        for regret in found
    ]


def rankings(results: Results) -> list[Ranking]:
    """The ranking by time and, with prices, by cost. Empty tables are left out."""
    found: list[Ranking] = [(regret_title(results), REGRET_COLUMNS, regret_lines(results))]
    if results.environment.get("prices"):
        by_cost = machines.priced(results)
        places, lines = tables.matrix(by_cost, lambda cost: f"{cost:.3g}")
        costs = [(name, *((text + SIGNS[mark]).rstrip() for text, mark in drawn)) for name, drawn in lines]
        found.append(("Regret by cost", REGRET_COLUMNS, regret_lines(by_cost, "times as much")))
        found.append((f"Cost of a million calls ({LEGEND})", ("workload, dtype, size", *places), costs))
    return [table for table in found if table[-1]]


def regret_title(results: Results) -> str:
    """The heading of the regret, which names the engines or the measured choices of the run."""
    return f"Regret with the {results.mode}" if results.mode else "Regret"


def break_even_sizes(results: Results) -> list[tuple[str, ...]]:
    """For each workload with several sizes, the size at which each backend becomes faster than NumPy, as text."""
    lines: list[tuple[str, ...]] = []
    for workload, dtype, by_place in break_even.sizes(results.rows, results.environment.get("resolution") or 0.0):
        texts = (f"{place}: {'at no size' if n is None else f'n >= {n}'}" for place, n in by_place.items())
        lines.append((f"{workload} {dtype}", "; ".join(texts)))
    return lines
