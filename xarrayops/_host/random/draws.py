"""Random numbers in host memory, in blocks on all threads: by ufuncs, or by loops that numba compiles.

The numbers are those of the generic function, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from xarrayops._host import compiled, threads
from xarrayops._host.random import order
from xarrayops.plugin.beta import beta
from xarrayops.plugin.distributions import (
    CENTRAL,
    FAR,
    FORMATS,
    TAIL,
    Arithmetic,
    Format,
    frexp_of_bits,
    from_bits,
    scaled,
)
from xarrayops.plugin.random import GROUPS, PARITY, ROTATIONS, WORD, Draw

Array = np.ndarray[Any, Any]
Key = tuple[int, int]
# The flat indices in the whole array, as uint64, of the elements of a part from ``start`` to ``stop``.
Counters = Callable[[int, int], Array]

# The number of elements from which loading the compiled loops is worthwhile.
COMPILED = 1 << 16
# The number of elements of one step. With fewer, threads without compiled loops would wait for the interpreter lock.
_BLOCK = 1 << 16
# The same for beta numbers, of which one is made from 36 others.
_BLOCK_OF_BETA = 1 << 15


def loops_for(size: int) -> ModuleType | None:
    """The compiled loops, for so many elements that loading them is worthwhile; None without numba."""
    return compiled.loops("random") if size >= COMPILED else None


def permutation(key: Key, size: int) -> Array:
    """The integers below ``size`` in random order: the stable order of random bits."""
    bits, loops = np.empty(size, np.int64), loops_for(size)
    fill(bits, Draw("bits", "int64"), key, loops)
    return order.order_of_bits(bits, loops)


def beta_numbers(dtype: str, shapes: Array, normals: Array, exponentials: Array) -> Array:
    """Beta numbers from other numbers; the next proposal is tried only for the elements that need it."""
    out = np.empty(shapes.shape[:-2], dtype)
    flat, numbers = out.reshape(-1), [x.reshape(-1, *x.shape[-2:]) for x in (shapes, normals, exponentials)]

    def work(starts: Iterable[int]) -> None:
        for start in starts:
            part = slice(start, start + _BLOCK_OF_BETA)
            flat[part] = beta(_ARITHMETIC, dtype, *(x[part] for x in numbers))

    threads.run(work, range(0, flat.size, _BLOCK_OF_BETA))
    return out


def fill(out: Array, draw: Draw, key: Key, loops: ModuleType | None, counters: Counters | None = None) -> None:
    """Set the elements of a contiguous array to a draw, or to the part of a draw with the given counters."""
    flat, key = out.reshape(-1), (int(key[0]), int(key[1]))  # the words of a chunk of Dask are an array

    def work(starts: Iterable[int]) -> None:
        for start in starts:
            stop = min(start + _BLOCK, flat.size)
            index = np.arange(start, stop, dtype=np.uint64) if counters is None else counters(start, stop)
            if loops is None:
                flat[start:stop] = from_bits(_ARITHMETIC, draw, _words(key, index, draw.bits))
            else:
                _fill_block(flat[start:stop], draw, key, index, loops)

    threads.run(work, range(0, flat.size, _BLOCK))


def _fill_block(out: Array, draw: Draw, key: Key, index: Array, loops: ModuleType) -> None:
    bits = np.empty(index.size, f"uint{draw.bits}")
    loops.words(np.uint32(key[0]), np.uint32(key[1]), index, bits)
    if draw.kind in ("bits", "integers"):
        out[:] = from_bits(_ARITHMETIC, draw, bits.view(f"int{draw.bits}"))
        return
    form, number = FORMATS[draw.dtype], np.dtype(draw.dtype).type
    if draw.kind == "normal":
        _fill_normal(out, bits.view(f"int{draw.bits}"), _typed(draw.dtype), loops)
    else:
        first = number(draw.kind == "exponential")
        loops.uniforms(bits, form.bits - form.digits, first, number(2.0**-form.digits), out)
    if draw.kind == "exponential":
        _take_minus_logs(out, _typed(draw.dtype), loops)
    result = scaled(_ARITHMETIC, draw, out)
    if result is not out:
        out[:] = result


class _Typed(NamedTuple):
    """The constants of a format with the type of its numbers, which numba does not convert."""

    form: Format
    centre: Any
    tail: Any
    far: Any
    log: Any
    ln2: Any
    drop: int
    half: Any
    unit: Any
    central: Any
    starts: Any
    one: Any


@cache
def _typed(dtype: str) -> _Typed:
    form, number = FORMATS[dtype], np.dtype(dtype).type

    def typed(x: Any) -> Any:
        return tuple(map(typed, x)) if isinstance(x, tuple) else number(x)

    rationals = (typed(form.centre), typed(form.tail), typed(form.far))
    scalars = (typed(0.5), typed(2.0**-form.normal), typed(CENTRAL), typed((TAIL, FAR)), typed(1.0))
    return _Typed(form, *rationals, typed(form.log), typed(form.ln2), form.bits - form.normal, *scalars)


def _fill_normal(out: Array, bits: Array, a: _Typed, loops: ModuleType) -> None:
    places, p = np.empty(out.size + 1, np.int64), np.empty(out.size + 1, out.dtype)
    count = loops.centres(bits, a.drop, a.half, a.unit, a.central, a.centre, out, places, p)
    _take_minus_logs(p[:count], a, loops)
    loops.tails(p[:count], places, bits, a.starts, a.tail, a.far, out)


def _take_minus_logs(x: Array, a: _Typed, loops: ModuleType) -> None:
    form = a.form
    loops.minus_logs(x, x.view(f"int{form.bits}"), (form.mantissa, form.bias, form.lowest), a.one, a.log, a.ln2)


def _words(key: Key, counters: Array, bits: int) -> Array:
    """The random bits, by ufuncs on uint32, which wraps."""
    # New arrays, which the rounds may change in place.
    x0, x1 = (counters >> np.uint64(32)).astype(np.uint32), counters.astype(np.uint32)
    shifted = np.empty_like(x1)
    schedule = (*key, key[0] ^ key[1] ^ PARITY)
    x0 += np.uint32(key[0])
    x1 += np.uint32(key[1])
    for group in range(GROUPS):
        for rotation in ROTATIONS[group % 2]:
            x0 += x1
            np.left_shift(x1, np.uint32(rotation), out=shifted)
            x1 >>= np.uint32(32 - rotation)
            x1 |= shifted
            x1 ^= x0
        x0 += np.uint32(schedule[(group + 1) % 3])
        x1 += np.uint32((schedule[(group + 2) % 3] + group + 1) & WORD)
    if bits == 32:
        # The functions that make numbers take signed integers, as most libraries have no unsigned shifts.
        return np.bitwise_xor(x0, x1, out=x0).view(np.int32)
    joined = x0.astype(np.uint64)
    joined <<= np.uint64(32)
    joined |= x1
    return joined.view(np.int64)


def _frexp(x: Array, form: Format) -> tuple[Array, Array]:
    return frexp_of_bits(x.view(f"int{form.bits}"), form, lambda bits: bits.view(x.dtype), _astype)


def _astype(x: Array, dtype: Any) -> Array:
    return x.astype(dtype, copy=False)


_ARITHMETIC = Arithmetic(np.where, np.sqrt, _astype, np.dtype, _frexp, places=np.flatnonzero)


def block(draw: Draw, key: Any, whole: tuple[int, ...], first: Sequence[int], shape: tuple[int, ...], /) -> Any:
    """The elements of a block of an array of shape ``whole``; its first element has the index ``first``."""
    out = np.empty(shape, draw.dtype)
    fill(out, draw, key, loops_for(out.size), partial(_counters, whole, first, shape))
    return out


def _counters(whole: tuple[int, ...], first: Sequence[int], shape: tuple[int, ...], start: int, stop: int) -> Any:
    """The flat indices in the whole array of the elements of a chunk from ``start`` to ``stop``."""
    rest: Any = np.arange(start, stop, dtype=np.uint64)
    index: Any = np.uint64(0)
    stride = 1
    for axis in reversed(range(len(shape))):
        # From a flat index in the chunk to its coordinates, and from these to the flat index in the whole array. All in
        # uint64, because NumPy makes float64 of uint64 and int64.
        rest, place = np.divmod(rest, np.uint64(shape[axis]))
        index = index + (place + np.uint64(first[axis])) * np.uint64(stride)
        stride *= whole[axis]
    return index if shape else rest
