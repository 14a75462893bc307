"""Laziness, computation, exchange, the memory of a call, and ``xo.at``. The only device is the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cubed
import numpy as np
from cubed.utils import memory_repr as _memory_repr

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Call, Gap, Index, Memory, unsupported
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.generic import HOOKS
from xarrayops.plugin.indexing import UFUNCS
from xarrayops_backends.cubed import _blocks
from xarrayops_backends.cubed._blocks import xp as _xp
from xarrayops_backends.numpy._indexing import UPDATES

NO_STRIDES = Gap("a cubed array has no strides, but its chunks have", "xo.compute(x), which is a NumPy array")
as_strided = unsupported(NO_STRIDES.why, instead="xo.sliding_window_view, or xo.compute(x)")
pin_memory = unsupported("the chunks of a cubed array are not computed yet", instead="xo.compute(x)")


class _Place(str):
    """The device of an array: "cpu", with the Spec of the array, for arrays made ``like=`` it."""

    __slots__ = ("spec",)


def device(x: Array, /) -> Any:
    """The CPU, with the Spec of x."""
    place = _Place("cpu")
    place.spec = x.spec
    return place


def is_lazy(x: Array, /) -> bool:
    """Always True: even an array that was created from a NumPy array is a plan."""
    return True


def compute(*arrays: Array) -> tuple[Any, ...]:
    """The values as NumPy arrays, in one run."""
    with _blocks.explaining("compute"):
        return tuple(map(np.asarray, cubed.compute(*arrays)))


def persist(*arrays: Array) -> tuple[Array, ...]:
    """The arrays with their chunks in the store of their Spec."""
    with _blocks.explaining("persist"):
        cubed.compute(*arrays, _return_in_memory_array=False)
    return tuple(map(_stored, arrays))


def _stored(x: Array) -> Array:
    """x as it was computed. An array without a store is a number or a NumPy array."""
    return cubed.from_array(x._zarray.open(), spec=x.spec) if x.size and hasattr(x._zarray, "open") else x


def planned(function: Callable[..., Any], call: Call, /) -> str:
    """The memory that cubed projects for the largest task."""
    with cubed.config.set({"executor_name": "raise-if-computes"}):
        try:
            found = function(*call.args, **call.kwargs)
        except RuntimeError:
            return "a shape depends on values, which the call computes first"
    arrays = [x for x in (found if isinstance(found, (list, tuple)) else [found]) if isinstance(x, cubed.Array)]
    needs = cubed.plan(*arrays).max_projected_mem if arrays else 0
    allowed = arrays[0].spec.allowed_mem if arrays else 0
    text = f"cubed projects {_memory_repr(needs)} for a task, and allowed_mem is {_memory_repr(allowed)}"
    if needs > allowed:
        raise Unsupported(f"{text}. Instead: {_blocks.LESS_MEMORY}")
    return text


def alias_refusal(memory: Memory, /, *, forced: bool) -> str | None:
    """A later write would change the result of the plan."""
    return "a cubed array is a plan, which must not depend on memory that may change"


def to_numpy(x: Array, /) -> Any:
    """The computed values."""
    return compute(x)[0]


def from_numpy(a: Any, device: Any, /) -> Array:
    """A plan over a private copy in native byte order, in chunks that cubed chooses."""
    spec = getattr(device, "spec", None) or _blocks.SPEC.get()
    a = np.array(a, dtype=a.dtype.newbyteorder("="), copy=True)
    # cubed keeps at most a megabyte in the plan itself
    return _xp.asarray(a, spec=spec) if a.nbytes <= 10**6 else cubed.from_array(a, spec=spec)


def update(x: Array, index: Index, op: str, value: Any, /, *, copy: bool | None) -> Array:
    """Always a new array. One value at a mask or at slices keeps the chunks of all.

    Otherwise a task gets a chunk of x, and all positions and values.
    """
    if copy is False:
        raise Unsupported("a cubed array cannot be updated in place. Instead: copy=None, and use the result")
    selection, space = index.selection(x.shape), backend_by_name("cubed").namespace
    value = space.astype(space.asarray(value), x.dtype, copy=False)
    mask = index.lone_mask(selection)
    if not value.ndim and (index.is_basic or (mask is not None and mask.ndim == x.ndim)):
        new = value if op == "set" else space.astype(getattr(_xp, UFUNCS[op])(x, value), x.dtype)
        return _xp.where(_is_selected(x, selection.basic) if mask is None else mask, new, x)
    places = HOOKS["select"](space, space.reshape(space.arange(x.size), x.shape), index, copy=None)
    value = _xp.broadcast_to(space.reshape(value, index.counted(selection).padded(value.shape)), places.shape)
    return _scattered(x, places, value, op) if places.size else x


def _is_selected(x: Array, basic: tuple[Any, ...]) -> Array:
    """Whether each element is among those of a basic index."""
    found = from_numpy(np.asarray(True), None)
    for axis, (entry, n) in enumerate(zip((e for e in basic if e is not None), x.shape, strict=True)):
        chosen = from_numpy(np.isin(np.arange(n), np.arange(n)[entry]), None)
        found = found & chosen[(slice(None), *(None,) * (x.ndim - axis - 1))]
    return found


def _scattered(x: Array, places: Array, value: Array, op: str) -> Array:
    """x updated at flat positions."""
    whole = [y.rechunk(y.shape) for y in (places, value)]
    shape, chunk = x.shape, x.chunksize

    def kernel(block: Any, places: Any, value: Any, block_id: Any = None) -> Any:
        index = [i - k * n for i, k, n in zip(np.unravel_index(places, shape), block_id, chunk, strict=True)]
        is_here = np.ones(places.shape, bool)
        for i, n in zip(index, block.shape, strict=True):
            is_here &= (i >= 0) & (i < n)
        block, target = np.array(block), tuple(i[is_here] for i in index)
        if op == "set":
            block[target] = value[is_here]
        else:
            UPDATES[op].at(block, target, value[is_here])
        return block

    return _blocks.of_chunks(kernel, lambda place: [place, *((0,) * y.ndim for y in whole)], x, *whole)
