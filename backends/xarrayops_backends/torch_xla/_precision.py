"""How float32 is multiplied on XLA devices, and the parts of a precision policy that PyTorch/XLA does not support.

On a TPU, the default is bfloat16. PyTorch/XLA reads its setting when it compiles, after the calls that it records, so
only the program can choose it, not a single product.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Any

import torch
import torch_xla.backends
import torch_xla.core.xla_model as xm
from torch.utils._pytree import tree_leaves

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Attention, generic, unsupported
from xarrayops.plugin.backends import backend_by_name
from xarrayops_backends.torch import _convolution
from xarrayops_backends.torch_xla._standard.linalg import ON_CPU

_torch_xla: Any = torch_xla  # untyped: PyTorch/XLA does not annotate these functions
_HIGHEST = 'torch_xla.backends.set_mat_mul_precision("highest") at the start of the program'
_IGNORING = {"einsum": f"xo.matmul or xo.tensordot, and {_HIGHEST}", "linalg.slogdet": ON_CPU}
"""The functions for which PyTorch/XLA (2.9) ignores its setting, and what to use instead."""
MULTIPLYING = frozenset((*_IGNORING, "matmul", "tensordot"))
"""The functions that multiply matrices. All others call these, except PyTorch's convolutions."""
rounded = unsupported(
    "XLA may skip a cast to a narrower dtype whose result is widened again, and PyTorch/XLA has no barrier",
    instead='xo.astype before the block, or xo.convert(x, "jax")',
)


def product_precision(products: str, /, *arrays: Array) -> AbstractContextManager[Any]:
    """Every product of float32 is IEEE float32 or refused, by `_in_single`."""
    return nullcontext()


def _in_single(verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which raises if float32 would be multiplied in bfloat16."""

    @wraps(function)
    def multiplied(*args: Any, **kwargs: Any) -> Any:
        arrays = [x for x in tree_leaves(args) if isinstance(x, torch.Tensor)]
        if any(x.dtype in (torch.float32, torch.complex64) for x in arrays) and _is_lowered(verb, arrays[0].device):
            instead = _IGNORING.get(verb, _HIGHEST)
            raise Unsupported(f"XLA multiplies float32 in bfloat16 on this device. Instead: {instead}")
        return function(*args, **kwargs)

    return multiplied


CONVOLUTION_CANDIDATES = [
    (kernel, _in_single("convolution", function), refusal)
    for kernel, function, refusal in _convolution.CONVOLUTION_CANDIDATES
]


def attention(a: Attention, /) -> tuple[Array, Array | None]:
    """The generic function, with the products of this backend."""
    found: tuple[Array, Array | None] = generic.HOOKS["attention"](backend_by_name("torch_xla").namespace, a)
    return found


def _is_lowered(verb: str, device: torch.device) -> bool:
    """Whether products of float32 are less precise."""
    if xm.xla_device_hw(device) == "CPU":
        return False
    return verb in _IGNORING or _torch_xla.backends.get_mat_mul_precision() != "highest"
