"""NumPy's windows and scales; they refuse fractions as the number of values, and ends of two signs."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.generic import common, windows


def _window(function: Any) -> Any:
    """A window of NumPy, which takes fractions for the number of values, too."""

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
    """np.logspace takes arrays, too."""
    return np.logspace(start, stop, num, endpoint, base, dtype)


def geomspace(
    start: float, stop: float, /, num: int = 50, *, endpoint: bool = True, dtype: Any = None, device: Any = None
) -> Array:
    """np.geomspace takes numbers of two signs, too, which it makes complex."""
    if num:
        windows.require_ratio(start, stop)
    return np.geomspace(start, stop, num, endpoint, dtype)
