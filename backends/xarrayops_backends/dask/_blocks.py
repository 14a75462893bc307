"""Shared helpers: apply a NumPy function lazily to blocks that contain whole axes.

The kernels are NumPy functions. NumPy dispatches chunks of other libraries (CuPy) to those libraries.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial, wraps
from itertools import count, islice, product
from operator import getitem
from typing import Any

import array_api_compat.dask.array
import dask.array
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Gap
from xarrayops.plugin.host import NUMBERS, gap_of

da: Any = dask.array
compat: Any = array_api_compat.dask.array
"""Typed as Any: Dask annotates only some of its functions, and a strict type checker rejects calls to the others."""
UNKNOWN_SIZES = Gap(
    "sizes that are not computed yet",
    'xo.convert(xo.compute(x), "dask"), which computes x; in code for Dask alone, x.compute_chunk_sizes() computes the '
    "sizes only",
)


def meta(x: Array, dtype: Any, ndim: int) -> Any:
    """An empty chunk of the same array type as x. It is created without a cast, because casting Dask's metas warns."""
    return np.empty_like(x._meta, dtype=dtype, shape=(0,) * ndim)


def check_device(device: Any) -> None:
    """Accept only the CPU: Dask's scheduler decides where the chunks are."""
    if device not in (None, "cpu"):
        raise ValueError(f"device must be 'cpu' for a Dask array, not {device!r}")


@contextmanager
def without_chunk_warnings() -> Iterator[None]:
    """Silence Dask's warning about ten times more chunks, which a product of arrays with many chunks always has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.PerformanceWarning)
        yield


def axis_from_front(x: Array, axis: int | None) -> Any:
    """The axis as a non-negative number; None is allowed for a 1-d array."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"axis is required for an array of {x.ndim} dimensions")
        return 0
    if not -x.ndim <= axis < x.ndim:
        raise IndexError(f"axis {axis} is out of bounds for an array of {x.ndim} dimensions")
    return axis % x.ndim


def without_empty_chunks(x: Array) -> Array:
    """x without chunks of length 0, which a filter can leave. Many Dask functions lose data or fail on such chunks.

    https://github.com/dask/dask/issues/3906
    """
    chunks = tuple(tuple(length for length in axis if length != 0) or (0,) for axis in x.chunks)
    return x if chunks == x.chunks else x.rechunk(chunks)


def require_sizes(verb: str, *values: Any, cause: Exception | None = None) -> None:
    """Refuse arrays whose sizes are unknown: NaN in a shape leads to unclear errors, or to results of NaN."""
    for x in values:
        if isinstance(x, da.Array) and math.isnan(x.size):
            raise Unsupported(
                f"xo.{verb} needs the sizes of its arrays, but the Dask array of shape {x.shape} has {UNKNOWN_SIZES}"
            ) from cause


