"""NumPy's warnings about slices without elements, which depend on shapes: for every library.

Warnings that depend on values, such as those about slices of NaN and about divisions, come from NumPy itself for its
arrays. Other libraries give none: each would wait for their devices.
"""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from math import prod
from typing import Any

import xarrayops as xo
from xarrayops.numpy import _axes, _operands as ops, _promotion

NO_MEAN, NO_FREEDOM = "Mean of empty slice", "Degrees of freedom <= 0 for slice."
_USER = 3
"""The frame of the user, below those of the public function and of the function here."""


def of_empty(x: Any, axis: Any) -> None:
    """Warn if the mean of a slice is one of no elements."""
    if 0 in x.shape and not prod([x.shape[a] for a in _axes.axes_of(x, axis)]):
        warnings.warn(NO_MEAN, RuntimeWarning, stacklevel=_USER)


def once_of_empty(x: Any, axis: Any) -> AbstractContextManager[Any]:
    """Warn as `of_empty`; for NumPy's arrays, of which only some dtypes warn, their own warnings are left out."""
    if 0 not in x.shape or prod([x.shape[a] for a in _axes.axes_of(x, axis)]):
        return nullcontext()
    warnings.warn(NO_MEAN, RuntimeWarning, stacklevel=_USER)
    return warnings.catch_warnings(action="ignore", category=RuntimeWarning)


def of_freedom(x: Any, axis: Any, ddof: Any, is_nan: bool) -> None:
    """Warn if slices have no degrees of freedom. NumPy warns of its own arrays, but ours serve complex numbers."""
    is_complex = _promotion.is_complex(x)
    if ops.is_numpys(x) and not is_complex:
        return
    count: Any = prod([x.shape[a] for a in _axes.axes_of(x, axis)])
    if is_nan and is_complex and ops.is_numpys(x):
        count = xo.min(xo.count_nonzero(xo.isnan(x) == 0, axis=axis)) if _axes.size_of(x) else 0
    if count <= ddof:
        warnings.warn(NO_FREEDOM, RuntimeWarning, stacklevel=_USER)
