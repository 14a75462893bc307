"""Functions of the standard that cubed lacks or computes differently."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import cubed
import numpy as np
from cubed.array_api.manipulation_functions import reshape_chunks as _reshape_chunks
from cubed.utils import normalize_chunks as _normalize_chunks

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, unsupported
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.generic import blocks_sorting as _sorting
from xarrayops.plugin.host import refuse_discarding
from xarrayops_backends.cubed import _blocks
from xarrayops_backends.cubed._blocks import xp as _xp
from xarrayops_backends.cubed._devices import compute, device
from xarrayops_backends.cubed._exchange import from_numpy

_numpy = backend_by_name("numpy").functions
_absent = unsupported("cubed does not have it", instead="xo.compute(x), which is a NumPy array")
fft_fft = fft_ifft = fft_fftn = fft_ifftn = fft_rfft = fft_irfft = fft_rfftn = fft_irfftn = fft_hfft = _absent
fft_ihfft = fft_fftfreq = fft_rfftfreq = fft_fftshift = fft_ifftshift = linalg_cross = linalg_matrix_rank = _absent
linalg_pinv = linalg_solve = _absent
unique_all = unique_counts = unique_inverse = unique = _blocks.NO_SIZES


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Array:
    """A sequence that contains cubed arrays is stacked; NumPy makes arrays of other objects."""
    if isinstance(obj, cubed.Array):
        x = obj if dtype is None else astype(obj, dtype, copy=False)  # NumPy's float64 equals None
        spec = getattr(device, "spec", None) or x.spec
        return x if spec == x.spec and not copy else cubed.Array(x.name, x._zarray, spec, x._plan)
    if isinstance(obj, (list, tuple)) and _blocks.spec_of(obj) is not None:
        return _xp.stack([asarray(member, dtype=dtype, device=device) for member in obj])
    return from_numpy(np.asarray(_numpy["asarray"](obj, dtype=dtype)), device)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """Always a copy: a plan must not depend on memory that may change."""
    if copy is False and not isinstance(x, cubed.Array):
        raise ValueError("cubed always copies the memory of other libraries. Instead: copy=None")
    return asarray(x if isinstance(x, cubed.Array) else np.from_dlpack(x), device=device, copy=copy)


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """cubed's astype, which would discard imaginary parts."""
    refuse_discarding(x.dtype, dtype)
    _blocks.refuse_others([np.dtype(dtype)])
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


def broadcast_to(x: Array, /, shape: Any) -> Array:
    """cubed's broadcast_to, which makes one chunk of each element along new axes."""
    sizes = (*(("auto",) * (len(shape) - x.ndim)), *x.chunksize)
    old = (*((1,) * (len(shape) - x.ndim)), *x.shape)
    if x.shape == tuple(shape) or len(old) != len(shape) or 0 in shape:
        return _xp.broadcast_to(x, tuple(shape))
    sizes = tuple(size if n == m else "auto" for size, n, m in zip(sizes, old, shape, strict=True))
    return _xp.broadcast_to(x, tuple(shape), chunks=_normalize_chunks(sizes, tuple(shape), dtype=x.dtype))


def concat(arrays: Any, /, *, axis: int | None = 0) -> Array:
    """cubed's concat, which reads wrong elements of chunks that differ along the axis, of promoted arrays."""
    arrays, axis = ([reshape(x, (-1,)) for x in arrays], 0) if axis is None else (arrays, range(arrays[0].ndim)[axis])
    dtype = np.result_type(*(x.dtype for x in arrays))
    shape = np.concatenate([np.empty(x.shape, "V0") for x in arrays], axis=axis).shape
    full = [astype(x, dtype, copy=False) for x in arrays if x.size]
    if not full:
        return from_numpy(np.empty(shape, dtype), device(arrays[0]))
    size = max(x.chunksize[axis] for x in full)
    return _xp.concat([x.rechunk({axis: min(size, x.shape[axis])}) for x in full], axis=axis)


def stack(arrays: Any, /, *, axis: int = 0) -> Array:
    """Joined along a new axis: cubed's stack reads chunks that differ as if they did not."""
    return concat([_xp.expand_dims(x, axis=axis) for x in arrays], axis=axis)


def roll(x: Array, /, shift: Any, *, axis: Any = None) -> Array:
    """Two slices joined along each axis, in the chunks of x."""
    flat = reshape(x, (-1,)) if axis is None else x
    shifts, axes = np.broadcast_arrays(np.atleast_1d(shift), np.atleast_1d(0 if axis is None else axis))
    for n, i in zip(shifts.tolist(), axes.tolist(), strict=True):
        before, n = (slice(None),) * range(flat.ndim)[i], -n % flat.shape[i]
        if n:
            flat = concat([flat[(*before, slice(n, None))], flat[(*before, slice(0, n))]], axis=i)
    return reshape(flat, x.shape)


def _placed(x: Array, places: Any, axis: int, shape: tuple[int, ...]) -> Array:
    """The elements at NumPy's positions. cubed returns x itself for as many as there are: one is added, and dropped."""
    before = (slice(None),) * axis
    added = np.append(places, 0) if len(places) == x.shape[axis] else places
    found = x[(*before, added if len(added) else slice(0, 0))][(*before, slice(0, len(places)))]
    return reshape(found, (*x.shape[:axis], *shape, *x.shape[axis + 1 :]))


