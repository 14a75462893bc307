"""Random numbers: the specification of a draw, and the generator Threefry-2x32-20.

The element of a draw with flat index i is a function of the key and i only. So neither the library nor the order of
computation affects it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

# The largest 32-bit word.
WORD = 0xFFFFFFFF
# The parity constant of the key schedule.
PARITY = 0x1BD11BDA
# The rotations of the rounds, by groups of four.
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
# The number of groups of four rounds.
GROUPS = 5


class Draw(NamedTuple):
    """The specification of a random array: the distribution and the dtype.

    Attributes
    ----------
    kind : str
        "bits", "uniform", "normal", "exponential" or "integers". The library's own generators also have "permutation".
    dtype : str
        The name of the dtype of the result.
    low, width : int
        For "integers": the lowest one, and how many there are. For "permutation": ``width`` is the length.
    loc, scale : float
        The result is ``loc + scale * x``, where x has the standard distribution.
    """

    kind: str
    dtype: str
    low: int = 0
    width: int = 0
    loc: float = 0.0
    scale: float = 1.0

    @property
    def bits(self) -> int:
        """How many random bits an element takes: 64 or 32."""
        return 64 if self.kind == "integers" or self.dtype in ("float64", "uint64", "int64") else 32


def threefry(key: tuple[Any, Any], x0: Any, x1: Any) -> tuple[Any, Any]:
    """The two words of Threefry-2x32-20 for the counter (x0, x1): Python integers, or arrays of int64 in [0, 2**32).

    Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (SC 2011).

    >>> [hex(word) for word in threefry((0x13198A2E, 0x03707344), 0x243F6A88, 0x85A308D3)]
    ['0xc4923a9c', '0x483df7a0']
    """
    # With the constant, a key of zeros does not give a schedule of zeros.
    schedule = (*key, key[0] ^ key[1] ^ PARITY)
    x0, x1 = (x0 + schedule[0]) & WORD, (x1 + schedule[1]) & WORD
    # Rounds mix the words and are invertible, and so is each addition of the key: for one key, different counters give
    # different results.
    for group in range(GROUPS):
        for rotation in ROTATIONS[group % 2]:
            x0 = (x0 + x1) & WORD
            # A rotation: the mask drops what a wider integer would keep above 32 bits.
            x1 = (((x1 << rotation) & WORD) | (x1 >> (32 - rotation))) ^ x0
        x0 = (x0 + schedule[(group + 1) % 3]) & WORD
        # The number of the group breaks the symmetry between groups, which use the same three words.
        x1 = (x1 + schedule[(group + 2) % 3] + (group + 1)) & WORD
    return x0, x1
