"""Random numbers: the generator Threefry-2x32-20, and the numbers that its bits give.

A backend whose library is slow in the generic function makes the bits of a draw in its own way, block by block, and
gives them to `from_bits` with an `Arithmetic` of its own. The tests compare every bit with the generic function's.
"""

from __future__ import annotations

from xarrayops._generic.random import (
    Arithmetic as Arithmetic,
    Format as Format,
    arithmetic as arithmetic,
    frexp_of_bits as frexp_of_bits,
    from_bits as from_bits,
    multiply_shift as multiply_shift,
    narrow_product as narrow_product,
    random_draw as random_draw,
    random_keys as random_keys,
    random_permutation as random_permutation,
    signed_int64 as signed_int64,
    wide_product as wide_product,
)
from xarrayops._host.order import order_of_bits as order_of_bits
from xarrayops._protocol.random import (
    GROUPS as GROUPS,
    PARITY as PARITY,
    ROTATIONS as ROTATIONS,
    WORD as WORD,
    Draw as Draw,
    threefry as threefry,
)
