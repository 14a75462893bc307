"""CuPy's functions, generated from NumPy's; only those that accept other arguments than NumPy are written by hand."""

import inspect
from functools import wraps

import numpy as np

from cupy import _memory, _signatures
from cupy._array import call, check_dtype, ndarray, stable, unwrap, wrap

_UFUNCS = """
abs absolute acos acosh add arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2 atanh
bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor
cbrt ceil conj conjugate copysign cos cosh deg2rad degrees divide divmod equal exp exp2 expm1 fabs float_power floor
floor_divide fmax fmin fmod frexp gcd greater greater_equal heaviside hypot invert isfinite isinf isnan lcm ldexp
left_shift less less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor
maximum minimum mod modf multiply negative nextafter not_equal positive pow power rad2deg radians reciprocal
remainder right_shift rint sign signbit sin sinh sqrt square subtract tan tanh true_divide trunc
"""
_FUNCTIONS = """
all allclose amax amin angle any append apply_along_axis arange argmax argmin argpartition argsort argwhere around
array_equal array_split ascontiguousarray asfortranarray atleast_1d atleast_2d atleast_3d average bincount
broadcast_arrays broadcast_shapes broadcast_to can_cast choose clip column_stack compress concat concatenate convolve
copy corrcoef correlate count_nonzero cov cross cumprod cumsum delete diag diag_indices diagflat diagonal digitize
dsplit dstack ediff1d empty empty_like expand_dims extract eye fill_diagonal flatnonzero flip fliplr flipud
full full_like gradient histogram hsplit hstack identity imag indices inner intersect1d isclose iscomplex
iscomplexobj isdtype isin isneginf isposinf isreal isrealobj kron lexsort linspace logspace matrix_transpose max
may_share_memory mean median meshgrid min min_scalar_type moveaxis nan_to_num nanargmax nanargmin nancumprod nancumsum
nanmax nanmean nanmedian nanmin nanprod nanstd nanvar ndim nonzero ones ones_like outer packbits pad partition
percentile permute_dims place prod ptp put put_along_axis putmask quantile ravel ravel_multi_index real repeat reshape
resize result_type roll rollaxis rot90 round searchsorted select setdiff1d setxor1d shape shares_memory sinc size sort
split squeeze stack std sum swapaxes take take_along_axis tile trace transpose trapezoid tri tril
tril_indices trim_zeros triu triu_indices union1d unique unpackbits unravel_index unwrap var vdot vsplit vstack where
zeros zeros_like
"""
_ARRAY_NAMES = ("a", "ar", "ar1", "arr", "arrays", "element", "m", "x")
_LISTS_OF_ARRAYS = ("column_stack", "concat", "concatenate", "dstack", "hstack", "lexsort", "stack", "vstack")
_ZERO_DIMENSIONAL = ("allclose", "array_equal", "count_nonzero")  # Python scalars in NumPy
# The dtypes of CUDA's atomics: https://docs.cupy.dev/en/stable/reference/generated/cupyx.scatter_add.html
_ATOMICS = dict.fromkeys(("add", "maximum", "minimum"), ("int32", "int64", "uint32", "uint64", "float32", "float64"))


def _floor_divide(x, y, **kwargs):
    # cupy/_core/include/cupy/carray.cuh rounds the quotient down; NumPy corrects it by the remainder
    inexact = np.result_type(x, y).kind == "f"
    return np.floor(np.true_divide(x, y, **kwargs)) if inexact else np.floor_divide(x, y, **kwargs)


def _remainder(x, y, **kwargs):
    # "cupy_remainder" in cupy/_core/_routines_math.pyx: nan for infinite divisors
    inexact = np.result_type(x, y).kind == "f"
    return np.subtract(x, _floor_divide(x, y, **kwargs) * y) if inexact else np.remainder(x, y, **kwargs)


_KERNELS = {"floor_divide": _floor_divide, "mod": _remainder, "remainder": _remainder}


