# Long: functions of NumPy by the section of its reference.
"""Selecting and setting elements; functions that write in place in NumPy do so if the library can."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from operator import index
from typing import TYPE_CHECKING, Any

import xarrayops as xo
from xarrayops._core.dispatch.refused import NotGiven
from xarrayops.errors import Unsupported
from xarrayops.numpy import _axes, _operands as ops, _promotion, _results
from xarrayops.numpy._dtypes import can_cast
from xarrayops.numpy._own import OnlyNumPy


def where(condition: Any, x: Any = NotGiven, y: Any = NotGiven, /) -> Any:
    """The elements of x where the condition is true, else of y, by `xarrayops.where`; without x and y `nonzero`."""
    if x is NotGiven:
        return nonzero(condition)
    if y is NotGiven:
        raise ValueError("either both or neither of x and y should be given")
    if x is None or y is None:
        raise OnlyNumPy("np.where: None is not a number; only NumPy has arrays of objects")
    condition, x, y = ops.numpy_numbers(condition, x, y)
    like = ops.first_array((condition, x, y))
    mask = ops.indices(condition, like)
    mask = mask if xo.isdtype(mask.dtype, "bool") else mask != 0
    if not ops.is_array(x) and not ops.is_array(y):
        x, y = (ops.in_library_of(mask, each) for each in (x, y))
    return xo.where(mask, *_promotion.operands(x, y))


def nonzero(a: Any) -> tuple[Any, ...]:
    """The indices of the elements that are not zero, an array for each axis, by `xarrayops.nonzero`."""
    x = ops.array(a)
    if x.ndim == 0:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    return tuple(xo.nonzero(x))


def flatnonzero(a: Any) -> Any:
    """The indices of the nonzero elements of the flattened array, by `xarrayops.nonzero`."""
    return xo.nonzero(_axes.raveled(ops.array(a)))[0]


def argwhere(a: Any) -> Any:
    """The indices of the elements that are not zero, one row each, by `xarrayops.argwhere`."""
    return xo.argwhere(ops.array(a))


def _in_bounds(function: str, indices: Any, extent: int, mode: str) -> Any:
    """The indices, with out-of-bounds ones handled by NumPy's mode."""
    if extent != extent:  # an array of Dask
        raise Unsupported(f"np.{function}: the size of the axis is not computed yet. Instead: np.compress of a mask")
    if mode == "raise":
        error = IndexError(f"np.{function}: an index is out of bounds for size {extent}")
        _results.require_between(indices, -extent, extent, error)
        return xo.where(indices < 0, indices + extent, indices)
    if mode not in ("clip", "wrap"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    return xo.clip(indices, 0, extent - 1) if mode == "clip" else xo.remainder(indices, extent)


def _integers(function: str, indices: Any) -> Any:
    if _axes.size_of(indices) == 0:
        return xo.astype(indices, int)
    if not xo.isdtype(indices.dtype, ("integral", "bool")):
        raise TypeError(f"np.{function}: indices must be integers. Instead: indices.astype(np.int64)")
    return xo.astype(indices, int) if not xo.isdtype(indices.dtype, "signed integer") else indices


def take(a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise") -> Any:
    """The elements at the indices along an axis, by default of the flattened array, by `xarrayops.take`."""
    like = ops.first_array((a, indices))
    x, i = ops.in_library_of(like, a), ops.indices(indices, like)
    x, axis = (_axes.raveled(x), 0) if axis is None else (x, _axes.one_axis(axis, x.ndim))
    i = _in_bounds("take", _integers("take", i), x.shape[axis], mode)
    taken = xo.take(x, _axes.raveled(i), axis=axis)
    taken = xo.reshape(taken, (*x.shape[:axis], *i.shape, *x.shape[axis + 1 :]))
    return _results.written("take", ops.scalar(taken), out)


def _require_vector(indices: Any) -> None:
    if indices.ndim != 1:
        raise ValueError("when axis=None, `indices` must have a single dimension.")


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """The elements at the indices along an axis, for each position, by `xarrayops.take_along_axis`."""
    like = ops.first_array((arr, indices))
    x, i = ops.in_library_of(like, arr), ops.indices(indices, like)
    if not xo.isdtype(i.dtype, "integral"):
        raise IndexError("`indices` must be an integer array")
    if axis is None:
        _require_vector(i)
        x, axis = _axes.raveled(x), 0
    if x.ndim != i.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    return xo.take_along_axis(x, i, axis=index(axis))


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    """Set the elements at the indices along an axis, for each position, in place, by `xarrayops.at`."""
    i = ops.indices(indices, arr)
    if axis is None:
        _require_vector(i)
        put(arr, i, xo.broadcast_to(ops.in_dtype_of(arr, values), tuple(i.shape)))
        return
    axis = _axes.one_axis(axis, arr.ndim)
    if i.ndim != arr.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    index = [
        xo.reshape(xo.arange(n, like=arr), tuple(-1 if a == b else 1 for b in range(arr.ndim)))
        for a, n in enumerate(arr.shape)
    ]
    index[axis] = i
    values = ops.in_dtype_of(arr, values)
    _results.overwritten("put_along_axis", arr, tuple(index), values, "arr = xo.at(arr)[index].set(values)")


def compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> Any:
    """The members along an axis where the condition is true, by `xarrayops.compress`."""
    mask, x = ops.arrays(condition, a)
    return _results.written("compress", xo.compress(mask != 0, x, axis=_axes.axis_or_axes(axis)), out)


def extract(condition: Any, arr: Any) -> Any:
    """The elements where the condition is true, as a vector, by `xarrayops.compress`."""
    mask, x = ops.arrays(condition, arr)
    return xo.compress(_axes.raveled(mask) != 0, _axes.raveled(x))


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """Each element from the choice that the index names, by `xarrayops.where`."""
    like, no_array = ops.first_array((a, *choices)), ops.first_array(choices) is None
    weak = () if no_array else ops.NUMBERS
    given = (each if type(each) in weak else ops.arrays(like, each)[1] for each in choices)
    members = _promotion.alike(*_promotion.harmonised(*given))
    index = _integers("choose", ops.indices(a, like))
    if mode == "raise":
        _results.require_between(index, 0, len(members), ValueError("invalid entry in choice array"))
    index = _in_bounds("choose", index, len(members), mode)
    shape = xo.broadcast_shapes(index.shape, *(x.shape for x in members))
    result = xo.broadcast_to(members[0], tuple(shape))
    for i, x in enumerate(members[1:], 1):
        result = xo.where(index == i, x, result)
    return _results.written("choose", ops.scalar(result), out, "unsafe")


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Each element from the first choice whose condition is true, by `xarrayops.where`."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not len(condlist):
        raise ValueError("select with an empty condition list is not possible")
    masks = ops.arrays(*condlist, *choicelist)[: len(condlist)]
    choices = _promotion.alike(*choicelist, default)
    for i, mask in enumerate(masks):
        if not xo.isdtype(mask.dtype, "bool"):
            raise TypeError(f"invalid entry {i} in condlist: should be boolean ndarray")
    *members, result = choices
    result = xo.broadcast_to(result, tuple(xo.broadcast_shapes(*(x.shape for x in (*masks, *choices)))))
    for mask, x in zip(reversed(masks), reversed(members), strict=True):
        result = xo.where(mask, x, result)
    return result


def piecewise(x: Any, condlist: Any, funclist: list[Any], *args: Any, **kw: Any) -> Any:
    """The values of the function whose condition is true, or of a last function; each is called with all of x."""
    x = ops.array(x)
    conditions = condlist if isinstance(condlist, (list, tuple)) and not _are_truths(condlist, x) else [condlist]
    masks = [xo.broadcast_to(mask, tuple(x.shape)) for mask in ops.arrays(x, *conditions)[1:]]
    if len(funclist) not in (len(masks), len(masks) + 1):
        raise ValueError(
            f"with {len(masks)} condition(s), either {len(masks)} or {len(masks) + 1} functions are expected"
        )
    result = xo.zeros_like(x)
    functions = funclist[len(masks) :] + funclist[: len(masks)]
    if len(funclist) > len(masks):
        masks = [xo.ones_like(x, dtype="bool"), *masks]
    for mask, function in zip(masks, functions, strict=True):
        value = function(x, *args, **kw) if callable(function) else function
        result = xo.where(mask, ops.in_dtype_of(x, value), result)
    return result


def _are_truths(conditions: Any, x: Any) -> bool:
    """Whether a list is one condition: Python booleans for the elements of x."""
    return bool(conditions) and x.ndim > 0 and all(isinstance(each, (bool, int)) for each in conditions)


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Copy the values into an array, in place, by `xarrayops.at`."""
    if not ops.is_array(dst):
        raise TypeError(f"copyto() argument 1 must be an array, not {type(dst).__name__}")
    is_number = type(src) in ops.NUMBERS
    value = xo.asarray(src, dtype=dst.dtype, like=dst) if is_number else ops.arrays(dst, src)[1]
    if not is_number and not can_cast(value, dst.dtype, casting):
        raise TypeError(f"Cannot cast array data from {value.dtype} to {dst.dtype} according to the rule '{casting}'")
    value = xo.broadcast_to(xo.astype(value, dst.dtype), tuple(dst.shape))
    if where is not True:
        value = xo.where(ops.arrays(dst, where)[1], value, dst)
    _results.overwritten("copyto", dst, ..., value, "dst = xo.at(dst)[...].set(src)")


def putmask(a: Any, /, mask: Any, values: Any) -> None:
    """Set the elements where the mask is true to the repeated values at their places, in place, by `xarrayops.at`."""
    if not ops.is_array(a):
        raise TypeError(f"putmask: argument 1 must be numpy.ndarray, not {type(a).__name__}")
    m, v = ops.arrays(a, mask)[1], ops.in_dtype_of(a, values)
    if _axes.size_of(v) == 0:
        return
    filled = _repeated(v, _axes.size_of(a), a)
    result = xo.where(m != 0, xo.reshape(filled, tuple(a.shape)), a)
    _results.overwritten("putmask", a, ..., result, "a = xo.where(mask, values, a)")


def _repeated(values: Any, count: int, like: Any) -> Any:
    """That many values, repeated as needed."""
    places = xo.remainder(xo.arange(count, like=like), _axes.size_of(values))
    return xo.take(_axes.raveled(values), places, axis=0)


_ONE_VALUE = "arr = np.where(mask, value, arr), for one value"


def place(arr: Any, mask: Any, vals: Any) -> None:
    """Set the elements where the mask is true to the repeated values in order, in place, by `xarrayops.at`."""
    if not ops.is_array(arr):
        raise TypeError(f"argument 1 must be numpy.ndarray, not {type(arr).__name__}")
    m, v = ops.arrays(arr, mask)[1], ops.in_dtype_of(arr, vals)
    if xo.is_lazy(arr):
        _results.overwritten("place", arr, ..., arr, _ONE_VALUE)
    index = xo.nonzero(_axes.raveled(m))[0]
    if index.shape[0] == 0:
        return
    if _axes.size_of(v) == 0:
        raise ValueError("Cannot insert from an empty array!")
    chosen = _repeated(v, index.shape[0], arr)
    _results.overwritten("place", arr, tuple(_unraveled(index, tuple(arr.shape))), chosen, _ONE_VALUE)


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Set the elements at the indices of the flattened array, in place, by `xarrayops.at`."""
    if not ops.is_array(a):
        raise TypeError(f"argument 1 must be numpy.ndarray, not {type(a).__name__}")
    index, values = ops.indices(ind, a), ops.in_dtype_of(a, v)
    if (
        mode in ("raise", "clip", "wrap")
        and _axes.size_of(a)
        and (_axes.size_of(index) == 0 or _axes.size_of(values) == 0)
    ):
        return
    if _axes.size_of(a) == 0 and _axes.size_of(index):
        raise IndexError("cannot replace elements of an empty array")
    index = _in_bounds("put", _axes.raveled(_integers("put", index)), _axes.size_of(a), mode)
    values = _repeated(values, index.shape[0], a)
    _results.overwritten("put", a, tuple(_unraveled(index, tuple(a.shape))), values, "a = xo.at(a)[index].set(v)")


def _unraveled(index: Any, shape: tuple[int, ...]) -> list[Any]:
    """The index of each axis, in C order."""
    found: list[Any] = []
    for n in reversed(shape):
        found.insert(0, xo.remainder(index, n))
        index = xo.floor_divide(index, n)
    return found


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Any, ...]:
    """The indices of each axis for indices into the flattened array, by `xarrayops.remainder`."""
    extents = _axes.integers(shape)
    i = _integers("unravel_index", ops.indices(indices))
    if not extents and i.ndim:
        raise ValueError("multiple indices are not supported for 0d array: an index is out of bounds")
    size = prod(extents)
    _results.require_between(i, 0, size, ValueError(f"an index is out of bounds for array with size {size}"))
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    i = i if ops.lacks(i, "int64") else xo.astype(i, "int64")
    return tuple(_unraveled(i, extents) if order == "C" else _unraveled(i, extents[::-1])[::-1])


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    """The indices into the flattened array for the indices of each axis."""
    extents = _axes.integers(dims)
    members = xo.unstack(multi_index) if ops.is_array(multi_index) else multi_index
    modes = (mode,) * len(extents) if isinstance(mode, str) else tuple(mode)
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    like = ops.first_array(members)
    indices = [_integers("ravel_multi_index", ops.indices(x, like)) for x in members]
    if len(indices) != len(extents):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(extents)}")
    total, step = 0, 1
    each = list(zip(indices, extents, modes, strict=True))
    for x, n, one_mode in reversed(each) if order == "C" else each:
        if one_mode == "raise" or not n:
            _results.require_between(x, 0, n, ValueError("invalid entry in coordinates array"))
        total = total + (x if one_mode == "raise" else _in_bounds("ravel_multi_index", x, n, one_mode)) * step
        step *= n
    return total


