"""Random numbers: Threefry-2x32-20 in blocks that fit the cache, in loops that numba compiles where it is installed."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from xarrayops.plugin import Array, Call
from xarrayops.plugin.generic import Arithmetic, Format, frexp_of_bits, from_bits
from xarrayops.plugin.host import order
from xarrayops.plugin.random import GROUPS, PARITY, ROTATIONS, WORD, Draw

# The flat indices in the whole array, as uint64, of the elements of a part from ``start`` to ``stop``.
_Counters = Callable[[int, int], Array]
# The random bits for a key and counters: 64 or 32 bits, as int64 or int32.
_Words = Callable[[tuple[int, int], Array, int], Array]

# The number of elements of one step.
_BLOCK = 1 << 14
# The number of elements from which loading the compiled loops is worthwhile.
_COMPILED = 1 << 16


def _draw(draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
    """All words by NumPy's ufuncs."""
    return _drawn(draw, key, shape, _contiguous, _by_ufuncs)


def _compiled_draw(draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
    """All words by loops that numba compiles; uniform numbers in one loop."""
    # Uniform numbers alone are made in the loop itself, without an array of bits between.
    if (draw.kind, draw.dtype) != ("uniform", "float64"):
        return _drawn(draw, key, shape, _contiguous, _by_loops)
    from xarrayops_backends.numpy import loops_random as loops

    out = np.empty(shape)
    loops.uniforms(np.uint32(key[0]), np.uint32(key[1]), out.reshape(-1))
    return out


def _compiled_refusal(call: Call, /) -> str | None:
    """The loops need numba, which takes time to load."""
    if math.prod(call.args[2]) < _COMPILED:
        return f"it serves arrays of {_COMPILED} elements or more"
    return None if _has_numba() else "numba is not installed: pip install 'xarrayops[fast]'"


@cache
def _has_numba() -> bool:
    return find_spec("numba") is not None


def _words_for(size: int) -> _Words:
    """The faster of the two ways for that many elements."""
    return _by_loops if size >= _COMPILED and _has_numba() else _by_ufuncs


def _contiguous(start: int, stop: int) -> Array:
    """The flat indices in the array itself."""
    return np.arange(start, stop, dtype=np.uint64)


def _drawn(draw: Draw, key: Any, shape: tuple[int, ...], counters: _Counters, words: _Words) -> Array:
    """The elements of an array, or of the part of it with the given counters."""
    out = np.empty(shape, draw.dtype)
    # A view: `out` is new and contiguous.
    flat, key = out.reshape(-1), (int(key[0]), int(key[1]))
    for start in range(0, flat.size, _BLOCK):
        stop = min(start + _BLOCK, flat.size)
        flat[start:stop] = from_bits(_ARITHMETIC, draw, words(key, counters(start, stop), draw.bits))
    return out


def _by_loops(key: tuple[int, int], counters: Array, bits: int) -> Array:
    """The random bits, by a compiled loop."""
    from xarrayops_backends.numpy import loops_random as loops

    out = np.empty(counters.size, np.int64 if bits == 64 else np.int32)
    loops.words(np.uint32(key[0]), np.uint32(key[1]), counters, out.view(f"uint{bits}"))
    return out


def _by_ufuncs(key: tuple[int, int], counters: Array, bits: int) -> Array:
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


RANDOM_DRAW_CANDIDATES = [("compiled", _compiled_draw, _compiled_refusal), ("blocks", _draw, lambda call: None)]


def random_permutation(key: Any, size: int, device: Any, /) -> Array:
    """By a sort of the bits."""
    return order.order_of_bits(_drawn(Draw("bits", "int64"), key, (size,), _contiguous, _words_for(size)))


def native_generator(seed: int, device: Any, /) -> np.random.Generator:
    """NumPy's default generator, PCG64."""
    return np.random.default_rng(seed)


def native_draw(generator: np.random.Generator, draw: Draw, shape: tuple[int, ...], device: Any, /) -> Array:
    """By the methods of `numpy.random.Generator`."""
    dtype: Any = np.dtype(draw.dtype)
    match draw.kind:
        case "permutation":
            return generator.permutation(draw.width).astype(dtype, copy=False)
        case "bits":
            return generator.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
        case "integers":
            return generator.integers(draw.low, draw.low + draw.width - 1, shape, dtype, endpoint=True)
        case "uniform":
            return generator.random(shape, dtype)
        case "normal":
            x = generator.standard_normal(shape, dtype)
        case _:
            x = generator.standard_exponential(shape, dtype)
    x *= draw.scale
    x += draw.loc
    return x


def random_state() -> tuple[Any, Callable[[], None]]:
    """The state of the functions of `numpy.random`, whose generator is global."""
    state: Any = np.random.get_state(legacy=False)
    bits = state["state"]
    token = (
        state["bit_generator"],
        state["has_gauss"],
        state["gauss"],
        *(np.asarray(x).tobytes() for x in bits.values()),
    )
    return token, lambda: np.random.set_state(state)
