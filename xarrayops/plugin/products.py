"""The definitions of `xarrayops._protocol`."""

from __future__ import annotations

from xarrayops._protocol.products import (
    MAGNITUDES as MAGNITUDES,
    exact_terms as exact_terms,
    multiplications as multiplications,
)
