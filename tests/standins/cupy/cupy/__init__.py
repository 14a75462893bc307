"""A stand-in for CuPy on machines without a GPU: NumPy with CuPy's refusals and differences.

Put the folder above this package first on ``sys.path`` in a separate process, never beside the real CuPy. There are two
devices, so that tests find results on the wrong one. Each difference cites the issue or page that documents it.
"""

import os as _os

import numpy as _numpy

# Its "device" memory is host memory: a library that uses a real device would treat the pointers as device pointers.
for _name, _value in (("CUDA_VISIBLE_DEVICES", ""), ("HIP_VISIBLE_DEVICES", ""), ("JAX_PLATFORMS", "cpu")):
    if _os.environ.get(_name) != _value:
        raise ImportError(f"the stand-in CuPy needs {_name}={_value!r}: no real device may be visible beside it")

from cupy import _kernels, _signatures, cuda  # noqa: E402, F401
from cupy._array import ndarray  # noqa: E402, F401
from cupy._functions import (  # noqa: E402, F401
    FUNCTIONS,
    UFUNCS,
    array,
    asarray,
    asnumpy,
    copyto,
    diff,
    dot,
    einsum,
    from_dlpack,
    get_array_module,
    interp,
    matmul,
    nansum,
    tensordot,
    ufunc,
)
from cupy._memory import get_default_memory_pool, get_default_pinned_memory_pool  # noqa: E402, F401

__version__ = "14.2.0+standin"

# CuPy re-exports NumPy's types and constants.
_BORROWED = """
bool_ complex64 complex128 complexfloating dtype e euler_gamma finfo floating float16 float32 float64 generic iinfo
inexact inf int8 int16 int32 int64 int_ integer intp isscalar issubdtype nan newaxis number pi promote_types
signedinteger typename uint8 uint16 uint32 uint64 uintp unsignedinteger
"""
globals().update({name: getattr(_numpy, name) for name in _BORROWED.split()})
globals().update(UFUNCS)
globals().update(FUNCTIONS)
if _kernels.COMPILER:
    RawKernel = _kernels.RawKernel
bool = _numpy.bool_
asanyarray = asarray

from cupy import fft, linalg  # noqa: E402, F401 - they use the functions above

_signatures.enforce("cupy", globals())
