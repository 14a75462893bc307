"""Wrappers of every function on an XLA device: complex128 is refused, and some empty arrays go to the CPU.

In generic functions, operators that are wrong in PyTorch/XLA (2.9) are replaced by functions of this backend.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map_only

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Gap
from xarrayops.plugin.backends import backend_by_name
from xarrayops_backends.torch_xla._standard.corrections import bitwise_right_shift, divide

COMPLEX128 = Gap(
    "PyTorch/XLA (2.9) loses the imaginary parts of complex128 whenever values move to or from the device",
    'complex64, by x.to(torch.complex64), or the CPU: xo.convert(x, "torch", device="cpu") before the call',
)


def _refuse_complex128(value: Any) -> None:
    if isinstance(value, torch.Tensor):
        if value.dtype is torch.complex128:
            raise Unsupported(str(COMPLEX128))
    elif isinstance(value, (tuple, list)):
        for member in value:
            _refuse_complex128(member)


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which raises an error if an argument or a result is complex128."""

    @wraps(function)
    def guard(*args: Any, **kwargs: Any) -> Any:
        _refuse_complex128((*args, *kwargs.values()))
        out = function(*args, **kwargs)
        _refuse_complex128(out)
        return out

    return guard


EMPTY = frozenset(
    (
        *("cumulative_prod", "cumulative_sum", "fft.fftshift", "fft.ifftshift", "linalg.inv", "linalg.matrix_rank"),
        *("linalg.svdvals", "max", "min", "roll", "take_along_axis", "unique_all", "unique_counts", "unique_inverse"),
    )
)
"""Functions that fail on an empty array in XLA; roll aborts the process."""


def empty_on_cpu(verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which computes empty arrays on the CPU with the torch backend; no values are transferred."""

    @wraps(function)
    def served(x: Array, /, *args: Any, **kwargs: Any) -> Any:
        if x.numel():
            return function(x, *args, **kwargs)
        on_cpu = backend_by_name("torch").functions[verb]
        args, kwargs = tree_map_only(torch.Tensor, torch.Tensor.cpu, (args, kwargs))
        return tree_map_only(torch.Tensor, lambda out: out.to(x.device), on_cpu(x.cpu(), *args, **kwargs))

    return served


def _nan_to_num(x: Array, nan: float, posinf: float | None, neginf: float | None) -> Array:
    """torch.nan_to_num, also with replacements that are not finite."""
    limits = torch.finfo(x.dtype)
    numbers = torch.where(x == x, x, nan)
    numbers = torch.where(x == math.inf, limits.max if posinf is None else posinf, numbers)
    return torch.where(x == -math.inf, limits.min if neginf is None else neginf, numbers)


_OPERATORS: dict[Any, Callable[..., Any]] = {
    torch.Tensor.__rshift__: bitwise_right_shift,  # rounds towards zero
    torch.Tensor.div: divide,  # drops imaginary parts
    torch.nan_to_num: _nan_to_num,  # refuses infinities
}


class _CorrectOperators(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        return _OPERATORS.get(func, func)(*args, **(kwargs or {}))


def with_correct_operators(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, in which operators on tensors are functions of this backend."""

    @wraps(function)
    def correct(*args: Any, **kwargs: Any) -> Any:
        with _CorrectOperators():
            return function(*args, **kwargs)

    return correct
