"""Operators in the generic functions. Some are wrong in PyTorch/XLA (2.9); this backend's functions are correct."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from xarrayops_backends.torch_xla._standard.elementwise import bitwise_right_shift, divide

_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    torch.Tensor.__rshift__: bitwise_right_shift,  # rounds towards zero
    torch.Tensor.div: divide,  # drops imaginary parts
}


class _CorrectOperators(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        return _FUNCTIONS.get(func, func)(*args, **(kwargs or {}))


def _with_correct_operators(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, in which operators on tensors are functions of this backend."""

    @wraps(function)
    def correct(*args: Any, **kwargs: Any) -> Any:
        with _CorrectOperators():
            return function(*args, **kwargs)

    return correct
