"""cupy.linalg, implemented by numpy.linalg."""

import numpy as np
from numpy.linalg import LinAlgError

from cupy import _signatures
from cupy._array import call as _call
from cupy._functions import forward as _forward

_FORWARDED = """
cholesky det eigh eigvalsh inv matrix_power matrix_rank norm pinv qr slogdet svd
"""
globals().update({name: _forward(getattr(np.linalg, name), name) for name in _FORWARDED.split()})
__all__ = ["LinAlgError", "eig", "eigvals", "solve", *_FORWARDED.split()]
lstsq = _forward(np.linalg.lstsq)  # not in __all__: https://github.com/cupy/cupy/issues/9749


def solve(a, b):
    # CuPy does not broadcast the stacks: cupy/linalg/_solve.py
    if a.shape[:-1] != (b.shape if b.ndim == 1 else b.shape[:-1]):
        raise ValueError("a must have (..., M, M) shape and b must have (..., M, K) for multidimensional b")
    return _call(np.linalg.solve, a, b)


def eig(a):
    """The result is always complex, as that of cuSOLVER's geev."""
    values, vectors = _call(np.linalg.eig, a)
    kind = np.result_type(a.dtype, np.complex64)
    return values.astype(kind, copy=False), vectors.astype(kind, copy=False)


def eigvals(a):
    return eig(a)[0]


_signatures.enforce(__name__, globals())
