"""No function is given an array of what is no number, but for the ufuncs that have a loop for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array
from xarrayops.plugin.dtypes import NUMBERS, gap_of

ARRAY_TYPES = (np.ndarray, np.generic)


def require_numbers(verb: str, dtype: np.dtype[Any]) -> None:
    """Raise unless the dtype is one of numbers."""
    gap = gap_of(dtype)
    if gap is not None:
        raise Unsupported(f"xo.{verb}: {gap}")


def refusing(verb: str, function: Callable[..., Array]) -> Callable[..., Array]:
    """The function, refusing arrays of no numbers, which NumPy would sort, compare or join by Python's rules."""

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Array:
        for x in (*args, *kwargs.values()) if kwargs else args:
            if isinstance(x, ARRAY_TYPES):
                if x.dtype.kind not in NUMBERS:
                    require_numbers(verb, x.dtype)
            elif isinstance(x, (list, tuple)):
                for member in x:
                    if isinstance(member, ARRAY_TYPES):
                        require_numbers(verb, member.dtype)
        return function(*args, **kwargs)

    return checked
