"""PyTorch: the array API standard where array-api-compat leaves gaps, and the hooks of `xarrayops.plugin`.

Each theme has its file: _elementwise, _statistics, _sets, _searching, _manipulation, _creation, _linalg, _dtypes,
_devices, _update and _first_calls; _wide holds the roads around the kernels that PyTorch lacks for uint16, uint32 and
uint64.

Left as PyTorch has them: floor_divide of infinities, where the standard allows what Python and NumPy do (a mend that
keeps finite quotients exact doubles the time), and the sign of a zero remainder (a mend costs 19 % and the gradient).
"""

import sys

import array_api_compat.torch
import torch

from xarrayops._core.namespace import implementation, verb_attribute
from xarrayops._protocol.surface import SURFACE
from xarrayops.plugin import Gap, KnownBad, SparseSupport
from xarrayops_backends.torch._attention import (
    ATTENTION_CANDIDATES as ATTENTION_CANDIDATES,
    KNOWN_BAD as _KNOWN_BAD_ATTENTION,
)
from xarrayops_backends.torch._creation import (
    arange as arange,
    asarray as asarray,
    linspace as linspace,
    meshgrid as meshgrid,
    tril as tril,
    triu as triu,
)
from xarrayops_backends.torch._device_memory import (
    free_bytes as free_bytes,
    peak_bytes as peak_bytes,
    precision_switches as precision_switches,
    release_memory as release_memory,
)
from xarrayops_backends.torch._devices import (
    __array_namespace_info__ as __array_namespace_info__,
    as_device as as_device,
    compute as compute,
    device as device,
    device_attributes as device_attributes,
    devices as devices,
    is_lazy as is_lazy,
    refine as refine,
    synchronize as synchronize,
    to_device as to_device,
    versions as versions,
)
from xarrayops_backends.torch._dtypes import (
    as_dtype as as_dtype,
    astype as astype,
    can_cast as can_cast,
    dtype_name as dtype_name,
    finfo as finfo,
    iinfo as iinfo,
    result_type as result_type,
)
from xarrayops_backends.torch._elementwise import (
    abs as abs,
    acos as acos,
    add as add,
    atan2 as atan2,
    bitwise_and as bitwise_and,
    bitwise_invert as bitwise_invert,
    bitwise_left_shift as bitwise_left_shift,
    bitwise_or as bitwise_or,
    bitwise_right_shift as bitwise_right_shift,
    bitwise_xor as bitwise_xor,
    clip as clip,
    copysign as copysign,
    divide as divide,
    equal as equal,
    expm1 as expm1,
    floor_divide as floor_divide,
    greater as greater,
    greater_equal as greater_equal,
    hypot as hypot,
    imag as imag,
    less as less,
    less_equal as less_equal,
    log1p as log1p,
    logaddexp as logaddexp,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    logical_xor as logical_xor,
    maximum as maximum,
    minimum as minimum,
    multiply as multiply,
    negative as negative,
    nextafter as nextafter,
    not_equal as not_equal,
    pow as pow,
    remainder as remainder,
    round as round,
    sign as sign,
    square as square,
    subtract as subtract,
    tanh as tanh,
    where as where,
)
from xarrayops_backends.torch._exchange import (
    alias as alias,
    alias_refusal as alias_refusal,
    borrow as borrow,
    export_refusal as export_refusal,
    exporting as exporting,
    from_dlpack as from_dlpack,
    from_numpy as from_numpy,
    import_refusal as import_refusal,
    lend as lend,
    memory as memory,
    outlive as outlive,
    packed as packed,
    queue as queue,
    tie as tie,
    to_numpy as to_numpy,
)
from xarrayops_backends.torch._first_calls import make_first_calls as _make_first_calls
from xarrayops_backends.torch._layout import (
    as_strided as as_strided,
    contiguous as contiguous,
    memory_offset as memory_offset,
    pin_memory as pin_memory,
)
from xarrayops_backends.torch._linalg import (
    einsum as einsum,
    linalg_cross as linalg_cross,
    linalg_outer as linalg_outer,
    linalg_trace as linalg_trace,
    matmul as matmul,
    tensordot as tensordot,
    vecdot as vecdot,
)
from xarrayops_backends.torch._manipulation import (
    broadcast_shapes as broadcast_shapes,
    concat as concat,
    diff as diff,
    flip as flip,
    repeat as repeat,
    stack as stack,
    unstack as unstack,
)
from xarrayops_backends.torch._searching import (
    argsort as argsort,
    nonzero as nonzero,
    searchsorted as searchsorted,
    take as take,
    take_along_axis as take_along_axis,
)
from xarrayops_backends.torch._sets import (
    isin as isin,
    unique_all as unique_all,
    unique_counts as unique_counts,
    unique_inverse as unique_inverse,
    unique_values as unique_values,
)
from xarrayops_backends.torch._statistics import (
    all as all,
    any as any,
    argmax as argmax,
    argmin as argmin,
    count_nonzero as count_nonzero,
    cumulative_prod as cumulative_prod,
    cumulative_sum as cumulative_sum,
    max as max,
    mean as mean,
    min as min,
    prod as prod,
    std as std,
    sum as sum,
    var as var,
)
from xarrayops_backends.torch._update import update as update
from xarrayops_backends.torch._xla import INSTALLED as _XLA_INSTALLED, refining as _refining

NAMESPACE = array_api_compat.torch
ARRAY_TYPES = (torch.Tensor,)
ENVIRONMENT = (
    *("OMP_NUM_THREADS", "MKL_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING"),
    *("NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "CUBLAS_WORKSPACE_CONFIG", "TORCH_BLAS_PREFER_*"),
    *("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING"),
)
WRAPS_INTEGERS = True
SPARSE = SparseSupport("xarrayops_backends.torch._sparse", extra="torch")

UNTRACEABLE = {
    "from_dlpack": Gap(
        "Dynamo does not trace torch.from_dlpack, which takes over memory while the function runs",
        "take the array over before the compiled function and hand it in",
    ),
    "use": Gap("Dynamo traces no ContextVar, which holds the default of xo.use", "pass backend= or like= to the call"),
    **dict.fromkeys(
        ("as_strided", "backend", "convert", "explain", "layout_of", "shares_memory"),
        Gap("Dynamo traces neither entry points nor pointers", "call it before the compiled function"),
    ),
}
if torch.__version__ < "2.10":
    _COMPILE_LATER = "PyTorch 2.10 or later, or the call outside of the compiled function"
    UNTRACEABLE |= {
        **dict.fromkeys(
            ("at", "broadcast_arrays", "concat", "einsum", "meshgrid", "stack"),
            Gap("Dynamo (2.9) does not hash the types of arrays, by which a call is dispatched", _COMPILE_LATER),
        ),
        **dict.fromkeys(
            ("nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"),
            Gap("Dynamo (2.9) traces no result whose shape depends on the data", _COMPILE_LATER),
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

_make_first_calls()

if _XLA_INSTALLED:
    for _verb in (*SURFACE, "as_strided", "contiguous", "einsum", "pin_memory", "synchronize", "to_device", "update"):
        _plain = implementation(sys.modules[__name__], _verb)
        if _plain is not None:
            globals()[verb_attribute(_verb)] = _refining(_verb, _plain)
