"""Dask: task graphs over NumPy chunks. These functions are lazy; a size that depends on data is NaN until computed.

Dask has no sparse containers, so there is no ``SPARSE``.
Floor division (``x // y``) of or by infinities follows NumPy where NumPy differs from the standard.
"""
# The backend's functions are the public functions of the files that are imported with a star.
# ruff: noqa: F401, F403

from collections.abc import Callable
from typing import Any

import array_api_compat.dask.array
import dask.array

from xarrayops.plugin import Gap, takes_arrays
from xarrayops.plugin.backends import limited
from xarrayops.plugin.dtypes import FLOATING_RESULTS
from xarrayops.plugin.host import as_dtype, can_cast, dtype_name, finfo, iinfo, isdtype, result_type
from xarrayops_backends.dask import _blocks, _costs, _rules
from xarrayops_backends.dask._attention import attention as _attention, chunks_refusal as _chunks_refusal
from xarrayops_backends.dask._devices import *
from xarrayops_backends.dask._exchange import *
from xarrayops_backends.dask._indexing import *
from xarrayops_backends.dask._layout import *
from xarrayops_backends.dask._operations import *
from xarrayops_backends.dask._random import *
from xarrayops_backends.dask._sharding import *
from xarrayops_backends.dask._standard.corrections import *
from xarrayops_backends.dask._standard.creation import *
from xarrayops_backends.dask._standard.linalg import *
from xarrayops_backends.dask._standard.manipulation import *
from xarrayops_backends.dask._standard.order import *
from xarrayops_backends.dask._standard.sets import *
from xarrayops_backends.dask._transfers import *
from xarrayops_backends.dask._windows import convolution, pooling
from xarrayops_backends.numpy._devices import __array_namespace_info__, as_device, to_device
from xarrayops_backends.numpy._exchange import import_refusal

NAMESPACE = array_api_compat.dask.array
WRAPS_INTEGERS = True
EXTRA = "xarrayops_backends.dask._extra"
ORDERS_COMPLEX = True
CASTS_INTEGERS = (*FLOATING_RESULTS, "clip")
COMPUTES_IN_DOUBLE = (
    *("average", "corrcoef", "cov", "gradient", "linalg.matrix_norm", "linalg.norm", "linalg.vector_norm", "median"),
    *("nanmean", "nanmedian", "nanpercentile", "nanquantile", "nanstd", "nansum", "nanvar", "percentile", "polyval"),
    *("quantile", "segment_mean", "trapezoid"),
)
ARRAY_TYPES = (dask.array.Array,)
ENVIRONMENT = ("DASK_SCHEDULER", "DASK_NUM_WORKERS", "DASK_ARRAY__CHUNK_SIZE")
ATTENTION_CANDIDATES = [("chunks", limited("attention", _attention, _rules.of_attention), _chunks_refusal)]
UNTRACEABLE = dict.fromkeys(
    ("compute", "persist"), Gap("it computes the values", "call it outside the traced function")
) | dict.fromkeys(
    ("cond", "while_loop"), Gap("the branch is chosen by a value", "xo.where, or a loop with a known number of steps")
)


def wrap(verb: str, function: Callable[..., Any], /) -> Callable[..., Any]:
    """Clear errors for arrays that are not numeric, for unknown sizes, and for tasks that hold too much."""
    if verb in _blocks.SIZES:
        return _blocks.requiring_known_shape(verb, function)
    if not takes_arrays(verb):
        return function
    return limited(
        verb, _blocks.refusing("at" if verb in ("update", "select") else verb, function), _costs.RULES.get(verb)
    )
