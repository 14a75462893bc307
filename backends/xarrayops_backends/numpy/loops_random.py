"""The loops of the random generator that numba compiles."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

Array = np.ndarray[Any, Any]

PARITY = np.uint32(0x1BD11BDA)
U32 = np.uint32
U64 = np.uint64


@numba.njit(inline="always")
def _mixed(x0: Any, x1: Any, rotation: int) -> Any:
    """One round."""
    # numba widens uint32 to 64 bits in sums and shifts; each cast drops what is above 32 bits.
    x0 = U32(x0 + x1)
    return x0, U32(U32(U32(x1 << U32(rotation)) | U32(x1 >> U32(32 - rotation))) ^ x0)


@numba.njit(inline="always")
def _group(x0: Any, x1: Any, rotations: tuple[int, int, int, int], first: Any, second: Any) -> Any:
    """Four rounds, and the addition of a key to each word."""
    # Unrolled, so that the rotations are constants of the compiled code.
    x0, x1 = _mixed(x0, x1, rotations[0])
    x0, x1 = _mixed(x0, x1, rotations[1])
    x0, x1 = _mixed(x0, x1, rotations[2])
    x0, x1 = _mixed(x0, x1, rotations[3])
    return U32(x0 + first), U32(x1 + second)


@numba.njit(inline="always")
def _threefry(k0: Any, k1: Any, counter: Any) -> Any:
    """The words of Threefry-2x32-20."""
    k2 = U32(U32(k0 ^ k1) ^ PARITY)
    x0, x1 = U32(U32(counter >> U64(32)) + k0), U32(U32(counter) + k1)
    x0, x1 = _group(x0, x1, (13, 15, 26, 6), k1, U32(k2 + U32(1)))
    x0, x1 = _group(x0, x1, (17, 29, 16, 24), k2, U32(k0 + U32(2)))
    x0, x1 = _group(x0, x1, (13, 15, 26, 6), k0, U32(k1 + U32(3)))
    x0, x1 = _group(x0, x1, (17, 29, 16, 24), k1, U32(k2 + U32(4)))
    return _group(x0, x1, (13, 15, 26, 6), k2, U32(k0 + U32(5)))


@numba.njit(nogil=True, cache=True)
def words(k0: Any, k1: Any, counters: Array, out: Array) -> None:
    """The bits for each counter: of 64 the first word above the second one, of 32 both words combined."""
    for i in range(counters.size):
        x0, x1 = _threefry(k0, k1, counters[i])
        # A constant of the compiled code, so there is no branch in the loop.
        if out.itemsize == 8:
            out[i] = (U64(x0) << U64(32)) | U64(x1)
        else:
            out[i] = U32(x0 ^ x1)


@numba.njit(nogil=True, cache=True)
def uniforms(k0: Any, k1: Any, out: Array) -> None:
    """Uniform numbers in [0, 1) of 53 bits, for the counters from 0 on."""
    for i in range(out.size):
        x0, x1 = _threefry(k0, k1, U64(i))
        # The upper 53 bits of the 64, joined without the lower 11. Through int64, whose cast to float64 is one
        # instruction.
        out[i] = np.float64(np.int64((U64(x0) << U64(21)) | (U64(x1) >> U64(11)))) * 2.0**-53
