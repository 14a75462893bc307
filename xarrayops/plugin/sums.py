"""Sums over host memory. Those of half and single precision have a small error.

- ``EXACT``: the codes of the dtypes for which NumPy's own sums serve.
- ``count``: the number of elements in each sum along axes.
- ``is_half``: whether a dtype is a floating-point dtype narrower than single precision.
- ``sum``, ``mean``, ``var``, ``std`` and ``cumulative_sum`` of NumPy arrays.
"""

from __future__ import annotations

from xarrayops._host.sums import (
    EXACT as EXACT,
    count as count,
    cumulative_sum as cumulative_sum,
    is_half as is_half,
    mean as mean,
    std as std,
    sum as sum,
    var as var,
)