def _along(x: Array, axis: int | None) -> tuple[Array, int]:
    """x as a vector if there is no axis, and the axis."""
    return (reshape(x, (-1,)), 0) if axis is None else (x, range(x.ndim)[axis])


def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """Computes the indices."""
    x, axis = _along(x, axis)
    return _placed(x, np.ravel(compute(indices)[0]), axis, indices.shape)


def repeat(x: Array, repeats: Any, /, *, axis: int | None = None) -> Array:
    """cubed's repeat; an array of repeats is computed."""
    x, axis = _along(x, axis)
    if isinstance(repeats, int) and repeats:
        return _xp.repeat(x, repeats, axis=axis)
    counts = compute(repeats)[0] if isinstance(repeats, cubed.Array) else repeats
    places = np.repeat(np.arange(x.shape[axis]), counts)
    return _placed(x, places, axis, places.shape)


def diff(x: Array, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Array:
    """Differences of slices: cubed's diff does not join arrays in different chunks."""
    x = concat([part for part in (prepend, x, append) if part is not None], axis=axis)
    before = (slice(None),) * range(x.ndim)[axis]
    for _ in range(n):
        x = _xp.subtract(x[(*before, slice(1, None))], x[(*before, slice(0, -1))])
    return x


def nonzero(x: Array, /) -> tuple[Array, ...]:
    """Computed in the call."""
    return tuple(from_numpy(places, device(x)) for places in np.nonzero(compute(x)[0]))


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


def _elementwise(name: str) -> Callable[..., Array]:
    function = _numpy[name]

    def call(*args: Any, **options: Any) -> Array:
        """NumPy's function of the chunks."""
        values = dict(enumerate(args)) | options
        arrays = {key: value for key, value in values.items() if isinstance(value, cubed.Array)}
        others, order = {key: value for key, value in values.items() if key not in arrays}, range(len(args))
        names, keys = tuple(options), tuple(arrays)

        def kernel(*blocks: Any) -> Any:
            found = others | dict(zip(keys, blocks, strict=True))
            return function(*(found[i] for i in order), **{key: found[key] for key in names})

        dtype = kernel(*(np.ones((0,) * x.ndim, x.dtype) for x in arrays.values())).dtype
        return _blocks.ops.elemwise(kernel, *arrays.values(), dtype=dtype)

    return call


clip, conj, greater, greater_equal, imag, less, less_equal, maximum, minimum, real = map(
    _elementwise,
    ("clip", "conj", "greater", "greater_equal", "imag", "less", "less_equal", "maximum", "minimum", "real"),
)


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """NumPy's function of chunks that hold the axis."""
    axis = range(x.ndim)[axis]
    shape = np.broadcast_shapes(*((*y.shape[:axis], 1, *y.shape[axis + 1 :]) for y in (x, indices)))
    x, indices = (broadcast_to(y, (*shape[:axis], y.shape[axis], *shape[axis + 1 :])) for y in (x, indices))
    indices = indices.rechunk({i: n for i, n in enumerate(x.chunksize) if i != axis})
    x, made = x.rechunk({axis: x.shape[axis]}), _blocks.Made(indices.shape, x.dtype, indices.chunks)
    kernel = partial(_numpy["take_along_axis"], axis=axis)
    return _blocks.of_chunks(kernel, lambda at: ((*at[:axis], 0, *at[axis + 1 :]), at), x, indices, like=made)


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Array:
    """NumPy's function of the chunks of x1, and of all elements of x2."""
    x1, kernel = asarray(x1), partial(_numpy["isin"], invert=invert)
    made = _blocks.Made(x1.shape, np.dtype(bool), x1.chunks)
    if not isinstance(x2, cubed.Array):
        return _blocks.of_chunks(lambda block: kernel(block, x2), lambda at: [at], x1, like=made)
    flat = reshape(x2, (-1,))
    return _blocks.of_chunks(kernel, lambda at: (at, (0,)), x1, flat.rechunk(flat.shape), like=made)


def linspace(start: Any, stop: Any, /, num: int, *, spec: Any = None, **options: Any) -> Array:
    """cubed's linspace, which returns a number for no elements."""
    found = _xp.linspace(start, stop, num, spec=spec, **options)
    return found if num else reshape(_xp.zeros((0,), dtype=found.dtype, spec=spec), (0,))


def arange(
    start: Any, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None, spec: Any = None
) -> Array:
    """cubed's arange of positions: of negative steps and of fractions, it makes chunks of other lengths."""
    start, stop = (0, start) if stop is None else (start, stop)
    count = max(math.ceil((stop - start) / step), 0)
    dtype = np.arange(start, stop, step * max(count, 1)).dtype if dtype is None else np.dtype(dtype)
    if not count:
        return _xp.zeros((0,), dtype=dtype, spec=spec)

    def kernel(places: Any) -> Any:
        first = np.asarray(start + int(places[0]) * step).astype(dtype)
        return first + (np.arange(len(places)) * step).astype(dtype)

    return _blocks.ops.map_blocks(kernel, _xp.arange(count, spec=spec), dtype=dtype)
