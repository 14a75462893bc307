"""One array API over the libraries that people already have.

Arrays stay native: NumPy in, NumPy out; a CUDA tensor in, a CUDA tensor out. The functions of the Python array API
standard 2025.12 stand at the top level and dispatch on the class of their arrays; beyond them are `einsum`, `at`,
`convert` and the verbs around an array. ``python -m xarrayops`` tells what is here.
"""

from __future__ import annotations

from xarrayops import fft as fft
from xarrayops import linalg as linalg
from xarrayops._arrays import (
    array_namespace as array_namespace,
)
from xarrayops._arrays import (
    backend as backend,
)
from xarrayops._arrays import (
    backends as backends,
)
from xarrayops._arrays import (
    compute as compute,
)
from xarrayops._arrays import (
    device as device,
)
from xarrayops._arrays import (
    is_lazy as is_lazy,
)
from xarrayops._arrays import (
    synchronize as synchronize,
)
from xarrayops._arrays import (
    to_device as to_device,
)
from xarrayops._at import at as at
from xarrayops._creation import asarray as asarray
from xarrayops._creation import broadcast_shapes as broadcast_shapes
from xarrayops._creation import from_dlpack as from_dlpack
from xarrayops._default import use as use
from xarrayops._dtypes import (
    can_cast as can_cast,
)
from xarrayops._dtypes import (
    finfo as finfo,
)
from xarrayops._dtypes import (
    iinfo as iinfo,
)
from xarrayops._dtypes import (
    isdtype as isdtype,
)
from xarrayops._dtypes import (
    result_type as result_type,
)
from xarrayops._einsum import einsum as einsum
from xarrayops._exchange import convert as convert
from xarrayops._exchange import shares_memory as shares_memory
from xarrayops._explain import explain as explain
from xarrayops._explanation import Candidate as Candidate
from xarrayops._explanation import Explanation as Explanation
from xarrayops.errors import (
    BackendNotFound as BackendNotFound,
)
from xarrayops.errors import (
    ExchangeError as ExchangeError,
)
from xarrayops.errors import (
    InvalidBackend as InvalidBackend,
)
from xarrayops.errors import (
    InvalidSparse as InvalidSparse,
)
from xarrayops.errors import (
    LayoutError as LayoutError,
)
from xarrayops.errors import (
    MixedBackends as MixedBackends,
)
from xarrayops.errors import (
    Unsupported as Unsupported,
)
from xarrayops.errors import (
    XArrayOpsError as XArrayOpsError,
)
from xarrayops.standard import (
    abs as abs,
)
from xarrayops.standard import (
    acos as acos,
)
from xarrayops.standard import (
    acosh as acosh,
)
from xarrayops.standard import (
    add as add,
)
from xarrayops.standard import (
    all as all,
)
from xarrayops.standard import (
    any as any,
)
from xarrayops.standard import (
    arange as arange,
)
from xarrayops.standard import (
    argmax as argmax,
)
from xarrayops.standard import (
    argmin as argmin,
)
from xarrayops.standard import (
    argsort as argsort,
)
from xarrayops.standard import (
    asin as asin,
)
from xarrayops.standard import (
    asinh as asinh,
)
from xarrayops.standard import (
    astype as astype,
)
from xarrayops.standard import (
    atan as atan,
)
from xarrayops.standard import (
    atan2 as atan2,
)
from xarrayops.standard import (
    atanh as atanh,
)
from xarrayops.standard import (
    bitwise_and as bitwise_and,
)
from xarrayops.standard import (
    bitwise_invert as bitwise_invert,
)
from xarrayops.standard import (
    bitwise_left_shift as bitwise_left_shift,
)
from xarrayops.standard import (
    bitwise_or as bitwise_or,
)
from xarrayops.standard import (
    bitwise_right_shift as bitwise_right_shift,
)
from xarrayops.standard import (
    bitwise_xor as bitwise_xor,
)
from xarrayops.standard import (
    broadcast_arrays as broadcast_arrays,
)
from xarrayops.standard import (
    broadcast_to as broadcast_to,
)
from xarrayops.standard import (
    ceil as ceil,
)
from xarrayops.standard import (
    clip as clip,
)
from xarrayops.standard import (
    concat as concat,
)
from xarrayops.standard import (
    conj as conj,
)
from xarrayops.standard import (
    copysign as copysign,
)
from xarrayops.standard import (
    cos as cos,
)
from xarrayops.standard import (
    cosh as cosh,
)
from xarrayops.standard import (
    count_nonzero as count_nonzero,
)
from xarrayops.standard import (
    cumulative_prod as cumulative_prod,
)
from xarrayops.standard import (
    cumulative_sum as cumulative_sum,
)
from xarrayops.standard import (
    diff as diff,
)
from xarrayops.standard import (
    divide as divide,
)
from xarrayops.standard import (
    empty as empty,
)
from xarrayops.standard import (
    empty_like as empty_like,
)
from xarrayops.standard import (
    equal as equal,
)
from xarrayops.standard import (
    exp as exp,
)
from xarrayops.standard import (
    expand_dims as expand_dims,
)
from xarrayops.standard import (
    expm1 as expm1,
)
from xarrayops.standard import (
    eye as eye,
)
from xarrayops.standard import (
    flip as flip,
)
from xarrayops.standard import (
    floor as floor,
)
from xarrayops.standard import (
    floor_divide as floor_divide,
)
from xarrayops.standard import (
    full as full,
)
from xarrayops.standard import (
    full_like as full_like,
)
from xarrayops.standard import (
    greater as greater,
)
from xarrayops.standard import (
    greater_equal as greater_equal,
)
from xarrayops.standard import (
    hypot as hypot,
)
from xarrayops.standard import (
    imag as imag,
)
from xarrayops.standard import (
    isfinite as isfinite,
)
from xarrayops.standard import (
    isin as isin,
)
from xarrayops.standard import (
    isinf as isinf,
)
from xarrayops.standard import (
    isnan as isnan,
)
from xarrayops.standard import (
    less as less,
)
from xarrayops.standard import (
    less_equal as less_equal,
)
from xarrayops.standard import (
    linspace as linspace,
)
from xarrayops.standard import (
    log as log,
)
from xarrayops.standard import (
    log1p as log1p,
)
from xarrayops.standard import (
    log2 as log2,
)
from xarrayops.standard import (
    log10 as log10,
)
from xarrayops.standard import (
    logaddexp as logaddexp,
)
from xarrayops.standard import (
    logical_and as logical_and,
)
from xarrayops.standard import (
    logical_not as logical_not,
)
from xarrayops.standard import (
    logical_or as logical_or,
)
from xarrayops.standard import (
    logical_xor as logical_xor,
)
from xarrayops.standard import (
    matmul as matmul,
)
from xarrayops.standard import (
    matrix_transpose as matrix_transpose,
)
from xarrayops.standard import (
    max as max,
)
from xarrayops.standard import (
    maximum as maximum,
)
from xarrayops.standard import (
    mean as mean,
)
from xarrayops.standard import (
    meshgrid as meshgrid,
)
from xarrayops.standard import (
    min as min,
)
from xarrayops.standard import (
    minimum as minimum,
)
from xarrayops.standard import (
    moveaxis as moveaxis,
)
from xarrayops.standard import (
    multiply as multiply,
)
from xarrayops.standard import (
    negative as negative,
)
from xarrayops.standard import (
    nextafter as nextafter,
)
from xarrayops.standard import (
    nonzero as nonzero,
)
from xarrayops.standard import (
    not_equal as not_equal,
)
from xarrayops.standard import (
    ones as ones,
)
from xarrayops.standard import (
    ones_like as ones_like,
)
from xarrayops.standard import (
    permute_dims as permute_dims,
)
from xarrayops.standard import (
    positive as positive,
)
from xarrayops.standard import (
    pow as pow,
)
from xarrayops.standard import (
    prod as prod,
)
from xarrayops.standard import (
    real as real,
)
from xarrayops.standard import (
    reciprocal as reciprocal,
)
from xarrayops.standard import (
    remainder as remainder,
)
from xarrayops.standard import (
    repeat as repeat,
)
from xarrayops.standard import (
    reshape as reshape,
)
from xarrayops.standard import (
    roll as roll,
)
from xarrayops.standard import (
    round as round,
)
from xarrayops.standard import (
    searchsorted as searchsorted,
)
from xarrayops.standard import (
    sign as sign,
)
from xarrayops.standard import (
    signbit as signbit,
)
from xarrayops.standard import (
    sin as sin,
)
from xarrayops.standard import (
    sinh as sinh,
)
from xarrayops.standard import (
    sort as sort,
)
from xarrayops.standard import (
    sqrt as sqrt,
)
from xarrayops.standard import (
    square as square,
)
from xarrayops.standard import (
    squeeze as squeeze,
)
from xarrayops.standard import (
    stack as stack,
)
from xarrayops.standard import (
    std as std,
)
from xarrayops.standard import (
    subtract as subtract,
)
from xarrayops.standard import (
    sum as sum,
)
from xarrayops.standard import (
    take as take,
)
from xarrayops.standard import (
    take_along_axis as take_along_axis,
)
from xarrayops.standard import (
    tan as tan,
)
from xarrayops.standard import (
    tanh as tanh,
)
from xarrayops.standard import (
    tensordot as tensordot,
)
from xarrayops.standard import (
    tile as tile,
)
from xarrayops.standard import (
    tril as tril,
)
from xarrayops.standard import (
    triu as triu,
)
from xarrayops.standard import (
    trunc as trunc,
)
from xarrayops.standard import (
    unique_all as unique_all,
)
from xarrayops.standard import (
    unique_counts as unique_counts,
)
from xarrayops.standard import (
    unique_inverse as unique_inverse,
)
from xarrayops.standard import (
    unique_values as unique_values,
)
from xarrayops.standard import (
    unstack as unstack,
)
from xarrayops.standard import (
    var as var,
)
from xarrayops.standard import (
    vecdot as vecdot,
)
from xarrayops.standard import (
    where as where,
)
from xarrayops.standard import (
    zeros as zeros,
)
from xarrayops.standard import (
    zeros_like as zeros_like,
)

__version__ = "0.1.0"
__array_api_version__ = "2025.12"

e = 2.718281828459045
inf = float("inf")
nan = float("nan")
newaxis = None
pi = 3.141592653589793

bool = "bool"
int8 = "int8"
int16 = "int16"
int32 = "int32"
int64 = "int64"
uint8 = "uint8"
uint16 = "uint16"
uint32 = "uint32"
uint64 = "uint64"
float16 = "float16"
bfloat16 = "bfloat16"
float8_e4m3fn = "float8_e4m3fn"
float8_e5m2 = "float8_e5m2"
float32 = "float32"
float64 = "float64"
complex64 = "complex64"
complex128 = "complex128"
