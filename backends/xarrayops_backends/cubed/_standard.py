"""Functions that cubed lacks or computes differently. Those of segments are beyond the standard."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import cubed
import numpy as np
from cubed.array_api.manipulation_functions import reshape_chunks as _reshape_chunks

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, unsupported
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.generic import blocks_sorting as _sorting, common, counting
from xarrayops.plugin.host import refuse_discarding
from xarrayops_backends.cubed import _blocks
from xarrayops_backends.cubed._blocks import xp as _xp
from xarrayops_backends.cubed._hooks import device as _device, from_numpy as _from_numpy

_numpy = backend_by_name("numpy").functions
_absent = unsupported("cubed does not have it", instead="xo.compute(x), which is a NumPy array")
fft_fft = fft_ifft = fft_fftn = fft_ifftn = fft_rfft = fft_irfft = fft_rfftn = fft_irfftn = fft_hfft = _absent
fft_ihfft = fft_fftfreq = fft_rfftfreq = fft_fftshift = fft_ifftshift = linalg_cholesky = linalg_cross = _absent
linalg_det = linalg_diagonal = linalg_eig = linalg_eigh = linalg_eigvals = linalg_eigvalsh = linalg_inv = _absent
linalg_matrix_norm = linalg_matrix_power = linalg_matrix_rank = linalg_pinv = linalg_slogdet = _absent
linalg_solve = linalg_trace = linalg_vector_norm = _absent
from_dlpack = unsupported("a cubed array does not share memory", instead='xo.convert(x, "cubed")')
nonzero = unique_all = unique_counts = unique_inverse = unsupported(
    "cubed has no sizes that depend on values", instead="xo.where, xo.unique_values, or xo.compute(x)"
)


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Array:
    """A sequence that contains cubed arrays is stacked; NumPy makes arrays of other objects."""
    if isinstance(obj, cubed.Array):
        x = obj if dtype in (None, obj.dtype) else astype(obj, dtype)
        spec = getattr(device, "spec", None) or x.spec
        return x if spec == x.spec and not copy else cubed.Array(x.name, x._zarray, spec, x._plan)
    if isinstance(obj, (list, tuple)) and _blocks.spec_of(obj) is not None:
        return _xp.stack([asarray(member, dtype=dtype, device=device) for member in obj])
    return _from_numpy(np.asarray(_numpy["asarray"](obj, dtype=dtype)), device)


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """cubed's astype, which would discard imaginary parts."""
    refuse_discarding(x.dtype, dtype)
    return _xp.astype(x, np.dtype(dtype), copy=copy)


def reshape(x: Array, /, shape: Any, *, copy: bool | None = None) -> Array:
    """cubed's reshape; where its chunks would be irregular, by way of a vector in chunks of whole rows."""
    try:
        return _xp.reshape(x, tuple(shape))
    except ValueError as error:
        if "regular chunks" not in str(error):
            raise
    shape = tuple(x.size // -math.prod(shape) if n == -1 else n for n in shape)
    size, rows, new_rows = (math.prod(extents) for extents in (x.chunksize, x.shape[1:], shape[1:]))
    x = x.rechunk((max(size // rows, 1), *x.shape[1:]))
    flat = _reshape_chunks(x, (x.size,), (x.chunksize[0] * rows,))
    count = min(max(size // new_rows, 1), shape[0])
    return _reshape_chunks(flat.rechunk((count * new_rows,)), shape, (count, *shape[1:]))


def searchsorted(x1: Array, x2: Any, /, *, side: str = "left", sorter: Array | None = None) -> Array:
    """The sum over the chunks of x1, each of which is sorted, of the positions in it."""
    x1, x2 = x1 if sorter is None else _xp.take(x1, sorter), asarray(x2)
    axes, options = [*range(1, x2.ndim + 1)], {"dtype": np.dtype(np.int64), "adjust_chunks": {0: 1}}
    parts = _blocks.ops.blockwise(partial(_positions, side=side), [0, *axes], x1, [0], x2, axes, **options)
    return _xp.sum(parts, axis=0)


def _positions(part: Any, values: Any, side: str) -> Any:
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
    return _blocks.along(kernel, axis, np.dtype(np.int64), x)


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """NumPy's function of chunks that hold the axis."""
    return _blocks.along(lambda i, x: np.take_along_axis(x, i, axis=axis), axis, x.dtype, indices, x)


def unique_values(x: Array, /) -> Array:
    """Computed in the call: the distinct numbers of the chunks are merged by a tree, and each NaN is one more value."""
    size = min(x.size, (x.spec.allowed_mem - x.spec.reserved_mem) // (16 * x.dtype.itemsize))
    merge = partial(_distinct, size=size)
    values = np.unique(np.asarray(_blocks.reduced(merge, merge, size, x).compute() if x.size else [])).astype(x.dtype)
    nans = int(_xp.count_nonzero(x != x)) if x.dtype.kind in "fc" else 0
    return _from_numpy(np.append(values[values == values], np.full(nans, np.nan).astype(x.dtype)), _device(x))


def _distinct(block: Any, size: int) -> Any:
    """The distinct numbers, followed by the last of them, or NaNs, up to the given size."""
    values = np.unique(block[block == block])
    if len(values) > size:
        raise Unsupported(f"x has more than {size} distinct values. Instead: a Spec with more allowed_mem")
    return np.append(values, np.full(size - len(values), values[-1] if len(values) else np.nan, block.dtype))


def _segments(name: str, merge: np.ufunc) -> Callable[..., Array]:
    """NumPy's function of each chunk; the results are combined by a tree, sums in double precision."""
    kernel = _numpy[name]

    def segment(x: Array, /, segment_ids: Array, num_segments: int | None = None) -> Array:
        space, dtype = backend_by_name("cubed").namespace, x.dtype
        count = counting.segments(space, x, segment_ids, num_segments)
        if not x.size or not count:
            empty = kernel(np.zeros(x.shape, dtype), np.full(x.shape[:1], -1), count)
            return _from_numpy(empty, _device(x))
        if merge is np.add:
            dtype = np.dtype(np.int64) if dtype.kind == "b" else dtype
            x = common.doubled(space, counting.counted_booleans(space, x))
        x = x.rechunk((x.chunksize[0], *x.shape[1:]))
        parts = _blocks.reduced(
            lambda x, ids: kernel(x, ids, count).reshape(-1),
            partial(merge.reduce, axis=0, dtype=x.dtype),
            *(count * math.prod(x.shape[1:]), x, segment_ids.rechunk(x.chunksize[:1])),
        )
        return astype(reshape(parts, (count, *x.shape[1:])), dtype, copy=False)

    return segment


segment_sum, segment_max, segment_min = map(
    _segments, ("segment_sum", "segment_max", "segment_min"), (np.add, np.maximum, np.minimum)
)


def _of_tall(name: str, **fixed: Any) -> Callable[..., Any]:
    def call(x: Array, /, *, mode: str = "reduced", full_matrices: bool = False) -> Any:
        """cubed's function, of a tall matrix."""
        if x.ndim != 2 or x.shape[0] < x.shape[1] or mode != "reduced" or full_matrices:
            raise Unsupported(f"cubed has the reduced linalg.{name} of tall matrices only. Instead: xo.compute(x)")
        return getattr(_xp.linalg, name)(x.rechunk((max(x.chunksize[0], x.shape[1]), x.shape[1])), **fixed)

    return call


linalg_qr, linalg_svd, linalg_svdvals = _of_tall("qr"), _of_tall("svd", full_matrices=False), _of_tall("svdvals")
