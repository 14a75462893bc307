"""Arrays with more or fewer elements along an axis."""

from __future__ import annotations

from typing import Any

import xarrayops as xo
from xarrayops.numpy._operands import array, arrays, axes_of, first_array, is_array, is_integer, one_axis, size_of


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """The array with values before and after it along each axis, by `xarrayops.pad`."""
    unused = sorted(kwargs.keys() - {_PAD_OPTIONS.get(mode)}) if isinstance(mode, str) else []
    if unused:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {', '.join(unused)}")
    width = pad_width if isinstance(pad_width, dict) else _plain(pad_width)
    return xo.pad(arrays(array)[0], width, mode, **{name: _plain(value) for name, value in kwargs.items()})


_PAD_OPTIONS = {"constant": "constant_values", "linear_ramp": "end_values"} | {
    mode: option
    for option, modes in (("stat_length", "maximum mean median minimum"), ("reflect_type", "reflect symmetric"))
    for mode in modes.split()
}
"""The keyword argument of each mode of `pad` that has one."""


def _plain(value: Any) -> Any:
    """An array as nested lists; other values are unchanged."""
    return value.tolist() if hasattr(value, "tolist") else value


def _places(obj: Any, extent: int | None = None) -> Any:
    """The places of `insert` and `delete`: a slice, an integer or a list of them; of a mask those of True."""
    if isinstance(obj, slice):
        return obj
    x = array(obj)
    if xo.isdtype(x.dtype, "bool"):
        if x.ndim != 1 or (extent is not None and x.shape[0] != extent):
            raise ValueError(f"a mask must be a vector with a value for each place, not of the shape {x.shape}")
        return xo.nonzero(x)[0].tolist()
    if not is_integer(x) and (size_of(x) or is_array(obj)):
        raise IndexError(f"indices must be integers or booleans, not {x.dtype}")
    return _plain(obj)


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """The values before the indices along an axis, by `xarrayops.insert`."""
    x, v = arrays(arr, values)
    return xo.insert(x, _places(obj), xo.astype(v, x.dtype), axis=axis)


def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    """The array without the members at the indices along an axis, by `xarrayops.delete`."""
    x = array(arr)
    extent = size_of(x) if axis is None else x.shape[one_axis(axis, x.ndim)]
    return xo.delete(x, _places(obj, extent), axis=axis)


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """The array without the zeros before and after the others, by `xarrayops.nonzero`; the values are read."""
    x = array(filt)
    axes = axes_of(x, axis)
    if trim.lower() not in ("f", "b", "fb", "bf"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    if x.ndim == 0:
        return x
    found = xo.nonzero(x)
    if found[0].shape[0] == 0:
        return x[tuple(slice(0, 0) if place in axes else slice(None) for place in range(x.ndim))]
    ends = trim.lower()
    index = tuple(
        slice(int(xo.min(i)) if "f" in ends else None, int(xo.max(i)) + 1 if "b" in ends else None)
        if place in axes
        else slice(None)
        for place, i in enumerate(found)
    )
    result = x[index]
    return result.tolist() if isinstance(filt, list) and first_array((filt,)) is None else result


__all__ = ["delete", "insert", "pad", "trim_zeros"]
