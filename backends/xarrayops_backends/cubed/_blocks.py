"""Shared helpers: whose Spec new arrays have, clear errors, and functions of chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import prod
from typing import Any

import cubed.array_api
import cubed.core.ops
import numpy as np
from cubed.primitive.blockwise import ChunkKey, FunctionArgs

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array

xp: Any = cubed.array_api
ops: Any = cubed.core.ops
"""Typed as Any: cubed annotates only some of its functions."""
SPEC: ContextVar[Any] = ContextVar("SPEC", default=None)
"""The Spec of the arrays of the call that runs: arrays that generic functions create in it have the same."""
LESS_MEMORY = "x.rechunk(...) to smaller chunks, or a Spec with more allowed_mem"
_WAYS = {"_mem": LESS_MEMORY, "same spec": "arrays created with like=, or cubed.from_array(..., spec=x.spec)"}


def spec_of(values: Iterable[Any]) -> Any:
    """The Spec of the first array among the values, which may be sequences; None without one."""
    found = (spec_of(x) if isinstance(x, (list, tuple)) else getattr(x, "spec", None) for x in values)
    return next((spec for spec in found if spec is not None), None)


@contextmanager
def explaining(verb: str, values: Iterable[Any] = ()) -> Iterator[None]:
    """New arrays have the Spec of the values; what cubed refuses raises `Unsupported`, with what to do instead."""
    token = SPEC.set(spec_of(values) or SPEC.get())
    try:
        yield
    except (NotImplementedError, ValueError) as error:
        way = next((way for words, way in _WAYS.items() if words in str(error)), None)
        if isinstance(error, Unsupported) or (way is None and isinstance(error, ValueError)):
            raise
        raise Unsupported(f"xo.{verb}: {error}. Instead: {way or 'xo.compute(x), which is a NumPy array'}") from error
    finally:
        SPEC.reset(token)


def of_chunks(kernel: Callable[..., Any], places: Callable[..., Any], *arrays: Array, **result: Any) -> Array:
    """A function of one chunk of each array: ``places`` gives their coordinates from those of a chunk of the result.

    The result is like the first array, except for the ``shape``, the ``chunks`` and the ``dtype`` that are given.
    """

    def keys(out: Any) -> Any:
        chunks = zip(arrays, places(out.coords), strict=True)
        return FunctionArgs(*(ChunkKey(x.name, place) for x, place in chunks), output_name=out.name)

    made = {f"{name}s": [result.get(name, getattr(arrays[0], name))] for name in ("shape", "dtype", "chunks")}
    extra = 2 * sum(x.chunkmem for x in arrays)  # NumPy's functions copy their arguments
    return ops.general_blockwise(kernel, keys, *arrays, **made, extra_projected_mem=extra)


def along(kernel: Callable[..., Any], axis: int, dtype: Any, *arrays: Array) -> Array:
    """A function of chunks that hold a whole axis; its result has the shape of the first array."""
    axis, chunk = range(arrays[0].ndim)[axis], arrays[0].chunksize
    whole = [x.rechunk((*chunk[:axis], x.shape[axis], *chunk[axis + 1 :])) for x in arrays]
    return of_chunks(kernel, lambda place: [place] * len(whole), *whole, dtype=dtype)


def reduced(first: Callable[..., Any], merge: Callable[..., Any], size: int, *arrays: Array) -> Array:
    """A vector of ``size`` elements: ``first`` of the chunks at each place, merged by a tree.

    ``merge`` takes an array (n, size). The other arrays have the first axes of the first one.
    """
    counts, dtype = arrays[0].numblocks, arrays[0].dtype

    def places(coords: Any) -> Any:
        place = tuple(map(int, np.unravel_index(coords[0], counts))) if counts else ()
        return [place[: x.ndim] for x in arrays]

    def combine(parts: Any, **options: Any) -> Any:
        return merge(parts.reshape(-1, size))

    total = prod(counts)
    parts = of_chunks(first, places, *arrays, shape=(total * size,), chunks=((size,) * total,))
    return ops.tree_reduce(parts, combine, 0, dtype, split_every=4, combine_sizes={0: size})
