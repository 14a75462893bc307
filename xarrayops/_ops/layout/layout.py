# Long: five verbs over one record; half of the lines are docstrings.
"""The memory layout of arrays, and the verbs that change it without changing the shape.

A backend makes an array C-contiguous. Every other order is C order after a permutation of the axes.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import prod
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.mixed import described
from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch.errors import explaining_arrays
from xarrayops.errors import LayoutError, Unsupported
from xarrayops.plugin.arrays import Array, ArrayT, Memory, Record, gap_of

MEMORY_FORMATS = ("contiguous", "channels_last")
"""The formats of images (N, C, H, W) and volumes (N, C, D, H, W): axes in that order, or channels innermost."""
ADDRESSABLE = 1 << 63
"""The limit of sizes and strides in bytes: a signed 64-bit integer."""


class Layout(Record):
    """The layout of an array in memory.

    ``strides`` and ``offset`` are in elements of ``itemsize`` bytes. The offset is the distance from the start of the
    memory that the library allocated to the first element. ``device`` is native.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    itemsize: int
    device: Any

    @property
    def order(self) -> str:
        """The memory order: "C", "F", "CF" if it is both, or "strided" if it is neither."""
        n = range(len(self.shape))
        return ("C" * self._is_dense(n) + "F" * self._is_dense(n[::-1])) or "strided"

    @property
    def is_contiguous(self) -> bool:
        """Whether the array is C-contiguous."""
        return "C" in self.order

    @property
    def memory_format(self) -> str | None:
        """The memory format of a 4-D or 5-D array, "contiguous" or "channels_last", otherwise None.

        If both are true, as with one channel, the strides of the axes of extent 1 decide (pytorch#24090).
        """
        n = len(self.shape)
        if n not in (4, 5):
            return None
        fitting = [f for f in MEMORY_FORMATS if self._is_dense(_format_axes(f, n))]
        exact = [f for f in fitting if self._is_dense(_format_axes(f, n), exactly=True)]
        return next(iter(exact or fitting), None)

    def _is_dense(self, axes: Sequence[int], *, exactly: bool = False) -> bool:
        """Whether the array is dense, with the axes in this order, outermost first.

        ``exactly`` also compares the strides of axes of extent 1.
        """
        expected = 1
        for axis in reversed(axes):
            if self.strides[axis] != expected and (exactly or self.shape[axis] > 1):
                return 0 in self.shape and not exactly
            expected *= self.shape[axis]
        return True


def layout_of(x: Array, /) -> Layout:
    """The layout of x in memory.

    Returns
    -------
    Layout

    Raises
    ------
    Unsupported
        x exposes no memory: it is lazy, a tracer, or distributed over several devices.
    LayoutError
        The strides are not a multiple of the item size, as in a field of NumPy records.

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
    backend = find.one_of("layout_of", {"x": x})
    memory = _memory("layout_of", backend, x)
    size, offset = memory.itemsize, backend.functions["memory_offset"](x)
    if not size or any(count % size for count in (*memory.strides, offset)):
        raise LayoutError(
            f"xo.layout_of({described(x, backend)}): strides {memory.strides} and offset {offset} in bytes are not "
            f"multiples of the {size}-byte item. Instead: a copy, xo.asarray(x, copy=True)."
        )
    strides = tuple(stride // size for stride in memory.strides)
    return Layout(memory.shape, strides, offset // size, size, backend.functions["device"](x))


def contiguous(x: ArrayT, /, order: str = "C") -> ArrayT:
    """x as a C-contiguous (or Fortran-contiguous) array; x itself if it already is.

    Parameters
    ----------
    x : array
        An array of any shape, dtype and strides. For Dask each chunk becomes contiguous, lazily.
    order : "C" or "F"
        "C": the last axis is innermost; "F": the first axis is innermost.

    Returns
    -------
    array
        x, or a copy of the same shape, dtype and values.

    Raises
    ------
    LayoutError
        The order is not "C" or "F".
    Unsupported
        The order is "F", and the library has no strides, such as JAX.

    Notes
    -----
    Host memory (NumPy, PyTorch on the CPU) is copied in blocks that fit the cache. The environment variable
    ``XARRAYOPS_THREADS`` sets the number of threads; the default is one per CPU. A tensor that is copied in this way
    uses memory of NumPy, so PyTorch cannot resize it in place. On other devices the library's own function copies.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.contiguous(np.zeros((2, 3)).T).flags.c_contiguous
    True
    """
    backend = find.one_of("contiguous", {"x": x})
    if order == "C":
        return backend.functions["contiguous"](x)
    return _with_axis_order("contiguous", backend, x, axes_by_order(x, order))


@explaining_arrays("with_memory_format")
def with_memory_format(x: ArrayT, memory_format: str, /) -> ArrayT:
    """x with the same shape and the strides of a memory format; x itself if it already has that format.

    Parameters
    ----------
    x : array
        An array with 4 axes (N, C, H, W) or 5 (N, C, D, H, W), of a library with strides.
    memory_format : "contiguous" or "channels_last"
        In "channels_last" the second axis, the channels, is innermost.

    Raises
    ------
    LayoutError
        The format is unknown, or x has neither 4 nor 5 axes.
    Unsupported
        The library has no strides, such as JAX. Instead: `relayout`, which changes the shape.

    Notes
    -----
    Law: ``layout_of(with_memory_format(x, f)).memory_format == f``, unless x has both formats.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.layout_of(xo.with_memory_format(np.zeros((2, 3, 4, 5)), "channels_last")).strides
    (60, 1, 15, 3)
    """
    backend = find.one_of("with_memory_format", {"x": x})
    return _with_axis_order("with_memory_format", backend, x, axes_by_format(backend, x, memory_format))


def _with_axis_order(verb: str, backend: Backend, x: Array, axes: tuple[int, ...]) -> Array:
    """x with the same shape, and its elements in memory in the given order of axes, outermost first."""
    fill, permute_dims = backend.functions["contiguous"], backend.functions["permute_dims"]
    if axes == tuple(range(x.ndim)):
        return fill(x)
    if backend.no_strides is not None:
        raise Unsupported(f"xo.{verb}: {backend.no_strides}.")
    permuted = permute_dims(x, axes)
    dense = fill(permuted)
    return x if dense is permuted else permute_dims(dense, tuple(map(axes.index, range(x.ndim))))


def as_strided(x: ArrayT, shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> ArrayT:
    """A view of the memory of x with any shape and strides, which are checked to stay within the elements of x.

    Parameters
    ----------
    x : array
        An array of a library with strides.
    shape, strides : sequence of int
        One stride, in elements, for each extent. Strides may be 0 or negative, but PyTorch rejects negative ones.
    offset : int
        The distance in elements from the first element of x to the first element of the view. It differs from
        `Layout.offset`, which counts from the start of the allocated memory.

    Returns
    -------
    array
        A view. If elements of the view overlap in memory, NumPy's view is read-only; views of PyTorch and CuPy are
        writable, so do not write into overlapping windows.

    Raises
    ------
    LayoutError
        The view would reach outside the memory between the first and the last element of x. Nothing is read.
    Unsupported
        The library has no strides, or does not support these strides.

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
        raise LayoutError(f"xo.as_strided: shape, strides and offset must be integers; {error}.") from None
    backend = find.one_of("as_strided", {"x": x})
    serve = backend.functions["as_strided"]
    memory = None if gap_of(serve) else _memory("as_strided", backend, x)
    try:
        fault = memory and _out_of_bounds(memory, shape, strides, offset)
        if fault:
            instead = "extents and strides in elements, not bytes, and an offset from the first element of x"
            raise LayoutError(f"{fault}. Instead: {instead}")
        return serve(x, shape, strides, offset)
    except ValueError as error:  # also errors of the library, for example too many axes
        raise LayoutError(
            f"xo.as_strided({described(x, backend)}, {shape=}, {strides=}, {offset=}): {error}."
        ) from None


