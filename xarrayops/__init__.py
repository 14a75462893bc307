# Long: the list of all public names.
"""One array API over the libraries that people already have.

Arrays stay native: NumPy in, NumPy out; a CUDA tensor in, a CUDA tensor out. The functions of the Python array API
standard 2025.12 are at the top level and dispatch on the class of their arrays. Other functions, such as `einsum`,
`attention`, `at` and `convert`, work for every library too. ``python -m xarrayops`` lists the installed libraries.
"""

import typing as _typing

from xarrayops import fft as fft, linalg as linalg
from xarrayops._core.backends.dtypes import (
    bfloat16 as bfloat16,
    bool as bool,
    complex64 as complex64,
    complex128 as complex128,
    float8_e4m3fn as float8_e4m3fn,
    float8_e5m2 as float8_e5m2,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
)
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
from xarrayops._ops.creation import asarray as asarray, broadcast_shapes as broadcast_shapes, from_dlpack as from_dlpack
from xarrayops._ops.dtypes import (
    can_cast as can_cast,
    finfo as finfo,
    iinfo as iinfo,
    isdtype as isdtype,
    result_type as result_type,
)
from xarrayops._ops.engines.block import engines as engines
from xarrayops.errors import (
    BackendNotFound as BackendNotFound,
    BuildError as BuildError,
    CrossingError as CrossingError,
    ExchangeError as ExchangeError,
    InvalidBackend as InvalidBackend,
    InvalidSparse as InvalidSparse,
    LayoutError as LayoutError,
    MixedBackends as MixedBackends,
    Unsupported as Unsupported,
    XArrayOpsError as XArrayOpsError,
)
from xarrayops.standard import (
    abs as abs,
    acos as acos,
    acosh as acosh,
    add as add,
    all as all,
    any as any,
    arange as arange,
    argmax as argmax,
    argmin as argmin,
    argsort as argsort,
    asin as asin,
    asinh as asinh,
    astype as astype,
    atan as atan,
    atan2 as atan2,
    atanh as atanh,
    bitwise_and as bitwise_and,
    bitwise_invert as bitwise_invert,
    bitwise_left_shift as bitwise_left_shift,
    bitwise_or as bitwise_or,
    bitwise_right_shift as bitwise_right_shift,
    bitwise_xor as bitwise_xor,
    broadcast_arrays as broadcast_arrays,
    broadcast_to as broadcast_to,
    ceil as ceil,
    clip as clip,
    concat as concat,
    conj as conj,
    copysign as copysign,
    cos as cos,
    cosh as cosh,
    count_nonzero as count_nonzero,
    cumulative_prod as cumulative_prod,
    cumulative_sum as cumulative_sum,
    diff as diff,
    divide as divide,
    empty as empty,
    empty_like as empty_like,
    equal as equal,
    exp as exp,
    expand_dims as expand_dims,
    expm1 as expm1,
    eye as eye,
    flip as flip,
    floor as floor,
    floor_divide as floor_divide,
    full as full,
    full_like as full_like,
    greater as greater,
    greater_equal as greater_equal,
    hypot as hypot,
    imag as imag,
    isfinite as isfinite,
    isin as isin,
    isinf as isinf,
    isnan as isnan,
    less as less,
    less_equal as less_equal,
    linspace as linspace,
    log as log,
    log1p as log1p,
    log2 as log2,
    log10 as log10,
    logaddexp as logaddexp,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    logical_xor as logical_xor,
    matmul as matmul,
    matrix_transpose as matrix_transpose,
    max as max,
    maximum as maximum,
    mean as mean,
    meshgrid as meshgrid,
    min as min,
    minimum as minimum,
    moveaxis as moveaxis,
    multiply as multiply,
    negative as negative,
    nextafter as nextafter,
    nonzero as nonzero,
    not_equal as not_equal,
    ones as ones,
    ones_like as ones_like,
    permute_dims as permute_dims,
    positive as positive,
    pow as pow,
    prod as prod,
    real as real,
    reciprocal as reciprocal,
    remainder as remainder,
    repeat as repeat,
    reshape as reshape,
    roll as roll,
    round as round,
    searchsorted as searchsorted,
    sign as sign,
    signbit as signbit,
    sin as sin,
    sinh as sinh,
    sort as sort,
    sqrt as sqrt,
    square as square,
    squeeze as squeeze,
    stack as stack,
    std as std,
    subtract as subtract,
    sum as sum,
    take as take,
    take_along_axis as take_along_axis,
    tan as tan,
    tanh as tanh,
    tensordot as tensordot,
    tile as tile,
    tril as tril,
    triu as triu,
    trunc as trunc,
    unique_all as unique_all,
    unique_counts as unique_counts,
    unique_inverse as unique_inverse,
    unique_values as unique_values,
    unstack as unstack,
    var as var,
    vecdot as vecdot,
    where as where,
    zeros as zeros,
    zeros_like as zeros_like,
)

__version__ = "0.1.0"
__array_api_version__ = "2025.12"

e = 2.718281828459045
inf = float("inf")
nan = float("nan")
newaxis = None
pi = 3.141592653589793


if _typing.TYPE_CHECKING:
    from xarrayops import random as random, sparse as sparse
    from xarrayops._ops.at.verb import at as at
    from xarrayops._ops.attention.verb import attention as attention
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
    from xarrayops._ops.transfers.blocks import profile as profile, strict as strict
    from xarrayops._ops.transformations.batches import vmap as vmap
    from xarrayops._ops.transformations.gradients import grad as grad, value_and_grad as value_and_grad
    from xarrayops._ops.transformations.memory import checkpoint as checkpoint, no_grad as no_grad
    from xarrayops.extra import (
        allclose as allclose,
        apply_where as apply_where,
        argpartition as argpartition,
        array_equal as array_equal,
        atleast_nd as atleast_nd,
        average as average,
        bartlett as bartlett,
        bincount as bincount,
        blackman as blackman,
        cbrt as cbrt,
        compress as compress,
        convolve as convolve,
        corrcoef as corrcoef,
        correlate as correlate,
        cov as cov,
        delete as delete,
        diag as diag,
        digitize as digitize,
        fill_diagonal as fill_diagonal,
        geomspace as geomspace,
        gradient as gradient,
        hamming as hamming,
        hanning as hanning,
        histogram as histogram,
        insert as insert,
        interp as interp,
        intersect1d as intersect1d,
        isclose as isclose,
        kaiser as kaiser,
        kron as kron,
        lexsort as lexsort,
        logspace as logspace,
        logsumexp as logsumexp,
        median as median,
        nan_to_num as nan_to_num,
        nanmax as nanmax,
        nanmean as nanmean,
        nanmedian as nanmedian,
        nanmin as nanmin,
        nanpercentile as nanpercentile,
        nanquantile as nanquantile,
        nanstd as nanstd,
        nansum as nansum,
        nanvar as nanvar,
        one_hot as one_hot,
        outer as outer,
        pad as pad,
        partition as partition,
        percentile as percentile,
        polyval as polyval,
        ptp as ptp,
        quantile as quantile,
        segment_max as segment_max,
        segment_mean as segment_mean,
        segment_min as segment_min,
        segment_sum as segment_sum,
        setdiff1d as setdiff1d,
        setxor1d as setxor1d,
        sliding_window_view as sliding_window_view,
        softmax as softmax,
        topk as topk,
        trapezoid as trapezoid,
        union1d as union1d,
    )
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
