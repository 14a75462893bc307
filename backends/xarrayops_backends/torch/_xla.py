"""XLA tensors are instances of torch.Tensor: only their device shows that PyTorch/XLA serves them."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import wraps
from typing import Any

from torch import Tensor, device as _Device

from xarrayops.plugin.backends import backend_by_name
from xarrayops_backends.torch import _devices, _precision
from xarrayops_backends.torch._dense import refusing_sparse

INSTALLED = importlib.util.find_spec("torch_xla") is not None
"""Whether PyTorch/XLA is installed. If not, calls skip the test of the device, which takes 250 ns."""


def _on_xla(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.device.type == "xla"
    if isinstance(value, (tuple, list)):
        return any(isinstance(member, Tensor) and member.device.type == "xla" for member in value)
    return isinstance(value, _Device) and value.type == "xla"


def refine(x: Tensor, /) -> str | None:
    """The backend of PyTorch/XLA for a tensor on an XLA device."""
    return "torch_xla" if x.device.type == "xla" else None


def wrap(verb: str, function: Callable[..., Any], /) -> Callable[..., Any]:
    """The function; PyTorch/XLA's backend serves calls with arrays or devices of XLA."""
    function = refusing_sparse(verb, function)

    @wraps(function)
    def refined(*args: Any, **kwargs: Any) -> Any:
        for value in (*args, *kwargs.values()):
            if _on_xla(value):
                return backend_by_name("torch_xla").functions[verb](*args, **kwargs)
        return function(*args, **kwargs)

    return refined


to_device = wrap("to_device", _devices.to_device)
product_precision = wrap("product_precision", _precision.product_precision)
rounded = wrap("rounded", _precision.rounded)