def requiring_known_shape(verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that creates an array, with a clear error for a shape of sizes that are not computed yet."""

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        for size in args[: SIZES[verb]]:
            fractions = [each for each in (size if isinstance(size, (list, tuple)) else (size,)) if type(each) is float]
            if any(map(math.isnan, fractions)):
                raise Unsupported(
                    f"the shape of a new array must be known, but {size} has {UNKNOWN_SIZES}; x is the Dask array that "
                    f"has this shape"
                )
            if fractions:  # Dask accepts them
                raise TypeError(f"sizes must be integers, not {size}")
        return function(*args, **kwargs)

    return checked


SIZES = {"empty": 1, "eye": 2, "full": 1, "ones": 1, "zeros": 1}
"""How many arguments of functions that create arrays are sizes or shapes; they come first."""


def refusing(verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with clear errors for arrays that are not numeric, have masks, or have unknown sizes.

    Dask itself raises when such arrays are computed, and mentions NaN in various ways.
    """

    @wraps(function)
    def explained(*args: Any, **kwargs: Any) -> Any:
        for x in args:
            require_numbers(verb, x)
        if verb in _NEED_SIZES:
            require_sizes(verb, *args)
        try:
            return function(*args, **kwargs)
        except ValueError as error:
            for value in (*args, *kwargs.values()):
                require_sizes(verb, *(value if isinstance(value, (list, tuple)) else (value,)), cause=error)
            raise

    return explained


def require_numbers(verb: str, x: Any) -> None:
    """Raise if x is an array that is not numeric, or has a mask, or if a member of a sequence is one."""
    if isinstance(x, (list, tuple)):
        for member in x:
            require_numbers(verb, member)
    elif isinstance(x, da.Array):
        gap = refusal_of_elements(x)
        if gap is not None:
            raise Unsupported(f"xo.{verb}: {gap}")


def refusal_of_elements(x: Array) -> Gap | None:
    """Why functions of numbers do not take the elements of x, or None."""
    refusal = refusal_of_chunks(x)
    if refusal is not None:
        return refusal
    if isinstance(x._meta, np.ma.MaskedArray):
        return Gap("a masked array has a mask that no standard function respects", "dask.array.ma.filled(x, value)")
    return None if x.dtype.kind in NUMBERS else gap_of(x.dtype)


def refusal_of_chunks(x: Array) -> Gap | None:
    """Why chunks of this class are not served, or None. Dask cannot join those of PyTorch, and NumPy's take JAX's."""
    cls: Any = type(x._meta)
    if _are_served(cls):
        return None
    instead = f'x.map_blocks(xo.convert, "numpy", dtype="{str(x._meta.dtype).rpartition(".")[2]}")'
    if hasattr(cls, "todense"):
        instead = "x.map_blocks(lambda chunk: chunk.todense(), dtype=x.dtype, meta=numpy.empty(0))"
    name = f"{cls.__module__.partition('.')[0]}.{cls.__qualname__}"
    return Gap(f"the chunks of a Dask array must be NumPy or CuPy arrays, and these are {name}", instead)


@cache
def _are_served(cls: type) -> bool:
    is_cupys = any(base.__module__.partition(".")[0] == "cupy" for base in cls.__mro__)
    return is_cupys or issubclass(cls, (np.ndarray, np.generic))


_NEED_SIZES = ("argmax", "argmin", "corrcoef", "cov", "cumulative_prod", "cumulative_sum", "diag", "searchsorted")
"""Checked before the call: here Dask returns a graph that fails later, or that gives NaN (cov, searchsorted)."""


def gather(kernel: Callable[..., Any], out: Sequence[int], *operands: Any, dtype: Any, **options: Any) -> Array:
    """`dask.array.blockwise` in which every axis that is not in ``out`` is a single chunk."""
    arrays, indices = operands[::2], operands[1::2]
    pieces = (
        x.rechunk({axis: -1 for axis, label in enumerate(index) if label not in out and _is_known_many(x.chunks[axis])})
        for x, index in zip(arrays, indices, strict=True)
    )
    pairs = [o for pair in zip(pieces, indices, strict=True) for o in pair]
    with without_chunk_warnings():
        return da.blockwise(kernel, out, *pairs, concatenate=True, meta=meta(arrays[0], dtype, len(out)), **options)


def _is_known_many(chunks: tuple[float, ...]) -> bool:
    """Whether to rechunk first: impossible for unknown sizes, and `blockwise` itself would do it once per result."""
    return len(chunks) > 1 and not math.isnan(sum(chunks))


def stacked(
    kernel: Callable[..., Any], signature: str, *arrays: Array, dtypes: Sequence[Any], **sizes: int
) -> tuple[Array, ...]:
    """Apply a function of stacks of matrices with a signature such as ``"mn,mk->nk"``.

    Only the axes named in the signature become one chunk. ``sizes`` gives the extents of axes that only the results
    have. `dask.array.apply_gufunc` is not used because it fails on empty arrays.
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
                raise ValueError(
                    f"shapes {', '.join(str(a.shape) for a in arrays)} do not fit the signature {signature}"
                )
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


def merged(x: Array, count: int) -> Array:
    """x with its last axes merged into one, whose elements are in the order of the chunks: no chunk is moved."""
    if count == 1:
        return x
    rest = x.ndim - count
    extents = product(*x.chunks[rest:])
    name = f"merged-{tokenize(x.name, count)}"
    places = {place: i for i, place in enumerate(product(*map(range, x.numblocks[rest:])))}
    graph: dict[Any, Any] = {
        (name, *place[:rest], places[place[rest:]]): (partial(_merged_axes, count=count), (x.name, *place))
        for place in product(*map(range, x.numblocks))
    }
    layers = HighLevelGraph.from_collections(name, graph, dependencies=[x])
    return da.Array(layers, name, (*x.chunks[:rest], tuple(map(math.prod, extents))), meta=meta(x, x.dtype, rest + 1))


def broadcast_by_chunks(x: Array, chunks: tuple[tuple[int, ...], ...]) -> Array:
    """x, broadcast to the shape of these chunks, which its new axes get. Dask gives them one chunk."""
    lead = len(chunks) - x.ndim
    own = (
        *chunks[:lead],
        *(old if n > 1 else new for n, old, new in zip(x.shape, x.chunks, chunks[lead:], strict=True)),
    )
    return da.broadcast_to(x, tuple(map(sum, chunks)), chunks=own)


def _merged_axes(chunk: Any, count: int) -> Any:
    return chunk.reshape(*chunk.shape[: chunk.ndim - count], -1)


def flat_positions(x: Array) -> Array:
    """The flat index (in C order) of every element of x, with the chunks of x."""
    if math.isnan(x.size):
        raise ValueError("the sizes of the chunks of x are not known")
    positions = da.zeros((1,) * x.ndim, dtype=np.int64)
    for axis, extent in enumerate(x.shape):
        stride = math.prod(x.shape[axis + 1 :])
        steps = da.arange(extent, chunks=(x.chunks[axis],), dtype=np.int64) * stride
        positions = positions + steps[(..., *(None,) * (x.ndim - axis - 1))]
    return positions


def widened(x: Array) -> Array:
    """Cast a product's operand of half precision or less: blocks are multiplied and added in float32."""
    return x.astype(np.float32) if x.dtype.kind in "fV" and x.dtype.itemsize < 4 else x
