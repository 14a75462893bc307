"""Convolutions by blocks of windows, which BLAS multiplies with the weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Call, host
from xarrayops.plugin.convolution import Windows

Array = np.ndarray[Any, Any]
_NARROW = ("float16", "bfloat16")
_FEW = 4
"""The number of output channels of a group below which BLAS takes longer than sums of products."""


def _blocks(x: Array, weights: Array, windows: Windows, groups: int, /) -> Array:
    """Half types are widened, and rounded once."""
    if x.dtype.name in _NARROW:
        wide = host.convolution.convolution(x.astype(np.float32), weights.astype(np.float32), windows, groups)
        return wide.astype(x.dtype)
    return host.convolution.convolution(x, weights, windows, groups)


def _refusal(call: Call) -> str | None:
    x, weights, _, groups = call.args
    if x.dtype.name not in ("float32", "float64", *_NARROW):
        return "BLAS has no such dtype"
    if weights.shape[1] > 1 and weights.shape[0] < groups * _FEW:
        return f"a group has fewer than {_FEW} output channels"
    return None


CONVOLUTION_CANDIDATES = [("blocks", _blocks, _refusal)]
