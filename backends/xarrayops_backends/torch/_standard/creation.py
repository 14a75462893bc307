"""Creation functions."""

from __future__ import annotations

import math
from typing import Any, Literal

import array_api_compat.torch as aac
import numpy as np
import torch

from xarrayops.plugin import Array
from xarrayops_backends.torch._dtypes import _COMPLEX_OF, _LIMITS, result_type
from xarrayops_backends.torch._standard.wide import WIDE, _by_bits, _cast

_HIGHEST = torch.iinfo(torch.int64).max


def asarray(obj: Any, /, *, dtype: torch.dtype | None = None, device: Any = None, copy: bool | None = None) -> Array:
    """torch.asarray detaches an array from its graph and moves it to the default device (pytorch#150199)."""
    if isinstance(obj, np.ndarray) and torch.compiler.is_compiling():
        obj = torch.as_tensor(obj)  # the tracer has a tensor for it
    elif isinstance(obj, np.ndarray) and not (obj.flags.writeable and min(obj.strides, default=0) >= 0):
        if copy is False:
            raise ValueError("PyTorch has neither read-only memory nor negative strides, and copy=False")
        obj = obj.copy()
    if isinstance(obj, (list, tuple)) and _holds_tensors(obj):
        obj = _stacked(obj)
    if not isinstance(obj, torch.Tensor):
        if dtype in WIDE and isinstance(obj, (list, tuple)) and torch.compiler.is_compiling():
            return torch.asarray(obj, device=device).to(dtype)  # Inductor cannot make constants of these dtypes
        return torch.asarray(obj, dtype=dtype, device=device, copy=copy)
    if copy:
        return _cast(obj, dtype, device=device, copy=True)
    out = obj if dtype is None and device is None else _cast(obj, dtype, device=device)
    if copy is False and out is not obj:
        raise ValueError(f"{obj.dtype} on {obj.device} to {out.dtype} on {out.device} needs a copy, and copy=False")
    return out


def _holds_tensors(obj: Any) -> bool:
    return isinstance(obj, torch.Tensor) or (isinstance(obj, (list, tuple)) and any(map(_holds_tensors, obj)))


def _stacked(obj: Any) -> Array:
    """PyTorch cannot create a tensor of a sequence of tensors, and detaches single elements from their graph."""
    if not isinstance(obj, (list, tuple)):
        return torch.as_tensor(obj)
    members = [_stacked(member) for member in obj]
    dtype = result_type(*members)
    return torch.stack([member.to(dtype) for member in members])


def arange(
    start: float, /, stop: float | None = None, step: float = 1, *, dtype: torch.dtype | None = None, device: Any = None
) -> Array:
    """torch.arange lacks wide unsigned integers, and casts fractions to an integer dtype before it counts the steps."""
    if float in (type(start), type(stop), type(step)) and dtype in _LIMITS:
        start, stop = (0, start) if stop is None else (start, stop)
        count, first = max(0, math.ceil((stop - start) / step)), int(start)
        return (aac.arange(count, dtype=torch.int64, device=device) * (int(start + step) - first) + first).to(dtype)
    if dtype not in WIDE:
        return aac.arange(start, stop, step, dtype=dtype, device=device)
    if isinstance(start, int) and dtype is torch.uint64 and stop is not None and max(start, stop) > _HIGHEST:
        count = max(0, math.ceil((stop - start) / step))
        steps = aac.arange(count, dtype=torch.int64, device=device) * step
        return (steps + (start if start <= _HIGHEST else start - 2**64)).view(dtype)  # modulo 2**64
    return aac.arange(start, stop, step, dtype=torch.int64, device=device).to(dtype)


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: torch.dtype | None = None, device: Any = None, endpoint: bool = True
) -> Array:
    """torch.linspace has no endpoint, computes in the dtype, and rounds the numbers in the middle in another way.

    So 0 between -1 and 1 is -1.5e-8, and from 3 to -5 integers are -2 where they should be -1.
    """
    start, stop = (x.item() if isinstance(x, np.generic) else x for x in (start, stop))
    are_numbers = isinstance(start, (float, int)) and isinstance(stop, (float, int))
    if dtype is None and are_numbers:
        dtype = torch.get_default_dtype()
    is_real = are_numbers and dtype is not None and dtype.is_floating_point and abs(stop - start) < math.inf
    if dtype in _LIMITS or is_real:
        intervals = num - 1 if endpoint else num
        numbers = torch.arange(num, dtype=torch.float64, device=device)
        values = numbers * ((float(stop) - start) / (intervals or 1)) + start  # as in NumPy
        values = torch.where((numbers == intervals) & (numbers > 0), float(stop), values)
        return values.to(dtype) if is_real else _cast(values.floor(), dtype)
    if dtype is None and (isinstance(start, complex) or isinstance(stop, complex)):
        dtype = _COMPLEX_OF[torch.get_default_dtype()]
    out = torch.linspace(start, stop, num if endpoint else num + 1, dtype=dtype, device=device)
    return out if endpoint else out[:-1]


def full(shape: Any, fill_value: Any, *, dtype: torch.dtype | None = None, device: Any = None) -> Array:
    """torch.full raises RuntimeError for a number beyond the dtype; as elsewhere, it becomes infinite."""
    return _filled(aac.full, shape, fill_value, dtype, device, dtype)


def full_like(x: Array, /, fill_value: Any, *, dtype: torch.dtype | None = None, device: Any = None) -> Array:
    """Like full."""
    return _filled(torch.full_like, x, fill_value, dtype, device, x.dtype if dtype is None else dtype)


def _filled(create: Any, like: Any, value: Any, dtype: torch.dtype | None, device: Any, made: Any) -> Array:
    """An array of the dtype ``made``, by a function that may refuse the value."""
    try:
        return create(like, value, dtype=dtype, device=device)
    except (RuntimeError, OverflowError):
        limit = _beyond(value, made)
        if limit is None:
            raise
    return create(like, limit, dtype=dtype, device=device)


def _beyond(number: Any, dtype: torch.dtype | None) -> float | None:
    """The infinity that a floating-point dtype has for a number beyond its limits; None where that is not the case."""
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if not dtype.is_floating_point or isinstance(number, complex):
        return None
    return torch.asarray(float(number), dtype=dtype).item()


def meshgrid(*arrays: Array, indexing: Literal["xy", "ij"] = "xy") -> tuple[Array, ...]:
    """torch.meshgrid defaults to ij and raises without an array."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing must be 'xy' or 'ij', not {indexing!r}")
    return tuple(torch.meshgrid(*arrays, indexing=indexing)) if arrays else ()


def tril(x: Array, /, *, k: int = 0) -> Array:
    """torch.tril has another name for k and lacks wide unsigned integers."""
    return _by_bits(torch.tril, x, k)


def triu(x: Array, /, *, k: int = 0) -> Array:
    """torch.triu has another name for k and lacks wide unsigned integers."""
    return _by_bits(torch.triu, x, k)
