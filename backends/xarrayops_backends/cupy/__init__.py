"""CuPy on CUDA and ROCm devices: array_api_compat.cupy, the hooks, and fixes where both deviate from the standard.

Each family has a file: _devices, _dtypes, _exchange, _indexing, _standard for the functions of the standard, and _extra
for other functions.

Methods and operators of arrays are CuPy's own and cannot be corrected here: arrays have no __index__, to_device or
__array_namespace__, and x % y on floats is inexact (xo.remainder is exact). They compute on the
current device only; functions of xarrayops make the device of their first array current.
"""
# The backend's functions are the public functions of the files that are imported with a star.
# ruff: noqa: F401, F403

import array_api_compat.cupy
import cupy

from xarrayops.plugin import KnownBad, SparseSupport
from xarrayops.plugin.dtypes import FLOATING_RESULTS
from xarrayops.plugin.host import finfo
from xarrayops_backends.cupy._devices import *
from xarrayops_backends.cupy._dtypes import *
from xarrayops_backends.cupy._exchange import *
from xarrayops_backends.cupy._failures import *
from xarrayops_backends.cupy._indexing import *
from xarrayops_backends.cupy._layout import *
from xarrayops_backends.cupy._operations import *
from xarrayops_backends.cupy._precision import *
from xarrayops_backends.cupy._random import *
from xarrayops_backends.cupy._standard import *
from xarrayops_backends.cupy._transfers import *

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
        advice="install CuPy 14 or newer",
    ),
    KnownBad(
        library="cupy",
        versions="<=13.0.0",
        device="any",
        condition="min and max are wrong where all values are infinite",
        issue="https://github.com/cupy/cupy/issues/8180",
        advice="install CuPy 14 or newer",
    ),
)
