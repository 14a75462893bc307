"""Reject arrays that are not numeric, and masked arrays, matrices and sparse containers, in all but elementwise ufuncs.

NumPy's functions would ignore the mask of some masked arrays and return sparse containers where a number is expected.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Gap, array_roles
from xarrayops.plugin.host import NUMBERS, gap_of, gap_of_array
from xarrayops_backends.numpy._exchange import refuse_class

ARRAY_TYPES = (np.ndarray, np.generic)
_NO_ARRAYS = frozenset({bool, int, float, complex, str, type(None)})
_SPARSE = Gap("functions of dense arrays do not take sparse containers", "x.toarray()")


def require_numbers(verb: str, x: Array) -> None:
    """Raise unless the dtype of an array is numeric."""
    if gap_of(x.dtype) is not None:
        raise Unsupported(f"xo.{verb}: {gap_of_array(x)}")


def require_array(verb: str, x: Any) -> None:
    """Raise if x is an array that is not numeric, or one or a container that NumPy's functions misread."""
    if isinstance(x, ARRAY_TYPES):
        cls: Any = type(x)
        gap = (None if isinstance(x, np.generic) else refuse_class(cls)) or gap_of_array(x)
    else:
        gap = _SPARSE if type(x).__module__.startswith("scipy.sparse.") else None
    if gap is not None:
        raise Unsupported(f"xo.{verb}: {gap}")


def require_all_numbers(verb: str, *operands: Any) -> None:
    """Raise unless the dtypes of all arrays among the operands are numeric."""
    for x in operands:
        dtype = getattr(x, "dtype", None)
        if dtype is not None and dtype.kind not in NUMBERS:
            require_numbers(verb, x)


def refusing(verb: str, function: Callable[..., Array]) -> Callable[..., Array]:
    """The function, which rejects arrays that are not numeric; NumPy would apply Python's rules to them."""
    is_of_one = list(array_roles(verb).values()) == ["array"]
    return (_refusing_first if is_of_one else _refusing_all)(verb, function)


def _refusing_first(verb: str, function: Callable[..., Array]) -> Callable[..., Array]:
    """The check of the only array, which is the first argument: no look at the options."""

    @wraps(function)
    def checked(x: Any, /, *args: Any, **kwargs: Any) -> Array:
        if type(x) is not np.ndarray or x.dtype.kind not in NUMBERS:
            require_array(verb, x)
        return function(x, *args, **kwargs)

    return checked


def _refusing_all(verb: str, function: Callable[..., Array]) -> Callable[..., Array]:
    """The check of all arguments, and of the members of sequences."""

    def check(x: Any) -> None:
        cls = type(x)
        if cls is np.ndarray:
            if x.dtype.kind not in NUMBERS:
                require_array(verb, x)
        elif isinstance(x, (list, tuple)):
            for member in x:
                if type(member) is not np.ndarray or member.dtype.kind not in NUMBERS:
                    require_array(verb, member)
        elif cls not in _NO_ARRAYS:
            require_array(verb, x)

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Array:
        for x in args:
            check(x)
        for x in kwargs.values():
            check(x)
        return function(*args, **kwargs)

    return checked
