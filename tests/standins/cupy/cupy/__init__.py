"""A stand-in for CuPy on machines without a GPU: NumPy underneath, CuPy's refusals and differences on top.

Put the folder above this package first on ``sys.path`` in a process of its own, never beside the real CuPy. There are
two devices, so that tests see what lands on the wrong one. Each difference cites the issue or page that documents it.
"""

import numpy as _numpy

from cupy import cuda  # noqa: F401
from cupy._array import ndarray  # noqa: F401
from cupy._functions import (  # noqa: F401
    FUNCTIONS,
    UFUNCS,
    array,
    asarray,
    asnumpy,
    copyto,
    diff,
    from_dlpack,
    get_array_module,
    ufunc,
)

__version__ = "14.2.0+standin"

# CuPy hands out NumPy's own types and constants.
_BORROWED = """
bool_ complex64 complex128 complexfloating dtype e euler_gamma finfo floating float16 float32 float64 generic iinfo
inexact inf int8 int16 int32 int64 int_ integer intp isscalar issubdtype nan newaxis number pi promote_types
signedinteger typename uint8 uint16 uint32 uint64 uintp unsignedinteger
"""
globals().update({name: getattr(_numpy, name) for name in _BORROWED.split()})
globals().update(UFUNCS)
globals().update(FUNCTIONS)
bool = _numpy.bool_
asanyarray = asarray

from cupy import fft, linalg  # noqa: E402, F401 - made of the functions above
