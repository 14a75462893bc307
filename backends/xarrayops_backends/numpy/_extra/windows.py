"""NumPy's windows and scales. Fractions as the number of values and ends of opposite signs raise."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.generic import common, windows


def _window(function: Any) -> Any:
    """A window of NumPy, which also accepts fractions as the number of values."""

    def made(n: int, /, *parameters: float, dtype: Any = None, device: Any = None) -> Array:
        common.whole("n", n)
        return function(n, *parameters).astype(np.float64 if dtype is None else dtype, copy=False)

    return made


bartlett, blackman, hamming, hanning, kaiser = map(
    _window, (np.bartlett, np.blackman, np.hamming, np.hanning, np.kaiser)
)


def logspace(
    start: float,
    stop: float,
    /,
    num: int = 50,
    *,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: Any = None,
    device: Any = None,
) -> Array:
    """np.logspace also takes arrays."""
    return np.logspace(start, stop, num, endpoint, base, dtype)


def geomspace(
    start: float, stop: float, /, num: int = 50, *, endpoint: bool = True, dtype: Any = None, device: Any = None
) -> Array:
    """np.geomspace also takes numbers of opposite signs, with a complex result."""
    if num:
        windows.require_ratio(start, stop)
    return np.geomspace(start, stop, num, endpoint, dtype)
