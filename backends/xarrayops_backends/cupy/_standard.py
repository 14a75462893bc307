"""Functions of the standard that array_api_compat.cupy lacks, or where it ignores arguments or deviates."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import array_api_compat.cupy
import cupy
import numpy as np
from numpy.linalg._linalg import EigResult

from xarrayops.plugin import Array, Attention, generic
from xarrayops_backends.cupy._devices import _HERE, _count, _on, as_device, to_device
from xarrayops_backends.cupy._failures import failure_cause as _failure_cause

_compat: Any = array_api_compat.cupy
_HOST_MEMORY = (1, 3, 11)  # kDLCPU, kDLCUDAHost and kDLROCMHost


def _placed(create: Callable[..., Array]) -> Callable[..., Array]:
    """CuPy ignores ``device`` and creates on the current device.

    https://github.com/data-apis/array-api-compat/issues/337, https://github.com/cupy/cupy/issues/9848
    """

    @wraps(create)
    def on_device(*args: Any, device: Any = None, **kwargs: Any) -> Array:
        try:
            with _HERE if device is None else _on(as_device(device)):
                return create(*args, **kwargs)
        except (MemoryError, RuntimeError) as error:  # there may be no array for which `failure_cause` is asked
            _failure_cause(None, error)
            raise

    return on_device


def _placed_like(create: Callable[..., Array]) -> Callable[..., Array]:
    """The same for ``*_like`` functions: the array determines the device."""

    @wraps(create)
    def on_device(x: Array, /, *args: Any, device: Any = None, **kwargs: Any) -> Array:
        with _on(x.device if device is None else as_device(device)):
            return create(x, *args, **kwargs)

    return on_device


_from_foreign = _placed(cupy.asarray)


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Array:
    """CuPy leaves an array on another device, and copies despite ``copy=False``."""
    if isinstance(obj, cupy.ndarray):
        found = astype(obj, obj.dtype if dtype is None else dtype, copy=False, device=device)
    else:
        found = _from_foreign(obj, dtype=dtype, device=device)
    shared = found is obj or _shares_memory(found, obj)
    if copy is False and not shared:
        raise ValueError("the values are not in the memory of this device with this dtype, so a copy is needed")
    return _copied(found) if copy and shared else found


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """CuPy casts to the current device, and array_api_compat accepts "cpu" and returns a NumPy array."""
    with _on(x.device):
        cast = x.astype(dtype, copy=False)
    cast = cast if device is None else to_device(cast, as_device(device))
    return _copied(cast) if copy and cast is x else cast


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """CuPy rejects ``device``, ``copy=True`` (https://github.com/cupy/cupy/issues/9842) and host memory."""
    if x.__dlpack_device__()[0] in _HOST_MEMORY:
        if device is None or copy is False:
            raise BufferError("the values are in host memory. Instead: device=... with copy=None or copy=True")
        return asarray(np.from_dlpack(x), device=device)
    imported = cupy.from_dlpack(x)
    placed = imported if device is None else to_device(imported, as_device(device))
    if copy is False and placed is not imported:
        raise BufferError("the values are on another device, so a copy is needed")
    return _copied(placed) if copy and placed is imported else placed


def reshape(x: Array, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Array:
    """A reshape that would copy raises AttributeError in array_api_compat; the standard says ValueError."""
    try:
        return _compat.reshape(x, shape, copy=copy)
    except AttributeError as error:
        raise ValueError(f"the shape {shape} needs a copy of this array of shape {x.shape}") from error


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """array_api_compat assigns through boolean masks, which makes the host wait for the device."""
    low, high = _bound(x, min), _bound(x, max)
    result = x if low is None else cupy.maximum(x, low)
    result = result if high is None else cupy.minimum(result, high)
    return _copied(x) if result is x else result


def _bound(x: Array, bound: Any) -> Any:
    """A bound in the dtype of x; beyond the range of an integer dtype, the nearest limit."""
    if bound is None:
        return None
    if isinstance(bound, cupy.ndarray):
        return bound.astype(x.dtype, copy=False)
    if x.dtype.kind in "iu":
        limits = np.iinfo(x.dtype)
        bound = limits.min if bound <= limits.min else limits.max if bound >= limits.max else bound
    return x.dtype.type(bound)


def remainder(x1: Array, x2: Array, /) -> Array:
    """CuPy computes x1 - floor(x1 / x2) * x2: nan for an infinite divisor, inexact for a large quotient."""
    if cupy.result_type(x1, x2).char not in "efd":
        return cupy.remainder(x1, x2)
    rest = cupy.fmod(x1, x2)
    rest = cupy.where((rest != 0) & ((rest < 0) != (x2 < 0)), rest + x2, rest)
    return cupy.where(rest == 0, cupy.copysign(rest, x2), rest)


def repeat(x: Array, repeats: Any, /, *, axis: int | None = None) -> Array:
    """CuPy before 14.1 rejects an array of repeats, and later versions reject uint64."""
    if not isinstance(repeats, cupy.ndarray):
        return cupy.repeat(x, repeats, axis=axis)
    if repeats.size == 1:
        return cupy.repeat(x, int(repeats.reshape(())), axis=axis)
    extent = x.size if axis is None else x.shape[axis]
    if repeats.shape != (extent,):
        raise ValueError(f"repeats has shape {repeats.shape}, but there are {extent} elements to repeat")
    ends = cupy.cumsum(repeats.astype(cupy.int64, copy=False))
    total = int(ends[-1]) if extent else 0
    return cupy.take(x, cupy.searchsorted(ends, cupy.arange(total), side="right"), axis=axis)


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Array:
    """CuPy rejects scalars, and array_api_compat accepts only integers."""
    return cupy.isin(cupy.asarray(x1), cupy.asarray(x2), invert=invert)


def matmul(x1: Array, x2: Array, /) -> Array:
    """CuPy computes stacks of bfloat16 with its integer kernel, which has no such type.

    Products of two matrices use cuBLAS; a stack times one matrix is such a product.
    """
    if x1.ndim <= 2 >= x2.ndim or not (x1.size and x2.size) or not _are_bfloat16(x1, x2):
        return _compat.matmul(x1, x2)
    if x2.ndim <= 2:
        product = _compat.matmul(x1.reshape(-1, x1.shape[-1]), x2)
        return product.reshape(*x1.shape[:-1], *x2.shape[1:])
    return _in_float32(_compat.matmul, x1, x2)


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """array_api_compat multiplies stacks of matrices, see `matmul`."""
    if _are_bfloat16(x1, x2):
        return _in_float32(lambda a, b: _compat.vecdot(a, b, axis=axis), x1, x2)
    return _compat.vecdot(x1, x2, axis=axis)


def einsum(subscripts: str, /, *operands: Array) -> Array:
    """CuPy's own function, which multiplies stacks of matrices, see `matmul`; einsum is not in the standard."""
    if len(operands) > 1 and _are_bfloat16(*operands):
        return _in_float32(lambda *given: cupy.einsum(subscripts, *given), *operands)
    return cupy.einsum(subscripts, *operands)


def _are_bfloat16(*arrays: Array) -> bool:
    return bool(cupy.result_type(*(x.dtype for x in arrays)).name == "bfloat16")


def _in_float32(product: Callable[..., Array], *arrays: Array) -> Array:
    """A product of bfloat16, computed in float32 and rounded once."""
    result = product(*(x.astype(cupy.float32) for x in arrays))
    return result.astype(cupy.result_type(*(x.dtype for x in arrays)))


def linalg_solve(x1: Array, x2: Array, /) -> Array:
    """CuPy does not broadcast the stacks of matrices against each other."""
    right = x2[:, None] if x2.ndim == 1 else x2
    stack = cupy.broadcast_shapes(x1.shape[:-2], right.shape[:-2])
    left = cupy.broadcast_to(x1, (*stack, *x1.shape[-2:]))
    solution = cupy.linalg.solve(left, cupy.broadcast_to(right, (*stack, *right.shape[-2:])))
    return solution[..., 0] if x2.ndim == 1 else solution


def linalg_eig(x: Array, /) -> EigResult:
    """CuPy's result has no named fields."""
    return EigResult(*cupy.linalg.eig(x))


def _sizes_as_list(transform: Callable[..., Array]) -> Callable[..., Array]:
    """CuPy ignores ``s`` if it is a tuple equal to x.shape, whatever the order of the axes.

    https://github.com/cupy/cupy/issues/8248; a list never equals a tuple.
    """

    @wraps(transform)
    def with_list(x: Array, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Array:
        return transform(x, s=None if s is None else list(s), axes=axes, norm=norm)

    return with_list


_CORRECTED = {
    **dict.fromkeys(
        ("arange", "empty", "eye", "full", "linspace", "ones", "zeros", "fft.fftfreq", "fft.rfftfreq"), _placed
    ),
    **dict.fromkeys(("empty_like", "full_like", "ones_like", "zeros_like"), _placed_like),
    **dict.fromkeys(("fft.fftn", "fft.ifftn", "fft.irfftn", "fft.rfftn"), _sizes_as_list),
}
"""What corrects the arguments of functions of array_api_compat."""


def wrap(verb: str, function: Callable[..., Any], /) -> Callable[..., Any]:
    """The function, with corrected arguments if CuPy ignores some, on the device of its arrays."""
    function = _CORRECTED[verb](function) if verb in _CORRECTED else function
    return function if _count() < 2 else _where_arrays_are(function)


def _where_arrays_are(function: Callable[..., Any]) -> Callable[..., Any]:
    """CuPy runs on the current device, with arrays of another device in reach or not."""

    @wraps(function)
    def on_device(*args: Any, **kwargs: Any) -> Any:
        first = next((x for value in args for x in _members(value) if isinstance(x, cupy.ndarray)), None)
        with _HERE if first is None else _on(first.device):
            return function(*args, **kwargs)

    return on_device


def _members(value: Any) -> tuple[Any, ...] | list[Any]:
    if isinstance(value, Attention):
        return (value.q,)
    return value if isinstance(value, (tuple, list)) else (value,)


def _generic(hook: str) -> Callable[..., Any]:
    """The generic function of a hook on the device of its arrays."""
    return _where_arrays_are(partial(generic.HOOKS[hook], _compat))


attention, convolution, pooling = map(_generic, ("attention", "convolution", "pooling"))


def _copied(x: Array) -> Array:
    """CuPy copies to the current device."""
    with _on(x.device):
        return x.copy()


def _shares_memory(array: Array, obj: Any) -> bool:
    """Whether a CuPy array is a view of the device memory that a foreign object exposes."""
    shown = getattr(obj, "__cuda_array_interface__", None)
    return shown is not None and bool(array.data.ptr == shown["data"][0]) and array.size > 0
