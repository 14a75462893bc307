"""Patterns of `relayout`: two orders of the same named axes. An axis may be split into an outer axis and a block."""

from __future__ import annotations

import re
from functools import lru_cache

from xarrayops._core.dispatch.lookup import constant_while_tracing
from xarrayops.errors import LayoutError
from xarrayops.plugin.arrays import Record

_TOKEN = re.compile(r"(?P<block>[0-9]*)(?P<name>[^\W\d]\w*)")
_LETTER = re.compile(r"(?P<block>[0-9]*)(?P<name>[^\W\d_])")
_EINOPS = re.compile(r"[()]|\.\.\.|(?<!\S)1(?!\S)")


class Factor(Record):
    """One axis of an array: a named axis, or the outer or the inner part of a named axis that is split into blocks."""

    name: str
    block: int = 0
    """The block size if this is the inner part, otherwise 0."""


class Side(Record):
    """One side of a pattern: the axes of an array, and the block size of each axis that is split into blocks."""

    factors: tuple[Factor, ...]
    blocks: dict[str, int]

    @property
    def names(self) -> tuple[str, ...]:
        """The named axes in their order, each once, at the position of its outer part."""
        return tuple(factor.name for factor in self.factors if not factor.block)


class AxisPlan(Record):
    """The steps that change an array from the left side of a pattern to the right side.

    Attributes
    ----------
    names : tuple of str
        The named axes in the order of the right side.
    permuted : tuple of int
        The first permutation: the axes in the order of ``names``, each inner part directly after its outer part.
    merged : tuple of int
        For each name the block size with which its two parts are merged into one axis; 0 for no merge.
    split : tuple of int
        For each name the block size by which its axis is then split into two parts; 0 if it is not split.
    placed : tuple of int
        The last permutation, to the order of the right side.
    """

    names: tuple[str, ...]
    permuted: tuple[int, ...]
    merged: tuple[int, ...]
    split: tuple[int, ...]
    placed: tuple[int, ...]


@constant_while_tracing
def plan(text: str) -> AxisPlan:
    """The plan of a pattern such as ``"NCHW -> NCHW16c"`` or ``"b h s d -> b s h d"``.

    Raises
    ------
    LayoutError
        The text is not a pattern, an axis occurs twice, or the sides name different axes.
    """
    return _parse(text)


@lru_cache(maxsize=1024)  # not on `plan`: torch.compile ignores lru_cache and would trace the function
def _parse(text: str) -> AxisPlan:
    if not isinstance(text, str):
        raise LayoutError("a pattern must be a string such as 'NCHW -> NHWC'")
    if _EINOPS.search(text):
        raise LayoutError(
            f"the pattern {text!r} uses einops syntax; parentheses, ellipses and 1 are not supported. "
            f"Instead: a name for each axis, 'a -> a 16a' to split an axis into blocks, and xo.reshape to merge or add "
            f"axes"
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
            f"both sides of {text!r} must name the same axes; only one side has {', '.join(sorted(different))}"
            f"{_hint(source, target, sides)}"
        )
    in_order = [
        tuple(part for name in names for part in sorted(s.factors) if part.name == name) for s in (source, target)
    ]
    merged, split = (tuple(side.blocks.get(name, 0) for name in names) for side in (source, target))
    return AxisPlan(
        names,
        tuple(map(source.factors.index, in_order[0])),
        merged,
        split,
        tuple(map(in_order[1].index, target.factors)),
    )


def _hint(source: Side, target: Side, sides: list[str]) -> str:
    """The corrected pattern if the sides differ only by case: in nChw16c of oneDNN capitals mark split axes."""
    cased = {name.lower(): name for name in source.names}
    if len(cased) < len(source.names) or sorted(cased) != sorted(name.lower() for name in target.names):
        return ""
    form = _TOKEN if " " in sides[1].strip() else _LETTER
    meant = form.sub(lambda match: match[0] if match["block"] else cased[match["name"].lower()], sides[1].strip())
    return f"; upper and lower case are different names. Instead: '{sides[0].strip()} -> {meant}'"


def _side(side: str, text: str, *, named: bool) -> Side:
    tokens = [_token(_TOKEN, word, text) for word in side.split()] if named else _letters(side, text)
    whole = [name for block, name in tokens if not block]
    cased = {name.lower(): name for name in whole} | {name: name for name in whole}
    factors = tuple(
        Factor(name) if not block else Factor(cased.get(name, cased.get(name.lower(), name)), int(block))
        for block, name in tokens
    )
    names = [factor.name for factor in factors if not factor.block]
    blocks = [factor for factor in factors if factor.block]
    for block, name in tokens:
        if block and int(block) == 0:
            raise LayoutError(f"the pattern {text!r} has a block of size 0, {block + name!r}")
        if block and name.lower() not in cased and name not in cased:
            raise LayoutError(f"the pattern {text!r} has a block {block + name!r}, but this side has no axis {name!r}")
    for name in {*names, *(factor.name for factor in blocks)}:
        if names.count(name) != 1 or sum(factor.name == name for factor in blocks) > 1:
            raise LayoutError(
                f"the pattern {text!r} must name the axis {name!r} once on each side, with at most one block"
            )
    return Side(factors, {factor.name: factor.block for factor in blocks})


def _letters(side: str, text: str) -> list[tuple[str, str]]:
    """The axes of a side without spaces: each is one letter, and a block has a number before its letter."""
    found = list(_LETTER.finditer(side))
    if "".join(match[0] for match in found) != side:
        raise LayoutError(f"the pattern {text!r} must consist of letters, or of names separated by spaces")
    return [(match["block"], match["name"]) for match in found]


def _token(form: re.Pattern[str], word: str, text: str) -> tuple[str, str]:
    match = form.fullmatch(word)
    if match is None:
        raise LayoutError(
            f"the pattern {text!r} may contain names of axes and blocks such as '16c'; {word!r} is neither"
        )
    return match["block"], match["name"]
