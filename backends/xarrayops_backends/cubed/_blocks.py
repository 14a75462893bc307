"""Shared helpers: whose Spec new arrays have, clear errors, and functions of chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import cubed
import cubed.array_api
import cubed.core.ops
import numpy as np
from cubed.primitive.blockwise import ChunkKey, FunctionArgs

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, unsupported
from xarrayops.plugin.nested import leaves

xp: Any = cubed.array_api
ops: Any = cubed.core.ops
"""Typed as Any: cubed annotates only some of its functions."""
SPEC: ContextVar[Any] = ContextVar("SPEC", default=None)
"""The Spec of the arrays of the call that runs: arrays that generic functions create in it have the same."""
DTYPES = {np.dtype(code).name for code in "?fdFD" + np.typecodes["AllInteger"]}
"""The dtypes that cubed computes: those of the standard."""
NO_SIZES = unsupported(
    "cubed has no sizes that depend on values", instead="xo.where, xo.unique_values, or xo.compute(x)"
)
LESS_MEMORY = "x.rechunk(...) to smaller chunks, or a Spec with more allowed_mem"
_WAYS = {
    "same spec": "arrays created with like=, or cubed.from_array(..., spec=x.spec)",
    "_mem": LESS_MEMORY,
    "multiple of array's chunks": "one slice after the other",
}


def refuse_others(dtypes: Iterable[Any]) -> None:
    """Raise `Unsupported` for a dtype that cubed does not compute."""
    for dtype in dtypes:
        if dtype.name not in DTYPES:
            raise Unsupported(f"cubed has no arithmetic of {dtype.name}. Instead: float32")


def spec_of(values: Iterable[Any]) -> Any:
    """The Spec of the first array among the values, which may be sequences; None without one."""
    found = (spec_of(x) if isinstance(x, (list, tuple)) else getattr(x, "spec", None) for x in values)
    return next((spec for spec in found if spec is not None), None)


@contextmanager
def explaining(verb: str, values: Iterable[Any] = ()) -> Iterator[None]:
    """New arrays have the Spec of the values; what cubed refuses raises `Unsupported`, with what to do instead."""
    values = list(values)
    token = SPEC.set(spec_of(values) or SPEC.get())
    try:
        yield
    except TypeError:
        refuse_others(x.dtype for x in leaves(values) if isinstance(x, cubed.Array))
        raise
    except (NotImplementedError, ValueError) as error:
        way = next((way for words, way in _WAYS.items() if words in str(error)), None)
        if isinstance(error, Unsupported) or (way is None and isinstance(error, ValueError)):
            raise
        raise Unsupported(f"xo.{verb}: {error}. Instead: {way or 'xo.compute(x), which is a NumPy array'}") from error
    finally:
        SPEC.reset(token)


class Made(NamedTuple):
    """What an array is like."""

    shape: tuple[int, ...]
    dtype: Any
    chunks: tuple[tuple[int, ...], ...]


def of_chunks(kernel: Callable[..., Any], places: Callable[..., Any], *arrays: Array, like: Any = None) -> Array:
    """A chunk from one chunk of each array: ``places`` gives their coordinates from those of the result.

    The result has the shape, dtype and chunks of ``like``; default: the first array.
    """
    like = arrays[0] if like is None else like

    def keys(out: Any) -> Any:
        chunks = zip(arrays, places(out.coords), strict=True)
        return FunctionArgs(*(ChunkKey(y.name, place) for y, place in chunks), output_name=out.name)

    made = {"shapes": [like.shape], "dtypes": [like.dtype], "chunkss": [like.chunks]}
    extra = 2 * sum(y.chunkmem for y in arrays)  # NumPy's functions copy their arguments
    return ops.general_blockwise(kernel, keys, *arrays, **made, extra_projected_mem=extra)


def merged(merge: Callable[..., Any], size: int, parts: Array) -> Array:
    """The parts, each of which has ``size`` elements along the first axis, merged by a tree.

    ``merge`` takes an array (n, size, ...).
    """

    def combine(found: Any, **options: Any) -> Any:
        return merge(found.reshape(-1, size, *found.shape[1:]))

    return ops.tree_reduce(parts, combine, 0, parts.dtype, split_every=4, combine_sizes={0: size})
