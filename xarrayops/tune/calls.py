"""The calls that ``tune`` measures: its own list, or those of a file that `xarrayops.choices` wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from xarrayops._core.backends import find
from xarrayops._ops.choices.calls import Description
from xarrayops._ops.choices.measurements import choices_of

SIDES = (128, 256, 512, 1024, 2048)
"""The sides of the square arrays. A size between two of them has a kernel that is proved for both."""
_ONE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("argmax", {"axis": 1}),
    ("sort", {}),
    ("sort", {"axis": 0}),
    ("argsort", {}),
    ("sqrt", {}),
    ("abs", {}),
    ("exp", {}),
    ("tanh", {}),
    ("sum", {"axis": 0}),
    ("sum", {"axis": 1}),
    ("sum", {}),
    ("mean", {"axis": 0}),
    ("max", {"axis": 0}),
    ("max", {"axis": 1}),
    ("std", {"axis": 0}),
    ("cumulative_sum", {"axis": 1}),
    ("median", {"axis": 0}),
    ("softmax", {"axis": 1}),
)
LIBRARIES = ("cupy", "jax", "numpy", "torch")
"""The libraries whose arrays have values when a call returns."""
_TWO = ("add", "multiply", "divide", "maximum", "less", "matmul")
VERBS = (*dict.fromkeys(verb for verb, _ in _ONE), *_TWO, "take")
_FLOATS = ("float32", "float64")


def default_calls(libraries: Sequence[str], verbs: Sequence[str], sides: tuple[int, ...] = SIDES) -> list[Description]:
    """The calls of the list, those of small arrays first: the most common verbs in two dtypes and several sizes."""
    found = [call for side in sides for library in libraries for call in _calls(library, side)]
    return [call for call in found if not verbs or call["verb"] in verbs]


def _calls(library: str, side: int) -> Iterator[Description]:
    refusal = find.named(library).functions["import_refusal"]
    for dtype in (name for name in _FLOATS if refusal(name) is None):
        x = {"shape": [side, side], "dtype": dtype, "layout": "C"}
        x |= {"layout": "C, read-only"} if library == "jax" else {}
        for verb, options in _ONE:
            yield {"verb": verb, "library": library, "args": [x], "kwargs": options}
        for verb in _TWO:
            yield {"verb": verb, "library": library, "args": [x, x], "kwargs": {}}
        integers = "int64" if refusal("int64") is None else "int32"
        index = {"shape": [side], "dtype": integers, "layout": x["layout"]}
        yield {"verb": "take", "library": library, "args": [x, index], "kwargs": {"axis": 0}}


def calls_of(log: Path) -> list[Description]:
    """The calls of a file that `xarrayops.choices` wrote. Raises `ValueError` or `OSError` for other files."""
    return [choice.description for choice in choices_of(str(log))]
