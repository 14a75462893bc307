"""The functions and hooks of the backend. The only device is the CPU."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import cubed
import numpy as np
from cubed.array_api.manipulation_functions import reshape_chunks as _reshape_chunks
from cubed.utils import memory_repr as _memory_repr

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Call, Gap, Index, Memory, unsupported
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.generic import HOOKS, blocks_sorting as _sorting, common, counting
from xarrayops.plugin.host import refuse_discarding
from xarrayops.plugin.indexing import UFUNCS
from xarrayops_backends.cubed import _blocks
from xarrayops_backends.cubed._blocks import xp as _xp
from xarrayops_backends.numpy._indexing import UPDATES

_numpy = backend_by_name("numpy").functions
_absent = unsupported("cubed does not have it", instead="xo.compute(x), which is a NumPy array")
fft_fft = fft_ifft = fft_fftn = fft_ifftn = fft_rfft = fft_irfft = fft_rfftn = fft_irfftn = fft_hfft = _absent
fft_ihfft = fft_fftfreq = fft_rfftfreq = fft_fftshift = fft_ifftshift = linalg_cholesky = linalg_cross = _absent
linalg_det = linalg_diagonal = linalg_eig = linalg_eigh = linalg_eigvals = linalg_eigvalsh = linalg_inv = _absent
linalg_matrix_norm = linalg_matrix_power = linalg_matrix_rank = linalg_pinv = linalg_slogdet = _absent
linalg_solve = linalg_trace = linalg_vector_norm = take_along_axis = _absent
from_dlpack = unsupported("a cubed array does not share memory", instead='xo.convert(x, "cubed")')
nonzero = unique_all = unique_counts = unique_inverse = unsupported(
    "cubed has no sizes that depend on values", instead="xo.where, xo.unique_values, or xo.compute(x)"
)


NO_STRIDES = Gap("a cubed array has no strides, but its chunks have", "xo.compute(x), which is a NumPy array")
as_strided = unsupported(NO_STRIDES.why, instead="xo.sliding_window_view, or xo.compute(x)")
pin_memory = unsupported("the chunks of a cubed array are not computed yet", instead="xo.compute(x)")


class _Place(str):
    """The device of an array: "cpu", with the Spec of the array, for arrays made ``like=`` it."""

    __slots__ = ("spec",)
    spec: Any


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
    if not arrays:
        return ""
    needs, allowed = cubed.plan(*arrays).max_projected_mem, arrays[0].spec.allowed_mem
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


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Array:
    """A sequence that contains cubed arrays is stacked; NumPy makes arrays of other objects."""
    if isinstance(obj, cubed.Array):
        x = obj if dtype in (None, obj.dtype) else astype(obj, dtype)
        spec = getattr(device, "spec", None) or x.spec
        return x if spec == x.spec and not copy else cubed.Array(x.name, x._zarray, spec, x._plan)
    if isinstance(obj, (list, tuple)) and _blocks.spec_of(obj) is not None:
        return _xp.stack([asarray(member, dtype=dtype, device=device) for member in obj])
    return from_numpy(np.asarray(_numpy["asarray"](obj, dtype=dtype)), device)


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """cubed's astype, which would discard imaginary parts."""
    refuse_discarding(x.dtype, dtype)
    return _xp.astype(x, np.dtype(dtype), copy=copy)


