"""CuPy's dtypes: the numeric dtypes of NumPy, and bfloat16 since CuPy 14."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.errors import available_names
from xarrayops.plugin import host
from xarrayops.plugin.dtypes import STANDARD_DTYPES

_DTYPES = (*STANDARD_DTYPES, "float16")


def as_dtype(name: str, /) -> Any:
    """CuPy uses NumPy's dtypes and the bfloat16 of ml_dtypes; it rejects arrays of the float8 dtypes."""
    if name in _DTYPES:
        return np.dtype(name)
    if name != "bfloat16":
        raise ValueError(available_names(name, (*_DTYPES, "bfloat16")))
    return host.as_dtype(name)


def dtype_name(dtype: Any, /) -> str | None:
    """None for a dtype that CuPy does not support: objects, text, other byte orders."""
    if isinstance(dtype, type) and issubclass(dtype, np.generic):
        dtype = np.dtype(dtype)
    known = isinstance(dtype, np.dtype) and dtype.isnative and dtype.name in (*_DTYPES, "bfloat16")
    return str(dtype.name) if known else None
