"""The arguments of convolutions and pooling: layouts, windows and padding, checked once for all libraries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import index
from typing import Any

from xarrayops._core.backends.mixed import described
from xarrayops._core.backends.registry import Backend
from xarrayops.plugin.arrays import Array, Record
from xarrayops.plugin.convolution import Windows

Extents = int | Sequence[int]
Padding = int | Sequence[int] | Sequence[tuple[int, int]] | str
FIRST = {1: "NCW", 2: "NCHW", 3: "NCDHW"}
LAST = {1: "NWC", 2: "NHWC", 3: "NDHWC"}
_BLOCKED = re.compile(r"(NC[DHW]+)([1-9]\d*)c")


class Layout(Record):
    """The position of the channels of an array: second, last, or in blocks that are last."""

    name: str
    is_last: bool
    block: int = 0


def layout_of(call: str, name: str, rank: int) -> Layout:
    """The layout of a name. Raises `ValueError` for unknown names."""
    if name == FIRST[rank] or name == LAST[rank]:
        return Layout(name, name == LAST[rank])
    blocked = _BLOCKED.fullmatch(name)
    if blocked is not None and blocked[1] == FIRST[rank]:
        return Layout(name, False, int(blocked[2]))
    raise ValueError(f"{call}: layout is {name!r}, not {FIRST[rank]!r}, {LAST[rank]!r} or {FIRST[rank] + '16c'!r}")


def windows_for(
    call: str,
    extents: tuple[int, ...],
    shape: tuple[int, ...],
    stride: Extents,
    padding: Padding,
    dilation: Extents,
    *,
    is_last: bool,
) -> Windows:
    """The windows over spatial axes of these extents. Raises `ValueError` if no window fits, or a number is invalid."""
    rank = len(extents)
    strides, dilations = _per_axis(call, "stride", stride, rank, 1), _per_axis(call, "dilation", dilation, rank, 1)
    found = Windows(shape, strides, ((0, 0),) * rank, dilations, is_last)
    found = found._replace(padding=_padding(call, padding, found, extents))
    counts = found.counts(extents)
    if min(shape) < 1 or min(counts) < 1:
        raise ValueError(
            f"{call}: a window covers {found.spans} elements, and the array has {extents}, with padding {found.padding}"
        )
    return found


def extents_of_window(call: str, window: Extents, rank: int) -> tuple[int, ...]:
    """The extents of a window. Raises `ValueError` for invalid numbers."""
    return _per_axis(call, "window", window, rank, 1)


def _per_axis(call: str, name: str, value: Extents, rank: int, least: int) -> tuple[int, ...]:
    """One number for each spatial axis."""
    given = tuple(index(n) for n in value) if isinstance(value, Sequence) else (index(value),) * rank
    if len(given) != rank or any(n < least for n in given):
        raise ValueError(f"{call}: {name} must be {rank} integers of at least {least}, or one for all axes: {value!r}")
    return given


def _padding(call: str, padding: Padding, windows: Windows, extents: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """The padding before and after each spatial axis."""
    rank = len(extents)
    if padding == "valid":
        return ((0, 0),) * rank
    if padding == "same":
        sides = zip(extents, windows.spans, windows.stride, strict=True)
        totals = [max((-(-n // stride) - 1) * stride + span - n, 0) for n, span, stride in sides]
        return tuple((total // 2, total - total // 2) for total in totals)
    if isinstance(padding, str):
        raise ValueError(f"{call}: padding is {padding!r}; the names are 'same' and 'valid'")
    if isinstance(padding, Sequence) and padding and all(isinstance(pair, Sequence) for pair in padding):
        pairs: Any = padding
        if len(pairs) != rank or any(len(pair) != 2 or min(pair) < 0 for pair in pairs):
            raise ValueError(f"{call}: padding must have {rank} pairs of integers of at least 0: {padding!r}")
        return tuple((index(before), index(after)) for before, after in pairs)
    flat: Any = padding
    return tuple((n, n) for n in _per_axis(call, "padding", flat, rank, 0))


def described_call(verb: str, backend: Backend, *arrays: Array) -> str:
    """The call, for errors."""
    return f"xo.{verb}({', '.join(described(x, backend) for x in arrays)})"
