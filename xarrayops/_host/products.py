"""Products over host memory for dtypes that BLAS does not support: half precision and 8-bit integers.

Blocks of the operands are widened to float32 and multiplied by BLAS. The widened blocks, called panels, are in buffers
that each thread reuses: new memory would cost more than the products of small matrices.

Products of half precision are summed in float32 and rounded once. Products of integers are exact: with at most
`exact_terms` terms, every partial sum is an integer of at most 2**24, which float32 holds, whatever the order of the
sum. The sums of such blocks are added as int32. The method is known from exact linear algebra: J.-G. Dumas, P. Giorgi
and C. Pernet, "Dense linear algebra over word-size prime fields: the FFLAS and FFPACK packages", 2008.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from xarrayops._host.dtypes import dtype_name
from xarrayops.plugin.products import exact_terms

Array = np.ndarray[Any, Any]
Axes = int | tuple[Sequence[int], Sequence[int]]

# Rows, columns and terms of a panel, at most: 4 MB in float32.
TILE = 1 << 10
# The number of elements up to which new memory costs less than the handling of panels.
SMALL = 1 << 14
# The number of elements up to which panels alternate between buffers, and the number of buffers.
ROTATED, TURNS = 1 << 16, 4
_HALF = np.dtype(np.float16)
_SINGLE = np.dtype(np.float32)
_INT32 = np.dtype(np.int32)


class _Buffers(threading.local):
    """The buffers of a thread by name, as rings.

    Small panels alternate between buffers: BLAS reads panels on several cores, and memory that another core has just
    read takes longer to write.
    """

    def __init__(self) -> None:
        none = np.empty(0, _SINGLE)
        # "sums" has one buffer: it is read again for each product that is added.
        self.small = {name: deque([none] * TURNS) for name in ("left", "right", "product")} | {"sums": deque([none])}
        self.large = {name: deque([none]) for name in self.small}


_buffers = _Buffers()


def matmul(x1: Array, x2: Array, dtype: np.dtype[Any]) -> Array:
    """The matrix product of narrow floating-point numbers, in that dtype."""
    return _matmul(x1, x2, dtype, TILE)


def matmul_int32(x1: Array, x2: Array, /) -> Array:
    """The exact matrix product of 8-bit integers, in int32. The terms must not exceed `greatest_terms`."""
    return _matmul(x1, x2, _INT32, exact_terms(_name(x1.dtype), _name(x2.dtype)))


def vecdot(x1: Array, x2: Array, dtype: np.dtype[Any], axis: int = -1) -> Array:
    """The dot products along an axis of narrow floating-point numbers, in that dtype."""
    left, right = np.moveaxis(x1, axis, -1), np.moveaxis(x2, axis, -1)
    if left.shape[-1] != right.shape[-1]:
        raise ValueError(f"the contracted axes have different lengths: {left.shape[-1]} and {right.shape[-1]}")
    return _matmul(left[..., None, :], right[..., None], dtype, TILE)[..., 0, 0]


def tensordot(x1: Array, x2: Array, dtype: np.dtype[Any], axes: Axes = 2) -> Array:
    """The contraction of two arrays of narrow floating-point numbers, in that dtype."""
    if isinstance(axes, int):
        axes = (range(x1.ndim - axes, x1.ndim), range(axes))
    first, second = (np.lib.array_utils.normalize_axis_tuple(a, x.ndim) for a, x in zip(axes, (x1, x2), strict=True))
    terms = tuple(x1.shape[a] for a in first)
    if terms != tuple(x2.shape[a] for a in second):
        raise ValueError(
            f"the contracted axes have different lengths: {terms} and {tuple(x2.shape[a] for a in second)}"
        )
    rows, columns = ([a for a in range(x.ndim) if a not in used] for x, used in ((x1, first), (x2, second)))
    shape = (*(x1.shape[a] for a in rows), *(x2.shape[a] for a in columns))
    count = math.prod(terms)
    # A contraction is a matrix product once the contracted axes are merged, in the same order on both sides.
    left = x1.transpose(*rows, *first).reshape(math.prod(x1.shape[a] for a in rows), count)
    right = x2.transpose(*second, *columns).reshape(count, math.prod(x2.shape[a] for a in columns))
    return _matmul(left, right, dtype, TILE).reshape(shape)


def _matmul(x1: Array, x2: Array, dtype: np.dtype[Any], terms: int) -> Array:
    """The matrix product, in that dtype. Sums in float32 have at most ``terms`` terms."""
    if not (x1.ndim and x2.ndim) or x1.shape[-1] != x2.shape[-2 if x2.ndim > 1 else 0]:
        # The shapes do not fit: NumPy raises its error for them.
        return np.matmul(x1, x2)
    left = x1[None] if x1.ndim == 1 else x1
    right = x2[:, None] if x2.ndim == 1 else x2
    (rows, inner), columns = left.shape[-2:], right.shape[-1]
    stack = left.shape[:-2] if right.ndim == 2 else np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    shape = (*stack, *((rows,) if x1.ndim > 1 else ()), *((columns,) if x2.ndim > 1 else ()))
    count = math.prod(stack) * rows * columns
    # Small products use new arrays instead of panels. [()] makes a NumPy scalar of a result without axes, as np.matmul
    # does.
    if inner <= terms and max(left.size, right.size, count) <= SMALL:
        return np.matmul(left.astype(_SINGLE), right.astype(_SINGLE)).astype(dtype).reshape(shape)[()]
    # A sum without terms is 0; otherwise every element is written.
    out = (np.empty if inner else np.zeros)((*stack, rows, columns), dtype)
    if count and inner:
        if right.ndim == 2:
            # One product of all rows, so that the panel of the right matrix is made once for the whole stack.
            _tiles(left.reshape(1, -1, inner), right[None], out.reshape(1, -1, columns), terms)
        else:
            _stacks(left, right, out, terms)
    return out.reshape(shape)[()]


def _stacks(left: Array, right: Array, out: Array, terms: int) -> None:
    """The products of stacks of matrices, several small ones at a time."""
    # The last axis of the stack is processed in steps, the others one index at a time.
    outer, count = out.shape[:-3], math.prod(out.shape[-3:-2])
    left, right = (np.broadcast_to(x, (*outer, count, *x.shape[-2:])) for x in (left, right))
    out = out.reshape(left.shape[:-2] + out.shape[-2:])
    largest = max(math.prod(x.shape[-2:]) for x in (left, right, out))
    # As many matrices as one panel can hold.
    step = max(1, TILE * TILE // largest)
    for index in np.ndindex(*outer):
        # A stride of 0 repeats one matrix: one copy is widened, and np.matmul broadcasts it.
        a, b = (x[index][:1] if x.strides[-3] == 0 else x[index] for x in (left, right))
        for i in range(0, count, step):
            these = slice(i, i + step)
            _tiles(a if len(a) == 1 else a[these], b if len(b) == 1 else b[these], out[index][these], terms)


def _tiles(left: Array, right: Array, out: Array, terms: int) -> None:
    """The products of a stack of matrices that is small enough for one panel, or of one matrix."""
    (rows, inner), columns = left.shape[-2:], right.shape[-1]
    # The terms are the inner loop, so that one buffer holds the sums of the current part of the result.
    for j in range(0, columns, TILE):
        across = slice(j, j + TILE)
        for i in range(0, rows, TILE):
            down = slice(i, i + TILE)
            target = out[:, down, across]
            for k in range(0, inner, terms):
                these = slice(k, k + terms)
                # `left` and `right` are one matrix each, or stacks of matrices that fit one panel: see `_stacks`.
                product = _product(_panel("left", left[:, down, these]), _panel("right", right[:, these, across]))
                _add(target, product, is_first=not k, is_last=k + terms >= inner)


def _product(left: Array, right: Array) -> Array:
    """The product of two panels, in a buffer."""
    rows, columns = left.shape[-2], right.shape[-1]
    out = _buffer("product", (max(len(left), len(right)), rows, columns))
    # A stack of dot products: np.matmul would call BLAS's matrix product for each of them.
    if rows == columns == 1:
        np.vecdot(left[:, 0, :], right[:, :, 0], out=out[:, 0, 0])
        return out
    return np.matmul(left, right, out=out)


def _add(target: Array, product: Array, *, is_first: bool, is_last: bool) -> None:
    """Add a product to its part of the result. Sums of half precision are in a buffer until the last product."""
    # The numbers of a product are integers of at most 2**24, so the cast to int32 is exact. The sum fits int32, as
    # there are at most `greatest_terms` terms, so it can be added in place.
    if target.dtype == _INT32:
        if is_first:
            np.copyto(target, product, casting="unsafe")
        else:
            np.add(target, product, out=target, dtype=_INT32, casting="unsafe")
        return
    # Half precision: partial sums stay in float32 and are rounded once, at the end.
    if not (is_first and is_last):
        sums = _buffer("sums", product.shape)
        np.copyto(sums, product) if is_first else np.add(sums, product, out=sums)
        product = sums
    if is_last:
        np.copyto(target, product, casting="unsafe")


def _panel(name: str, x: Array) -> Array:
    """The numbers of x in float32, in a buffer, in the order of its memory."""
    # A panel keeps the order of its source, so that the copy reads and writes in order. BLAS takes a transposed operand
    # without a copy.
    turned = abs(x.strides[-2]) < abs(x.strides[-1])
    source = x.swapaxes(-1, -2) if turned else x
    panel = _buffer(name, source.shape)
    if _name(x.dtype) == "bfloat16":
        # Its bits are the upper half of the bits of float32, so the cast is a shift.
        np.left_shift(source.view(np.uint16), 16, out=panel.view(np.uint32), dtype=np.uint32)
    elif x.dtype == _HALF and x.dtype.isnative:
        # A table of 2**16 numbers (256 KB) takes half the time of NumPy's cast. The mode only keeps np.take from using
        # a buffer: no 16-bit number is out of range.
        np.take(_numbers_of_half(), source.view(np.uint16), out=panel, mode="clip")
    else:
        np.copyto(panel, source, casting="unsafe")
    return panel.swapaxes(-1, -2) if turned else panel


def _buffer(name: str, shape: tuple[int, ...]) -> Array:
    """A part of one of this thread's buffers."""
    size = math.prod(shape)
    ring = (_buffers.small if size <= ROTATED else _buffers.large)[name]
    # The buffer that was used least recently comes first.
    ring.rotate()
    # Buffers only grow: a smaller panel is a prefix of a larger one, which stays contiguous.
    if ring[0].size < size:
        ring[0] = np.empty(size, _SINGLE)
    return ring[0][:size].reshape(shape)


@lru_cache
def _numbers_of_half() -> Array:
    """The float32 number for each bit pattern of float16."""
    return np.arange(1 << 16, dtype=np.uint16).view(_HALF).astype(_SINGLE)


@lru_cache
def _name(dtype: np.dtype[Any]) -> str:
    return dtype_name(dtype) or str(dtype)
