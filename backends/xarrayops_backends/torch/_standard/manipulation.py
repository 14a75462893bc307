"""Functions that join, repeat and reorder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import array_api_compat.torch as aac
import torch

from xarrayops.plugin import Array
from xarrayops.plugin.arrays import shifts_and_axes
from xarrayops_backends.torch._dtypes import result_type
from xarrayops_backends.torch._standard.statistics import _as_axes
from xarrayops_backends.torch._standard.wide import WIDE, _by_bits, _value

_Arrays = tuple[Array, ...] | list[Array]


def _alike(arrays: _Arrays) -> _Arrays:
    """The arrays in their promoted dtype."""
    dtype = arrays[0].dtype
    if all(x.dtype is dtype for x in arrays):
        return arrays if isinstance(arrays, (list, tuple)) else arrays.unbind()
    dtype = result_type(*arrays)
    return [x.to(dtype) for x in arrays]


def concat(arrays: _Arrays, /, *, axis: int | None = 0) -> Array:
    """torch.concat has no axis=None (pytorch#70925) and does not promote wide unsigned integers."""
    if axis is None:
        arrays, axis = [x.reshape(-1) for x in arrays], 0
    return torch.concat(_alike(arrays), axis)


def stack(arrays: _Arrays, /, *, axis: int = 0) -> Array:
    """torch.stack does not promote wide unsigned integers."""
    return torch.stack(_alike(arrays), axis)


def reshape(x: Array, /, shape: int | tuple[int, ...], *, copy: bool | None = None) -> Array:
    """torch.reshape takes no integer as the shape, and raises RuntimeError for a shape of another size."""
    shape = (shape,) if isinstance(shape, int) else shape
    try:
        return aac.reshape(x, shape, copy=copy)
    except RuntimeError as error:
        if _is_shape_of(x.numel(), shape):  # another error, such as a lack of memory
            raise
        raise ValueError(f"an array of shape {tuple(x.shape)} cannot have the shape {shape}: {error}") from error


def _is_shape_of(size: int, shape: Sequence[int]) -> bool:
    """Whether an array of that size can have the shape, in which one extent may be -1."""
    given = [extent for extent in shape if extent != -1]
    known = math.prod(given)
    if min(given, default=0) < 0 or len(shape) - len(given) > 1:
        return False
    return size == known if len(given) == len(shape) else known != 0 and size % known == 0


def expand_dims(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """array-api-compat requires the length of a NumPy integer."""
    return aac.expand_dims(x, _as_axes(axis))


def squeeze(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """array-api-compat iterates over an integer of NumPy."""
    return aac.squeeze(x, _as_axes(axis))


def tile(x: Array, repetitions: int | tuple[int, ...], /) -> Array:
    """torch.tile takes no integer."""
    return torch.tile(x, (repetitions,) if isinstance(repetitions, int) else repetitions)


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The name in PyTorch is unbind."""
    return torch.unbind(x, axis)


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """torch.broadcast_shapes raises RuntimeError, where the standard requires ValueError."""
    try:
        return tuple(torch.broadcast_shapes(*shapes))  # type: ignore[no-untyped-call]
    except RuntimeError as error:
        raise ValueError(f"the shapes {', '.join(map(str, shapes))} do not broadcast: {error}") from error


def moveaxis(x: Array, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> Array:
    """torch.moveaxis has no batching rule, so that torch.func.vmap raises."""
    return torch.movedim(x, source, destination)  # type: ignore[arg-type]


def flip(x: Array, /, *, axis: int | tuple[int, ...] | None = None) -> Array:
    """torch.flip accepts neither axis=None nor wide unsigned integers (pytorch#71210)."""
    return _by_bits(torch.Tensor.flip, x, tuple(range(x.ndim)) if axis is None else axis)


def roll(x: Array, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None) -> Array:
    """torch.roll takes axis=() for all axes, requires one shift for each axis and lacks wide unsigned integers."""
    shifts, axes = shifts_and_axes(shift, axis)
    return _by_bits(torch.roll, x, shifts, axes) if axes or axis is None else x.clone()


def repeat(x: Array, repeats: int | Array, /, *, axis: int | None = None) -> Array:
    """torch.repeat_interleave lacks short repeats (pytorch#151311) and wide unsigned integers."""
    if isinstance(repeats, torch.Tensor) and repeats.dtype not in (torch.int32, torch.int64):
        repeats = repeats.to(torch.int64)
    return _by_bits(torch.repeat_interleave, x, repeats, axis)


def diff(x: Array, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Array:
    """torch.diff does not promote and lacks wide unsigned integers."""
    if prepend is None and append is None and x.dtype not in WIDE:
        return torch.diff(x, n, axis)
    dtype = result_type(*(each for each in (x, prepend, append) if each is not None))
    x, prepend, append = (None if each is None else _value(each.to(dtype)) for each in (x, prepend, append))
    return torch.diff(x, n, axis, prepend=prepend, append=append).to(dtype)
