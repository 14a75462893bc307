"""relayout: axes permuted, cut into blocks and joined, on the standard's functions."""

from __future__ import annotations

import operator
from itertools import product
from typing import NamedTuple

from xarrayops._core.arguments import described
from xarrayops._core.dispatch import require_one_backend
from xarrayops._core.registry import Backend
from xarrayops._ops.layout.pattern import AxisPlan, plan
from xarrayops._protocol.devices import Memory, compact_strides
from xarrayops._protocol.types import Array, ArrayT
from xarrayops.errors import LayoutError, Unsupported


def relayout(x: ArrayT, pattern: str, /, *, channels: int | None = None) -> ArrayT:
    """x with its axes in another order, and its elements physically in C order of the new axes.

    Parameters
    ----------
    x : array
        With one axis for each name on the left of the pattern.
    pattern : str
        Axes as letters, ``"NCHW -> NHWC"``, or as names with spaces between them, ``"b h s d -> b s h d"``. A number
        before a name cuts blocks of that size from the axis of that name: ``"NCHW -> NCHW16c"`` puts 16 channels
        innermost, the last block filled up with zeros.
    channels : int, optional
        Of a pattern whose left side has a block: the extent of that axis without what had been filled up; default all.

    Returns
    -------
    array
        C-contiguous, of x's dtype and library; it shares x's memory if x is already in this layout.

    Raises
    ------
    LayoutError
        The text is no pattern, or does not fit the shape of x.

    Notes
    -----
    Laws: ``relayout(x, "a b -> b a")`` equals ``permute_dims(x, (1, 0))``; a pattern and then its inverse, with
    ``channels=`` where blocks were filled up, give x back.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> x = np.zeros((32, 20, 7, 7), dtype=np.float32)
    >>> xo.relayout(x, "NCHW -> NHWC").shape
    (32, 7, 7, 20)
    >>> blocked = xo.relayout(x, "NCHW -> NCHW16c")
    >>> blocked.shape, xo.relayout(blocked, "NCHW16c -> NCHW", channels=20).shape
    ((32, 2, 7, 7, 16), (32, 20, 7, 7))
    """
    backend = require_one_backend("relayout", {"x": x})
    try:
        return _relaid(backend, x, plan(pattern), channels)
    except Unsupported as error:
        raise Unsupported(f"{_asked(backend, x, pattern, channels)}: {error}") from None
    except ValueError as error:  # also of the library, as for more axes than it can have
        raise LayoutError(f"{_asked(backend, x, pattern, channels)}: {error}.") from None


class LayoutForecast(NamedTuple):
    """What a verb that brings elements into an order would do.

    Whether it would touch neither axes nor memory; whether its result would share memory where there are strides, and
    the bytes of the result, where they are known.
    """

    idle: bool
    stays: bool
    nbytes: int | None


def _relaid(backend: Backend, x: Array, steps: AxisPlan, channels: int | None) -> Array:
    f = backend.functions
    _require_fit(x.ndim, steps, channels)
    reshapes = any(steps.joined) or any(steps.cut)
    if not reshapes or steps.permuted != tuple(range(x.ndim)):
        x = f["permute_dims"](x, steps.permuted)
    if any(steps.joined):
        x = f["reshape"](f["contiguous"](x), _joined(x.shape, steps))
        if channels is not None:
            axis, extent = _trimmed(x.shape, steps, channels)
            x = x[(*(slice(None),) * axis, slice(extent), ...)]
    if any(steps.cut):
        padded = any(n % block for n, block in zip(x.shape, steps.cut, strict=True) if block)
        if padded and _is_written(backend, x):
            return _in_pieces(backend, x, steps)
        x = f["permute_dims"](f["reshape"](_filled_up(backend, x, steps), _cut(x.shape, steps)), steps.placed)
    return f["contiguous"](x)


def _is_written(backend: Backend, x: Array) -> bool:
    """Whether an array beside x can be written at once, where the others give a new array for each piece."""
    return not (backend.immutable or backend.functions["is_lazy"](x))


def _zeros(backend: Backend, x: Array, shape: tuple[int, ...]) -> Array:
    """Zeros of x's dtype, on the device of x."""
    return backend.functions["zeros"](shape, dtype=x.dtype, device=backend.functions["device"](x))


def _in_pieces(backend: Backend, x: Array, steps: AxisPlan) -> Array:
    """The result as zeros, and x written there: one copy, while x with zeros behind its axes would be another."""
    f, cut = backend.functions, _cut(x.shape, steps)
    result = _zeros(backend, x, tuple(cut[k] for k in steps.placed))
    for pieces in product(*map(_pieces, x.shape, steps.cut)):
        piece = f["reshape"](x[tuple(p.items for p in pieces)], tuple(n for p in pieces for n in p.extents))
        place = tuple(part for p in pieces for part in p.place)
        where = tuple(place[k] for k in steps.placed)
        result = f["update"](result, where, "set", f["permute_dims"](piece, steps.placed), copy=None)
    return result


class Piece(NamedTuple):
    """Items of one named axis: which, the extents of their parts, and where these stand in the parts of the axis."""

    items: slice
    extents: tuple[int, ...]
    place: tuple[slice, ...]


