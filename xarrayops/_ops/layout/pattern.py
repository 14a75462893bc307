"""Patterns of `relayout`: two orders of the same named axes, some of them split into an outer axis and a block."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from xarrayops._core.dispatch import constant_while_tracing
from xarrayops.errors import LayoutError

_TOKEN = re.compile(r"(?P<block>[0-9]*)(?P<name>[^\W\d]\w*)")
_LETTER = re.compile(r"(?P<block>[0-9]*)(?P<name>[^\W\d_])")
_EINOPS = re.compile(r"[()]|\.\.\.|(?<!\S)1(?!\S)")


class Factor(NamedTuple):
    """One axis of an array: a named axis, or the outer or the inner part of one that is cut into blocks."""

    name: str
    block: int = 0
    """The items of a block where this is the inner part; 0 elsewhere."""


class Side(NamedTuple):
    """One side of a pattern: the axes of an array, and of each axis that is cut into blocks the size of a block."""

    factors: tuple[Factor, ...]
    blocks: dict[str, int]

    @property
    def names(self) -> tuple[str, ...]:
        """The named axes in their order, each once: where its outer part stands."""
        return tuple(factor.name for factor in self.factors if not factor.block)


class AxisPlan(NamedTuple):
    """What brings an array from one side of a pattern to the other.

    Its axes are permuted into the order of the names on the right, each inner part behind its outer one. Then parts are
    joined and named axes are cut, for each name by the items of its block, 0 without; then placed.
    """

    names: tuple[str, ...]
    permuted: tuple[int, ...]
    joined: tuple[int, ...]
    cut: tuple[int, ...]
    placed: tuple[int, ...]


@constant_while_tracing
def plan(text: str) -> AxisPlan:
    """The plan of a pattern such as ``"NCHW -> NCHW16c"`` or ``"b h s d -> b s h d"``.

    Raises
    ------
    LayoutError
        The text is no pattern, an axis stands twice, or the sides name different axes.
    """
    return _planned(text)


@lru_cache(maxsize=1024)  # torch.compile ignores such a cache, and would trace what is behind it
def _planned(text: str) -> AxisPlan:
    if not isinstance(text, str):
        raise LayoutError("a pattern is a string such as 'NCHW -> NHWC'")
    if _EINOPS.search(text):
        raise LayoutError(
            f"the pattern {text!r} is of einops, whose parentheses, ellipses and 1 stand for no axis by name. "
            f"Instead: each axis by its name, 'a -> a 16a' to cut one into blocks, and xo.reshape to join or add axes"
        )
    sides = text.split("->")
    if len(sides) != 2:
        raise LayoutError(f"the pattern {text!r} must have one arrow, as in 'NCHW -> NHWC'")
    named = any(" " in side.strip() for side in sides)
    source, target = (_side(side.strip(), text, named=named) for side in sides)
    names = target.names
    different = {*source.names} ^ {*names}
    if different:
        raise LayoutError(
            f"both sides of {text!r} must name the same axes; {_listed(different)} do not{_hint(source, target, sides)}"
        )
    in_order = [
        tuple(part for name in names for part in sorted(s.factors) if part.name == name) for s in (source, target)
    ]
    joined, cut = (tuple(side.blocks.get(name, 0) for name in names) for side in (source, target))
    return AxisPlan(
        names,
        tuple(map(source.factors.index, in_order[0])),
        joined,
        cut,
        tuple(map(in_order[1].index, target.factors)),
    )


def _hint(source: Side, target: Side, sides: list[str]) -> str:
    """What is meant where the sides differ by case alone, as in oneDNN's nChw16c: there it shows which axes are cut."""
    cased = {name.lower(): name for name in source.names}
    if len(cased) < len(source.names) or sorted(cased) != sorted(name.lower() for name in target.names):
        return ""
    form = _TOKEN if " " in sides[1].strip() else _LETTER
    meant = form.sub(lambda match: match[0] if match["block"] else cased[match["name"].lower()], sides[1].strip())
    return f"; upper and lower case differ, also for an axis that is cut. Instead: '{sides[0].strip()} -> {meant}'"


def _side(side: str, text: str, *, named: bool) -> Side:
    tokens = [_token(_TOKEN, word, text) for word in side.split()] if named else _letters(side, text)
    whole = [name for block, name in tokens if not block]
    cased = {name.lower(): name for name in whole} | {name: name for name in whole}
    factors = tuple(
        Factor(name) if not block else Factor(cased.get(name, cased.get(name.lower(), name)), int(block))
        for block, name in tokens
    )
    names = [factor.name for factor in factors if not factor.block]
    cut = [factor for factor in factors if factor.block]
    for block, name in tokens:
        if block and int(block) == 0:
            raise LayoutError(f"the pattern {text!r} has a block of no items, {block + name!r}")
        if block and name.lower() not in cased and name not in cased:
            raise LayoutError(f"the pattern {text!r} cuts {block + name!r} from an axis {name!r} that this side lacks")
    for name in {*names, *(factor.name for factor in cut)}:
        if names.count(name) != 1 or sum(factor.name == name for factor in cut) > 1:
            raise LayoutError(
                f"the pattern {text!r} must name the axis {name!r} once on each side, with one kind of blocks at most"
            )
    return Side(factors, {factor.name: factor.block for factor in cut})


def _letters(side: str, text: str) -> list[tuple[str, str]]:
    """The axes of a side without spaces: a letter each, a number before the letter of a block."""
    found = list(_LETTER.finditer(side))
    if "".join(match[0] for match in found) != side:
        raise LayoutError(f"the pattern {text!r} must spell axes as letters, or as names with spaces between them")
    return [(match["block"], match["name"]) for match in found]


def _token(form: re.Pattern[str], word: str, text: str) -> tuple[str, str]:
    match = form.fullmatch(word)
    if match is None:
        raise LayoutError(
            f"the pattern {text!r} must spell each axis as a name, or a block as '16c'; {word!r} is neither"
        )
    return match["block"], match["name"]


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names))