def _integers(numbers: Sequence[int]) -> tuple[int, ...]:
    return tuple(map(operator.index, numbers))


def _out_of_bounds(memory: Memory, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> str | None:
    """The reason why a view does not fit into a memory; None if it stays between the first and the last byte."""
    if len(shape) != len(strides):
        return f"there are {len(shape)} extents and {len(strides)} strides"
    if any(extent < 0 for extent in shape):
        return "an extent is negative"
    if memory.itemsize * prod(max(extent, 1) for extent in shape) >= ADDRESSABLE:
        return "the number of bytes exceeds 64-bit integers"
    if any(abs(stride) * memory.itemsize >= ADDRESSABLE for stride in strides):
        return "a stride exceeds 64-bit integers"
    low, high = _span(memory.shape, memory.strides)
    if 0 in memory.shape:
        return None if 0 in shape and offset == 0 else "x has no elements"
    first, last = (edge + offset for edge in _span(shape, strides))
    if low <= first * memory.itemsize and last * memory.itemsize <= high:
        return None
    low, high = low // memory.itemsize, high // memory.itemsize
    return (
        f"the view would span elements {first} to {last}, counted from the first element of x; x spans {low} to {high}"
    )


def _span(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, int]:
    """The offsets of the lowest and the highest element from the first."""
    steps = [(max(extent, 1) - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    return sum(step for step in steps if step < 0), sum(step for step in steps if step > 0)


def pin_memory(x: ArrayT, /) -> ArrayT:
    """x in page-locked host memory; x itself if it is already there.

    A GPU copies faster from such memory, and asynchronously.

    Raises
    ------
    Unsupported
        The library cannot page-lock memory, x is not in host memory, or there is no GPU.
    """
    return find.one_of("pin_memory", {"x": x}).functions["pin_memory"](x)


def axes_by_order(x: Array, order: str) -> tuple[int, ...]:
    """The axes of x from the outermost to the innermost in an order."""
    if order not in ("C", "F"):
        raise LayoutError(f"xo.contiguous: the order must be 'C' or 'F'; it was {order!r}.")
    return tuple(range(x.ndim))[:: 1 if order == "C" else -1]


def axes_by_format(backend: Backend, x: Array, memory_format: str, /) -> tuple[int, ...]:
    """The axes of x from the outermost to the innermost in a memory format."""
    if memory_format not in MEMORY_FORMATS or x.ndim not in (4, 5):
        call = f"xo.with_memory_format({described(x, backend)}, {memory_format!r})"
        raise LayoutError(
            f"{call}: the formats are {' and '.join(MEMORY_FORMATS)}, for arrays with 4 or 5 axes. "
            f"Instead: xo.relayout, which supports any axes."
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
            f"xo.{verb}: x has no memory yet, because its values are not computed. "
            f"Instead: the same call of a computed array, outside of jax.jit."
        )
    raise Unsupported(
        f"xo.{verb}: {described(x, backend)} exposes no memory address. Instead: a copy of x in this library."
    )
