"""Stand-in array libraries with two simulated devices in host memory; each array has a device, every copy is logged.

`library` creates a mutable one (like PyTorch and CuPy) or an immutable one (like JAX). Each refuses what the real
libraries refuse: arrays on two devices in one call, implicit conversion to NumPy, DLPack from a device that is not the
current one, and strides or addresses that the real libraries do not support.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import array_api_compat.numpy as base
import numpy as np

DEVICES = ("cpu", "gpu:0", "gpu:1")
ALIGNMENT = 16
OPERATORS = (
    *("abs", "add", "and", "bool", "complex", "eq", "float", "floordiv", "ge", "gt", "index", "int", "invert", "le"),
    *("len", "lshift", "lt", "matmul", "mod", "mul", "ne", "neg", "or", "pos", "pow", "radd", "rfloordiv", "rmul"),
    *("rpow", "rsub", "rtruediv", "sub", "truediv", "xor"),
)
_CPU, _GPU = 1, 2
"""The device types, numbered as in DLPack."""


class Event(NamedTuple):
    """A copy of memory, or an export of memory to another library (``what`` is "copy" or "export")."""

    what: str
    source: str
    target: str
    nbytes: int


log: list[Event] = []


@contextmanager
def recorded() -> Iterator[list[Event]]:
    """A list that has the events of the ``with`` block after the block ends."""
    start = len(log)
    events: list[Event] = []
    yield events
    events += log[start:]


class Capsule(NamedTuple):
    """What DLPack exchanges: device memory and the object that keeps it alive."""

    values: np.ndarray
    device: str
    owner: Any


def copied(values: np.ndarray, source: str, target: str) -> np.ndarray:
    """A compact, aligned copy on a device."""
    log.append(Event("copy", source, target, values.nbytes))
    raw = np.empty(values.nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    new = raw[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    new[...] = values
    return new


def library(namespace: dict[str, Any], *, immutable: bool) -> None:
    """Fill a module with an array class, mutable or immutable, and the functions of the standard."""
    current = ["gpu:0"]

    class Array:
        """An array with values and a device."""

        __array_priority__ = 1.0
        __array_ufunc__ = None
        __hash__ = None

        def __init__(self, values: Any, device: str, owner: Any = None) -> None:
            self.values, self.device, self.owner = np.asarray(values), device, owner

        dtype = property(lambda self: self.values.dtype)
        nbytes = property(lambda self: self.values.nbytes)
        ndim = property(lambda self: self.values.ndim)
        shape = property(lambda self: self.values.shape)
        size = property(lambda self: self.values.size)
        T = property(lambda self: _wrap(self.values.T, self.device))
        mT = property(lambda self: _wrap(self.values.mT, self.device))  # noqa: N815 - the standard's name

        def __array__(self, *args: Any, **kwargs: Any) -> Any:
            raise TypeError("implicit conversion to a NumPy array is not allowed")

        def __array_namespace__(self, /, *, api_version: Any = None) -> Any:
            return namespace["module"]

        def to_device(self, device: str, /, *, stream: Any = None) -> Any:
            return self if device == self.device else Array(copied(self.values, self.device, device), device)

        def __dlpack_device__(self) -> tuple[int, int]:
            return (_CPU, 0) if self.device == "cpu" else (_GPU, int(self.device[-1]))

        def __dlpack__(self, *, stream: Any = None, **others: Any) -> Any:
            if self.device == "cpu":
                return self.values.__dlpack__()
            if self.device != current[-1]:
                raise BufferError(f"the current device is {current[-1]}, the array is on {self.device}")
            if stream is None:
                raise BufferError("the consumer passes no stream")
            log.append(Event("export", self.device, self.device, self.values.nbytes))
            return Capsule(self.values, self.device, self)

        def __setitem__(self, key: Any, value: Any) -> None:
            if immutable:
                raise TypeError("arrays are immutable")
            self.values[_unwrap(key)] = _unwrap(value)

        def __getitem__(self, key: Any) -> Any:
            part = self.values[_unwrap(key)]
            if immutable and not part.flags.c_contiguous:
                part = copied(part, self.device, self.device)
            return Array(part, self.device, self)

    Array.__module__ = namespace["__name__"]

    def _unwrap(value: Any) -> Any:
        if isinstance(value, Array):
            if immutable and value.device != "cpu" and value.size and value.values.ctypes.data % ALIGNMENT:
                raise RuntimeError(f"the address of a buffer must be a multiple of {ALIGNMENT}")
            return value.values
        if isinstance(value, np.ndarray):
            raise TypeError("a NumPy array is not an array of this library")
        return type(value)(map(_unwrap, value)) if type(value) in (list, tuple) else value

    def _held(value: Any) -> Iterator[str]:
        if isinstance(value, Array):
            yield value.device
        elif type(value) in (list, tuple):
            for each in value:
                yield from _held(each)

    def _wrap(value: Any, device: str) -> Any:
        if isinstance(value, (np.ndarray, np.generic)):
            values = np.asarray(value)
            return Array(values if not immutable or values.flags.c_contiguous else values.copy(), device)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*(_wrap(each, device) for each in value))
        return type(value)(_wrap(each, device) for each in value) if type(value) in (list, tuple) else value

    def _device(device: Any) -> str:
        if device is not None and device not in DEVICES:
            raise ValueError(f"no device {device!r}")
        return current[-1] if device is None else device

    def _wrapped(function: Any) -> Any:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            given = kwargs.pop("device", None)
            held = set(_held(args)) | set(_held(list(kwargs.values())))
            if len(held) > 1:
                raise RuntimeError(f"the arrays of one call are on {', '.join(sorted(held))}")
            device = _device(given) if given is not None or not held else held.pop()
            named = {name: _unwrap(value) for name, value in kwargs.items()}
            with np.errstate(all="ignore"):
                return _wrap(function(*map(_unwrap, args), **named), device)

        return call

    def _fill(target: dict[str, Any], source: Any) -> None:
        for name in dir(source):
            value = getattr(source, name)
            if not name.startswith("_") and not isinstance(value, types.ModuleType):
                is_function = callable(value) and not isinstance(value, type)
                target[name] = _wrapped(value) if is_function else value

    for name in OPERATORS:
        setattr(Array, f"__{name}__", _wrapped(getattr(np.ndarray, f"__{name}__")))

    _fill(namespace, base)
    for extension in ("linalg", "fft"):
        namespace[extension] = types.ModuleType(f"{namespace['__name__']}.{extension}")
        _fill(vars(namespace[extension]), getattr(base, extension))

    class Information(type(base.__array_namespace_info__())):
        """The devices of the library."""

        def devices(self) -> tuple[str, ...]:
            return DEVICES

        def default_device(self) -> str:
            return current[-1]

    def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Any:
        if isinstance(obj, Array):
            target = _device(device or obj.device)
            if target != obj.device or copy or (dtype is not None and dtype != obj.dtype):
                return Array(copied(obj.values.astype(dtype or obj.dtype, copy=False), obj.device, target), target)
            return obj
        target = _device(device)
        return Array(copied(np.asarray(_unwrap(obj), dtype=dtype), "cpu", target), target)

    def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
        kind, index = x.__dlpack_device__()
        if kind == _CPU:
            return Array(np.from_dlpack(x), "cpu", x)
        capsule = x.__dlpack__(stream=1)
        assert capsule.device == f"gpu:{index}"
        if immutable and not capsule.values.flags.c_contiguous:
            raise BufferError("the strides are not compact")
        if not immutable and any(stride < 0 for stride in capsule.values.strides):
            raise SystemError("a negative stride would abort the process")
        return Array(capsule.values, capsule.device, capsule.owner)

    @contextmanager
    def on(device: str) -> Iterator[None]:
        current.append(device)
        try:
            yield
        finally:
            current.pop()

    namespace.update(
        Array=Array,
        asarray=asarray,
        from_dlpack=from_dlpack,
        on=on,
        current=current,
        immutable=immutable,
        __array_namespace_info__=Information,
        __version__="1.0",
        __array_api_version__="2025.12",
    )
