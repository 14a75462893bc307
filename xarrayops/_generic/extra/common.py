"""Helpers of the generic twins: floating-point dtypes, and axes."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

from xarrayops.plugin.arrays import Array, Record

Axes = int | tuple[int, ...] | None


def floating(xp: ModuleType, x: Array) -> Array:
    """x, with integers and booleans in the library's default floating-point dtype."""
    return astype(xp, x, xp.asarray(0.0).dtype) if xp.isdtype(x.dtype, ("bool", "integral")) else x


def floating_beside(xp: ModuleType, x1: Array, x2: Array) -> tuple[Array, Array]:
    """Both arrays as floating-point: integers take the dtype of the other array, or the default dtype."""
    first, second = (xp.isdtype(x.dtype, ("bool", "integral")) for x in (x1, x2))
    if first is not second:
        return alike(xp, x1, x2)
    return floating(xp, x1), floating(xp, x2)


def widest(xp: ModuleType, x: Array) -> Array:
    """x, with integers and booleans in float64 if the library has it, and half types in float32.

    For steps whose result is cast back.
    """
    if xp.isdtype(x.dtype, "real floating"):
        return astype(xp, x, xp.float32) if xp.finfo(x.dtype).bits < 32 else x
    if not xp.isdtype(x.dtype, ("bool", "integral")):
        return x
    found = xp.__array_namespace_info__().dtypes(device=device_of(x), kind="real floating")
    return astype(xp, x, found["float64"]) if "float64" in found else floating(xp, x)


def doubled(xp: ModuleType, x: Array) -> Array:
    """x, with float32 and complex64 in double precision if the library has it."""
    for narrow, kind, wide in (
        ("float32", "real floating", "float64"),
        ("complex64", "complex floating", "complex128"),
    ):
        if x.dtype == getattr(xp, narrow):
            known = xp.__array_namespace_info__().dtypes(device=device_of(x), kind=kind)
            return astype(xp, x, known.get(wide, x.dtype))
    return x


def between(xp: ModuleType, first: Array, last: Array, share: Array, parts: Any = 1) -> Array:
    """first plus share times a part of the way to last, by halves where their difference overflows."""
    step, half = (last - first) / parts, (last / 2 - first / 2) / parts
    return xp.where(xp.isfinite(step), first + share * step, 2 * (first / 2 + share * half))


def astype(xp: ModuleType, x: Array, dtype: object) -> Array:
    """x cast to that dtype, or x itself."""
    return x if x.dtype == dtype else xp.astype(x, dtype)


def require_real(xp: ModuleType, *arrays: Array) -> None:
    """Raise TypeError for complex numbers in a function that orders elements and is not defined for them in NumPy."""
    for x in arrays:
        if xp.isdtype(x.dtype, "complex floating"):
            raise unordered(x.dtype)


def unordered(dtype: object) -> TypeError:
    """The error of such a function."""
    return TypeError(f"complex numbers have no order here; the dtype is {dtype}. Instead: xo.real(x) or xo.abs(x)")


def alike(xp: ModuleType, x1: Array, x2: Array) -> tuple[Array, Array]:
    """Both arrays in their promoted dtype; integers take the dtype of floating-point numbers."""
    if x1.dtype == x2.dtype:
        return x1, x2
    first, second = (xp.isdtype(x.dtype, ("bool", "integral")) for x in (x1, x2))
    floating_dtype = x2.dtype if first else x1.dtype
    dtype = xp.result_type(x1, x2) if first == second else floating_dtype
    return astype(xp, x1, dtype), astype(xp, x2, dtype)


def as_array(xp: ModuleType, x: Any, like: Array) -> Array:
    """x; a number becomes an array with the device of ``like``, and its dtype if that can hold the number."""
    if hasattr(x, "dtype"):
        if getattr(x, "ndim", 1) or type(x.dtype).__module__ == type(like.dtype).__module__:
            return x
        x = x.item()  # a NumPy scalar for an array of another library
    kinds = {bool: ("bool",), int: ("integral",), float: ("real floating",)}
    lower = [kind for cls, listed in kinds.items() if isinstance(x, cls) for kind in listed]
    order = ("bool", "integral", "real floating", "complex floating")
    wanted = order[order.index(lower[0]) :] if lower else order[-1:]
    dtype = like.dtype if xp.isdtype(like.dtype, wanted) else None
    return xp.asarray(x, dtype=dtype, device=device_of(like))


