"""Set functions with sorted values, which NumPy 2.3 and later does not promise."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array


def unique_values(x: Array, /) -> Array:
    """Since 2.3 NumPy's function does not sort integers and complex numbers."""
    return np.unique(x, equal_nan=False)


def unique(
    x: Array, /, *, return_index: bool, return_inverse: bool, return_counts: bool, axis: int | None
) -> Array | tuple[Array, ...]:
    """NumPy's own function. It sorts complex NaNs, and finds the first one only if all are equal."""
    function: Any = np.unique  # its overloads require literals
    if axis is not None or x.dtype.kind != "c":
        return function(x, return_index, return_inverse, return_counts, axis)
    alike = np.where(np.isnan(x), np.nan, x)
    _, indices, *others = function(alike, True, return_inverse, return_counts)
    found = (x.reshape(-1)[indices], *([indices] if return_index else []), *others)
    return found if len(found) > 1 else found[0]
