"""CuPy on CUDA and ROCm devices: array_api_compat.cupy, the hooks, and fixes where both deviate from the standard.

Each family has a file: _devices, _dtypes, _exchange, _update, _standard for the functions of the standard, and _extra
for other functions.

Methods and operators of arrays are CuPy's own and cannot be corrected here: arrays have no __index__, to_device or
__array_namespace__, and x % y on floats is inexact (xo.remainder is exact). Operands must be on the current device:
CuPy computes only there.
"""
# ruff: noqa: F401 - the names are the backend's functions

import array_api_compat.cupy
import cupy

from xarrayops.plugin import KnownBad, SparseSupport
from xarrayops.plugin.dtypes import FLOATING_RESULTS
from xarrayops_backends.cupy._devices import (
    as_device,
    device_attributes,
    devices,
    free_bytes,
    peak_bytes,
    release_memory,
    synchronize,
    to_device,
    versions,
)
from xarrayops_backends.cupy._dtypes import as_dtype, dtype_name, finfo
from xarrayops_backends.cupy._exchange import (
    alias,
    alias_refusal,
    exporting,
    from_numpy,
    import_refusal,
    memory,
    packed,
    queue,
    tie,
    to_numpy,
)
from xarrayops_backends.cupy._layout import as_strided, contiguous, memory_offset, pin_memory
from xarrayops_backends.cupy._native import native_kernel
from xarrayops_backends.cupy._precision import product_precision
from xarrayops_backends.cupy._random import RANDOM_DRAW_CANDIDATES, native_draw, native_generator
from xarrayops_backends.cupy._standard import (
    asarray,
    astype,
    clip,
    einsum,
    from_dlpack,
    isin,
    linalg_eig,
    linalg_solve,
    matmul,
    remainder,
    repeat,
    reshape,
    vecdot,
    wrap,
)
from xarrayops_backends.cupy._transfers import crossings
from xarrayops_backends.cupy._update import select, update

NAMESPACE = array_api_compat.cupy
ARRAY_TYPES = (cupy.ndarray,)
WRAPS_INTEGERS = True
EXTRA = "xarrayops_backends.cupy._extra"
CASTS_INTEGERS = (*FLOATING_RESULTS, "clip")
SPARSE = SparseSupport("xarrayops_backends.cupy._sparse", "cupyx.scipy.sparse", extra="cupy-cuda12x")
ENVIRONMENT = (
    *("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING", "NVIDIA_TF32_OVERRIDE"),
    *("CUPY_TF32", "CUPY_ACCELERATORS", "CUPY_GPU_MEMORY_LIMIT", "CUPY_CUDA_PER_THREAD_DEFAULT_STREAM"),
)
KNOWN_BAD = (
    KnownBad(
        library="cupy",
        versions="<14",
        device="any",
        condition="Python scalars promote by their value, not by NEP 50",
        issue="https://github.com/data-apis/array-api-compat/blob/main/cupy-xfails.txt",
    ),
    KnownBad(
        library="cupy",
        versions="<=13.0.0",
        device="any",
        condition="min and max are wrong where all values are infinite",
        issue="https://github.com/cupy/cupy/issues/8180",
    ),
)
