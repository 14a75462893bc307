"""cupy.ndarray over a private NumPy array, and the way between the two."""

import operator

import numpy as np

import cupy
from cupy import _memory
from cupy.cuda import Device, MemoryPointer, UnownedMemory

# https://docs.cupy.dev/en/stable/user_guide/difference.html#data-types: no objects, no text; bfloat16 since CuPy 14
_DTYPE_CHARS = "?bhilqBHILQefdFD"
_UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}
_BINARY = {
    **dict.fromkeys(("add", "subtract", "multiply", "matmul", "lshift", "rshift", "and", "xor", "or")),
    **{"sub": "subtract", "mul": "multiply", "mod": "remainder", "truediv": "true_divide", "pow": "power"},
    **{"floordiv": "floor_divide", "lshift": "left_shift", "rshift": "right_shift"},
    **{"and": "bitwise_and", "xor": "bitwise_xor", "or": "bitwise_or", "add": "add", "matmul": "matmul"},
}
_COMPARISON = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}
_METHODS = (
    "all any argmax argmin argpartition argsort choose clip compress conj conjugate cumprod cumsum diagonal dot flatten "
    "max mean min nonzero partition prod ptp put ravel repeat reshape round searchsorted sort squeeze std sum swapaxes "
    "take trace transpose var"
).split()


def check_dtype(dtype):
    dtype = np.dtype(dtype)
    if dtype.char not in _DTYPE_CHARS and dtype.name != "bfloat16":
        raise ValueError(f"Unsupported dtype {dtype}")
    return dtype


def unwrap(value):
    """NumPy arrays in the place of CuPy's; a NumPy array among the arguments is refused, as CuPy refuses it."""
    if isinstance(value, ndarray):
        return value._a
    if isinstance(value, np.ndarray):
        # https://docs.cupy.dev/en/stable/user_guide/basic.html: nothing moves to the device by itself
        raise TypeError(f"Unsupported type {type(value)}")
    if type(value) in (list, tuple):
        return type(value)(unwrap(v) for v in value)
    if isinstance(value, dict):
        return {key: unwrap(v) for key, v in value.items()}
    return value


