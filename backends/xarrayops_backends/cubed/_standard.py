"""Functions of the standard that cubed lacks or computes differently."""

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
from xarrayops.plugin.generic import blocks_sorting as _sorting
from xarrayops.plugin.host import refuse_discarding
from xarrayops_backends.cubed import _blocks
from xarrayops_backends.cubed._blocks import xp as _xp
from xarrayops_backends.cubed._devices import compute, device
from xarrayops_backends.cubed._exchange import from_numpy

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
