"""Creation functions: on an XLA device where none is named."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
import torch_xla

from xarrayops._core.namespace import implementation, verb_attribute
from xarrayops.plugin import Array
from xarrayops_backends import torch as _torch
from xarrayops_backends.torch._dtypes import _COMPLEX_OF
from xarrayops_backends.torch._xla import plain_of


def _on_xla(verb: str) -> Callable[..., Array]:
    """PyTorch's creation function with an XLA device as its default; asarray leaves a tensor where it is."""
    function = plain_of(implementation(_torch, verb))

    @wraps(function)
    def created(*args: Any, device: Any = None, **kwargs: Any) -> Array:
        stays = bool(args) and isinstance(args[0], torch.Tensor)
        return function(*args, device=device if device is not None or stays else torch_xla.device(), **kwargs)

    return created


def _through_cpu(verb: str) -> Callable[..., Array]:
    """PyTorch's creation function on the CPU: XLA counts and spaces float64 in single precision, elements too many."""
    function = plain_of(implementation(_torch, verb))

    @wraps(function)
    def created(*args: Any, device: Any = None, **kwargs: Any) -> Array:
        return function(*args, device="cpu", **kwargs).to(torch_xla.device() if device is None else device)

    return created


for _verb in ("asarray", "empty", "eye", "ones", "zeros"):
    globals()[_verb] = _on_xla(_verb)
for _verb in ("arange", "fft.fftfreq", "fft.rfftfreq", "linspace"):
    globals()[verb_attribute(_verb)] = _through_cpu(_verb)

_full = _on_xla("full")


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """PyTorch/XLA makes complex128 of a Python complex number."""
    if dtype is None and isinstance(fill_value, complex):
        dtype = _COMPLEX_OF[torch.get_default_dtype()]
    return _full(shape, fill_value, dtype=dtype, device=device)
