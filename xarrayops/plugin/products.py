"""Products over host memory of dtypes that BLAS does not multiply.

- ``matmul``, ``vecdot`` and ``tensordot`` of narrow floating-point numbers: summed in float32, rounded once.
- ``matmul_int32``: the exact product of integers of 8 bits.
- ``exact_terms``: the number of products of two dtypes of 8 bits whose sum is exact in float32.
- ``multiplications``: the number of multiplications of a matrix product, by which a kernel is chosen.
- ``MAGNITUDES``: the integer dtypes of 8 bits, and the greatest absolute value of each.
"""

from __future__ import annotations

from xarrayops._host.products import (
    matmul as matmul,
    matmul_int32 as matmul_int32,
    tensordot as tensordot,
    vecdot as vecdot,
)
from xarrayops._protocol.products import (
    MAGNITUDES as MAGNITUDES,
    exact_terms as exact_terms,
    multiplications as multiplications,
)
