"""PyTorch: array_api_compat.torch, the hooks, and fixes where it deviates from the standard.

Each family has a file or folder. The functions of the standard are in _standard/, where wide.py replaces the kernels
that PyTorch lacks for uint16, uint32 and uint64.

Two functions are PyTorch's own without a correction: floor_divide of infinities, where the standard allows the values
of Python and NumPy (a correction that keeps finite quotients exact doubles the time), and remainder, for the sign of a
zero (a correction costs 19 % and the gradient).
"""
# ruff: noqa: F401 - the names are the backend's functions

from collections.abc import Callable
from typing import Any

import array_api_compat.torch
import torch

from xarrayops.plugin import Gap, KnownBad, SparseSupport
from xarrayops.plugin.dtypes import FLOATING_LINALG
from xarrayops_backends.torch._attention import ATTENTION_CANDIDATES, KNOWN_BAD as _KNOWN_BAD_ATTENTION
from xarrayops_backends.torch._compilation import (
    compilations,
    compiled,
    cond,
    is_transformed,
    random_state,
    run_modes,
    scan,
    while_loop,
)
from xarrayops_backends.torch._convolution import CONVOLUTION_CANDIDATES, POOLING_CANDIDATES
from xarrayops_backends.torch._devices import (
    __array_namespace_info__,
    as_device,
    device_attributes,
    devices,
    free_bytes,
    peak_bytes,
    precision_switches,
    release_memory,
    synchronize,
    to_device,
    versions,
)
from xarrayops_backends.torch._dtypes import (
    as_dtype,
    astype,
    can_cast,
    default_floating_dtype,
    dtype_name,
    finfo,
    iinfo,
    result_type,
    set_default_dtype,
)
from xarrayops_backends.torch._exchange import (
    alias,
    alias_refusal,
    export_refusal,
    exporting,
    from_dlpack,
    from_numpy,
    import_refusal,
    memory,
    outlive,
    packed,
    queue,
    tie,
    to_numpy,
    try_as_numpy,
    try_from_numpy,
)
from xarrayops_backends.torch._export import exporters
from xarrayops_backends.torch._layout import (
    as_strided,
    contiguous,
    memory_offset,
    pin_memory,
)
from xarrayops_backends.torch._operations import CALL_TESTS, carry_operation, native_kernel
from xarrayops_backends.torch._precision import product_precision, rounded
from xarrayops_backends.torch._random import (
    RANDOM_DRAW_CANDIDATES,
    native_draw,
    native_generator,
    random_keys,
    random_permutation,
    trace_state,
)
from xarrayops_backends.torch._standard import linalg as _linalg
from xarrayops_backends.torch._standard.creation import (
    arange,
    asarray,
    full,
    full_like,
    linspace,
    meshgrid,
    tril,
    triu,
)
from xarrayops_backends.torch._standard.elementwise import (
    abs,
    acos,
    add,
    atan2,
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    clip,
    copysign,
    divide,
    equal,
    expm1,
    floor_divide,
    greater,
    greater_equal,
    hypot,
    imag,
    less,
    less_equal,
    log1p,
    logaddexp,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    multiply,
    negative,
    nextafter,
    not_equal,
    pow,
    remainder,
    round,
    sign,
    square,
    subtract,
    tanh,
    where,
)
from xarrayops_backends.torch._standard.linalg import (
    MATMUL_INT32_CANDIDATES,
    einsum,
    linalg_cross,
    linalg_outer,
    linalg_trace,
    linalg_vector_norm,
    matmul,
    tensordot,
    vecdot,
)
from xarrayops_backends.torch._standard.manipulation import (
    broadcast_shapes,
    concat,
    diff,
    expand_dims,
    flip,
    moveaxis,
    repeat,
    reshape,
    roll,
    squeeze,
    stack,
    tile,
    unstack,
)
from xarrayops_backends.torch._standard.searching import argsort, nonzero, searchsorted, sort, take, take_along_axis
from xarrayops_backends.torch._standard.sets import isin, unique_all, unique_counts, unique_inverse, unique_values
from xarrayops_backends.torch._standard.statistics import (
    all,
    any,
    argmax,
    argmin,
    count_nonzero,
    cumulative_prod,
    cumulative_sum,
    max,
    mean,
    min,
    prod,
    std,
    sum,
    var,
)
from xarrayops_backends.torch._transfers import crossings
from xarrayops_backends.torch._transformations import checkpoint, no_grad, opaque, value_and_grad, vjp, vmap
from xarrayops_backends.torch._update import select, update
from xarrayops_backends.torch._xla import INSTALLED as _XLA_INSTALLED

NAMESPACE = array_api_compat.torch
ARRAY_TYPES = (torch.Tensor,)
ENVIRONMENT = (
    *("OMP_NUM_THREADS", "MKL_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING"),
    *("NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "CUBLAS_WORKSPACE_CONFIG", "TORCH_BLAS_PREFER_*"),
    *("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING"),
)
WRAPS_INTEGERS = True
READS_CAPTURED_ARRAYS = True
COMPILATION_SECONDS = 2.0
EXTRA = "xarrayops_backends.torch._extra"
CASTS_INTEGERS = ("clip", "hypot", "logaddexp", "mean", "std", "var", *FLOATING_LINALG)
SPARSE = SparseSupport("xarrayops_backends.torch._sparse", extra="torch")

UNTRACEABLE = {
    "from_dlpack": Gap(
        "Dynamo does not trace torch.from_dlpack, which wraps memory at run time",
        "call it before the compiled function and pass the result",
    ),
    "use": Gap("Dynamo does not trace ContextVar", "open the block around the compiled function"),
    **dict.fromkeys(
        ("as_strided", "convert", "explain", "layout_of", "shares_memory"),
        Gap("Dynamo does not trace entry points or pointers", "call it before the compiled function"),
    ),
}
if torch.__version__ < "2.10":
    _COMPILE_LATER = "PyTorch 2.10 or later, or call it outside of the compiled function"
    UNTRACEABLE |= {
        **dict.fromkeys(
            ("at", "broadcast_arrays", "concat", "einsum", "meshgrid", "stack"),
            Gap("Dynamo (2.9) cannot hash the types of arrays, which dispatch needs", _COMPILE_LATER),
        ),
        **dict.fromkeys(
            ("nonzero", "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"),
            Gap("Dynamo (2.9) does not trace results whose shape depends on the data", _COMPILE_LATER),
        ),
    }

KNOWN_BAD = (
    KnownBad(
        "torch",
        "<=2.13.0",
        "any",
        "from_dlpack of an array with negative strides aborts the process",
        "https://github.com/pytorch/pytorch/issues/188023",
    ),
    *_KNOWN_BAD_ATTENTION,
)

_linalg.warm_up_mkl()

if _XLA_INSTALLED:  # without it no tensor is on an XLA device, and calls skip the test
    from xarrayops_backends.torch._xla import product_precision, refine, rounded, to_device, wrap