def wrap(value, *sources):
    """CuPy arrays in the place of NumPy's; a view stays on its source's device, the rest is on the current one.

    https://docs.cupy.dev/en/stable/user_guide/difference.html#reduction-methods: 0-d arrays instead of scalars.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        array = ndarray.__new__(ndarray)
        array._a = np.asarray(value)
        check_dtype(array._a.dtype)
        bases = (s for s in sources if isinstance(s, ndarray) and np.may_share_memory(s._a, array._a))
        array._device = next((s._device for s in bases), cupy.cuda.runtime.getDevice())
        return array
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return tuple(wrap(v, *sources) for v in value)
    if type(value) in (list, tuple):
        return type(value)(wrap(v, *sources) for v in value)
    return value


def call(function, *args, **kwargs):
    """A NumPy function on CuPy arrays; a GPU computes without floating-point warnings."""
    with np.errstate(all="ignore"):
        return wrap(function(*unwrap(args), **unwrap(kwargs)), *args)


def wrapped_index(index, shape):
    """An index whose integer arrays wrap around instead of raising.

    https://docs.cupy.dev/en/stable/user_guide/difference.html#out-of-bounds-indices
    """
    parts = index if isinstance(index, tuple) else (index,)
    consumed = [0 if p is None or p is Ellipsis else np.ndim(p) if _is_mask(p) else 1 for p in parts]
    axis, result = 0, []
    for part, count in zip(parts, consumed, strict=True):
        array = part._a if isinstance(part, ndarray) else part
        if part is Ellipsis:
            axis += len(shape) - sum(consumed)
        elif isinstance(array, (list, np.ndarray)) and not _is_mask(part):
            array = np.asarray(array)
            extent = shape[axis] if axis < len(shape) else 0
            array = array % extent if extent and array.dtype.kind in "iu" else array
        axis += count
        result.append(array)
    return tuple(result)


def _is_mask(part):
    return isinstance(part, (bool, np.bool_)) or getattr(part, "dtype", None) == np.bool_


class ndarray:  # noqa: N801
    __array_priority__ = 100

    def __init__(self, shape, dtype=float, memptr=None, strides=None, order="C"):
        dtype = check_dtype(dtype)
        shape = tuple(shape) if isinstance(shape, (tuple, list)) else (operator.index(shape),)
        self._a = np.empty(shape, dtype, order)
        self._device = cupy.cuda.runtime.getDevice()
        if memptr is not None:
            self._a = _memory.at_pointer(memptr.ptr, shape, dtype, strides, memptr)
            self._device = memptr.device_id

    dtype = property(lambda self: self._a.dtype)
    ndim = property(lambda self: self._a.ndim)
    size = property(lambda self: self._a.size)
    itemsize = property(lambda self: self._a.itemsize)
    nbytes = property(lambda self: self._a.nbytes)
    strides = property(lambda self: self._a.strides)
    flags = property(lambda self: self._a.flags)
    device = property(lambda self: Device(self._device))
    T = property(lambda self: wrap(self._a.T, self))
    mT = property(lambda self: wrap(self._a.mT, self))
    imag = property(lambda self: wrap(self._a.imag, self))

    @property
    def real(self):
        return wrap(self._a.real, self) if self.dtype.kind == "c" else self

    @property
    def shape(self):
        return self._a.shape

    @shape.setter
    def shape(self, shape):
        view = self._a.reshape(shape)
        if not np.shares_memory(view, self._a) and self.size:
            raise AttributeError("incompatible shape")
        self._a = view

    @property
    def data(self):
        pointer = self._a.__array_interface__["data"][0]
        return MemoryPointer(UnownedMemory(pointer, self.nbytes, self, self._device), 0)

    @property
    def __cuda_array_interface__(self):
        return {**self._a.__array_interface__, "data": (self.data.ptr, False), "version": 3}

    def __array__(self, dtype=None, copy=None):
        # https://github.com/cupy/cupy/issues/589
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array explicitly."
        )

    def __array_ufunc__(self, function, method, *inputs, **kwargs):
        own = getattr(cupy, function.__name__, None)
        if own is None or method not in ("__call__", "at"):
            return NotImplemented
        return (own if method == "__call__" else own.at)(*inputs, **kwargs)

    def __array_function__(self, function, types, args, kwargs):
        own = getattr(cupy, function.__name__, None)
        return NotImplemented if own is None or own is function else own(*args, **kwargs)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if dl_device == (_memory.KDL_CPU, 0):
            if copy is False:
                raise ValueError("GPU memory cannot be exported to CPU without copy.")
            return self.get().__dlpack__(max_version=max_version)
        if dl_device is not None and dl_device != self.__dlpack_device__():
            raise BufferError("unsupported device requested.")
        if copy is True:
            # https://github.com/cupy/cupy/issues/9842
            raise BufferError("copy=True only supported for copy to CPU.")
        return _memory.retarget(self._a.__dlpack__(max_version=max_version), self.__dlpack_device__())

    def __dlpack_device__(self):
        return (_memory.KDL_CUDA, self._device)

    def get(self, stream=None, order="C", out=None, blocking=True):
        if out is None:
            return self._a.copy(order)
        out[...] = self._a
        return out

    def set(self, arr, stream=None):
        if not isinstance(arr, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        self._a[...] = arr

    def astype(self, dtype, order="K", casting=None, subok=None, copy=True):
        if not copy and self.dtype == dtype and order in ("K", "A"):
            return self
        with np.errstate(all="ignore"):
            cast = self._a.astype(check_dtype(dtype), order=order, copy=True)
        return wrap(cast)

    def copy(self, order="C"):
        return wrap(self._a.copy(order))

    def view(self, dtype=None):
        return wrap(self._a.view() if dtype is None else self._a.view(check_dtype(dtype)), self)

    def fill(self, value):
        self._a.fill(unwrap(value))

    def tolist(self):
        return self._a.tolist()

    def item(self, *args):
        return self._a.item(*args)

    def __getitem__(self, index):
        return wrap(self._a[wrapped_index(index, self.shape)], self)

    def __setitem__(self, index, value):
        if isinstance(value, np.ndarray) and value.ndim:
            raise TypeError(f"Unsupported type {type(value)}")
        with np.errstate(all="ignore"):
            self._a[wrapped_index(index, self.shape)] = unwrap(value)

    def __iter__(self):
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __len__(self):
        return len(self._a)

    def __repr__(self):
        return repr(self._a)

    def __format__(self, spec):
        return format(self._a, spec)

    # No __index__: https://github.com/data-apis/array-api-compat/blob/main/cupy-xfails.txt
    def __bool__(self):
        return bool(self._a)

    def __int__(self):
        return int(self._a.item())

    def __float__(self):
        return float(self._a.item())

    def __complex__(self):
        return complex(self._a.item())

    __hash__ = None


def _define_operators():
    for name, ufunc in {**_UNARY, **_COMPARISON}.items():
        setattr(ndarray, f"__{name}__", lambda *args, ufunc=ufunc: getattr(cupy, ufunc)(*args))
    for name, ufunc in _BINARY.items():
        setattr(ndarray, f"__{name}__", lambda x, y, ufunc=ufunc: getattr(cupy, ufunc)(x, y))
        setattr(ndarray, f"__r{name}__", lambda x, y, ufunc=ufunc: getattr(cupy, ufunc)(y, x))
        setattr(ndarray, f"__i{name}__", lambda x, y, ufunc=ufunc: getattr(cupy, ufunc)(x, y, out=x))
    for name in _METHODS:
        setattr(ndarray, name, lambda x, *args, name=name, **kwargs: _method(x, name, args, kwargs))


def _method(x, name, args, kwargs):
    kwargs = {"kind": "stable", **kwargs} if name in ("sort", "argsort") else kwargs
    return call(lambda a, *rest, **options: getattr(a, name)(*rest, **options), x, *args, **kwargs)


_define_operators()
