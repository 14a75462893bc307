"""cupy.ndarray, which wraps a private NumPy array, and the conversion between the two."""

import operator

import numpy as np

import cupy
from cupy import _memory
from cupy.cuda import Device, MemoryPointer, UnownedMemory

# https://docs.cupy.dev/en/stable/user_guide/difference.html#data-types: no objects, no text; bfloat16 since CuPy 14
_DTYPE_CHARS = "?bhilqBHILQefdFD"
_ATTRIBUTES = ("dtype", "flags", "itemsize", "nbytes", "ndim", "size", "strides")
_VIEWS = ("T", "mT", "imag")
_METHODS = """
all any argmax argmin argpartition argsort choose clip compress conj conjugate cumprod cumsum diagonal dot fill flatten
item max mean min nonzero partition prod ptp put ravel repeat reshape round searchsorted sort squeeze std sum swapaxes
take tolist trace transpose var
"""
# No __index__: https://github.com/data-apis/array-api-compat/blob/main/cupy-xfails.txt
_CONVERSIONS = (bool, int, float, complex, len, repr, format)
_UNARY = "neg:negative pos:positive abs:absolute invert:invert"
_COMPARISON = "lt:less le:less_equal gt:greater ge:greater_equal eq:equal ne:not_equal"
_BINARY = """
add:add sub:subtract mul:multiply truediv:true_divide floordiv:floor_divide mod:remainder pow:power matmul:matmul
lshift:left_shift rshift:right_shift and:bitwise_and or:bitwise_or xor:bitwise_xor
"""


def check_dtype(dtype):
    dtype = np.dtype(dtype)
    if dtype.char not in _DTYPE_CHARS and dtype.name != "bfloat16":
        raise ValueError(f"Unsupported dtype {dtype}")
    return dtype


def unwrap(value):
    """Replace CuPy arrays by NumPy arrays; a NumPy array among the arguments is refused, as in CuPy."""
    if isinstance(value, ndarray):
        return value._a
    if isinstance(value, np.ndarray):
        # https://docs.cupy.dev/en/stable/user_guide/basic.html: nothing is copied to the device implicitly
        raise TypeError(f"Unsupported type {type(value)}")
    if type(value) in (list, tuple):
        return type(value)(unwrap(v) for v in value)
    return {key: unwrap(v) for key, v in value.items()} if isinstance(value, dict) else value


