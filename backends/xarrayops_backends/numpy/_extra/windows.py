"""Windows and scales: fractions as the number of values and ends of opposite signs raise."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array, generic


def _window(function: Any) -> Any:
    """A window of NumPy, which also accepts fractions as the number of values."""

    def made(n: int, /, *parameters: float, periodic: bool = False, dtype: Any = None, device: Any = None) -> Array:
        values = function(generic.common.whole("n", n) + bool(periodic and n > 1), *parameters)[: max(n, 0)]
        return values.astype(np.float64 if dtype is None else dtype, copy=False)

    return made


bartlett, blackman, hamming, hanning, kaiser = map(
    _window, (np.bartlett, np.blackman, np.hamming, np.hanning, np.kaiser)
)


def logspace(start: float, stop: float, /, num: int = 50, *, device: Any = None, **options: Any) -> Array:
    """np.logspace also takes arrays."""
    return np.logspace(start, stop, num, **options)


def geomspace(start: float, stop: float, /, num: int = 50, *, device: Any = None, **options: Any) -> Array:
    """np.geomspace also takes numbers of opposite signs, with a complex result."""
    if num:
        generic.windows.require_ratio(start, stop)
    return np.geomspace(start, stop, num, **options)
