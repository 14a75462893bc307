"""XLA tensors bear PyTorch's class, so only the array itself shows that PyTorch/XLA's functions must serve it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import wraps
from typing import Any

from torch import Tensor, device as _Device

from xarrayops.plugin.backends import backend_by_name

INSTALLED = importlib.util.find_spec("torch_xla") is not None
"""Where it is not, no call pays for the question (a device's type costs 250 ns)."""


def _on_xla(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.device.type == "xla"
    if isinstance(value, (tuple, list)):
        return any(isinstance(member, Tensor) and member.device.type == "xla" for member in value)
    return isinstance(value, _Device) and value.type == "xla"


def refining(verb: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    """plain, which hands arrays and devices of XLA to the other backend."""

    @wraps(plain)
    def refined(*args: Any, **kwargs: Any) -> Any:
        for value in (*args, *kwargs.values()):
            if _on_xla(value):
                return backend_by_name("torch_xla").functions[verb](*args, **kwargs)
        return plain(*args, **kwargs)

    return refined
