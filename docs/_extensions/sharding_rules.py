"""The page of rules: what functions move and hold for split arrays, from the rules that `explain` and `limits` use."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.dispatch.arguments import signature
from xarrayops._surface import EXTRA, SURFACE
from xarrayops._system.texts import amount
from xarrayops.plugin.costs import RULES, Chunks, Either, Rule
from xarrayops.plugin.sharding import Cost, Sharding

FOLDER = Path(__file__).resolve().parents[1] / "guides" / "generated"
PIECES = {"dask": 100, "jax": 8}
"""The libraries, and the shards of the array of the page."""
SHAPE, VECTOR, ITEM = (2_000_000, 64), (128_000_000,), 8
OF_VECTORS = {
    "take": ("indices",),
    "searchsorted": ("x1", "x2"),
    "bincount": ("x",),
    "compress": ("condition",),
    "digitize": ("bins",),
    "interp": ("xp", "fp"),
    "lexsort": ("keys",),
}
"""The arguments that have one axis."""
ARRAYS = ("x", "x1", "x2", "condition", "indices", "bins", "xp", "fp", "keys")
GIVEN = {"q": 0.5, "k": 10, "kth": 10, "full_matrices": False}
AXES = {"the split axis": 0, "another axis": 1}
TITLE = "Rules of split arrays"
INTRODUCTION = f"""\
What a call costs on arrays of float64 of shape {SHAPE}, 1 GB, that are split along their rows: for Dask into
{PIECES["dask"]} chunks of 10 MB, for JAX over {PIECES["jax"]} devices with 128 MB each. Vectors have the same bytes.
This page is written from the rules that ``xo.explain`` and ``xo.limits`` use. ``xo.explain`` states the bytes of your
own call.

*Result* is how the result is split. *Moved* is what one task or device receives from others; for Dask at most, if a
task runs where the largest of its chunks is. *Held* is what the largest task or a device has in memory at once:
arguments, results and temporary arrays. Functions that are not listed have no rule, so they are not limited, and
``xo.explain`` states no bytes of them. Arrays of cubed need no rules:
``xo.explain`` quotes the memory that cubed projects.
"""
OF_CHUNKS = {"Reshaped": "chunks that Dask joins", "Windows": "a chunk and the shorter vector"}
OF_PLANS = """
On a mesh {names} compute in shards where they can. The guide
:doc:`Beyond one machine <../sharding>` says what moves, and
``xo.explain`` the bytes.
"""


def rule_of(library: str, verb: str) -> Rule | None:
    """The rule of a function of a library, or of its first kernel; None if its cost depends on more."""
    backend = find.library(library)
    served = [backend.functions[verb], *(function for _, function, _ in backend.kernels(verb)[:1])]
    if any(hasattr(each, "cost") and not hasattr(each, "rule") for each in served):
        return None
    return next((each.rule for each in served if hasattr(each, "rule")), RULES.get(verb))


def with_plans(library: str) -> list[str]:
    """The functions that choose what to move by the sharding."""
    return [verb for verb in RULES if rule_of(library, verb) is None]


def split(library: str, shape: tuple[int, ...]) -> Sharding:
    """An array that is split along its first axis."""
    pieces = PIECES[library]
    part = (shape[0] // pieces, *shape[1:])
    spec = ("rows", *(None,) * (len(shape) - 1))
    return Sharding(library, {"rows": pieces}, spec, shape, part, prod(part) * ITEM, pieces)


def costs(library: str, verb: str, rule: Rule) -> Iterator[tuple[str, Cost]]:
    """The costs of a function along each kind of axis; of one without an argument ``axis`` along none."""
    parameters = signature(verb).parameters
    given: dict[str, Any] = {name: parameter.default for name, parameter in parameters.items()} | GIVEN
    for name in ARRAYS:
        if name in parameters:
            given[name] = split(library, VECTOR if name in OF_VECTORS.get(verb, ()) else SHAPE)
    if "axis" not in parameters:
        yield "", rule(given)
        return
    for along, axis in AXES.items():
        yield along, rule(given | {"axis": axis})


def cells(library: str, verb: str, rule: Rule) -> Iterator[tuple[str, ...]]:
    """What the page says of a function, along each kind of axis."""
    while isinstance(rule, Either):  # the first rule is that of most calls
        rule = rule.rule
    if isinstance(rule, Chunks):
        held = f"{rule.arguments} chunks of each argument and {rule.results} of the result"
        chunks = "a chunk" if rule.takes == 1 else f"{rule.takes} chunks"
        moved = (
            f"{chunks} of each argument"
            + f", or {rule.joins} partial results" * (rule.joins > 1)
            + ", less the largest"
        )
        yield "", "in chunks", OF_CHUNKS.get(type(rule).__name__, moved), held
        return
    for along, cost in costs(library, verb, rule):
        shown = ("depends on values" if n is None else amount(n) for n in (cost.moves, cost.holds))
        yield along, cost.sharding or "", *shown


def rows(library: str) -> dict[tuple[str, ...], list[str]]:
    """The functions with the same costs, in the order in which they were found."""
    found: dict[tuple[str, ...], list[str]] = {}
    for verb in dict.fromkeys([*RULES, *SURFACE, *EXTRA]):
        rule = rule_of(library, verb)
        for case in cells(library, verb, rule) if rule else ():
            found.setdefault(case, []).append(verb)
    return found


def table(library: str) -> str:
    """The table of a library."""
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: 40 15 15 15 15", ""]
    lines += _row("functions", "along", "result", "moved", "held")
    for shown, verbs in rows(library).items():
        lines += _row(", ".join(f"``{verb}``" for verb in verbs), *shown)
    return "\n".join(lines)


def _row(*cells: str) -> list[str]:
    first, *others = (f" {cell}".rstrip() for cell in cells)
    return [f"   * -{first}", *(f"     -{cell}" for cell in others)]


def page() -> str:
    """The text of the page."""
    sections = "\n\n".join(f"{name}\n{'-' * len(name)}\n\n{table(name.lower())}" for name in ("Dask", "JAX"))
    of_plans = OF_PLANS.format(names=", ".join(f"``{verb}``" for verb in with_plans("jax")))
    return f"{TITLE}\n{'=' * len(TITLE)}\n\n{INTRODUCTION}\n{sections}\n{of_plans}"


def write(app: Any) -> None:
    """Write the page."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "sharding-rules.rst").write_text(page(), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Write the page before Sphinx looks for it."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
