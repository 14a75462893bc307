"""SciPy's sparse arrays, beside NumPy's: the companion of the NumPy backend."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse

from xarrayops.errors import Unsupported
from xarrayops.kernels import views
from xarrayops.plugin_sparse import FORMATS as FORMATS, Container, Parts

_CLASSES: dict[str, Any] = {format: getattr(scipy.sparse, f"{format}_array") for format in FORMATS}
_HALVES = frozenset(("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"))


def holds(x: Any, /) -> bool:
    """Arrays and matrices of SciPy, in the formats that we serve and in others."""
    return scipy.sparse.issparse(x)


def parts(s: Container, /) -> Parts:
    """The attributes of the container; arrays of coo that are no rows of one are put together, which copies them."""
    p = seen(s)
    if p.format != "coo":
        return p
    owners = {id(getattr(x, "base", None)) for x in s.coords}
    of_one = len(owners) == 1 and id(None) not in owners
    return p if of_one else p._replace(coords=np.array(p.coords))


def seen(s: Container, /) -> Parts:
    """The same, with coo's arrays, wherever they lie, as rows of one view, which must not leave the kernels.

    Two arrays lie at equal distances, however far; more may not, and are copied.
    """
    if s.format not in FORMATS:
        raise Unsupported(f"a {type(s).__name__} is none of {', '.join(FORMATS)}. Instead: s.tocsr()")
    if s.format == "coo":
        return Parts("coo", s.shape, s.data, coords=_rows_of_one(s.coords), unique=s.has_canonical_format or None)
    if len(s.shape) != 2:
        raise Unsupported(f"a {type(s).__name__} of shape {s.shape} is no matrix. Instead: s.tocoo()")
    block = s.blocksize if s.format == "bsr" else None
    return Parts(s.format, s.shape, s.data, s.indices, s.indptr, block=block)


def _rows_of_one(coords: tuple[Any, ...]) -> Any:
    if len(coords) == 0 or not all(isinstance(x, np.ndarray) for x in coords):  # whatever somebody has put there
        return np.asarray(coords)
    places = [x.ctypes.data for x in coords]
    steps = {b - a for a, b in pairwise(places)}
    outlines = {(x.dtype, x.shape, x.strides) for x in coords}
    if len(steps) != 1 or len(outlines) != 1:
        return np.stack(coords)
    dtype, shape, strides = outlines.pop()
    view = (len(coords), *shape), (steps.pop(), *strides), dtype.str
    return views.over(places[0], *view, readonly=not all(x.flags.writeable for x in coords), owner=coords)


def wrap(p: Parts, /) -> Container:
    """An empty container, given the arrays: SciPy's constructors would look at them, and copy parts of larger ones."""
    extents = {"blocksize": p.block} if p.format == "bsr" else {}
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
