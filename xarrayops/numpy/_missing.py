"""Elements that are NaN: which they are, and what stands for them in a reduction."""

from __future__ import annotations

from typing import Any

import xarrayops as xo
from xarrayops.numpy import _operands as ops, _promotion


def numbers(x: Any, where: Any) -> Any:
    """A mask of the selected elements that are not NaN; True for all elements."""
    if _promotion.is_integer(x):
        return where
    mask = xo.logical_not(xo.isnan(x))
    return mask if where is True else xo.logical_and(mask, ops.arrays(mask, where)[1])


def replaced(x: Any, value: Any) -> Any:
    """The elements with NaN replaced by a value."""
    return x if _promotion.is_integer(x) else xo.where(xo.isnan(x), value, x)
