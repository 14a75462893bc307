"""What the other files build on: a NumPy function applied to whole axes, lazily.

Kernels are NumPy's functions, which hand chunks of other libraries (CuPy) on to these libraries.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from itertools import count, islice
from operator import getitem
from typing import Any

import array_api_compat.dask.array
import dask.array
import numpy as np

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array

da: Any = dask.array
compat: Any = array_api_compat.dask.array
"""Untyped on purpose: Dask annotates a part of its functions, and a strict checker rejects calls to the rest."""


def meta(x: Array, dtype: Any, ndim: int) -> Any:
    """An empty chunk of x's kind; made without a cast, because casting Dask's own metas warns."""
    return np.empty_like(x._meta, dtype=dtype, shape=(0,) * ndim)


def check_device(device: Any) -> None:
    """Dask's scheduler decides where chunks live, so there is nothing to choose."""
    if device not in (None, "cpu"):
        raise ValueError(f"device must be 'cpu' for a Dask array, not {device!r}")


@contextmanager
def unwarned() -> Iterator[None]:
    """Dask warns of ten times more chunks, as any product of two arrays with many chunks must have."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.PerformanceWarning)
        yield


def axis_from_front(x: Array, axis: int | None) -> Any:
    """The axis counted from the front; None stands for the only one."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"axis is needed for an array of {x.ndim} dimensions")
        return 0
    if not -x.ndim <= axis < x.ndim:
        raise IndexError(f"axis {axis} is out of bounds for an array of {x.ndim} dimensions")
    return axis % x.ndim


def solid(x: Array) -> Array:
    """x without chunks of length 0, as a filter leaves them: many of Dask's functions lose data or fail on them.

    https://github.com/dask/dask/issues/3906
    """
    chunks = tuple(tuple(length for length in axis if length != 0) or (0,) for axis in x.chunks)
    return x if chunks == x.chunks else x.rechunk(chunks)


def require_sizes(verb: str, *values: Any, cause: Exception | None = None) -> None:
    """Refuse arrays whose sizes depend on data that is not computed: NaN in a shape leads to errors, or to NaN."""
    for x in values:
        if isinstance(x, da.Array) and math.isnan(x.size):
            raise Unsupported(
                f"xo.{verb} needs the sizes of its arrays, and those of a Dask array of shape {x.shape} are not "
                f"computed yet. Instead: x.compute_chunk_sizes() first, or xo.compute(x)"
            ) from cause


def explaining(verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose errors about arrays of unknown sizes say so: Dask's complain of NaN, each in its own way."""

    @wraps(function)
    def explained(*args: Any, **kwargs: Any) -> Any:
        if verb in _NEED_SIZES:
            require_sizes(verb, *args)
        try:
            return function(*args, **kwargs)
        except ValueError as error:
            for value in (*args, *kwargs.values()):
                require_sizes(verb, *(value if isinstance(value, (list, tuple)) else (value,)), cause=error)
            raise

    return explained


_NEED_SIZES = ("cumulative_prod", "cumulative_sum", "searchsorted")
"""What does not raise: Dask makes a graph that fails when it is computed, or, with searchsorted, one that gives NaN."""


def gather(kernel: Callable[..., Any], out: Sequence[int], *operands: Any, dtype: Any, **options: Any) -> Array:
    """`dask.array.blockwise` whose kernel sees every axis that is not in ``out`` in one piece."""
    arrays, indices = operands[::2], operands[1::2]
    pieces = (
        x.rechunk({axis: -1 for axis, label in enumerate(index) if label not in out and _is_known_many(x.chunks[axis])})
        for x, index in zip(arrays, indices, strict=True)
    )
    pairs = [o for pair in zip(pieces, indices, strict=True) for o in pair]
    with unwarned():
        return da.blockwise(kernel, out, *pairs, concatenate=True, meta=meta(arrays[0], dtype, len(out)), **options)


def _is_known_many(chunks: tuple[float, ...]) -> bool:
    """Whether to rechunk, which is impossible for unknown sizes and which `blockwise` would do once per result."""
    return len(chunks) > 1 and not math.isnan(sum(chunks))


def stacked(
    kernel: Callable[..., Any], signature: str, *arrays: Array, dtypes: Sequence[Any], **sizes: int
) -> tuple[Array, ...]:
    """Apply a function of stacked matrices, such as ``"mn,mk->nk"``; only the named axes become one chunk.

    ``sizes`` gives the axes that only the results have. `dask.array.apply_gufunc` fails on empty arrays.
    """
    inputs, outputs = (side.split(",") for side in signature.split("->"))
    loops = max(x.ndim - len(core) for x, core in zip(arrays, inputs, strict=True))
    batch = tuple(range(loops))
    fresh = count(loops)
    operands: list[Any] = []
    for x, core in zip(arrays, inputs, strict=True):
        own = x.ndim - len(core)
        for axis, extent in zip(core, x.shape[own:], strict=True):
            if sizes.setdefault(axis, extent) != extent:
                raise ValueError(f"shapes {', '.join(str(a.shape) for a in arrays)} do not fit {signature}")
        operands += [x, (*batch[loops - own :], *islice(fresh, len(core)))]
    if len(outputs) > 1:
        operands = [gather(kernel, batch, *operands, dtype=dtypes[0]), batch]
    results = []
    for i, (core, dtype) in enumerate(zip(outputs, dtypes, strict=True)):
        new = dict(zip(islice(fresh, len(core)), (sizes[axis] for axis in core), strict=True))
        index = (*batch, *new)
        if len(outputs) == 1:
            results.append(gather(kernel, index, *operands, dtype=dtype, new_axes=new))
        else:
            part = meta(arrays[0], dtype, len(index))
            results.append(da.blockwise(getitem, index, *operands, i, None, new_axes=new, meta=part))
    return tuple(results)


def flat_positions(x: Array) -> Array:
    """The place of every element of x in C order, with the chunks of x."""
    if math.isnan(x.size):
        raise ValueError("the sizes of x's chunks are not known")
    positions = da.zeros((1,) * x.ndim, dtype=np.int64)
    for axis, extent in enumerate(x.shape):
        stride = math.prod(x.shape[axis + 1 :])
        steps = da.arange(extent, chunks=(x.chunks[axis],), dtype=np.int64) * stride
        positions = positions + steps[(..., *(None,) * (x.ndim - axis - 1))]
    return positions


def widened(x: Array) -> Array:
    """An operand of a product: NumPy multiplies the dtypes of ml_dtypes as float32, where Dask does not expect it."""
    return x.astype(np.float32) if x.dtype.kind == "V" else x
