"""Creation functions. The default device is an XLA device."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
import torch_xla
from array_api_compat import torch as _compat
from torch_xla.core import xla_builder, xla_op_registry

from xarrayops.plugin import Array
from xarrayops_backends.torch._dtypes import _COMPLEX_OF
from xarrayops_backends.torch._standard.wide import WIDE


def _on_xla(function: Callable[..., Array]) -> Callable[..., Array]:
    """PyTorch's creation function with an XLA device as default; asarray keeps the device of a tensor."""

    @wraps(function)
    def created(*args: Any, device: Any = None, **kwargs: Any) -> Array:
        stays = bool(args) and isinstance(args[0], torch.Tensor)
        return function(*args, device=device if device is not None or stays else torch_xla.device(), **kwargs)

    return created


def _through_cpu(function: Callable[..., Array]) -> Callable[..., Array]:
    """PyTorch's creation function on the CPU.

    XLA computes the length and the spacing of float64 ranges in single precision, and so returns too many elements.
    """

    @wraps(function)
    def created(*args: Any, device: Any = None, **kwargs: Any) -> Array:
        return function(*args, device="cpu", **kwargs).to(torch_xla.device() if device is None else device)

    return created


def _counted(limits: Any, *, size: int) -> Any:
    """What XLA computes for `_steps`: PyTorch/XLA's own range of integers is a constant of the program."""
    count = xla_builder.Op.iota(limits.builder(), xla_builder.mkshape("s64", (size,)), 0)
    start, step = (limits.slice_in_dim(i, i + 1, 0).reshape(()).broadcast((size,)) for i in range(2))
    return start + step * count


_steps = xla_op_registry.register("xarrayops_steps", _counted)


def _ranged(function: Callable[..., Array]) -> Callable[..., Array]:
    """arange, which computes integers on the device: nothing is transferred, and new limits need no new program."""
    through_cpu = _through_cpu(function)

    @wraps(function)
    def created(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Array:
        limits = (0, start, step) if stop is None else (start, stop, step)
        is_whole = all(type(each) is int for each in limits) and dtype in (None, torch.int32, torch.int64)
        size = len(range(*limits)) if is_whole and step else 0
        if not size:
            return through_cpu(*limits, dtype=dtype, device=device)
        device = torch_xla.device() if device is None else device
        found: Array = _steps(torch.tensor((limits[0], step)).to(device), size=size)
        return found if dtype is None else found.to(dtype)

    return created


_PLACED = {
    **dict.fromkeys(("asarray", "empty", "eye", "ones", "zeros"), _on_xla),
    "arange": _ranged,
    **dict.fromkeys(("linspace", "fft.fftfreq", "fft.rfftfreq"), _through_cpu),
}
"""What gives functions of the torch backend their default device."""
_full = _on_xla(_compat.full)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """PyTorch/XLA returns complex128 for a complex number without a dtype, and overflows in unsigned integers."""
    if dtype in WIDE:
        value = torch.full((), fill_value, dtype=dtype).to(torch_xla.device() if device is None else device)
        return value.expand(shape).clone()
    if dtype is None and isinstance(fill_value, complex):
        dtype = _COMPLEX_OF[torch.get_default_dtype()]
    return _full(shape, fill_value, dtype=dtype, device=device)
