"""PyTorch: array_api_compat.torch, the hooks, and fixes where it deviates from the standard.

Each family has a file or folder. The functions of the standard are in _standard/, where wide.py replaces the kernels
that PyTorch lacks for uint16, uint32 and uint64.

Two functions are PyTorch's own without a correction: floor_divide of infinities, where the standard allows the values
of Python and NumPy (a correction that keeps finite quotients exact doubles the time), and remainder, for the sign of a
zero (a correction costs 19 % and the gradient).
"""
# The backend's functions are the public functions of the files that are imported with a star.
# ruff: noqa: F401, F403

from collections.abc import Callable
from typing import Any

import array_api_compat.torch
import torch

from xarrayops.plugin import Gap, KnownBad, SparseSupport
from xarrayops.plugin.dtypes import FLOATING_LINALG
from xarrayops_backends.torch._attention.known_bad import KNOWN_BAD as _KNOWN_BAD_ATTENTION
from xarrayops_backends.torch._compilation import *
from xarrayops_backends.torch._convolution import CONVOLUTION_CANDIDATES, POOLING_CANDIDATES
from xarrayops_backends.torch._dense import refusing_sparse as wrap
from xarrayops_backends.torch._devices import *
from xarrayops_backends.torch._devices import __array_namespace_info__
from xarrayops_backends.torch._dtypes import *
from xarrayops_backends.torch._exchange import *
from xarrayops_backends.torch._indexing import *
from xarrayops_backends.torch._layout import *
from xarrayops_backends.torch._operations import *
from xarrayops_backends.torch._precision import *
from xarrayops_backends.torch._quantization import *
from xarrayops_backends.torch._random import *
from xarrayops_backends.torch._standard.creation import *
from xarrayops_backends.torch._standard.elementwise import *
from xarrayops_backends.torch._standard.linalg import *
from xarrayops_backends.torch._standard.manipulation import *
from xarrayops_backends.torch._standard.searching import *
from xarrayops_backends.torch._standard.sets import *
from xarrayops_backends.torch._standard.statistics import *
from xarrayops_backends.torch._subclasses import *
from xarrayops_backends.torch._transfers import *
from xarrayops_backends.torch._transformations import *
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
HOOK_MODULES = {
    "attention": "xarrayops_backends.torch._attention.candidates",
    "exporters": "xarrayops_backends.torch._export",
    "failure_cause": "xarrayops_backends.torch._failures",
}
ORDERS_COMPLEX = True
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

if _XLA_INSTALLED:  # without it no tensor is on an XLA device, and calls skip the test
    from xarrayops_backends.torch._xla import product_precision, refine, rounded, to_device, wrap
