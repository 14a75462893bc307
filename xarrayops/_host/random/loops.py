"""The loops of the random generator that numba compiles: bits by Threefry-2x32-20, and numbers from bits.

Each step equals that of `xarrayops.plugin.distributions`, so the numbers have the same bits. Constants are typed
arguments: numba would compute in float64 with Python's floats.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

Array = np.ndarray[Any, Any]
# Numerator and denominator, the highest power first.
Rational = tuple[tuple[Any, ...], tuple[Any, ...]]

PARITY = np.uint32(0x1BD11BDA)
U32 = np.uint32
U64 = np.uint64

compiled = numba.njit(nogil=True, cache=True, error_model="numpy")
inlined = numba.njit(inline="always", error_model="numpy")


@inlined
def _mixed(x0: Any, x1: Any, rotation: int) -> Any:
    """One round."""
    # numba widens uint32 to 64 bits in sums and shifts; each cast drops what is above 32 bits.
    x0 = U32(x0 + x1)
    return x0, U32(U32(U32(x1 << U32(rotation)) | U32(x1 >> U32(32 - rotation))) ^ x0)


@inlined
def _group(x0: Any, x1: Any, rotations: tuple[int, int, int, int], first: Any, second: Any) -> Any:
    """Four rounds, and the addition of a key to each word."""
    # Unrolled, so that the rotations are constants of the compiled code.
    x0, x1 = _mixed(x0, x1, rotations[0])
    x0, x1 = _mixed(x0, x1, rotations[1])
    x0, x1 = _mixed(x0, x1, rotations[2])
    x0, x1 = _mixed(x0, x1, rotations[3])
    return U32(x0 + first), U32(x1 + second)


@inlined
def _threefry(k0: Any, k1: Any, counter: Any) -> Any:
    """The words of Threefry-2x32-20."""
    k2 = U32(U32(k0 ^ k1) ^ PARITY)
    x0, x1 = U32(U32(counter >> U64(32)) + k0), U32(U32(counter) + k1)
    x0, x1 = _group(x0, x1, (13, 15, 26, 6), k1, U32(k2 + U32(1)))
    x0, x1 = _group(x0, x1, (17, 29, 16, 24), k2, U32(k0 + U32(2)))
    x0, x1 = _group(x0, x1, (13, 15, 26, 6), k0, U32(k1 + U32(3)))
    x0, x1 = _group(x0, x1, (17, 29, 16, 24), k1, U32(k2 + U32(4)))
    return _group(x0, x1, (13, 15, 26, 6), k2, U32(k0 + U32(5)))


@compiled
def words(k0: Any, k1: Any, counters: Array, out: Array) -> None:
    """The bits for each counter: of 64 the first word above the second one, of 32 both words combined."""
    for i in range(counters.size):
        x0, x1 = _threefry(k0, k1, counters[i])
        # A constant of the compiled code, so there is no branch in the loop.
        if out.itemsize == 8:
            out[i] = (U64(x0) << U64(32)) | U64(x1)
        else:
            out[i] = U32(x0 ^ x1)


@compiled
def uniforms(bits: Array, drop: int, first: Any, unit: Any, out: Array) -> None:
    """Numbers from unsigned bits without the last ``drop``: ``(bits + first) * unit``."""
    for i in range(bits.size):
        # Through a signed integer, whose cast is one instruction.
        out[i] = np.int64(bits[i] >> bits.dtype.type(drop))
        out[i] = (out[i] + first) * unit


@inlined
def _polynomial(coefficients: tuple[Any, ...], x: Any) -> Any:
    """By Horner's rule."""
    value = coefficients[0]
    for k in range(1, len(coefficients)):
        value = x * value + coefficients[k]
    return value


@compiled
def centres(
    bits: Array, drop: int, half: Any, unit: Any, central: Any, centre: Rational, out: Array, tails: Array, p: Array
) -> int:
    """Normal numbers by the formula for the centre; returns the number of elements that need another one.

    Sets ``tails`` to their places and ``p`` to their probabilities; both have room for one element more than ``bits``.
    """
    sign = bits.itemsize * 8 - 1
    highest = (1 << (sign - drop)) - 1
    # Two loops, because the compiler vectorizes only the first one.
    for i in range(bits.size):
        signed = bits[i] >> drop
        out[i] = signed ^ (signed >> sign)
        q = (out[i] + half) * unit
        square = (central - q) * (central + q)
        x = q * (_polynomial(centre[0], square) / _polynomial(centre[1], square))
        out[i] = -x if signed < 0 else x
    found = 0
    for i in range(bits.size):
        signed = bits[i] >> drop
        magnitude = signed ^ (signed >> sign)
        p[found] = magnitude
        is_tail = (p[found] + half) * unit > central
        # Written for each element, and kept for those in a tail: there is no branch.
        p[found] = highest - magnitude
        p[found] = (p[found] + half) * unit
        tails[found] = i
        found += is_tail
    return found


@compiled
def tails(
    minus_log: Array, places: Array, bits: Array, starts: tuple[Any, Any], tail: Rational, far: Rational, out: Array
) -> None:
    """The normal numbers beyond the centre, from the negative logarithms of their probabilities."""
    start, far_start = starts
    for k in range(minus_log.size):
        r = math.sqrt(minus_log[k])
        if r > far_start:
            r -= far_start
            x = _polynomial(far[0], r) / _polynomial(far[1], r)
        else:
            r -= start
            x = _polynomial(tail[0], r) / _polynomial(tail[1], r)
        i = places[k]
        out[i] = -x if bits[i] < 0 else x


@compiled
def minus_logs(
    x: Array, bits: Array, form: tuple[Any, Any, Any], one: Any, log: tuple[Any, ...], ln2: tuple[Any, Any]
) -> None:
    """Replace x by its negative logarithm. ``bits`` is the same memory as integers; the format has three of these."""
    mantissa, bias, lowest = form
    mask = (1 << mantissa) - 1
    exponent = np.empty_like(x)
    for i in range(x.size):
        shifted = bits[i] + ((bias << mantissa) - lowest)
        exponent[i] = bias - (shifted >> mantissa)
        bits[i] = (shifted & mask) + lowest
    high, low = ln2
    for i in range(x.size):
        f, n = x[i] - one, exponent[i]
        s = f / (f + (one + one))
        x[i] = n * high + (n * low - s * _polynomial(log, s * s))


@compiled
def sort_by_digit(keys: Array, shift: int, out: Array) -> None:
    """Sort unsigned 64-bit integers stably by the eight bits above ``shift``."""
    places = np.zeros((1 << 8) + 1, np.int64)
    for key in keys:
        places[np.int64((key >> U64(shift)) & U64(255)) + 1] += 1
    # The sums of the counts of lower digits are where each digit begins.
    for digit in range(1 << 8):
        places[digit + 1] += places[digit]
    for key in keys:
        place = np.int64((key >> U64(shift)) & U64(255))
        out[places[place]] = key
        places[place] += 1


@compiled
def insertion_sort(keys: Array) -> None:
    """Sort a vector whose elements are near their places."""
    for i in range(1, keys.size):
        key, k = keys[i], i
        while k > 0 and keys[k - 1] > key:
            keys[k] = keys[k - 1]
            k -= 1
        keys[k] = key