def device_of(x: Array) -> object:
    """The device of x for new arrays; None (the default) if arrays have no ``device`` attribute (Dask)."""
    return getattr(x, "device", None)


def index_dtype(xp: ModuleType, x: Array) -> object:
    """The index dtype of the library: its default integer dtype, which is int32 on JAX while 64-bit types are off."""
    return xp.__array_namespace_info__().default_dtypes(device=device_of(x))["indexing"]


def indices(xp: ModuleType, values: list[int], like: Array) -> Array:
    """Indices as an array of the library's index dtype."""
    return xp.asarray(values, dtype=index_dtype(xp, like), device=device_of(like))


def require_vector(name: str, x: Array) -> None:
    """Raise unless an array has one axis."""
    if x.ndim != 1:
        raise ValueError(f"{name} must be a vector, but its shape is {tuple(x.shape)}")


def whole(name: str, value: Any) -> int:
    """The integer; TypeError for other objects, also booleans."""
    if isinstance(value, int) and not isinstance(value, bool):  # torch.compile has no `__index__` of symbolic sizes
        return value
    if isinstance(value, float) and value != value:
        raise TypeError(f"{name} is a size that is not computed yet. Instead: the size of xo.persist(x)")
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an integer, but it is {value!r}")
    return int(value)


def counted(name: str, value: Any) -> int:
    """The integer; ValueError if it is negative."""
    if whole(name, value) < 0:
        raise ValueError(f"{name}={value} is negative")
    return int(value)


def normal_axis(axis: int, ndim: int) -> int:
    """The non-negative axis; IndexError if it is out of bounds."""
    axis = whole("axis", axis)
    if not -ndim <= axis < ndim:
        raise IndexError(f"axis {axis} is out of bounds for an array of {ndim} dimensions")
    return axis % ndim


def one_axis(xp: ModuleType, x: Array, axis: int | None) -> tuple[Array, int]:
    """x and the non-negative axis; without an axis, the elements as a vector."""
    return (xp.reshape(x, (-1,)), 0) if axis is None else (x, normal_axis(axis, x.ndim))


def part(x: Array, axis: int, start: int | None, stop: int | None, step: int | None = None) -> Array:
    """The elements from start to stop along an axis."""
    return x[(slice(None),) * axis + (slice(start, stop, step), ...)]


def normal_axes(axis: Axes, ndim: int) -> tuple[int, ...]:
    """The non-negative axes; ValueError for duplicates. None stands for all."""
    if axis is None:
        return tuple(range(ndim))
    axes = tuple(normal_axis(a, ndim) for a in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    if len(set(axes)) < len(axes):
        raise ValueError(f"axis={axis} has an axis twice")
    return axes


def checked_axes(axis: Axes, ndim: int) -> Axes:
    """The non-negative axis or axes; None, which stands for all, is unchanged."""
    if axis is None:
        return None
    return normal_axes(axis, ndim) if isinstance(axis, (tuple, list)) else normal_axis(axis, ndim)


class Rows(Record):
    """x with the reduced axes merged into the last one, and the shape of a result with one value per row."""

    values: Array
    shape: tuple[int, ...]


def rows(xp: ModuleType, x: Array, axis: Axes, *, keepdims: bool) -> Rows:
    """x with the axes moved to the end and flattened to one."""
    axes = normal_axes(axis, x.ndim)
    rest = tuple(a for a in range(x.ndim) if a not in axes)
    kept = tuple(x.shape[a] for a in rest)
    shape = tuple(1 if a in axes else x.shape[a] for a in range(x.ndim)) if keepdims else kept
    if (*rest, *axes) != tuple(range(x.ndim)):
        x = xp.permute_dims(x, (*rest, *axes))
    count = math.prod(x.shape[len(rest) :])
    return Rows(x if len(axes) == 1 else xp.reshape(x, (*kept, count)), shape)
