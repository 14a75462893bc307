"""Stores: anything with a shape, a dtype and slices, whose elements are read when a task needs them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from xarrayops_backends.numpy._files import mapping_of


class Store:
    """A store as libraries of chunks take it.

    It is not an ndarray: these libraries would copy one into their graphs. A pickle of it has no elements: it opens
    the file again.
    """

    def __init__(self, source: Any) -> None:
        self.source = _MappedFile.of(source) or source
        self.shape = tuple(source.shape)
        self.ndim = len(self.shape)
        dtype = np.dtype(getattr(source.dtype, "numpy_dtype", source.dtype))  # that of tensorstore is its own
        self.dtype = dtype.newbyteorder("=")

    def __getitem__(self, index: Any) -> Any:
        part = self.source[index]
        return np.asarray(part.read().result() if hasattr(part, "read") else part, self.dtype)  # tensorstore is lazy

    def __reduce__(self) -> Any:
        file = getattr(getattr(self.source, "file", None), "filename", None)
        if file is not None and hasattr(self.source, "name"):
            return _of_hdf5, (file, self.source.name)
        return Store, (self.source,)


def _of_hdf5(path: str, name: str) -> Store:
    return Store(import_module("h5py").File(path, "r")[name])


class _MappedFile:
    """An array in a file. Each access maps it, so that memory holds only what was taken from it."""

    def __init__(self, path: str, start: int, shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...]) -> None:
        self.path, self.start, self.shape, self.dtype, self.strides = path, start, shape, dtype, strides

    @classmethod
    def of(cls, source: Any) -> _MappedFile | None:
        mapping = mapping_of(source) if isinstance(source, np.ndarray) else None
        if mapping is None:
            return None
        start = mapping.offset + source.ctypes.data - mapping.ctypes.data
        return cls(str(mapping.filename), start, source.shape, source.dtype, source.strides)

    def __getitem__(self, index: Any) -> Any:
        whole = np.memmap(self.path, np.uint8, mode="r")
        return np.array(np.ndarray(self.shape, self.dtype, whole, self.start, self.strides)[index])