class ufunc:  # noqa: N801
    def __init__(self, name):
        self.__name__, self.name = name, f"cupy_{name}"
        self._numpy, self._kernel = getattr(np, name), _KERNELS.get(name, getattr(np, name))
        self.nin, self.nout = self._numpy.nin, self._numpy.nout

    def __call__(self, *args, out=None, **kwargs):
        _signatures.check(self.qualified, args, {**kwargs, "out": out})
        for arg in args:
            if not isinstance(arg, (ndarray, np.generic, bool, int, float, complex)):
                # https://docs.cupy.dev/en/stable/user_guide/difference.html: lists and NumPy arrays are not converted
                raise TypeError(f"Unsupported type {type(arg)}")
        dtypes = [getattr(arg, "dtype", None) for arg in args]
        results = _signatures.results(self.qualified, dtypes)
        result = call(self._kernel, *args, **kwargs)
        if None not in dtypes and self.nout == 1 and "dtype" not in kwargs:
            result = result.astype(results[0], copy=False)
        if out is None:
            return result
        np.copyto(out._a, result._a, casting="same_kind")
        return out

    def at(self, a, indices, b=None):
        # No multiply.at and no atomics for small types:
        # https://docs.cupy.dev/en/stable/reference/generated/cupy.ufunc.html
        if self.__name__ not in _ATOMICS:
            raise NotImplementedError(f"`{self.name}.at` is not supported yet")
        if a.dtype.name not in _ATOMICS[self.__name__]:
            raise TypeError(f"cupy.{self.__name__}.at only supports {', '.join(_ATOMICS[self.__name__])} as data type")
        self._numpy.at(unwrap(a), unwrap(indices), unwrap(b))


def forward(function, name=None):
    """CuPy's version of a NumPy function: CuPy arrays in and out, and no list in place of an array."""
    name = name or function.__name__
    try:
        first = next(iter(inspect.signature(function).parameters), None)
    except ValueError:
        first = None
    wants_array = first in _ARRAY_NAMES and name not in _LISTS_OF_ARRAYS

    @wraps(function)
    def forwarded(*args, **kwargs):
        if wants_array and args and isinstance(args[0], (list, tuple)):
            raise TypeError(f"Unsupported type {type(args[0])}")
        if "dtype" in kwargs and kwargs["dtype"] is not None and name != "isdtype":
            check_dtype(kwargs["dtype"])
        if name in ("sort", "argsort"):
            kwargs = stable(kwargs)
        if kwargs.get("subok") is not None:
            raise TypeError("subok is not supported yet")  # cupy/_creation/basic.py
        if name == "take" and len(args) > 1:
            kwargs["mode"] = "wrap"  # https://docs.cupy.dev/en/stable/user_guide/difference.html#out-of-bounds-indices
        result = call(function, *args, **kwargs)
        return wrap(np.asarray(unwrap(result))) if name in _ZERO_DIMENSIONAL else result

    return forwarded


def array(obj, dtype=None, copy=True, order="K", subok=False, ndmin=0, *, blocking=False):
    shown = getattr(obj, "__cuda_array_interface__", None)
    if shown is not None and not isinstance(obj, ndarray):
        obj = wrap(np.asarray(_memory.Interface({**shown, "data": (shown["data"][0], False)}, obj)))
        copy = copy or False
    if isinstance(obj, ndarray):
        if not copy and dtype in (None, obj.dtype) and obj.ndim >= ndmin:
            return obj
        return wrap(np.array(obj._a, dtype, order=order or "K", ndmin=ndmin))
    if copy is False:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    host = np.array(_on_host(obj), dtype, order=order or "K", ndmin=ndmin)
    return wrap(host.astype(check_dtype(host.dtype).newbyteorder("="), copy=False))


def _on_host(obj):
    if isinstance(obj, (list, tuple)):
        return [_on_host(o) for o in obj]
    return obj._a if isinstance(obj, ndarray) else obj


def asarray(a, dtype=None, order=None, *, copy=None, blocking=False):
    return array(a, dtype, copy, order)


def asnumpy(a, stream=None, order="C", out=None, *, blocking=True):
    return a.get(order=order, out=out) if isinstance(a, ndarray) else np.asarray(a, order=order)


def copyto(dst, src, casting="same_kind", where=True):
    np.copyto(dst._a, unwrap(src), casting=casting, where=unwrap(where))


def get_array_module(*args):
    import cupy

    return cupy if any(isinstance(a, ndarray) for a in args) else np