def _pieces(extent: int, block: int) -> list[Piece]:
    """The whole blocks of an axis and what is left over; the whole of one that is not cut."""
    if not block:
        return [Piece(slice(None), (extent,), (slice(None),))]
    whole, rest = divmod(extent, block)
    blocks = Piece(slice(0, whole * block), (whole, block), (slice(0, whole), slice(None)))
    left = Piece(slice(whole * block, extent), (1, rest), (slice(whole, whole + 1), slice(0, rest)))
    return [blocks] * (whole > 0) + [left] * (rest > 0)


def _require_fit(ndim: int, steps: AxisPlan, channels: int | None) -> None:
    if ndim != len(steps.permuted):
        raise LayoutError(f"the left side names {len(steps.permuted)} axes, x has {ndim}")
    if channels is not None and len([block for block in steps.joined if block]) != 1:
        raise LayoutError("channels= is the extent of the axis in blocks on the left side, and there must be one")


def _joined(shape: tuple[int, ...], steps: AxisPlan) -> tuple[int, ...]:
    """The extents of the named axes, out of those of the parts, permuted."""
    joined, parts = [], iter(shape)
    for name, block in zip(steps.names, steps.joined, strict=True):
        extent = next(parts)
        if block and (items := next(parts)) != block:
            raise LayoutError(f"the blocks of {name} hold {items} items, not {block}")
        joined.append(extent * (block or 1))
    return tuple(joined)


def _trimmed(shape: tuple[int, ...], steps: AxisPlan, channels: int) -> tuple[int, int]:
    """The axis that is cut off at ``channels`` items, and how many those are."""
    (axis,) = (k for k, block in enumerate(steps.joined) if block)
    try:
        extent = operator.index(channels)
    except TypeError:
        raise LayoutError("channels= is an integer") from None
    if not 0 <= extent <= shape[axis]:
        raise LayoutError(
            f"the blocks of {steps.names[axis]} hold {shape[axis]} items, so channels= cannot be {extent}"
        )
    return axis, extent


def _filled_up(backend: Backend, x: Array, steps: AxisPlan) -> Array:
    """x with zeros behind those axes that are no whole number of blocks, where no array is written."""
    for axis, block in enumerate(steps.cut):
        missing = -x.shape[axis] % block if block else 0
        if missing:
            filling = (*x.shape[:axis], missing, *x.shape[axis + 1 :])
            x = backend.functions["concat"]([x, _zeros(backend, x, filling)], axis=axis)
    return x


def _cut(shape: tuple[int, ...], steps: AxisPlan) -> tuple[int, ...]:
    """The extents of the parts, out of those of the named axes."""
    parts: list[int] = []
    for extent, block in zip(shape, steps.cut, strict=True):
        parts += [-(-extent // block), block] if block else [extent]
    return tuple(parts)


def forecast(
    backend: Backend, x: Array, memory: Memory | None, pattern: str, /, *, channels: int | None = None
) -> LayoutForecast:
    """What `relayout` would do, for `explain`."""
    try:
        steps = plan(pattern)
        _require_fit(x.ndim, steps, channels)
        idle = steps.permuted == tuple(range(x.ndim)) and not any((*steps.joined, *steps.cut))
        seen = memory or Memory(
            "", tuple(x.shape), (0,) * x.ndim, itemsize=0, pointer=0, device=""
        )  # to see that it fits
        stays, nbytes = _forecast(seen, steps, channels)
        return LayoutForecast(idle, stays, nbytes) if memory else LayoutForecast(idle, False, None)
    except LayoutError as error:
        raise LayoutError(f"{_asked(backend, x, pattern, channels)}: {error}.") from None


def _forecast(memory: Memory, steps: AxisPlan, channels: int | None) -> tuple[bool, int]:
    """Whether every step gives a view where there are strides, and the bytes of the result."""
    memory, stays = memory.permuted(steps.permuted), True
    if any(steps.joined):
        stays, memory = memory.is_compact, _compact(memory, _joined(memory.shape, steps))
        if channels is not None:
            axis, extent = _trimmed(memory.shape, steps, channels)
            memory = memory._replace(shape=(*memory.shape[:axis], extent, *memory.shape[axis + 1 :]))
    if any(steps.cut):
        stays = stays and not any(n % block for n, block in zip(memory.shape, steps.cut, strict=True) if block)
        strides: list[int] = []
        for stride, block in zip(memory.strides, steps.cut, strict=True):
            strides += [stride * block, stride] if block else [stride]
        memory = memory._replace(shape=_cut(memory.shape, steps), strides=tuple(strides)).permuted(steps.placed)
    return stays and memory.is_compact, memory.nbytes


def _compact(memory: Memory, shape: tuple[int, ...]) -> Memory:
    return memory._replace(shape=shape, strides=compact_strides(shape, memory.itemsize))


def _asked(backend: Backend, x: Array, pattern: str, channels: int | None) -> str:
    return f"xo.relayout({described(x, backend)}, {pattern!r}, {channels=})"
