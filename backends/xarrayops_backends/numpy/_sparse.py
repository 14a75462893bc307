"""SciPy's sparse arrays: the companion module of the NumPy backend."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse
from numpy.lib.array_utils import byte_bounds

from xarrayops.errors import Unsupported
from xarrayops.plugin.host import views
from xarrayops.plugin.sparse import FORMATS as FORMATS, Container, Parts

_CLASSES: dict[str, Any] = {format: getattr(scipy.sparse, f"{format}_array") for format in FORMATS}
_HALVES = frozenset(("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"))


def holds(x: Any, /) -> bool:
    """The sparse containers of SciPy, in supported and in other formats."""
    return scipy.sparse.issparse(x)


def parts(s: Container, /) -> Parts:
    """The attributes of the container; coo coordinates are stacked, copied unless they are rows of one array."""
    p = seen(s)
    return p if p.format != "coo" else p._replace(coords=_stacked(p.coords))


def seen(s: Container, /) -> Parts:
    """The same, with the coordinate arrays of coo unchanged, one for each axis."""
    if s.format not in FORMATS:
        raise Unsupported(f"a {type(s).__name__} is not one of {', '.join(FORMATS)}. Instead: s.tocsr()")
    if s.format == "coo":
        return Parts("coo", s.shape, s.data, coords=tuple(s.coords), unique=s.has_canonical_format or None)
    if len(s.shape) != 2:
        raise Unsupported(f"a {type(s).__name__} of shape {s.shape} is not a matrix. Instead: s.tocoo()")
    block = s.blocksize if s.format == "bsr" else None
    return Parts(s.format, s.shape, s.data, s.indices, s.indptr, block=block)


def _stacked(coords: tuple[Any, ...]) -> Any:
    """The arrays stacked as rows: a view if they are equally spaced rows of one array's memory, else a copy."""
    alike = {(x.dtype, x.shape) for x in coords if isinstance(x, np.ndarray)}
    if len(alike) != 1 or not all(isinstance(x, np.ndarray) for x in coords):
        # A user may have assigned any arrays, of different dtypes too.
        return np.array(coords)
    view = _rows_of_one(coords)
    if view is not None:
        return view
    ((dtype, shape),) = alike
    copy = views.aligned((len(coords), *shape), dtype)
    for axis, x in enumerate(coords):
        copy[axis] = x
    return copy


def _rows_of_one(coords: tuple[Any, ...]) -> Any:
    """A view of arrays of one shape and dtype as rows of one array, within the memory of one base; else None."""
    # Views of one array. Separate arrays may have equal distances by chance, and a view over them would span memory
    # of other owners.
    owners = {id(x.base): x.base for x in coords}
    (owner, *others), strides = owners.values(), {x.strides for x in coords}
    if others or not isinstance(owner, np.ndarray) or len(strides) != 1 or not coords[0].size:
        return None
    first, last = byte_bounds(owner)
    places = [x.ctypes.data for x in coords]
    steps = {after - before for before, after in pairwise(places)} or {0}
    # Equally spaced, and all within the owner: then every element of the view is an element of a row.
    if len(steps) != 1 or not all(first <= low and high <= last for low, high in map(byte_bounds, coords)):
        return None
    view = (len(coords), *coords[0].shape), (*steps, *coords[0].strides), coords[0].dtype.str
    return views.over(places[0], *view, readonly=not all(x.flags.writeable for x in coords), owner=owner)


def wrap(p: Parts, /) -> Container:
    """A container over the given arrays. SciPy's constructors would check values and copy views of larger arrays."""
    extents = {"blocksize": p.block} if p.format == "bsr" else {}
    # Made empty and then filled, so that the attributes are neither checked nor copied.
    container = _CLASSES[p.format](p.shape, dtype=p.data.dtype, **extents)
    container.data = p.data
    if p.format == "coo":
        container.coords = tuple(p.coords)
        container.has_canonical_format = bool(p.sorted and p.unique)
        return container
    container.indptr, container.indices = p.indptr, p.indices
    if p.sorted is not None:
        container.has_sorted_indices = p.sorted
    if p.sorted is not None and p.unique is not None:
        container.has_canonical_format = p.sorted and p.unique
    return container


def dtype_refusal(dtype: str, /) -> str | None:
    """SciPy's kernels have no half precision."""
    if dtype not in _HALVES:
        return None
    return f"SciPy's sparse arrays hold no {dtype}. Instead: xo.astype(x, xo.float32)"
