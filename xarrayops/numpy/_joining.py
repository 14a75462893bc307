# Long: functions of NumPy by the section of its reference.
"""Functions that join and split arrays, and that insert or remove elements along an axis.

Also the objects that are indexed instead of called: grids, and arrays of slices.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from operator import index
from typing import TYPE_CHECKING, Any

import xarrayops as xo
from xarrayops.errors import Unsupported
from xarrayops.numpy import _axes, _operands as ops, _promotion, _results
from xarrayops.numpy._creation import meshgrid
from xarrayops.numpy._dtypes import can_cast, named, result_type
from xarrayops.numpy._ranges import arange, linspace
from xarrayops.numpy._shapes import of_dimensions
from xarrayops.plugin import nested


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """The array with values before and after it along each axis, by `xarrayops.pad`."""
    unused = sorted(kwargs.keys() - {_PAD_OPTIONS.get(mode)}) if isinstance(mode, str) else []
    if unused:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {', '.join(unused)}")
    width = pad_width if isinstance(pad_width, dict) else _plain(pad_width)
    if any(
        isinstance(n, int) and n < 0 for n in nested.members(list(width.values()) if isinstance(width, dict) else width)
    ):
        raise ValueError("index can't contain negative values")
    return xo.pad(ops.arrays(array)[0], width, mode, **{name: _plain(value) for name, value in kwargs.items()})


_PAD_OPTIONS = {"constant": "constant_values", "linear_ramp": "end_values"} | {
    mode: option
    for option, modes in (("stat_length", "maximum mean median minimum"), ("reflect_type", "reflect symmetric"))
    for mode in modes.split()
}
"""The keyword argument of each mode of `pad` that has one."""


def _plain(value: Any) -> Any:
    """An array as nested lists; other values are unchanged. A lazy array is computed."""
    value = xo.compute(value) if ops.is_array(value) else value
    return value.tolist() if hasattr(value, "tolist") else value


def _places(obj: Any, extent: int | None = None) -> Any:
    """The positions for `insert` and `delete`: a slice, an integer or a list of integers, also from a mask."""
    if isinstance(obj, slice):
        return obj
    x = ops.indices(obj)
    if xo.isdtype(x.dtype, "bool"):
        if x.ndim != 1 or (extent is not None and x.shape[0] != extent):
            raise ValueError(f"a mask must be a vector with a value for each position, not of shape {x.shape}")
        return _plain(xo.nonzero(x)[0])
    if not _promotion.is_integer(x) and (_axes.size_of(x) or ops.is_array(obj)):
        raise IndexError(f"indices must be integers or booleans, not {x.dtype}")
    return _plain(obj)


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """The values before the indices along an axis, by `xarrayops.insert`."""
    x = ops.in_library_of(ops.first_array((arr, values)), arr)
    v = ops.in_dtype_of(x, values)
    v = xo.reshape(v, v.shape[-1:]) if axis is None and v.ndim > 1 and _axes.size_of(v) == v.shape[-1] else v
    return xo.insert(x, _places(obj), v, axis=axis)


def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    """The array without the members at the indices along an axis, by `xarrayops.delete`."""
    x = ops.array(arr)
    extent = _axes.size_of(x) if axis is None else x.shape[_axes.one_axis(axis, x.ndim)]
    return xo.delete(x, _places(obj, extent), axis=axis)


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """The array without leading and trailing zeros, by `xarrayops.nonzero`; the values are read."""
    _results.require_values("trim_zeros", "call it before the compiled function")
    x = ops.array(filt)
    axes = _axes.axes_of(x, axis)
    if trim.lower() not in ("f", "b", "fb", "bf"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    if x.ndim == 0:
        return x
    found = xo.compute(*xo.nonzero(x))
    found = found if isinstance(found, tuple) else (found,)
    index: list[Any] = [slice(None)] * x.ndim
    for place in axes:
        i = found[place]
        if not i.shape[0]:  # all elements are zero
            index[place] = slice(0, 0)
            continue
        low = int(xo.min(i)) if "f" in trim.lower() else None
        index[place] = slice(low, int(xo.max(i)) + 1 if "b" in trim.lower() else None)
    result = x[tuple(index)]
    return result.tolist() if isinstance(filt, list) and ops.first_array((filt,)) is None else result


def _sequence(function: str, members: Any) -> list[Any]:
    """The arrays of a sequence, in NumPy's common dtype; an array is the sequence of its members."""
    if ops.is_array(members):
        members = xo.unstack(members)
    elif not isinstance(members, (list, tuple)):
        if not hasattr(members, "__getitem__"):
            raise TypeError('arrays to stack must be passed as a "sequence" type such as list or tuple.')
        members = list(members)
    if not members:
        raise ValueError(f"np.{function}: need at least one array to {function}")
    return ops.arrays(*members)


