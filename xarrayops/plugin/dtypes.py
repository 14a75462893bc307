"""The definitions of `xarrayops._protocol`."""

from __future__ import annotations

from xarrayops._protocol.dtypes import (
    DTYPE_NAMES as DTYPE_NAMES,
    EXTRA_DTYPES as EXTRA_DTYPES,
    FLOATING_LINALG as FLOATING_LINALG,
    FLOATING_RESULTS as FLOATING_RESULTS,
    INTEGER_LIMITS as INTEGER_LIMITS,
    STANDARD_DTYPES as STANDARD_DTYPES,
)
