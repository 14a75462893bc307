"""Stores: arrays in files, whose elements are read when a task needs them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np


class Store:
    """Anything with a shape, a dtype and slices, as `dask.array.from_array` takes it.

    It is not an ndarray: Dask would copy one into its graph. A pickle of it has no elements: it opens the file again.
    """

    def __init__(self, source: Any) -> None:
        self.source = source
        self.shape = tuple(source.shape)
        self.ndim = len(self.shape)
        self.dtype = np.dtype(getattr(source.dtype, "numpy_dtype", source.dtype))  # that of tensorstore is its own

    def __getitem__(self, index: Any) -> Any:
        part = self.source[index]
        return np.asarray(part.read().result() if hasattr(part, "read") else part)  # tensorstore reads on demand

    def __reduce__(self) -> Any:
        source = self.source
        if isinstance(source, np.memmap) and source.filename is not None:
            root = source
            while isinstance(root.base, np.memmap):
                root = root.base
            start = root.offset + source.ctypes.data - root.ctypes.data
            return _of_file, (str(source.filename), source.shape, source.dtype, start, source.strides)
        file = getattr(getattr(source, "file", None), "filename", None)
        if file is not None and hasattr(source, "name"):
            return _of_hdf5, (file, source.name)
        return Store, (source,)


def _of_file(path: str, shape: tuple[int, ...], dtype: Any, start: int, strides: tuple[int, ...]) -> Store:
    whole = np.memmap(path, dtype=np.uint8, mode="r")
    return Store(np.ndarray(shape, dtype, buffer=whole, offset=start, strides=strides))


def _of_hdf5(path: str, name: str) -> Store:
    return Store(import_module("h5py").File(path, "r")[name])
