"""cupyx.scipy.sparse over scipy.sparse: coo, csr, csc and dia, no bsr, and CuPy's few dtypes.

https://docs.cupy.dev/en/stable/reference/scipy_sparse.html
"""

import cupy
import numpy as np
import scipy.sparse
from cupy._array import unwrap, wrap

_DTYPES = ("bool", "float32", "float64", "complex64", "complex128")
_PARTS = ("data", "indices", "indptr", "row", "col", "offsets")


class SparseWarning(Warning):
    """CuPy's class of warnings about sparse matrices."""


class spmatrix:  # noqa: N801
    """What all containers share: parts as CuPy arrays, everything else by way of SciPy."""

    format: str

    def __init__(self, arg, shape=None, dtype=None, copy=False):
        if isinstance(arg, spmatrix):
            arg = arg._s
        elif not isinstance(arg, (cupy.ndarray, tuple)) and not scipy.sparse.issparse(arg):
            raise TypeError(f"Unsupported initializer format {type(arg)}")
        build = getattr(scipy.sparse, f"{self.format}_{self.kind}")
        self._s = build(arg if scipy.sparse.issparse(arg) else unwrap(arg), shape=shape, dtype=dtype, copy=copy)
        if self._s.dtype.name not in _DTYPES:
            # https://docs.cupy.dev/en/stable/reference/generated/cupyx.scipy.sparse.csr_matrix.html
            raise ValueError("Only bool, float32, float64, complex64 and complex128 are supported")
        self._device = cupy.cuda.runtime.getDevice()

    shape = property(lambda self: self._s.shape)
    dtype = property(lambda self: self._s.dtype)
    nnz = property(lambda self: self._s.nnz)
    ndim = property(lambda self: 2)
    size = property(lambda self: self._s.nnz)
    device = property(lambda self: cupy.cuda.Device(self._device))
    T = property(lambda self: _like(self._s.T))

    def __getattr__(self, name):
        found = getattr(self.__dict__["_s"], name) if "_s" in self.__dict__ else None
        if found is None or name.startswith("__") or name == "tobsr":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if name in _PARTS:
            return wrap(found)
        return (lambda *args, **kwargs: _like(found(*_bare(args), **kwargs))) if callable(found) else found

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`.")

    def get(self, stream=None):
        return self._s.copy()

    def toarray(self, order=None, out=None):
        return wrap(self._s.toarray(order))

    def __len__(self):
        raise TypeError("sparse matrix length is ambiguous; use getnnz()")


def _bare(args):
    return tuple(a._s if isinstance(a, spmatrix) else unwrap(a) for a in args)


def _like(result):
    if not scipy.sparse.issparse(result):
        return wrap(np.asarray(result)) if isinstance(result, (np.ndarray, np.generic)) else result
    kind = "array" if isinstance(result, scipy.sparse.sparray) else "matrix"
    return globals()[f"{result.format}_{kind}"](result)


def _operator(name):
    return lambda self, *others: _like(getattr(self._s, name)(*_bare(others)))


_OPERATORS = """
add sub mul matmul truediv neg pow radd rsub rmul rmatmul eq ne lt le gt ge getitem abs
"""
for _name in _OPERATORS.split():
    setattr(spmatrix, f"__{_name}__", _operator(f"__{_name}__"))
spmatrix.__hash__ = object.__hash__


class sparray(spmatrix):  # noqa: N801
    """The containers whose ``*`` is elementwise."""


for _format in ("coo", "csr", "csc", "dia"):
    for _kind, _base in (("matrix", spmatrix), ("array", sparray)):
        _class = type(f"{_format}_{_kind}", (_base,), {"format": _format, "kind": _kind, "__module__": __name__})
        globals()[_class.__name__] = _class


def issparse(x):
    return isinstance(x, spmatrix)


isspmatrix = issparse
