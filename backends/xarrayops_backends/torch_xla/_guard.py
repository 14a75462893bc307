"""Checks around every function on an XLA device: complex128 is refused, and some empty arrays go to the CPU."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Gap
from xarrayops.plugin.backends import backend_by_name

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
