"""JAX: immutable arrays and tracers, on every platform of the installed JAX.

Functions of ``jax.numpy`` that follow the standard are used as they are. The others are corrected for dtypes
(`_dtypes`), array creation, values and errors, or the precision of products (files of `_standard`).
"""
# The backend's functions are the public functions of the files that are imported with a star.
# ruff: noqa: F401, F403

import jax
import jax.numpy as jnp

from xarrayops.plugin import Gap, SparseSupport
from xarrayops.plugin.dtypes import FLOATING_RESULTS
from xarrayops.plugin.host import can_cast, finfo
from xarrayops_backends.jax._attention import ATTENTION_CANDIDATES
from xarrayops_backends.jax._compilation import *
from xarrayops_backends.jax._compiled import *
from xarrayops_backends.jax._compiled import _SIZE_UNKNOWN
from xarrayops_backends.jax._compiler import *
from xarrayops_backends.jax._compiler import CPU_BUGS
from xarrayops_backends.jax._convolution import CONVOLUTION_CANDIDATES, POOLING_CANDIDATES
from xarrayops_backends.jax._devices import *
from xarrayops_backends.jax._devices import __array_namespace_info__
from xarrayops_backends.jax._dtypes import *
from xarrayops_backends.jax._exchange import *
from xarrayops_backends.jax._export import exporters
from xarrayops_backends.jax._failures import *
from xarrayops_backends.jax._indexing import *
from xarrayops_backends.jax._layout import *
from xarrayops_backends.jax._operations import *
from xarrayops_backends.jax._precision import *
from xarrayops_backends.jax._random import *
from xarrayops_backends.jax._rounding import *
from xarrayops_backends.jax._sharding import *
from xarrayops_backends.jax._standard.corrections import *
from xarrayops_backends.jax._standard.creation import *
from xarrayops_backends.jax._standard.lacking import *
from xarrayops_backends.jax._standard.lacking import TPU_BUGS
from xarrayops_backends.jax._standard.linalg import *
from xarrayops_backends.jax._standard.sorting import *
from xarrayops_backends.jax._standard.statistics import *
from xarrayops_backends.jax._transfers import *
from xarrayops_backends.jax._transformations import *

NAMESPACE = jnp
KNOWN_BAD = (*CPU_BUGS, *TPU_BUGS)
ARRAY_TYPES = (jax.Array, jax.core.Tracer)
IMMUTABLE = True
COMPILATION_SECONDS = 0.06
IGNORES_VALUES = True
FLUSHES_SUBNORMALS = True
WRAPS_INTEGERS = True
CASTS_INTEGERS = (*FLOATING_RESULTS, "clip")
SHARED_ENVIRONMENT = {
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false"
}  # otherwise the first process reserves most of the device memory
SPARSE = SparseSupport("xarrayops_backends.jax._sparse", "jax.experimental.sparse", extra="jax")
EXTRA = "xarrayops_backends.jax._extra"
ORDERS_COMPLEX = True
ENVIRONMENT = (
    *("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING", "NVIDIA_TF32_OVERRIDE"),
    *("JAX_PLATFORMS", "JAX_ENABLE_X64", "JAX_DEFAULT_MATMUL_PRECISION", "JAX_NUM_CPU_DEVICES"),
    *("XLA_FLAGS", "XLA_PYTHON_CLIENT_*", "TF_GPU_ALLOCATOR", "LIBTPU_INIT_ARGS"),
)
SETTINGS = {"x64 on": {"JAX_ENABLE_X64": "1"}, "x64 off": {"JAX_ENABLE_X64": "0"}}

UNTRACEABLE = {
    "layout_of": Gap("a tracer has no memory, and so no layout", "call it outside jax.jit, grad and vmap"),
    **_SIZE_UNKNOWN,
}
