"""Creation and casts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.host import refuse_discarding
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import compat, da


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Array:
    """Stack a sequence that contains Dask arrays, because NumPy would compute them."""
    if dtype is not None and hasattr(obj, "dtype"):
        refuse_discarding(obj.dtype, dtype)
    if not isinstance(obj, (list, tuple)) or not _holds_lazy(obj):
        return compat.asarray(obj, dtype=dtype, device=device, copy=copy)
    _blocks.check_device(device)
    if copy is False:
        raise ValueError("a sequence of arrays cannot become an array without a copy")
    return da.stack([asarray(member, dtype=dtype) for member in obj])


def _holds_lazy(obj: Iterable[Any]) -> bool:
    return any(_holds_lazy(o) if isinstance(o, (list, tuple)) else isinstance(o, da.Array) for o in obj)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """Dask has no from_dlpack. This one always copies, because a task may read the memory at any later time."""
    _blocks.check_device(device)
    if isinstance(x, da.Array):
        return x.copy() if copy else x
    if copy is False:
        raise ValueError("Dask always copies the memory of other libraries. Instead: copy=None")
    return compat.asarray(np.from_dlpack(x))


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """Cast chunk by chunk. Dask's astype casts a sample value of a 0-d array to infer the dtype, and this warns."""
    _blocks.check_device(device)
    refuse_discarding(x.dtype, dtype)
    dtype = np.dtype(dtype)
    if dtype == x.dtype:
        return x.copy() if copy else x
    if isinstance(x, np.generic):  # an option, such as dx
        return x.astype(dtype)
    return da.map_blocks(_cast, x, target=dtype, dtype=dtype, meta=_blocks.meta(x, dtype, x.ndim))


def _cast(block: Any, target: Any) -> Any:
    return block.astype(target)


def empty_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """See `_like`."""
    return _like("empty", x, dtype, device)


def zeros_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """See `_like`."""
    return _like("zeros", x, dtype, device)


def ones_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """See `_like`."""
    return _like("ones", x, dtype, device)


def full_like(x: Array, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """See `_like`."""
    return _like("full", x, dtype, device, fill_value)


def _like(name: str, x: Array, dtype: Any, device: Any, *values: Any) -> Array:
    """The ``*_like`` functions. Dask's own cast a sample value to infer the dtype, and this warns."""
    _blocks.check_device(device)
    dtype = np.dtype(dtype or x.dtype)
    sample = _blocks.meta(x, dtype, x.ndim)
    if math.isnan(x.size):
        kernel = partial(_chunk_like, name=f"{name}_like", values=values, target=dtype)
        return da.map_blocks(kernel, x, dtype=dtype, meta=sample)
    return getattr(da, name)(x.shape, *values, dtype=dtype, chunks=x.chunks, meta=sample)


def _chunk_like(block: Any, name: str, values: tuple[Any, ...], target: Any) -> Any:
    return getattr(np, name)(block, *values, dtype=target)


def _diagonal_numbers(chunks: Any) -> Array:
    """The column minus the row of every element of a matrix: 0 on the diagonal, 1 just above it."""
    rows, columns = (da.arange(sum(c), chunks=(c,), dtype=np.int64) for c in chunks)
    return columns - rows[:, None]


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> Array:
    """Dask's eye loses blocks of a matrix that is not square: https://github.com/dask/dask/issues/11937."""
    _blocks.check_device(device)
    dtype = np.dtype(dtype or np.float64)
    shape = (n_rows, n_rows if n_cols is None else n_cols)
    chunks = da.core.normalize_chunks("auto", shape=shape, dtype=dtype)
    return (_diagonal_numbers(chunks) == k).astype(dtype)


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> Array:
    """Dask's linspace accumulates rounding errors over the chunks, misses the stop, and refuses complex numbers."""
    _blocks.check_device(device)
    dtype = np.dtype(dtype or np.result_type(start, stop, np.float64))
    positions = da.arange(num, chunks=da.core.normalize_chunks("auto", shape=(num,), dtype=dtype), dtype=np.int64)
    kernel = partial(_on_line, start=start, stop=stop, intervals=num - 1 if endpoint else num, target=dtype)
    return da.map_blocks(kernel, positions, dtype=dtype, meta=_blocks.meta(positions, dtype, 1))


def _on_line(positions: Any, start: Any, stop: Any, intervals: int, target: Any) -> Any:
    """The values of NumPy's linspace at these positions."""
    start, stop = (1.0 * (x.item() if isinstance(x, np.generic) else x) for x in (start, stop))
    step = (stop - start) / (intervals or 1)
    values = positions * step if step else positions / (intervals or 1) * (stop - start)
    values = np.where((positions == intervals) & (positions > 0), stop, values + start)
    return (np.floor(values) if target.kind in "iu" else values).astype(target)


def tril(x: Array, /, *, k: int = 0) -> Array:
    """Dask's tril creates its mask in the dtype of x, which warns for complex numbers."""
    return _triangle(x, lambda numbers: numbers <= k)


def triu(x: Array, /, *, k: int = 0) -> Array:
    """Like tril, for the upper triangle."""
    return _triangle(x, lambda numbers: numbers >= k)


def _triangle(x: Array, inside: Callable[[Array], Array]) -> Array:
    return da.where(inside(_diagonal_numbers(x.chunks[-2:])), x, x.dtype.type(0))


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """NumPy's function; Dask has none."""
    return np.broadcast_shapes(*shapes)
