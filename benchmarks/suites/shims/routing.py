"""Shared by the shims: a function of another library is replaced by one of ours, and its calls are counted."""

from __future__ import annotations

import atexit
import functools
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import xarrayops as xo

LIBRARY = os.environ["SUITE_LIBRARY"]
CALLS: Counter[str] = Counter()
DTYPES = {*xo.backend(LIBRARY).namespace.__array_namespace_info__().dtypes(), "float16"}


_within: list[str] = []
"""The replaced function that is being called, if one is."""


def route(owner: Any, name: str, ours: Callable[..., Any]) -> None:
    """Replace a function or method. Where ours returns NotImplemented, and within ours, the original serves."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def routed(*args: Any, **kwargs: Any) -> Any:
        if _within:
            return original(*args, **kwargs)
        _within.append(name)
        try:
            result = ours(*args, **kwargs)
        finally:
            _within.pop()
        CALLS["native" if result is NotImplemented else "ours"] += 1
        return original(*args, **kwargs) if result is NotImplemented else result

    setattr(owner, name, routed)


def to_library(x: Any) -> Any:
    """An array of the tested library with the values of NumPy's; NumPy's own stays."""
    return x if LIBRARY == "numpy" else xo.convert(np.asarray(x), LIBRARY, copy=True)


def to_numpy(x: Any) -> Any:
    """The values as NumPy's array; a scalar for a 0-d array, as NumPy's functions return."""
    values = np.asarray(xo.convert(xo.compute(x), "numpy"))
    return values if values.ndim else values[()]


@atexit.register
def write_calls() -> None:
    """Write the counts of the calls for the runner."""
    Path(os.environ["SUITE_CALLS"]).write_text(json.dumps(dict(CALLS)))