def reshape(x: Array, /, shape: Any, *, copy: bool | None = None) -> Array:
    """cubed's reshape; for irregular chunks and unevenly split axes, by way of a vector in chunks of whole rows."""
    try:
        return _xp.reshape(x, tuple(shape))
    except (NotImplementedError, ValueError):
        if -1 not in shape and math.prod(shape) != x.size:
            raise
    shape = tuple(x.size // -math.prod(shape) if n == -1 else n for n in shape)
    size, rows, new_rows = (math.prod(extents) for extents in (x.chunksize, x.shape[1:], shape[1:]))
    x = x.rechunk((max(size // rows, 1), *x.shape[1:]))
    flat = _reshape_chunks(x, (x.size,), (x.chunksize[0] * rows,))
    count = min(max(size // new_rows, 1), shape[0])
    return _reshape_chunks(flat.rechunk((count * new_rows,)), shape, (count, *shape[1:]))


def concat(arrays: Any, /, *, axis: int | None = 0) -> Array:
    """cubed's concat, which reads wrong elements of chunks that differ along the axis, of promoted arrays."""
    arrays, axis = ([reshape(x, (-1,)) for x in arrays], 0) if axis is None else (arrays, axis)
    dtype, size = np.result_type(*(x.dtype for x in arrays)), max(x.chunksize[axis] for x in arrays)
    arrays = [x.rechunk({axis: max(min(size, x.shape[axis]), 1)}) if x.size else x for x in arrays]
    return _xp.concat([astype(x, dtype, copy=False) for x in arrays], axis=axis)


def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """cubed's take, which returns x itself for as many indices as elements: one index is added, and dropped."""
    x, axis = (reshape(x, (-1,)), 0) if axis is None else (x, range(x.ndim)[axis])
    before, places = (slice(None),) * axis, np.ravel(compute(indices)[0])
    added = np.append(places, 0) if len(places) == x.shape[axis] else places
    found = x[(*before, added if len(added) else slice(0, 0))][(*before, slice(0, len(places)))]
    return reshape(found, (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))


def searchsorted(x1: Array, x2: Any, /, *, side: str = "left", sorter: Array | None = None) -> Array:
    """The sum over the chunks of x1, each of which is sorted, of the positions in it."""
    x1, x2 = x1 if sorter is None else take(x1, sorter), asarray(x2)
    axes, options = [*range(1, x2.ndim + 1)], {"dtype": np.dtype(np.int64), "adjust_chunks": {0: 1}}
    parts = _blocks.ops.blockwise(partial(_positions, side=side), [0, *axes], x1, [0], x2, axes, **options)
    return _xp.sum(parts, axis=0)


def _positions(part: Any, values: Any, side: Any) -> Any:
    return np.searchsorted(part, values, side=side)[None]


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Each chunk is sorted, then chunks are merged in pairs until all are in order."""
    axis = range(x.ndim)[axis]
    kernel = partial(_numpy["sort"], axis=axis, descending=descending)
    x = _blocks.ops.map_blocks(kernel, x, dtype=x.dtype)
    for partners in _sorting.network(x.numblocks[axis]):
        x = _step(kernel, axis, partners, x)
    return x


def _step(kernel: Callable[..., Any], axis: int, partners: list[int], x: Array) -> Array:
    def places(place: Any) -> Any:
        return place, (*place[:axis], partners[place[axis]], *place[axis + 1 :])

    def merge(block: Any, other: Any, block_id: Any = None) -> Any:
        here, there = block_id[axis], partners[block_id[axis]]
        return block if here == there else _sorting.merged(np, kernel, block, other, axis, is_first=here < there)

    return _blocks.of_chunks(merge, places, x, x)


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """NumPy's function of chunks that hold the axis."""
    kernel = partial(_numpy["argsort"], axis=axis, descending=descending, stable=stable)
    whole = x.rechunk({axis: x.shape[axis]})
    return _blocks.ops.map_blocks(kernel, whole, dtype=np.dtype(np.int64), extra_projected_mem=2 * whole.chunkmem)


def unique_values(x: Array, /) -> Array:
    """Computed in the call: the distinct numbers of the chunks are merged by a tree, and each NaN is one more value."""
    if not x.size:
        return reshape(x, (0,))
    size = min(x.size, (x.spec.allowed_mem - x.spec.reserved_mem) // (16 * x.dtype.itemsize))
    merge, flat = partial(_distinct, size=size), reshape(x, (-1,))
    parts = _blocks.ops.map_blocks(merge, flat, dtype=x.dtype, chunks=((size,) * flat.npartitions,))
    values = np.unique(compute(_blocks.merged(merge, size, parts))[0])
    nans = int(_xp.count_nonzero(x != x)) if x.dtype.kind in "fc" else 0
    return from_numpy(np.append(values[values == values], np.full(nans, np.nan).astype(x.dtype)), device(x))


def _distinct(block: Any, size: int) -> Any:
    """The distinct numbers, followed by the last of them, or NaNs, up to the given size."""
    values = np.unique(block[block == block])
    if len(values) > size:
        raise Unsupported(f"x has more than {size} distinct values. Instead: a Spec with more allowed_mem")
    return np.append(values, np.full(size - len(values), values[-1] if len(values) else np.nan, block.dtype))


def _segments(name: str, merge: np.ufunc) -> Callable[..., Array]:
    """NumPy's function of each chunk; the results are combined by a tree, sums in double precision."""

    def segment(x: Array, /, segment_ids: Array, num_segments: int | None = None) -> Array:
        space, dtype, axes = backend_by_name("cubed").namespace, x.dtype, [*range(x.ndim)]
        count = counting.segments(space, x, segment_ids, num_segments)
        kernel = partial(_numpy[name], num_segments=count)
        if not x.size or not count:
            return from_numpy(kernel(np.zeros(x.shape, dtype), np.full(x.shape[:1], -1)), device(x))
        if merge is np.add:
            dtype = np.dtype(np.int64) if dtype.kind == "b" else dtype
            x = common.doubled(space, counting.counted_booleans(space, x))
        options = {"dtype": x.dtype, "adjust_chunks": {0: count}, "extra_projected_mem": 2 * x.chunkmem}
        parts = _blocks.ops.blockwise(kernel, axes, x, axes, segment_ids, [0], **options)
        return astype(_blocks.merged(partial(merge.reduce, axis=0, dtype=x.dtype), count, parts), dtype, copy=False)

    return segment


segment_sum, segment_max, segment_min = map(
    _segments, ("segment_sum", "segment_max", "segment_min"), (np.add, np.maximum, np.minimum)
)


def _of_tall(name: str, **fixed: Any) -> Callable[..., Any]:
    def call(x: Array, /, *, mode: str = "reduced", full_matrices: bool = False) -> Any:
        """cubed's function, of a tall matrix."""
        if x.ndim != 2 or x.shape[0] < x.shape[1] or mode != "reduced" or full_matrices:
            raise Unsupported(f"cubed has the reduced linalg.{name} of tall matrices only. Instead: xo.compute(x)")
        x = x.rechunk((max(x.chunksize[0], x.shape[1]), x.shape[1]))
        if x.numblocks[0] == 1 or x.chunks[0][-1] < x.shape[1]:
            raise Unsupported(
                f"linalg.{name} needs several chunks, each with more rows than columns. Instead: xo.compute(x)"
            )
        return getattr(_xp.linalg, name)(x, **fixed)

    return call


linalg_qr, linalg_svd, linalg_svdvals = _of_tall("qr"), _of_tall("svd", full_matrices=False), _of_tall("svdvals")


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
