"""Why JAX's functions fail on some arrays. Asked only after a call failed."""

from __future__ import annotations

import jax
import numpy as np

from xarrayops.plugin import Array, Gap
from xarrayops_backends.jax import _shards
from xarrayops_backends.jax._dtypes import dtype_name


def failure_cause(x: Array, error: Exception, /) -> Gap | None:
    """Deleted arrays, tracers of functions that have ended, keys of random numbers, dtypes that few functions have."""
    if _shards.is_ambiguous(x, error):
        return _shards.AMBIGUOUS
    if isinstance(x, jax.core.Tracer):
        if not isinstance(error, jax.errors.UnexpectedTracerError) and "not a valid JAX type" not in str(error):
            return None
        return Gap("a tracer is valid only inside the function that JAX traces", "return it from that function")
    if x.is_deleted():
        return Gap("its memory was deleted, or donated to a function", "make it again, or keep a copy of it")
    if not isinstance(x.dtype, np.dtype):
        return Gap("a key of random numbers is not a number", "jax.random.key_data(x)")
    if (dtype_name(x.dtype) or "float8").startswith("float8"):
        return Gap(f"JAX's function does not support {x.dtype}", 'xo.astype(x, "float32")')
    return None
