"""The arguments of convolutions and pooling: layouts, windows and padding, checked and explained for all libraries."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import index
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.mixed import described
from xarrayops._core.backends.registry import Backend
from xarrayops._ops.engines.explaining import with_engines
from xarrayops._ops.explained import explain_served
from xarrayops._ops.explanation import Candidate, Explanation
from xarrayops.plugin.arrays import Array, Record
from xarrayops.plugin.candidates import Call
from xarrayops.plugin.convolution import Windows

Extents = int | Sequence[int]
Padding = int | Sequence[int] | Sequence[tuple[int, int]] | str
FIRST = {1: "NCW", 2: "NCHW", 3: "NCDHW"}
LAST = {1: "NWC", 2: "NHWC", 3: "NDHWC"}
_BLOCKED = re.compile(r"(NC[DHW]+)([1-9]\d*)c")


class Request(Record):
    """The options of a call. The default stride of a pooling is its window."""

    verb: str
    rank: int
    stride: Extents | None = 1
    padding: Padding = 0
    dilation: Extents = 1
    layout: str = ""
    groups: int = 1


def request_of(verb: str, options: dict[str, Any]) -> Request:
    """The request of a call with options by keyword."""
    rank = int(verb[-2])
    return Request(verb, rank, **{"layout": FIRST[rank]} | options)


class Layout(Record):
    """The position of the channels of an array: second, last, or in blocks that are last."""

    is_last: bool
    block: int = 0


def layout_of(call: str, name: str, rank: int) -> Layout:
    """The layout of a name. Raises `ValueError` for unknown names."""
    if name == FIRST[rank] or name == LAST[rank]:
        return Layout(name == LAST[rank])
    blocked = _BLOCKED.fullmatch(name)
    if blocked is not None and blocked[1] == FIRST[rank]:
        return Layout(False, int(blocked[2]))
    raise ValueError(f"{call}: layout is {name!r}, not {FIRST[rank]!r}, {LAST[rank]!r} or {FIRST[rank] + '16c'!r}")


def windows_for(call: str, x: Array, shape: tuple[int, ...], request: Request, *, is_last: bool) -> Windows:
    """The windows over the spatial axes of x. Raises `ValueError` if no window fits, or a number is invalid."""
    rank, extents = request.rank, tuple(x.shape[1:-1] if is_last else x.shape[2:])
    strides = per_axis(call, "stride", request.stride, rank, 1)
    dilations = per_axis(call, "dilation", request.dilation, rank, 1)
    found = Windows(shape, strides, ((0, 0),) * rank, dilations, is_last)
    found = found._replace(padding=_padding(call, request.padding, found, extents))
    counts = found.counts(extents)
    if min(shape) < 1 or min(counts) < 1:
        raise ValueError(
            f"{call}: a window covers {found.spans} elements, and the array has {extents}, with padding {found.padding}"
        )
    return found


def per_axis(call: str, name: str, value: Any, rank: int, least: int) -> tuple[int, ...]:
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
    return tuple((n, n) for n in per_axis(call, "padding", flat, rank, 0))


def described_call(verb: str, backend: Backend, *arrays: Array) -> str:
    """The call, for errors."""
    return f"xo.{verb}({', '.join(described(x, backend) for x in arrays)})"


def explain_request(
    hook: str, request: Request, x: Array, plan: Callable[[], tuple[Backend, tuple[Any, ...]]]
) -> Explanation:
    """The kernels of the plan of a call; blocks of channels are reordered."""
    verb, rank, layout = request.verb, request.rank, request.layout
    if layout_of(f"xo.{verb}", layout, rank).block:
        name = find.one_of(verb, {"x": x}).name
        reason = f"{layout} is reordered to {FIRST[rank]}, and the result is reordered back"
        listed = (Candidate(f"{name}:{verb}", True, reason, ("x: copy", "result: copy")),)
        return Explanation(verb, f"{name} serves its own arrays", listed, listed[0].name)
    backend, given = plan()
    found = explain_served(verb, backend, Call(given, {}), hook=hook)._replace(verb=hook)
    return with_engines(found, backend, given, {})._replace(verb=verb)
