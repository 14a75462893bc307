"""cupyx.scipy.sparse, implemented by scipy.sparse: coo, csr, csc and dia, no bsr, and only CuPy's dtypes.

https://docs.cupy.dev/en/stable/reference/scipy_sparse.html; file names are those of CuPy 14.2.
"""

from itertools import pairwise as _pairwise

import cupy
import numpy as np
import scipy.sparse
from cupy import _signatures
from cupy._array import unwrap as _unwrap, wrap as _wrap

_DTYPES = ("bool", "float32", "float64", "complex64", "complex128")
_ARRAYS = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col"), "dia": ("offsets",)}


class _spbase:  # noqa: N801
    """The base of all containers: arrays that can be replaced, as CuPy itself does. SciPy does the computations."""

    format: str
    kind: str

    def __init__(self, arg1, shape=None, dtype=None, copy=False):
        given = _host(arg1) if isinstance(arg1, _spbase) else _without_wrong_arrays(arg1)
        dtype = np.dtype(dtype or getattr(given[0] if isinstance(given, tuple) else given, "dtype", float))
        if dtype.name not in _DTYPES:
            # __init__ in cupyx/scipy/sparse/_compressed.py and _coo.py
            raise ValueError("Only bool, float32, float64, complex64 and complex128 are supported")
        self._take(self._of_scipy(given, shape=shape).astype(dtype))
        if self.format == "coo" or isinstance(arg1, _spbase):
            self.has_canonical_format = isinstance(arg1, _spbase) and arg1.has_canonical_format

    def _of_scipy(self, given, **options):
        return getattr(scipy.sparse, f"{self.format}_{self.kind}")(given, **options)

    def _take(self, host):
        self._shape = tuple(map(int, host.shape))
        self.data = _wrap(host.data)
        for name in _ARRAYS[self.format]:
            # get_index_dtype(check_contents=True) in _sputils.py: matrices narrow int64 indices if the values fit
            narrow = self.kind == "matrix" and max(self._shape) < 2**31
            x = getattr(host, name)
            setattr(self, name, _wrap(x.astype("int32") if narrow else x))

    @property
    def has_canonical_format(self):
        # _compressed.py stores the result of a kernel, for which the host waits; _coo.py stores only what it is
        # given.
        if "_has_canonical_format" not in vars(self):
            host, rising = _host(self), np.ones(len(self.indptr) - 1, bool)
            for line, (first, last) in enumerate(_pairwise(host.indptr)):
                rising[line] = bool((np.diff(host.indices[first:last]) > 0).all())
            self._has_canonical_format = bool(_wrap(rising).all())
        return self._has_canonical_format

    @has_canonical_format.setter
    def has_canonical_format(self, value):
        self._has_canonical_format = bool(value)
        if value:
            self.has_sorted_indices = True

    @property
    def has_sorted_indices(self):
        return self._has_sorted_indices

    @has_sorted_indices.setter
    def has_sorted_indices(self, value):
        self._has_sorted_indices = bool(value)

    shape = property(lambda self: self._shape)
    ndim = property(lambda self: len(self._shape))
    dtype = property(lambda self: self.data.dtype)
    nnz = property(lambda self: self.data.size)
    size = nnz
    device = property(lambda self: self.data.device)

    def __len__(self):
        raise TypeError("sparse array length is ambiguous; use shape[0] or .nnz")

    def get(self, stream=None):
        """A copy on the host; this is the only way, because the arrays refuse implicit conversion to NumPy."""
        return _host(self)

    def toarray(self, order=None, out=None):
        return _wrap(_host(self).toarray(order=order or "C"))

    def astype(self, dtype, copy=True):
        cast = type(self)(_host(self), dtype=dtype)
        cast.has_canonical_format = self.has_canonical_format
        return cast

    def tocsr(self, copy=False):
        return _like(self, _host(self).tocsr())

    def sum_duplicates(self):
        """In place: the arrays are replaced. coo is sorted by rows here, and by columns in SciPy (_coo.py)."""
        if not self.has_canonical_format:
            canonical = _host(self).tocsr()
            canonical.sum_duplicates()
            self._take(canonical.asformat(self.format))
            self.has_canonical_format = True

    def tobsr(self, blocksize=None, copy=False):
        raise NotImplementedError  # "TODO(unno): Implement tobsr" in _csr.py

    def __matmul__(self, other):
        operands = (self, other) if isinstance(other, _spbase) else (self,)
        for s in operands:
            s.sum_duplicates()  # _matmul_dispatch in _csr.py: a product may modify its operand in place
        dtype = np.result_type(self.dtype, other.dtype)
        if dtype.name not in _DTYPES[1:]:
            raise TypeError(f"dtype is not supported: {dtype}")  # to_cuda_dtype in cupy/_core/_dtype.pyx
        if not isinstance(other, _spbase):
            if self.nnz and not other.size:
                # https://github.com/cupy/cupy/pull/833: cuSPARSE does not support empty matrices; CuPy checks only nnz
                raise RuntimeError("CUSPARSE_STATUS_INVALID_VALUE")
            # spmm in cupyx/cusparse.py: results are in column-major order
            return _wrap(np.asfortranarray((_host(self) @ _unwrap(other)).astype(dtype)))
        product = _like(self, (_host(self).tocsr() @ _host(other).tocsr()).astype(dtype))
        product.has_canonical_format = False
        return product


class spmatrix(_spbase):  # noqa: N801
    """The containers whose ``*`` is the matrix product."""

    kind = "matrix"
    __mul__ = _spbase.__matmul__


class sparray(_spbase):  # noqa: N801
    """The containers whose ``*`` is elementwise."""

    kind = "array"


def _host(s):
    """The SciPy container over copies of the arrays."""
    arrays = [getattr(s, name).get() for name in ("data", *_ARRAYS[s.format])]
    given = (arrays[0], tuple(arrays[1:])[-len(s.shape) :]) if s.format == "coo" else tuple(arrays)
    return s._of_scipy(given, shape=s.shape)


def _like(s, host):
    """A csr container, a matrix or an array like s."""
    return globals()[f"csr_{s.kind}"](host)


def _without_wrong_arrays(arg1):
    """SciPy's arguments in place of CuPy's arrays. SciPy would also accept lists and NumPy arrays; they are refused."""
    if scipy.sparse.issparse(arg1):
        return arg1
    if isinstance(arg1, cupy.ndarray):
        return _unwrap(arg1)
    if not isinstance(arg1, tuple):
        raise ValueError("Unsupported initializer format")
    for x in arg1 if len(arg1) == 3 else (arg1[0], *arg1[1]) if isinstance(arg1[1], tuple) else ():
        if not isinstance(x, cupy.ndarray) or x.ndim != 1:
            raise ValueError("data, indices, and indptr must be 1-D cupy arrays")  # _compressed.py
    return _unwrap(arg1)


for _format in _ARRAYS:
    for _base in (spmatrix, sparray):
        _class = type(f"{_format}_{_base.kind}", (_base,), {"format": _format, "__module__": __name__})
        globals()[_class.__name__] = _class


def issparse(x):
    return isinstance(x, _spbase)


def isspmatrix(x):
    return isinstance(x, spmatrix)


_signatures.enforce_class(f"{__name__}.csr_matrix", _spbase)
_signatures.enforce(__name__, globals())
