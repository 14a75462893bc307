"""Layout: where the elements of an array lie, and how to bring them into another order under the same shape.

A backend brings an array into C order; every other order is that order of permuted axes.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from xarrayops._core.arguments import described
from xarrayops._core.dispatch import require_one_backend
from xarrayops._core.registry import Backend
from xarrayops._protocol.devices import Memory
from xarrayops._protocol.types import Array, ArrayT, gap_of
from xarrayops.errors import LayoutError, Unsupported

MEMORY_FORMATS = ("contiguous", "channels_last")
"""The orders of images (N, C, H, W) and volumes (N, C, D, H, W): as the axes stand, or with the channels innermost."""
ADDRESSABLE = 1 << 63
"""Bytes and elements that no library can count."""


class Layout(NamedTuple):
    """Where the elements of an array lie.

    ``shape``, ``strides`` and ``offset`` are counted in elements of ``itemsize`` bytes; the offset is that of the first
    element from the beginning of the memory that its library allocated. ``device`` is native.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    itemsize: int
    device: Any

    @property
    def order(self) -> str:
        """The axes from the outermost to the innermost: "C", "F", "CF" where both hold, or "strided"."""
        n = range(len(self.shape))
        return ("C" * self._is_dense(n) + "F" * self._is_dense(n[::-1])) or "strided"

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie in C order without gaps."""
        return "C" in self.order

    @property
    def memory_format(self) -> str | None:
        """Of a 4-D or 5-D array "contiguous" or "channels_last", else None.

        Where both fit, as with one channel, the strides of the axes of extent 1 decide (pytorch#24090).
        """
        n = len(self.shape)
        if n not in (4, 5):
            return None
        fitting = [f for f in MEMORY_FORMATS if self._is_dense(_format_axes(f, n))]
        exact = [f for f in fitting if self._is_dense(_format_axes(f, n), exactly=True)]
        return next(iter(exact or fitting), None)

    def _is_dense(self, axes: Sequence[int], *, exactly: bool = False) -> bool:
        """Whether the axes, outermost first, lie without gaps; ``exactly``: also by the strides of axes of extent 1."""
        expected = 1
        for axis in reversed(axes):
            if self.strides[axis] != expected and (exactly or self.shape[axis] > 1):
                return 0 in self.shape and not exactly
            expected *= self.shape[axis]
        return True


def layout_of(x: Array, /) -> Layout:
    """Where the elements of x lie.

    Returns
    -------
    Layout

    Raises
    ------
    Unsupported
        x shows no memory: it is lazy, a tracer, or spread over several devices.
    LayoutError
        The strides are no multiple of the item size, as in a field of NumPy records.

    Notes
    -----
    Law: ``as_strided(x, l.shape, l.strides)`` equals x for ``l = layout_of(x)``.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> l = xo.layout_of(np.zeros((2, 3, 4), dtype=np.float32)[:, 1:])
    >>> l.strides, l.offset, l.order
    ((12, 4, 1), 4, 'strided')
    """
    backend = require_one_backend("layout_of", {"x": x})
    memory = _memory("layout_of", backend, x)
    size, offset = memory.itemsize, backend.functions["memory_offset"](x)
    if not size or any(count % size for count in (*memory.strides, offset)):
        raise LayoutError(
            f"xo.layout_of({described(x, backend)}): the strides are {memory.strides} bytes from {offset}, which "
            f"are no multiples of the {size}-byte item. Instead: a copy, xo.asarray(x, copy=True)."
        )
    strides = tuple(stride // size for stride in memory.strides)
    return Layout(memory.shape, strides, offset // size, size, backend.functions["device"](x))


def contiguous(x: ArrayT, /, order: str = "C") -> ArrayT:
    """x with its elements in C (or Fortran) order without gaps; x itself if already in this layout.

    Parameters
    ----------
    x : array
        Of any shape, dtype and strides. Dask: each chunk by itself, lazily.
    order : "C" or "F"
        The last axis innermost, or the first.

    Returns
    -------
    array
        x, or a copy of the same shape, dtype and values.

    Raises
    ------
    LayoutError
        The order is neither.
    Unsupported
        Fortran order in a library without strides, such as JAX.

    Notes
    -----
    Host memory (NumPy, PyTorch on the CPU) is copied in blocks that fit the cache, by as many threads as
    ``XARRAYOPS_THREADS`` says, by default one to a CPU. A tensor that was copied so stands on memory of NumPy's, which
    PyTorch cannot resize in place. Other devices copy by their library's own means.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.contiguous(np.zeros((2, 3)).T).flags.c_contiguous
    True
    """
    backend = require_one_backend("contiguous", {"x": x})
    if order == "C":
        return backend.functions["contiguous"](x)
    return _dense("contiguous", backend, x, axes_by_order(backend, x, order))


def with_memory_format(x: ArrayT, memory_format: str, /) -> ArrayT:
    """x with the same shape and other strides: "channels_last" has the second axis innermost; x itself if already so.

    Parameters
    ----------
    x : array
        With 4 axes (N, C, H, W) or 5 (N, C, D, H, W), in a library with strides.
    memory_format : "contiguous" or "channels_last"

    Raises
    ------
    LayoutError
        No such format, or x has neither 4 nor 5 axes.
    Unsupported
        The library has no strides, as JAX; the way out is `relayout`, which changes the shape.

    Notes
    -----
    Law: ``layout_of(with_memory_format(x, f)).memory_format == f`` unless both fit.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.layout_of(xo.with_memory_format(np.zeros((2, 3, 4, 5)), "channels_last")).strides
    (60, 1, 15, 3)
    """
    backend = require_one_backend("with_memory_format", {"x": x})
    return _dense("with_memory_format", backend, x, axes_by_format(backend, x, memory_format))


def _dense(verb: str, backend: Backend, x: Array, axes: tuple[int, ...]) -> Array:
    """x with the same shape and its elements in C order of the axes as given, outermost first."""
    fill, permute_dims = backend.functions["contiguous"], backend.functions["permute_dims"]
    if axes == tuple(range(x.ndim)):
        return fill(x)
    if backend.no_strides is not None:
        raise Unsupported(f"xo.{verb}: {backend.no_strides}.")
    permuted = permute_dims(x, axes)
    dense = fill(permuted)
    return x if dense is permuted else permute_dims(dense, tuple(map(axes.index, range(x.ndim))))


def as_strided(x: ArrayT, shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> ArrayT:
    """A view of x's memory with any shape and strides, after a check that it stays within the elements of x.

    Parameters
    ----------
    x : array
        In a library with strides.
    shape, strides : sequence of int
        One stride, in elements, for each extent; they may be 0 or negative, though PyTorch has no negative ones.
    offset : int
        From the first element of x to that of the view, in elements; not `Layout.offset`, which counts from the
        beginning of the memory that was allocated.

    Returns
    -------
    array
        A view. NumPy's is read-only where elements of it share a place; PyTorch's and CuPy's are not, so do not write
        into windows that overlap.

    Raises
    ------
    LayoutError
        The view would leave the memory between the first and the last element of x. Nothing is read.
    Unsupported
        The library has no strides, or none of this kind.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.as_strided(np.arange(5), (3, 3), (1, 1))
    array([[0, 1, 2],
           [1, 2, 3],
           [2, 3, 4]])
    """
    try:
        shape, strides, offset = _integers(shape), _integers(strides), operator.index(offset)
    except TypeError as error:
        raise LayoutError(f"xo.as_strided: shape, strides and offset are integers; {error}.") from None
    backend = require_one_backend("as_strided", {"x": x})
    serve = backend.functions["as_strided"]
    memory = None if gap_of(serve) else _memory("as_strided", backend, x)
    try:
        wrong = memory and _out_of_bounds(memory, shape, strides, offset)
        if wrong:
            way_out = "extents and strides in elements, not bytes, and an offset from the first element of x"
            raise LayoutError(f"{wrong}. Instead: {way_out}")
        return serve(x, shape, strides, offset)
    except ValueError as error:  # also of the library, as for more axes than it can have
        raise LayoutError(
            f"xo.as_strided({described(x, backend)}, {shape=}, {strides=}, {offset=}): {error}."
        ) from None


def _integers(numbers: Sequence[int]) -> tuple[int, ...]:
    return tuple(map(operator.index, numbers))


def _out_of_bounds(memory: Memory, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> str | None:
    """What is wrong with a view of that memory; None if it stays between the first and the last byte."""
    if len(shape) != len(strides):
        return f"there are {len(shape)} extents and {len(strides)} strides"
    if any(extent < 0 for extent in shape):
        return "an extent is negative"
    if memory.itemsize * prod(max(extent, 1) for extent in shape) >= ADDRESSABLE:
        return "so many elements cannot be counted"
    if any(abs(stride) * memory.itemsize >= ADDRESSABLE for stride in strides):
        return "a stride is longer than any memory"
    low, high = _span(memory.shape, memory.strides)
    if 0 in memory.shape:
        return None if 0 in shape and offset == 0 else "x has no elements"
    first, last = (edge + offset for edge in _span(shape, strides))
    if low <= first * memory.itemsize and last * memory.itemsize <= high:
        return None
    low, high = low // memory.itemsize, high // memory.itemsize
    return f"it would reach from element {first} to {last}, counted from the first of x, and x from {low} to {high}"


def _span(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, int]:
    """How far the lowest and the highest element lie from the first."""
    steps = [(max(extent, 1) - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    return sum(step for step in steps if step < 0), sum(step for step in steps if step > 0)


def pin_memory(x: ArrayT, /) -> ArrayT:
    """x in page-locked host memory, from which a GPU copies faster and while the host goes on; x itself if it is there.

    Raises
    ------
    Unsupported
        The library cannot page-lock, x does not lie in host memory, or there is no GPU to lock it for.
    """
    return require_one_backend("pin_memory", {"x": x}).functions["pin_memory"](x)


def axes_by_order(backend: Backend, x: Array, /, order: str = "C") -> tuple[int, ...]:
    """The axes of x from the outermost to the innermost, as an order has them."""
    if order not in ("C", "F"):
        raise LayoutError(f"xo.contiguous: the order is 'C' or 'F'; it was {order!r}.")
    return tuple(range(x.ndim))[:: 1 if order == "C" else -1]


def axes_by_format(backend: Backend, x: Array, memory_format: str, /) -> tuple[int, ...]:
    """The axes of x from the outermost to the innermost, as a memory format has them."""
    if memory_format not in MEMORY_FORMATS or x.ndim not in (4, 5):
        asked = f"xo.with_memory_format({described(x, backend)}, {memory_format!r})"
        raise LayoutError(
            f"{asked}: the formats are {' and '.join(MEMORY_FORMATS)}, of arrays with 4 or 5 axes. "
            f"Instead: xo.relayout, for any axes."
        )
    return _format_axes(memory_format, x.ndim)


def _format_axes(memory_format: str, ndim: int) -> tuple[int, ...]:
    return tuple(range(ndim)) if memory_format == "contiguous" else (0, *range(2, ndim), 1)


def _memory(verb: str, backend: Backend, x: Array) -> Memory:
    memory: Memory | None = backend.functions["memory"](x)
    if memory is not None:
        return memory
    if backend.functions["is_lazy"](x):
        raise Unsupported(
            f"xo.{verb}: x has no memory yet, its values are not computed. Instead: xo.compute(x), outside of jax.jit."
        )
    shown = described(x, backend)
    raise Unsupported(f"xo.{verb}: {shown} exposes no memory address. Instead: a copy of x in this library.")