def _require_one_of(function: str, out: Any, dtype: Any) -> None:
    if out is not None and dtype is not None:
        raise TypeError(f"{function}() only takes `out` or `dtype` as an argument, but both were provided.")


def concatenate(
    arrays: Any, /, axis: int | None = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """The arrays joined along an axis, by `xarrayops.concat`."""
    _require_one_of("concatenate", out, dtype)
    members = _cast(_sequence("concatenate", arrays), dtype, casting)
    if axis is None:
        members, axis = [_axes.raveled(x) for x in members], 0
    elif members[0].ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    return _results.written("concatenate", xo.concat(members, axis=_axes.one_axis(axis, members[0].ndim)), out, casting)


concat = concatenate


def _cast(members: list[Any], dtype: Any, casting: str) -> list[Any]:
    if dtype is None and casting == "same_kind":
        return _promotion.harmonised(*members)
    dtype = result_type(*members) if dtype is None else dtype
    for x in members:
        if not can_cast(x, dtype, casting):
            raise TypeError(
                f"Cannot cast array data from {x.dtype} to {named(dtype)} according to the rule '{casting}'"
            )
    return [xo.astype(x, named(dtype)) for x in members]


def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """The arrays joined along a new axis, by `xarrayops.stack`."""
    _require_one_of("stack", out, dtype)
    members = _cast(_sequence("stack", arrays), dtype, casting)
    if len({tuple(x.shape) for x in members}) > 1:
        raise ValueError("all input arrays must have the same shape")
    return _results.written("stack", xo.stack(members, axis=_axes.one_axis(axis, members[0].ndim + 1)), out, casting)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The members of an array along an axis, by `xarrayops.unstack`."""
    x = ops.array(x)
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    return tuple(xo.unstack(x, axis=index(axis)))


def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """The arrays joined along their first axis, vectors as rows, by `xarrayops.concat`."""
    members = [of_dimensions(x, 2) for x in _sequence("vstack", tup)]
    return concatenate(members, 0, dtype=dtype, casting=casting)


row_stack = vstack


def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """The arrays joined along their second axis, vectors along their only axis, by `xarrayops.concat`."""
    members = [of_dimensions(x, 1) for x in _sequence("hstack", tup)]
    return concatenate(members, 0 if members[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def dstack(tup: Any) -> Any:
    """The arrays joined along their third axis, by `xarrayops.concat`."""
    return concatenate([of_dimensions(x, 3) for x in _sequence("dstack", tup)], 2)


def column_stack(tup: Any) -> Any:
    """The arrays joined along their second axis, vectors as columns, by `xarrayops.concat`."""
    members = [x if x.ndim > 1 else xo.reshape(x, (-1, 1)) for x in _sequence("column_stack", tup)]
    return concatenate(members, 1)


def block(arrays: Any) -> Any:
    """An array of nested lists of blocks, by `xarrayops.concat`."""
    depth = _depth(arrays)
    leaves = ops.arrays(*nested.members(arrays))
    return _joined(arrays, iter(leaves), max(depth, *(x.ndim for x in leaves)), depth, 0)


def _depth(blocks: Any) -> int:
    """The number of levels of lists, which must be the same everywhere."""
    if isinstance(blocks, tuple):
        raise TypeError("np.block takes lists of blocks; a tuple is not a list")
    if not isinstance(blocks, list):
        return 0
    if not blocks:
        raise ValueError("List at arrays cannot be empty")
    depths = {_depth(each) for each in blocks}
    if len(depths) > 1:
        raise ValueError("List depths are mismatched.")
    return 1 + depths.pop()


def _joined(blocks: Any, rest: Iterator[Any], ndim: int, depth: int, level: int) -> Any:
    """The blocks of one level joined; ``rest`` has their arrays, in order."""
    if not isinstance(blocks, list):
        x = next(rest)
        return xo.reshape(xo.asarray(x, copy=True), (*(1,) * (ndim - x.ndim), *x.shape))
    return concatenate([_joined(each, rest, ndim, depth, level + 1) for each in blocks], ndim - depth + level)


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """The values after the array along an axis, by default both as vectors, by `xarrayops.concat`."""
    return concatenate(ops.arrays(arr, values), axis)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """The parts of an array along an axis, by `xarrayops.split`: a number of parts, or split at indices."""
    x = ops.array(ary)
    axis = _axes.one_axis(axis, x.ndim)
    if _axes.is_several(indices_or_sections):
        return [*xo.split(x, _axes.integers(indices_or_sections), axis=axis)]
    sections = int(indices_or_sections)
    if sections <= 0:
        raise ValueError("number sections must be larger than 0.")
    each, extra = divmod(x.shape[axis], sections)
    ends = [*accumulate([each + 1] * extra + [each] * (sections - extra))]
    return [*xo.split(x, ends[:-1], axis=axis)]


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """The parts of an array along an axis: equal parts, or split at indices."""
    x = ops.array(ary)
    if not _axes.is_several(indices_or_sections) and x.shape[_axes.one_axis(axis, x.ndim)] % int(indices_or_sections):
        raise ValueError("array split does not result in an equal division")
    return array_split(x, indices_or_sections, axis)


def _of_rank(function: str, ary: Any, least: int) -> Any:
    x = ops.array(ary)
    if x.ndim < least:
        raise ValueError(f"{function} only works on arrays of {least} or more dimensions")
    return x


def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """The parts of an array along its second axis, or of a vector along its only axis."""
    x = _of_rank("hsplit", ary, 1)
    return split(x, indices_or_sections, 1 if x.ndim > 1 else 0)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """The parts of an array of two or more dimensions along its first axis."""
    return split(_of_rank("vsplit", ary, 2), indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """The parts of an array of three or more dimensions along its third axis."""
    return split(_of_rank("dsplit", ary, 3), indices_or_sections, 2)


def _vector(given: slice, like: Any = None) -> Any:
    """The values of a slice; an imaginary step is the number of values."""
    start = 0 if given.start is None else given.start
    step = 1 if given.step is None else given.step
    if isinstance(step, complex):
        return linspace(start, given.stop, int(abs(step)))
    return arange(start, given.stop, step, like=like)


class _Grid:
    """Returns the grids of the values of its slices: ``np.mgrid[0:3, 0:2]``."""

    def __init__(self, sparse: bool) -> None:
        self.sparse = sparse

    def __reduce__(self) -> str:
        return "ogrid" if self.sparse else "mgrid"

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return _vector(key)
        vectors = [_vector(each) for each in key]
        if any(xo.isdtype(x.dtype, "real floating") for x in vectors):
            vectors = [xo.astype(x, "float64") for x in vectors]
        grids = meshgrid(*vectors, sparse=self.sparse, indexing="ij")
        return grids if self.sparse else xo.stack(list(grids))


class _Joined:
    """Joins arrays, numbers and slices: ``np.r_[1:4, 0, x]``, and as columns ``np.c_[x, y]``."""

    def __init__(self, columns: bool) -> None:
        self.columns = columns

    def __reduce__(self) -> str:
        return "c_" if self.columns else "r_"

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if any(isinstance(each, str) for each in parts):
            raise Unsupported("np.r_ with a string is not supported. Instead: np.concatenate or np.stack with axis=")
        like = ops.first_array(each for each in parts if not isinstance(each, slice))
        members = _promotion.alike(*(_vector(each, like) if isinstance(each, slice) else each for each in parts))
        members = [xo.reshape(x, (1,)) if x.ndim == 0 else x for x in members]
        if not self.columns:
            return concatenate(members)
        return concatenate([xo.reshape(x, (-1, 1)) if x.ndim == 1 else x for x in members], -1)


class _Index:
    """Returns its index: ``np.s_[1:3]``. With ``maketuple`` always a tuple."""

    def __init__(self, maketuple: bool) -> None:
        self.maketuple = maketuple

    def __reduce__(self) -> str:
        return "index_exp" if self.maketuple else "s_"

    def __getitem__(self, item: Any) -> Any:
        return (item,) if self.maketuple and not isinstance(item, tuple) else item


mgrid, ogrid = _Grid(sparse=False), _Grid(sparse=True)
r_, c_ = _Joined(columns=False), _Joined(columns=True)
index_exp, s_ = _Index(maketuple=True), _Index(maketuple=False)

if not TYPE_CHECKING:
    __all__ = ops.public(globals())
