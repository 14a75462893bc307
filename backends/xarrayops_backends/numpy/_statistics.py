"""Reductions that call ``ufunc.reduce`` directly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.dtypes import NUMBERS
from xarrayops_backends.numpy._guard import require_numbers


def _reduction(verb: str, ufunc: np.ufunc) -> Callable[..., Array]:
    """A direct call of ``ufunc.reduce``: NumPy's wrapper takes twice the time for the sum of a small array."""

    def reduced(x: Array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
        if x.dtype.kind not in NUMBERS:
            require_numbers(verb, x.dtype)
        return ufunc.reduce(x, axis, keepdims=keepdims)

    return reduced


def _accumulation(verb: str, ufunc: np.ufunc) -> Callable[..., Array]:
    def reduced(
        x: Array, /, *, axis: int | tuple[int, ...] | None = None, dtype: Any = None, keepdims: bool = False
    ) -> Array:
        if x.dtype.kind not in NUMBERS:
            require_numbers(verb, x.dtype)
        return ufunc.reduce(x, axis, dtype, keepdims=keepdims)

    return reduced


sum = _accumulation("sum", np.add)
prod = _accumulation("prod", np.multiply)
max = _reduction("max", np.maximum)
min = _reduction("min", np.minimum)
all = _reduction("all", np.logical_and)
any = _reduction("any", np.logical_or)
