"""Exact products of 8-bit integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.testing._suite.samples import sample
from xarrayops.testing._suite.table import Row, call, cases, check_row, row
from xarrayops.testing._suite.variant import Variant

BLOCKS = {("int8", "int8"): 1024, ("int8", "uint8"): 514, ("uint8", "int8"): 514, ("uint8", "uint8"): 258}
"""The number of terms whose sum in float32 is exact, by the dtypes of the operands."""
SHAPES: tuple[Any, ...] = (
    ((4,), (4,)),
    ((4,), (4, 5)),
    ((2, 3, 4), (4,)),
    ((2, 3, 4), (4, 5)),
    ((3, 1, 2, 4), (2, 4, 5)),
    ((3, 0), (0, 5)),
    ((0, 4), (4, 5)),
    ((17, 8), (8, 16)),
)


def integers(dtype: str, shape: tuple[int, ...], seed: int = 0) -> Any:
    """Random values of the whole range."""
    limits = np.iinfo(dtype)
    return sample(dtype, shape, low=limits.min, high=limits.max, seed=seed)


def extremes(dtype: str, count: int) -> Any:
    """Values of the largest magnitude, the last one odd, so that a sum above 2**24 is not exact in float32."""
    extreme, odd = (-128, -127) if dtype == "int8" else (255, 255)
    return np.asarray([*[extreme] * (count - 1), odd], dtype)


def _int32(x1: Any, x2: Any, *, out_dtype: str) -> Any:
    return np.matmul(x1.astype(np.int64), x2.astype(np.int64)).astype(out_dtype)


ROWS = [
    row(
        "matmul",
        _int32,
        *(
            call(extremes(a, terms)[None], extremes(b, terms)[:, None], out_dtype="int32")
            for (a, b), block in BLOCKS.items()
            for terms in (block + 1, block)
        ),
        *(call(integers(a, (3, 4)), integers(b, (4, 5), 1), out_dtype="int32") for a, b in BLOCKS),
        *(call(integers("int8", x), integers("int8", y, 1), out_dtype="int32") for x, y in SHAPES),
        hook="matmul_int32",
        dtype="int32",
        ulps=0,
        label="int32",
    ),
]


class ProductSuite:
    """Products with ``out_dtype=``."""

    @cases(ROWS)
    def test_products(self, variant: Variant, row: Row) -> None:
        """Exact."""
        check_row(variant, row)
