"""A tiny array library: a class that wraps NumPy arrays, and the array API standard from array_api_compat."""

import functools
import sys
import types

import array_api_compat.numpy as _base
import numpy as _np

__version__ = "1.0"
__array_api_version__ = "2025.12"


class Array:
    """An array of the library. Only the library's own functions read its values."""

    __array_priority__ = 1.0
    __array_ufunc__ = None
    __hash__ = None

    def __init__(self, values):
        self._values = _np.asarray(values)

    device = property(lambda self: "cpu")
    dtype = property(lambda self: self._values.dtype)
    ndim = property(lambda self: self._values.ndim)
    shape = property(lambda self: self._values.shape)
    size = property(lambda self: self._values.size)
    T = property(lambda self: Array(self._values.T))
    mT = property(lambda self: Array(self._values.mT))  # noqa: N815 - the standard's name

    def __array_namespace__(self, /, *, api_version=None):
        if api_version not in (None, __array_api_version__):
            raise ValueError(f"this library follows {__array_api_version__}, not {api_version}")
        return sys.modules[__name__]

    def to_device(self, device, /, *, stream=None):
        if device != "cpu":
            raise ValueError(f"device must be 'cpu', not {device!r}")
        return self

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return self._values.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self):
        return self._values.__dlpack_device__()

    def __setitem__(self, key, value):
        self._values[_unwrap(key)] = _unwrap(value)

    def __repr__(self):
        return f"samplearray.{self._values!r}"


def _unwrap(value):
    if isinstance(value, Array):
        return value._values
    if isinstance(value, _np.ndarray):
        raise TypeError("a NumPy array is not an array of this library")
    return type(value)(map(_unwrap, value)) if type(value) in (list, tuple) else value


def _wrap(value):
    if isinstance(value, (_np.ndarray, _np.generic)):
        return Array(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_wrap, value))
    return type(value)(map(_wrap, value)) if type(value) in (list, tuple) else value


def _wrapped(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        with _np.errstate(all="ignore"):
            return _wrap(function(*map(_unwrap, args), **{name: _unwrap(value) for name, value in kwargs.items()}))

    return call


def _in_place(name):
    def update(self, other):
        self._values[...] = getattr(self._values, name)(_unwrap(other))
        return self

    return update


def _fill(namespace, source):
    for name in dir(source):
        value = getattr(source, name)
        if not name.startswith("_") and not isinstance(value, types.ModuleType):
            is_function = callable(value) and not isinstance(value, type)
            setattr(namespace, name, _wrapped(value) if is_function else value)


_UNARY = "abs bool complex float getitem index int invert len neg pos"
_BINARY = "add and floordiv lshift matmul mod mul or pow rshift sub truediv xor"
_COMPARISONS = "eq ge gt le lt ne"

for _name in f"{_UNARY} {_BINARY} {_COMPARISONS}".split():
    setattr(Array, f"__{_name}__", _wrapped(getattr(_np.ndarray, f"__{_name}__")))
for _name in _BINARY.split():
    setattr(Array, f"__r{_name}__", _wrapped(getattr(_np.ndarray, f"__r{_name}__")))
    setattr(Array, f"__i{_name}__", _in_place(f"__{_name}__"))

_fill(sys.modules[__name__], _base)
__array_namespace_info__ = _base.__array_namespace_info__
for _name in ("linalg", "fft"):
    globals()[_name] = types.ModuleType(f"{__name__}.{_name}")
    _fill(globals()[_name], getattr(_base, _name))


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """Defined separately because NumPy treats None as a value to prepend or append."""
    ends = {name: end for name, end in (("prepend", prepend), ("append", append)) if end is not None}
    return _wrapped(_np.diff)(x, n=n, axis=axis, **ends)


def finfo(type, /):
    """Defined separately because NumPy's limits are not Python floats."""
    info = _base.finfo(_unwrap(type))
    limits = {name: float(getattr(info, name)) for name in ("eps", "max", "min", "smallest_normal")}
    return types.SimpleNamespace(bits=info.bits, dtype=info.dtype, **limits)


def from_dlpack(x, /, *, device=None, copy=None):
    """Defined separately because its argument is an array of another library."""
    return Array(_base.from_dlpack(x, device=device, copy=copy))


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """Defined separately because its argument need not be an array of this library."""
    values = obj if isinstance(obj, _np.ndarray) else _unwrap(obj)
    return Array(_base.asarray(values, dtype=dtype, device=device, copy=copy))
