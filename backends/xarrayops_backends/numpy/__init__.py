"""NumPy: the backend of the CPU, built on NumPy itself.

Elementwise functions are NumPy's own ufuncs without a wrapper, which would cost a third of such a call on a small
array. So every function except these ufuncs rejects arrays that are not numeric (objects, text, dates, records).
"""
# The backend's functions are the public functions of the files that are imported with a star.
# ruff: noqa: F401, F403

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from xarrayops.plugin import Array, SparseSupport, takes_arrays
from xarrayops.plugin.host import as_dtype, can_cast, dtype_name, finfo, iinfo, isdtype, result_type
from xarrayops_backends.numpy._attention import ATTENTION_CANDIDATES
from xarrayops_backends.numpy._compat import PATCHES
from xarrayops_backends.numpy._convolution import CONVOLUTION_CANDIDATES
from xarrayops_backends.numpy._devices import *
from xarrayops_backends.numpy._devices import __array_namespace_info__
from xarrayops_backends.numpy._dtypes import *
from xarrayops_backends.numpy._exchange import *
from xarrayops_backends.numpy._guard import ARRAY_TYPES, refusing as _refusing
from xarrayops_backends.numpy._indexing import *
from xarrayops_backends.numpy._layout import *
from xarrayops_backends.numpy._operations import *
from xarrayops_backends.numpy._precision import *
from xarrayops_backends.numpy._random import *
from xarrayops_backends.numpy._standard import *

NAMESPACE: Any = np
CASTS_INTEGERS = ("atan2", "clip", "copysign", "hypot", "linalg.pinv", "logaddexp", "reciprocal")
"""Without the ufuncs of one array: a check of the dtype would double the cost of their calls."""
ENVIRONMENT = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "OPENBLAS_CORETYPE",
    "MKL_NUM_THREADS",
    "NPY_DISABLE_CPU_FEATURES",
)
SPARSE = SparseSupport("xarrayops_backends.numpy._sparse", "scipy.sparse", extra="sparse")
EXTRA = "xarrayops_backends.numpy._extra"
ALTERNATIVES = "xarrayops_backends.numpy._alternatives"
ORDERS_COMPLEX = True
CANNOT_OVERFLOW = ("interp",)  # in float64

_OF_THE_STANDARD = ("astype", "sum", "prod", "max", "min", "all", "any", "matmul", "floor_divide", "select", "update")
_BEYOND = (
    "array_equal",
    "average",
    "bincount",
    "cov",
    "fill_diagonal",
    "gradient",
    "insert",
    "interp",
    "linalg.lstsq",
    "linalg.norm",
    "polyval",
    "trapezoid",
)
_CHECK_THEMSELVES = frozenset((*_OF_THE_STANDARD, *_BEYOND))
"""Functions that check dtypes themselves; and floor_divide, which replaces an elementwise ufunc and must be as fast."""


def wrap(verb: str, function: Callable[..., Array], /) -> Callable[..., Array]:
    """A check of the dtypes before every function that takes arrays, but not before elementwise ufuncs."""
    function = PATCHES.get(verb, function)
    is_elementwise = isinstance(function, np.ufunc | partial) and getattr(function, "signature", None) is None
    is_bare = is_elementwise and verb not in CASTS_INTEGERS
    if not takes_arrays(verb) or is_bare or verb in _CHECK_THEMSELVES:
        return function
    return _refusing(verb, function)
