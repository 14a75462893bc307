"""The objects that are indexed instead of called: grids, and arrays of slices."""

from __future__ import annotations

from typing import Any

import xarrayops as xo
from xarrayops.errors import Unsupported
from xarrayops.numpy import _operands as ops
from xarrayops.numpy._creation import meshgrid
from xarrayops.numpy._joining import concatenate
from xarrayops.numpy._ranges import arange, linspace


def _vector(part: slice, like: Any = None) -> Any:
    """The values of a slice; an imaginary step is the number of values."""
    start = 0 if part.start is None else part.start
    step = 1 if part.step is None else part.step
    if isinstance(step, complex):
        return linspace(start, part.stop, int(abs(step)))
    return arange(start, part.stop, step, like=like)


class _Grid:
    """Returns the grids of the values of its slices: ``np.mgrid[0:3, 0:2]``."""

    def __init__(self, sparse: bool) -> None:
        self.sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return _vector(key)
        vectors = [_vector(part) for part in key]
        vectors = [xo.astype(x, "float64") if any(_is_floating(y) for y in vectors) else x for x in vectors]
        grids = meshgrid(*vectors, sparse=self.sparse, indexing="ij")
        return grids if self.sparse else xo.stack(list(grids))


def _is_floating(x: Any) -> bool:
    return xo.isdtype(x.dtype, "real floating")


class _Joined:
    """Joins arrays, numbers and slices: ``np.r_[1:4, 0, x]``, and as columns ``np.c_[x, y]``."""

    def __init__(self, columns: bool) -> None:
        self.columns = columns

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if any(isinstance(part, str) for part in parts):
            raise Unsupported("np.r_ with a string is not supported. Instead: np.concatenate or np.stack with axis=")
        like = ops.first_array(part for part in parts if not isinstance(part, slice))
        members = ops.arrays(*(_vector(part, like) if isinstance(part, slice) else part for part in parts))
        members = [xo.reshape(x, (1,)) if x.ndim == 0 else x for x in members]
        if not self.columns:
            return concatenate(members)
        return concatenate([xo.reshape(x, (-1, 1)) if x.ndim == 1 else x for x in members], -1)


class _Index:
    """Returns its index: ``np.s_[1:3]``. With ``maketuple`` always a tuple."""

    def __init__(self, maketuple: bool) -> None:
        self.maketuple = maketuple

    def __getitem__(self, item: Any) -> Any:
        return (item,) if self.maketuple and not isinstance(item, tuple) else item


mgrid, ogrid = _Grid(sparse=False), _Grid(sparse=True)
r_, c_ = _Joined(columns=False), _Joined(columns=True)
index_exp, s_ = _Index(maketuple=True), _Index(maketuple=False)

__all__ = ops.public(globals())
