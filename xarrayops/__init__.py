"""One array API for NumPy, PyTorch, JAX, CuPy, Dask, PyTorch/XLA and all libraries of the array API standard.

Arrays stay native: NumPy in, NumPy out; a PyTorch tensor in, a PyTorch tensor out. The functions of the Python array
API standard 2025.12 are at the top level and dispatch on the class of their arrays. Other functions, such as `einsum`,
`attention`, `at` and `convert`, work for every library too. ``python -m xarrayops`` lists the installed libraries.
"""

import typing as _typing

from xarrayops import fft as fft, linalg as linalg
from xarrayops._core.backends.dtype_names import DTypeName as _DTypeName
from xarrayops._core.modes.defaults import set_default as set_default, use as use
from xarrayops._ops.arrays import (
    array_namespace as array_namespace,
    backend as backend,
    backends as backends,
    compute as compute,
    device as device,
    is_lazy as is_lazy,
    persist as persist,
    synchronize as synchronize,
    to_device as to_device,
)
from xarrayops._ops.choices.block import choices as choices, measured as measured
from xarrayops._ops.creation import asarray as asarray, broadcast_shapes as broadcast_shapes, from_dlpack as from_dlpack
from xarrayops._ops.dtypes import (
    can_cast as can_cast,
    finfo as finfo,
    iinfo as iinfo,
    isdtype as isdtype,
    result_type as result_type,
)
from xarrayops._ops.engines.block import engines as engines
from xarrayops.errors import *
from xarrayops.standard import *

__version__ = "0.2.0"
__array_api_version__ = "2025.12"

e = 2.718281828459045
inf = float("inf")
nan = float("nan")
newaxis = None
pi = 3.141592653589793

bool = _DTypeName("bool")
int8 = _DTypeName("int8")
int16 = _DTypeName("int16")
int32 = _DTypeName("int32")
int64 = _DTypeName("int64")
uint8 = _DTypeName("uint8")
uint16 = _DTypeName("uint16")
uint32 = _DTypeName("uint32")
uint64 = _DTypeName("uint64")
float16 = _DTypeName("float16")
bfloat16 = _DTypeName("bfloat16")
float8_e4m3fn = _DTypeName("float8_e4m3fn")
float8_e5m2 = _DTypeName("float8_e5m2")
float32 = _DTypeName("float32")
float64 = _DTypeName("float64")
complex64 = _DTypeName("complex64")
complex128 = _DTypeName("complex128")


if _typing.TYPE_CHECKING:
    from xarrayops import random as random, sparse as sparse
    from xarrayops._ops.attention.verb import attention as attention
    from xarrayops._ops.carried import carried as carried
    from xarrayops._ops.compilation.control_flow import cond as cond, scan as scan, while_loop as while_loop
    from xarrayops._ops.compilation.decorator import jit as jit
    from xarrayops._ops.convolution.convolution import conv1d as conv1d, conv2d as conv2d, conv3d as conv3d
    from xarrayops._ops.convolution.pooling import (
        avg_pool1d as avg_pool1d,
        avg_pool2d as avg_pool2d,
        avg_pool3d as avg_pool3d,
        max_pool1d as max_pool1d,
        max_pool2d as max_pool2d,
        max_pool3d as max_pool3d,
    )
    from xarrayops._ops.einsum import einsum as einsum
    from xarrayops._ops.exchange.convert import convert as convert, shares_memory as shares_memory
    from xarrayops._ops.explain import explain as explain
    from xarrayops._ops.explanation import Candidate as Candidate, Explanation as Explanation
    from xarrayops._ops.export.exported import Exported as Exported, ExportReport as ExportReport
    from xarrayops._ops.export.exporting import export as export
    from xarrayops._ops.indexing.verb import at as at
    from xarrayops._ops.layout.layout import (
        Layout as Layout,
        as_strided as as_strided,
        contiguous as contiguous,
        layout_of as layout_of,
        pin_memory as pin_memory,
        with_memory_format as with_memory_format,
    )
    from xarrayops._ops.layout.relayout import relayout as relayout
    from xarrayops._ops.operations.define import operation as operation
    from xarrayops._ops.precision.blocks import autocast as autocast, precision as precision
    from xarrayops._ops.precision.scaling import LossScale as LossScale, loss_scale as loss_scale
    from xarrayops._ops.quantization.qmatmul import qmatmul as qmatmul
    from xarrayops._ops.quantization.quantize import (
        calibrate as calibrate,
        dequantize as dequantize,
        quantize as quantize,
    )
    from xarrayops._ops.quantization.schemes import Calibration as Calibration, Quantized as Quantized
    from xarrayops._ops.sets import unique as unique
    from xarrayops._ops.sharding.bounds import limits as limits
    from xarrayops._ops.sharding.inspection import sharding_of as sharding_of
    from xarrayops._ops.sharding.splitting import shard as shard
    from xarrayops._ops.transfers.blocks import profile as profile, strict as strict
    from xarrayops._ops.transfers.host import on_host as on_host
    from xarrayops._ops.transformations.batches import vmap as vmap
    from xarrayops._ops.transformations.gradients import grad as grad, value_and_grad as value_and_grad
    from xarrayops._ops.transformations.memory import checkpoint as checkpoint, no_grad as no_grad
    from xarrayops.extra import *
    from xarrayops.plugin.sharding import Sharding as Sharding
else:  # a type checker reports missing names itself

    def __getattr__(name: str) -> _typing.Any:
        from importlib import import_module

        from xarrayops._surface import LATE

        if name in ("random", "sparse"):
            return import_module(f"{__name__}.{name}")
        if name not in LATE:
            from xarrayops._core.numpy_names import missing

            raise missing(__name__, name)
        globals()[name] = value = getattr(import_module(LATE[name]), name)
        return value


def __dir__() -> list[str]:
    """The public names, without private modules that are imported."""
    from xarrayops._surface import LATE

    hidden = {name for name, value in globals().items() if name[0] == "_" or isinstance(value, type(fft))}
    modules = {"fft", "linalg", "random", "sparse"}
    return sorted(globals().keys() - hidden | LATE.keys() | modules | {"__array_api_version__", "__version__"})