def from_dlpack(array, *, device=None, copy=None):
    if device is not None:
        raise NotImplementedError("from_dlpack() does not support device yet.")
    kind, index = array.__dlpack_device__()
    if kind == _memory.KDL_CPU:
        # https://docs.cupy.dev/en/stable/user_guide/interoperability.html#dlpack
        raise TypeError(
            "CPU arrays cannot be directly imported to CuPy. Use `cupy.array(numpy.from_dlpack(input))` instead."
        )
    if kind not in (_memory.KDL_CUDA, _memory.KDL_CUDA_MANAGED):
        # Pinned memory too, see cupy/_core/dlpack.pyx: "TODO: support kDLCUDAPinned etc"
        raise TypeError(f"Unsupported array type: {kind}")
    capsule = array.__dlpack__(stream=1, max_version=(1, 1), copy=copy)
    imported = wrap(np.from_dlpack(_memory.Capsule(_memory.retarget(capsule, (_memory.KDL_CPU, 0)))))
    imported._device = int(index)
    return imported


def matmul(x1, x2, /, out=None, **kwargs):
    if not (isinstance(x1, ndarray) and isinstance(x2, ndarray)):
        raise TypeError("matmul takes cupy.ndarray alone")
    if max(x1.ndim, x2.ndim) > 2 and x1.size and x2.size:
        _refuse_stacked_bfloat16(x1, x2)
    result = _product(np.matmul, x1, x2, **kwargs)
    if out is None:
        return result
    np.copyto(out._a, result._a, casting="same_kind")
    return out


def einsum(*operands, **kwargs):
    # reduced_binary_einsum in cupy/linalg/_einsum.py multiplies two operands as stacks of matrices.
    arrays = [x for x in operands if isinstance(x, ndarray)]
    if len(arrays) > 1:
        _refuse_stacked_bfloat16(*arrays)
    return _product(np.einsum, *operands, **kwargs)


def dot(a, b, out=None):
    return _product(np.dot, a, b, out=out)


def tensordot(a, b, axes=2):
    return _product(np.tensordot, a, b, axes=axes)


def _product(function, *operands, **kwargs):
    """A product. bfloat16, which NumPy does not support, is computed like cuBLAS, with sums in float32."""
    arrays = [x for x in operands if isinstance(x, ndarray)]
    dtype = np.result_type(*(x.dtype for x in arrays))
    if dtype.name != "bfloat16":
        return call(function, *operands, **kwargs)
    wide = [x.astype(np.float32) if isinstance(x, ndarray) else x for x in operands]
    return call(function, *wide, **kwargs).astype(dtype)


def _refuse_stacked_bfloat16(*arrays):
    # matmul in cupy/_core/_routines_linalg.pyx: its integer kernel takes over, whose template gets the dtype's char.
    if np.result_type(*(x.dtype for x in arrays)).name == "bfloat16":
        raise TypeError("data type 'E' not understood")


def diff(a, n=1, axis=-1, prepend=None, append=None):
    # https://docs.cupy.dev/en/stable/reference/generated/cupy.diff.html: None is the default; to NumPy it is a value
    ends = {name: end for name, end in (("prepend", prepend), ("append", append)) if end is not None}
    return call(np.diff, a, n=n, axis=axis, **ends)


def interp(x, xp, fp, left=None, right=None, period=None):
    # cupy/_math/misc.py: x must be contiguous, and both limits are cast to the dtype of the values
    if not x.flags.c_contiguous:
        raise NotImplementedError("Non-C-contiguous x is currently not supported")
    ends = [end if end is None else np.asarray(end).astype(fp.dtype)[()] for end in (left, right)]
    return call(np.interp, x, xp, fp, *ends, period)


def nansum(a, axis=None, dtype=None, out=None, keepdims=False):
    # cupy/_math/sumprod.py, seen with 14.2: of a complex number the part that is not NaN is added
    if a.dtype.kind != "c":
        return call(np.nansum, a, axis=axis, dtype=dtype, out=out, keepdims=keepdims)
    parts = [call(np.nansum, part, axis=axis, keepdims=keepdims) for part in (a.real, a.imag)]
    return parts[0] + 1j * parts[1]


UFUNCS = {name: ufunc(name) for name in _UFUNCS.split()}
FUNCTIONS = {name: forward(getattr(np, name), name) for name in _FUNCTIONS.split()}
