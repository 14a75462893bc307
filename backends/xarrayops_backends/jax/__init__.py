"""JAX: immutable arrays and tracers, on every platform of the installed JAX.

Functions of ``jax.numpy`` that follow the standard are used as they are. The others are corrected for dtypes
(`_dtypes`), array creation, values and errors, or the precision of products (files of `_standard`).
"""

# ruff: noqa: F401 - the names are the backend's functions

from __future__ import annotations

import jax
import jax.numpy as jnp

from xarrayops.plugin import Gap, SparseSupport
from xarrayops.plugin.dtypes import FLOATING_RESULTS
from xarrayops_backends.jax._attention import ATTENTION_CANDIDATES
from xarrayops_backends.jax._compilation import (
    carries_mode,
    carry_mode,
    compilations,
    compiled,
    cond,
    is_transformed,
    run_modes,
    scan,
    set_default_dtype,
    while_loop,
)
from xarrayops_backends.jax._compiled import _SIZE_UNKNOWN, wrap
from xarrayops_backends.jax._convolution import CONVOLUTION_CANDIDATES, POOLING_CANDIDATES
from xarrayops_backends.jax._devices import (
    __array_namespace_info__,
    as_device,
    device,
    device_attributes,
    devices,
    free_bytes,
    is_lazy,
    peak_bytes,
    precision_switches,
    synchronize,
    to_device,
    versions,
)
from xarrayops_backends.jax._dtypes import as_dtype, astype, can_cast, dtype_name, finfo, iinfo
from xarrayops_backends.jax._exchange import (
    alias,
    alias_refusal,
    export_refusal,
    exporting,
    from_numpy,
    import_refusal,
    memory,
    packed,
    queue,
    tie,
    to_numpy,
    try_as_numpy,
    try_from_numpy,
)
from xarrayops_backends.jax._export import exporters
from xarrayops_backends.jax._layout import NO_STRIDES, as_strided, contiguous, pin_memory
from xarrayops_backends.jax._operations import CALL_TESTS, carry_operation, native_kernel
from xarrayops_backends.jax._precision import product_precision, register_state, rounded
from xarrayops_backends.jax._random import (
    native_draw,
    native_generator,
    random_draw,
    random_keys,
    random_permutation,
    trace_state,
)
from xarrayops_backends.jax._standard.corrections import (
    all,
    any,
    broadcast_arrays,
    clip,
    cumulative_prod,
    cumulative_sum,
    exp,
    expand_dims,
    expm1,
    floor_divide,
    isin,
    permute_dims,
    pow,
    remainder,
    reshape,
    searchsorted,
    sign,
    unique,
)
from xarrayops_backends.jax._standard.creation import asarray, from_dlpack, full, meshgrid
from xarrayops_backends.jax._standard.linalg import (
    MATMUL_INT32_CANDIDATES,
    einsum,
    linalg_matrix_power,
    linalg_pinv,
    linalg_qr,
    matmul,
    tensordot,
    vecdot,
)
from xarrayops_backends.jax._standard.statistics import argmax, argmin, linalg_matrix_norm, linalg_vector_norm, max, min
from xarrayops_backends.jax._transfers import crossings
from xarrayops_backends.jax._transformations import checkpoint, no_grad, opaque, value_and_grad, vjp, vmap
from xarrayops_backends.jax._update import select, update

NAMESPACE = jnp
ARRAY_TYPES = (jax.Array, jax.core.Tracer)
IMMUTABLE = True
COMPILATION_SECONDS = 0.06
IGNORES_VALUES = True
WRAPS_INTEGERS = True
CASTS_INTEGERS = (*FLOATING_RESULTS, "clip")
SHARED_ENVIRONMENT = {
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false"
}  # otherwise the first process reserves most of the device memory
SPARSE = SparseSupport("xarrayops_backends.jax._sparse", "jax.experimental.sparse", extra="jax")
EXTRA = "xarrayops_backends.jax._extra"
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
