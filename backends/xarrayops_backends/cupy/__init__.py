"""CuPy on CUDA and ROCm devices: array_api_compat.cupy, the hooks, and what both leave open of the standard.

Each theme has its file: _devices, _dtypes, _exchange, _update, and _standard for the functions of the standard.

Left as CuPy has them, for no function can mend a method: arrays have no __index__, to_device or __array_namespace__,
and x % y on floats is inexact (xo.remainder is not). Arrays must lie on the current device: CuPy computes there alone.
"""

import array_api_compat.cupy
import cupy

from xarrayops.plugin import KnownBad, SparseSupport
from xarrayops_backends.cupy._device_memory import (
    free_bytes as free_bytes,
    peak_bytes as peak_bytes,
    release_memory as release_memory,
)
from xarrayops_backends.cupy._devices import (
    as_device as as_device,
    compute as compute,
    device as device,
    device_attributes as device_attributes,
    devices as devices,
    is_lazy as is_lazy,
    synchronize as synchronize,
    to_device as to_device,
    versions as versions,
)
from xarrayops_backends.cupy._dtypes import as_dtype as as_dtype, dtype_name as dtype_name, finfo as finfo
from xarrayops_backends.cupy._exchange import (
    alias as alias,
    alias_refusal as alias_refusal,
    exporting as exporting,
    from_numpy as from_numpy,
    import_refusal as import_refusal,
    memory as memory,
    packed as packed,
    queue as queue,
    tie as tie,
    to_numpy as to_numpy,
)
from xarrayops_backends.cupy._layout import (
    as_strided as as_strided,
    contiguous as contiguous,
    memory_offset as memory_offset,
    pin_memory as pin_memory,
)
from xarrayops_backends.cupy._standard import (
    arange as arange,
    asarray as asarray,
    astype as astype,
    clip as clip,
    einsum as einsum,
    empty as empty,
    empty_like as empty_like,
    eye as eye,
    fft_fftfreq as fft_fftfreq,
    fft_fftn as fft_fftn,
    fft_ifftn as fft_ifftn,
    fft_irfftn as fft_irfftn,
    fft_rfftfreq as fft_rfftfreq,
    fft_rfftn as fft_rfftn,
    from_dlpack as from_dlpack,
    full as full,
    full_like as full_like,
    isin as isin,
    linalg_eig as linalg_eig,
    linalg_solve as linalg_solve,
    linspace as linspace,
    matmul as matmul,
    ones as ones,
    ones_like as ones_like,
    remainder as remainder,
    repeat as repeat,
    reshape as reshape,
    vecdot as vecdot,
    zeros as zeros,
    zeros_like as zeros_like,
)
from xarrayops_backends.cupy._update import update as update

NAMESPACE = array_api_compat.cupy
ARRAY_TYPES = (cupy.ndarray,)
WRAPS_INTEGERS = True
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
