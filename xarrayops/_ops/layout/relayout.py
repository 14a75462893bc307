"""relayout: permutes axes, splits them into blocks and merges them, with the functions of the standard."""

from __future__ import annotations

import operator
from itertools import product

from xarrayops._core.backends import find
from xarrayops._core.backends.mixed import described
from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch.errors import explaining_arrays
from xarrayops._core.modes import tables as modes
from xarrayops._ops.engines.serving import by_engines
from xarrayops._ops.layout.pattern import AxisPlan, plan
from xarrayops.errors import LayoutError, Unsupported
from xarrayops.plugin.arrays import Array, ArrayT, Memory, Record, compact_strides
from xarrayops.plugin.indexing import Index


@explaining_arrays("relayout")
def relayout(x: ArrayT, pattern: str, /, *, channels: int | None = None) -> ArrayT:
    """x with its axes in another order, as a C-contiguous array.

    Parameters
    ----------
    x : array
        An array with one axis for each name on the left side of the pattern.
    pattern : str
        Axes as letters, ``"NCHW -> NHWC"``, or as names separated by spaces, ``"b h s d -> b s h d"``. A number before
        a name splits that axis into blocks of that size: ``"NCHW -> NCHW16c"`` makes blocks of 16 channels innermost,
        and pads the last block with zeros.
    channels : int, optional
        For a pattern whose left side has a block: the extent of that axis without the padding. By default the padding
        is kept.

    Returns
    -------
    array
        A C-contiguous array of x's dtype and library. It shares the memory of x if x is already in this layout.

    Raises
    ------
    LayoutError
        The text is not a pattern, or does not match the shape of x.

    Notes
    -----
    Laws: ``relayout(x, "a b -> b a")`` equals ``permute_dims(x, (1, 0))``. A pattern followed by its inverse, with
    ``channels=`` if blocks were padded, gives x.

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
    backend = find.one_of("relayout", {"x": x})
    try:
        return _serve(backend, x, plan(pattern), channels)
    except Unsupported as error:
        raise Unsupported(f"{_described_call(backend, x, pattern, channels)}: {error}") from None
    except ValueError as error:  # also errors of the library, for example too many axes
        raise LayoutError(f"{_described_call(backend, x, pattern, channels)}: {error}.") from None


class LayoutForecast(Record):
    """The forecast for a verb that reorders elements.

    Attributes
    ----------
    keeps_axes : bool
        Whether the axes keep their order and number, so that only the memory may have to be made contiguous.
    is_view : bool
        Whether the result would share the memory of x, in a library with strides.
    nbytes : int or None
        The number of bytes of the result; None if unknown.
    """

    keeps_axes: bool
    is_view: bool
    nbytes: int | None


def _relayout(backend: Backend, x: Array, steps: AxisPlan, channels: int | None) -> Array:
    f = backend.functions
    _require_fit(x.ndim, steps, channels)
    reshapes = any(steps.merged) or any(steps.split)
    if not (reshapes and steps.permuted == tuple(range(x.ndim))):  # Dynamo of PyTorch 2.11 fails on ``!=``
        x = f["permute_dims"](x, steps.permuted)
    if any(steps.merged):
        x = f["reshape"](f["contiguous"](x), _merged(x.shape, steps))
        if channels is not None:
            axis, extent = _trimmed(x.shape, steps, channels)
            x = x[(*(slice(None),) * axis, slice(extent), ...)]
    if any(steps.split):
        padded = any(n % block for n, block in zip(x.shape, steps.split, strict=True) if block)
        if padded and not (backend.immutable or f["is_lazy"](x)):  # the library writes in place
            return _in_pieces(backend, x, steps)
        x = f["permute_dims"](f["reshape"](_zero_padded(backend, x, steps), _split(x.shape, steps)), steps.placed)
    return f["contiguous"](x)


def _relayout_in_modes(backend: Backend, x: Array, steps: AxisPlan, channels: int | None) -> Array:
    """By an engine, if elements have to be copied."""
    memory = backend.functions["memory"](x)
    _require_fit(x.ndim, steps, channels)
    copies = memory is not None and not _forecast(memory, steps, channels)[0]
    return (_by_engines if copies else _relayout)(backend, x, steps, channels)


_serve = _relayout
_by_engines = by_engines("relayout", _relayout)
modes.bind(globals(), "_serve", "relayout", (_relayout, _relayout_in_modes, _relayout_in_modes))


def _zeros(backend: Backend, x: Array, shape: tuple[int, ...]) -> Array:
    """An array of zeros with the dtype and device of x."""
    return backend.functions["zeros"](shape, dtype=x.dtype, device=backend.functions["device"](x))


def _in_pieces(backend: Backend, x: Array, steps: AxisPlan) -> Array:
    """Write x in pieces into an array of zeros. This avoids a padded copy of x."""
    f, extents = backend.functions, _split(x.shape, steps)
    result = _zeros(backend, x, tuple(extents[k] for k in steps.placed))
    for pieces in product(*map(_pieces, x.shape, steps.split)):
        piece = f["reshape"](x[tuple(p.items for p in pieces)], tuple(n for p in pieces for n in p.extents))
        place = tuple(part for p in pieces for part in p.place)
        where = tuple(place[k] for k in steps.placed)
        result = f["update"](
            result, Index(where, f, is_basic=True), "set", f["permute_dims"](piece, steps.placed), copy=None
        )
    return result


class Piece(Record):
    """Items of one named axis, the extents of their parts, and the slices of the axis parts to which they belong."""

    items: slice
    extents: tuple[int, ...]
    place: tuple[slice, ...]


def _pieces(extent: int, block: int) -> list[Piece]:
    """The complete blocks of an axis and the remainder; the whole axis if it is not split."""
    if not block:
        return [Piece(slice(None), (extent,), (slice(None),))]
    whole, rest = divmod(extent, block)
    blocks = Piece(slice(0, whole * block), (whole, block), (slice(0, whole), slice(None)))
    left = Piece(slice(whole * block, extent), (1, rest), (slice(whole, whole + 1), slice(0, rest)))
    return [blocks] * (whole > 0) + [left] * (rest > 0)


def _require_fit(ndim: int, steps: AxisPlan, channels: int | None) -> None:
    if ndim != len(steps.permuted):
        raise LayoutError(f"the left side names {len(steps.permuted)} axes, but x has {ndim}")
    if channels is not None and len([block for block in steps.merged if block]) != 1:
        raise LayoutError("channels= needs exactly one axis in blocks on the left side, whose extent it gives")


def _merged(shape: tuple[int, ...], steps: AxisPlan) -> tuple[int, ...]:
    """The extents of the named axes, computed from the permuted extents of the parts."""
    merged, parts = [], iter(shape)
    for name, block in zip(steps.names, steps.merged, strict=True):
        extent = next(parts)
        if block and (items := next(parts)) != block:
            raise LayoutError(f"the blocks of {name} have {items} items, not {block}")
        merged.append(extent * (block or 1))
    return tuple(merged)


def _trimmed(shape: tuple[int, ...], steps: AxisPlan, channels: int) -> tuple[int, int]:
    """The axis that ``channels=`` shortens, and its new extent."""
    (axis,) = (k for k, block in enumerate(steps.merged) if block)
    try:
        extent = operator.index(channels)
    except TypeError:
        raise LayoutError("channels= must be an integer") from None
    if not 0 <= extent <= shape[axis]:
        raise LayoutError(
            f"channels= must be from 0 to {shape[axis]}, the items in the blocks of {steps.names[axis]}, not {extent}"
        )
    return axis, extent


def _zero_padded(backend: Backend, x: Array, steps: AxisPlan) -> Array:
    """x padded with zeros at the end of each axis that is not a multiple of its block size."""
    for axis, block in enumerate(steps.split):
        missing = -x.shape[axis] % block if block else 0
        if missing:
            padding = (*x.shape[:axis], missing, *x.shape[axis + 1 :])
            x = backend.functions["concat"]([x, _zeros(backend, x, padding)], axis=axis)
    return x


def _split(shape: tuple[int, ...], steps: AxisPlan) -> tuple[int, ...]:
    """The extents of the parts, computed from the extents of the named axes."""
    parts: list[int] = []
    for extent, block in zip(shape, steps.split, strict=True):
        parts += [-(-extent // block), block] if block else [extent]
    return tuple(parts)


def forecast(backend: Backend, x: Array, pattern: str, channels: int | None) -> LayoutForecast:
    """The forecast of `relayout`, for `explain`."""
    memory = backend.functions["memory"](x)
    try:
        steps = plan(pattern)
        _require_fit(x.ndim, steps, channels)
        keeps_axes = steps.permuted == tuple(range(x.ndim)) and not any((*steps.merged, *steps.split))
        # without memory, the forecast still checks that the pattern matches the shape
        assumed = memory or Memory("", tuple(x.shape), (0,) * x.ndim, itemsize=0, pointer=0, device="")
        is_view, nbytes = _forecast(assumed, steps, channels)
        return LayoutForecast(keeps_axes, is_view, nbytes) if memory else LayoutForecast(keeps_axes, False, None)
    except LayoutError as error:
        raise LayoutError(f"{_described_call(backend, x, pattern, channels)}: {error}.") from None


def _forecast(memory: Memory, steps: AxisPlan, channels: int | None) -> tuple[bool, int]:
    """Whether every step gives a view in a library with strides, and the number of bytes of the result."""
    memory, is_view = memory.permuted(steps.permuted), True
    if any(steps.merged):
        is_view, shape = memory.is_compact, _merged(memory.shape, steps)
        memory = memory._replace(shape=shape, strides=compact_strides(shape, memory.itemsize))
        if channels is not None:
            axis, extent = _trimmed(memory.shape, steps, channels)
            memory = memory._replace(shape=(*memory.shape[:axis], extent, *memory.shape[axis + 1 :]))
    if any(steps.split):
        is_view = is_view and not any(n % block for n, block in zip(memory.shape, steps.split, strict=True) if block)
        strides: list[int] = []
        for stride, block in zip(memory.strides, steps.split, strict=True):
            strides += [stride * block, stride] if block else [stride]
        memory = memory._replace(shape=_split(memory.shape, steps), strides=tuple(strides)).permuted(steps.placed)
    return is_view and memory.is_compact, memory.nbytes


def _described_call(backend: Backend, x: Array, pattern: str, channels: int | None) -> str:
    return f"xo.relayout({described(x, backend)}, {pattern!r}, {channels=})"