def ix_(*args: Any) -> tuple[Any, ...]:
    """The vectors as indices of a grid, each along a separate axis, by `xarrayops.reshape`."""
    found = []
    like = ops.first_array(args)
    for place, given in enumerate(args):
        x = ops.indices(given, like)
        if x.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        is_empty_list = not _axes.size_of(x) and not ops.is_array(given)
        index = xo.nonzero(x)[0] if xo.isdtype(x.dtype, "bool") else xo.astype(x, int) if is_empty_list else x
        found.append(xo.reshape(index, tuple(index.shape[0] if i == place else 1 for i in range(len(args)))))
    return tuple(found)


def diag_indices(n: int, ndim: int = 2) -> tuple[Any, ...]:
    """The indices of the main diagonal of an array with extents n, by `xarrayops.arange`."""
    return (xo.arange(index(n), like=ops.reference(None)),) * index(ndim)


def diag_indices_from(arr: Any) -> tuple[Any, ...]:
    """The indices of the main diagonal of an array, by `xarrayops.arange`."""
    x = ops.array(arr)
    if x.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len({*x.shape}) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    return (xo.arange(x.shape[0], like=x),) * x.ndim


def _triangle(triangle: Callable[..., Any], shape: tuple[int, int], k: int, like: Any = None) -> tuple[Any, ...]:
    ones = xo.ones(_axes.integers(shape), dtype="int8", like=ops.reference(like))
    return tuple(xo.nonzero(triangle(ones, k=index(k))))


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, ...]:
    """The indices of the lower triangle of a matrix, by `xarrayops.tril`."""
    return _triangle(xo.tril, (n, n if m is None else m), k)


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, ...]:
    """The indices of the upper triangle of a matrix, by `xarrayops.triu`."""
    return _triangle(xo.triu, (n, n if m is None else m), k)


def _matrix(arr: Any) -> Any:
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return arr


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Any, ...]:
    """The indices of the lower triangle of an array, by `xarrayops.tril`."""
    x = _matrix(ops.array(arr))
    return _triangle(xo.tril, tuple(x.shape), k, x)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Any, ...]:
    """The indices of the upper triangle of an array, by `xarrayops.triu`."""
    x = _matrix(ops.array(arr))
    return _triangle(xo.triu, tuple(x.shape), k, x)


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Set the main diagonal, in place, by `xarrayops.fill_diagonal`."""
    value = ops.in_dtype_of(a, val)
    filled = xo.fill_diagonal(a, value if value.ndim else val, wrap=wrap)
    _results.overwritten("fill_diagonal", a, ..., filled, "a = xo.fill_diagonal(a, val)")


if not TYPE_CHECKING:
    __all__ = ops.public(globals())
