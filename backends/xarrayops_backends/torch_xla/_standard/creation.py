"""Creation functions. The default device is an XLA device."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
import torch_xla
from array_api_compat import torch as _compat

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


_PLACED = {
    **dict.fromkeys(("asarray", "empty", "eye", "ones", "zeros"), _on_xla),
    **dict.fromkeys(("arange", "linspace", "fft.fftfreq", "fft.rfftfreq"), _through_cpu),
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