def wrap(value, *sources):
    """Replace NumPy arrays by CuPy arrays; a view stays on the device of its source, others are on the current one.

    https://docs.cupy.dev/en/stable/user_guide/difference.html#reduction-methods: 0-d arrays instead of scalars.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        array = ndarray.__new__(ndarray)
        array._a = np.asarray(value)
        check_dtype(array._a.dtype)
        bases = (s for s in sources if isinstance(s, ndarray) and np.may_share_memory(s._a, array._a))
        array._device = next((s._device for s in bases), cupy.cuda.runtime.getDevice())
        return array
    if isinstance(value, (list, tuple)):
        return (list if type(value) is list else tuple)(wrap(v, *sources) for v in value)
    return value


def call(function, *args, **kwargs):
    """A NumPy function on CuPy arrays; a GPU computes without floating-point warnings."""
    with np.errstate(all="ignore"):
        return wrap(function(*unwrap(args), **unwrap(kwargs)), *args)


def wrapped_index(index, shape):
    """An index whose integer arrays wrap around instead of raising.

    https://docs.cupy.dev/en/stable/user_guide/difference.html#out-of-bounds-indices
    """
    parts = [p._a if isinstance(p, ndarray) else p for p in (index if isinstance(index, tuple) else (index,))]
    taken = [0 if p is None or p is Ellipsis else np.ndim(p) if _is_mask(p) else 1 for p in parts]
    axis = 0
    for i, (part, count) in enumerate(zip(parts, taken, strict=True)):
        if part is Ellipsis:
            axis += len(shape) - sum(taken)
        elif getattr(part, "ndim", 0) and not _is_mask(part) and shape[axis]:
            parts[i] = part % shape[axis]
        axis += count
    return tuple(parts)


def _is_mask(part):
    return isinstance(part, bool) or getattr(part, "dtype", None) == np.bool_


class ndarray:  # noqa: N801
    __module__ = "cupy"
    __hash__ = None
    __array_priority__ = 100

    def __init__(self, shape, dtype=float, memptr=None, strides=None, order="C"):
        dtype = check_dtype(dtype)
        shape = tuple(shape) if isinstance(shape, (tuple, list)) else (operator.index(shape),)
        self._a = np.empty(shape, dtype, order)
        self._device = cupy.cuda.runtime.getDevice()
        if memptr is not None:
            self._a = _memory.at_pointer(memptr.ptr, shape, dtype, strides, memptr)
            self._device = memptr.device_id

    @property
    def device(self):
        return Device(self._device)

    @property
    def real(self):
        return wrap(self._a.real, self) if self.dtype.kind == "c" else self

    @property
    def shape(self):
        return self._a.shape

    @shape.setter
    def shape(self, shape):
        view = self._a.reshape(shape)
        if self.size and not np.shares_memory(view, self._a):
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
            "Implicit conversion to a NumPy array is not allowed. "
            "Please use `.get()` to construct a NumPy array explicitly."
        )

    def __array_ufunc__(self, function, method, *inputs, **kwargs):
        own = getattr(cupy, function.__name__, None)
        return NotImplemented if own is None or method != "__call__" else own(*inputs, **kwargs)

    def __array_function__(self, function, types, args, kwargs):
        own = getattr(cupy, function.__name__, None)
        return NotImplemented if own is None else own(*args, **kwargs)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if dl_device == (_memory.KDL_CPU, 0):
            if copy is False:
                raise ValueError("GPU memory cannot be exported to CPU without copy.")
            return self.get().__dlpack__(max_version=max_version)
        if dl_device not in (None, self.__dlpack_device__()):
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
        return call(np.ndarray.astype, self.copy(order), check_dtype(dtype), order=order)

    def copy(self, order="C"):
        return wrap(self._a.copy(order))

    def view(self, dtype=None):
        return wrap(self._a.view() if dtype is None else self._a.view(check_dtype(dtype)), self)

    def __getitem__(self, index):
        return wrap(self._a[wrapped_index(index, self.shape)], self)

    def __setitem__(self, index, value):
        with np.errstate(all="ignore"):
            self._a[wrapped_index(index, self.shape)] = unwrap(value)

    def __iter__(self):
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))


def stable(kwargs):
    """The keyword arguments of a sort: CuPy has one kind (_check_kind_sort in cupy/_core/core.pyx)."""
    if kwargs.get("kind") not in (None, "stable"):
        raise ValueError("kind can only be None or 'stable'")
    return {**kwargs, "kind": "stable"}


def _method(name, x, *args, **kwargs):
    kwargs = stable(kwargs) if name in ("sort", "argsort") else kwargs
    return call(getattr(np.ndarray, name), x, *args, **kwargs)


def _apply(name, in_place, swapped, x, *others):
    operands = (*others, x) if swapped else (x, *others)
    return getattr(cupy, name)(*operands, **({"out": x} if in_place else {}))


def _bound(function, *first):
    """A function as a method; the bound arguments come before ``self``."""
    return lambda self, *args, **kwargs: function(*first, self, *args, **kwargs)


for _name in _ATTRIBUTES:
    setattr(ndarray, _name, property(operator.attrgetter(f"_a.{_name}")))
for _name in _VIEWS:
    setattr(ndarray, _name, property(lambda self, name=_name: wrap(getattr(self._a, name), self)))
for _name in _METHODS.split():
    setattr(ndarray, _name, _bound(_method, _name))
for _convert in _CONVERSIONS:
    setattr(ndarray, f"__{_convert.__name__}__", lambda self, *args, convert=_convert: convert(self._a, *args))
for _pair in f"{_UNARY} {_COMPARISON} {_BINARY}".split():
    _name, _ufunc = _pair.split(":")
    setattr(ndarray, f"__{_name}__", _bound(_apply, _ufunc, False, False))
    if _pair in _BINARY:
        setattr(ndarray, f"__r{_name}__", _bound(_apply, _ufunc, False, True))
        setattr(ndarray, f"__i{_name}__", _bound(_apply, _ufunc, True, False))
