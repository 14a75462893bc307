"""What the other files build on: a NumPy function applied to whole axes, lazily.

Kernels are NumPy's functions, which hand chunks of other libraries (CuPy) on to these libraries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import getitem
from typing import Any

import dask.array as da
import numpy as np

from xarrayops.plugin import Array


def meta(x: Array, dtype: Any, ndim: int) -> Any:
    """An empty chunk of x's kind; made without a cast, because casting Dask's own metas warns."""
    return np.empty_like(x._meta, dtype=dtype, shape=(0,) * ndim)


def check_device(device: Any) -> None:
    """Dask's scheduler decides where chunks live, so there is nothing to choose."""
    if device not in (None, "cpu"):
        raise ValueError(f"device must be 'cpu' for a Dask array, not {device!r}")


def gather(kernel: Callable[..., Any], out: Sequence[Any], *operands: Any, dtype: Any, **options: Any) -> Array:
    """`dask.array.blockwise` whose kernel sees every index that is not in ``out`` in one piece."""
    return da.blockwise(
        kernel, out, *operands, concatenate=True, meta=meta(operands[0], dtype, len(out)), **options
    )


def stacked(
    kernel: Callable[..., Any], signature: str, *arrays: Array, dtypes: Sequence[Any], **sizes: int
) -> tuple[Array, ...]:
    """Apply a function of stacked matrices, such as ``"mn,mk->nk"``; only the named axes become one chunk.

    ``sizes`` gives the axes that only the results have. `dask.array.apply_gufunc` fails on empty arrays.
    """
    inputs, outputs = (side.split(",") for side in signature.split("->"))
    loops = max(x.ndim - len(core) for x, core in zip(arrays, inputs, strict=True))
    operands: list[Any] = []
    for x, core in zip(arrays, inputs, strict=True):
        batch = x.ndim - len(core)
        for axis, extent in zip(core, x.shape[batch:], strict=True):
            if sizes.setdefault(axis, extent) != extent:
                raise ValueError(f"shapes {', '.join(str(a.shape) for a in arrays)} do not fit {signature}")
        operands += [x, (*range(loops - batch, loops), *core)]
    batch_index = tuple(range(loops))
    single = len(outputs) == 1
    blocks = None if single else gather(kernel, batch_index, *operands, dtype=dtypes[0])
    results = []
    for i, (core, dtype) in enumerate(zip(outputs, dtypes, strict=True)):
        new = tuple(f"{axis}{place}" for place, axis in enumerate(core))
        new_axes = dict(zip(new, (sizes[axis] for axis in core), strict=True))
        index = (*batch_index, *new)
        if single:
            results.append(gather(kernel, index, *operands, dtype=dtype, new_axes=new_axes))
        else:
            part = da.blockwise(
                getitem, index, blocks, batch_index, i, None, new_axes=new_axes, meta=meta(arrays[0], dtype, len(index))
            )
            results.append(part)
    return tuple(results)


def flat_positions(x: Array) -> Array:
    """The place of every element of x in C order, with the chunks of x."""
    positions = da.zeros((1,) * x.ndim, dtype=np.int64)
    for axis, extent in enumerate(x.shape):
        stride = math.prod(x.shape[axis + 1 :])
        steps = da.arange(extent, chunks=(x.chunks[axis],), dtype=np.int64) * stride
        positions = positions + steps[(..., *(None,) * (x.ndim - axis - 1))]
    return positions
