"""Transformations of functions: autograd and torch.func; and arrays without a gradient."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch
import torch.utils.checkpoint
from torch.compiler import is_compiling

from xarrayops.plugin import Array
from xarrayops_backends.torch._tracing import transforms as _transforms

_torch: Any = torch  # untyped: PyTorch does not annotate these functions
Arrays = tuple[Array, ...]


def vjp(function: Callable[..., Arrays], arrays: Arrays, cotangents: Arrays, /) -> Arrays:
    """By autograd; zero for an array that the results do not depend on."""
    leaves = [x.detach().requires_grad_() for x in arrays]
    results = function(*leaves)
    pairs = [(y, g) for y, g in zip(results, cotangents, strict=True) if y.requires_grad]
    if not pairs:
        return tuple(torch.zeros_like(x) for x in arrays)
    outputs, grads = zip(*pairs, strict=True)
    found = torch.autograd.grad(outputs, leaves, grads, allow_unused=True)
    return tuple(torch.zeros_like(x) if g is None else g for x, g in zip(arrays, found, strict=True))


def vmap(function: Callable[..., Any], /) -> Callable[..., Any]:
    """`torch.func.vmap`."""
    return _torch.func.vmap(function)


def value_and_grad(function: Callable[..., tuple[Array, Arrays]], arrays: Arrays, /) -> tuple[Array, Arrays, Arrays]:
    """By autograd, which supports checkpoints; by torch.func in its transformations and in inference mode."""
    if is_compiling() or _transforms() or torch.is_inference_mode_enabled() or any(x.is_inference() for x in arrays):
        return _by_func(function, arrays)
    is_recorded = torch.is_grad_enabled()
    own = [x.view_as(x) if is_recorded and x.requires_grad else x.detach().requires_grad_() for x in arrays]
    _set_active(own, True)
    try:
        with torch.enable_grad():
            value, others = function(*own)
            is_connected = is_recorded and _is_connected([value, *others], own)
            if value.requires_grad:
                found = torch.autograd.grad(
                    value, own, create_graph=is_connected, allow_unused=True, materialize_grads=True
                )
            else:
                found = tuple(torch.zeros_like(x) for x in arrays)
    finally:
        _set_active(own, False)
    if is_connected:
        return value, others, found
    return value.detach(), tuple(x.detach() if isinstance(x, torch.Tensor) else x for x in others), found


def _set_active(tensors: list[Array], is_active: bool) -> None:
    """Mark the leaves of a call: after it they are parts of graphs, but no gradient is taken with respect to them."""
    for x in tensors:
        if x.grad_fn is None:
            x.differentiates = is_active


def _by_func(function: Callable[..., tuple[Array, Arrays]], arrays: Arrays, /) -> tuple[Array, Arrays, Arrays]:
    """By `torch.func.grad_and_value`, whose other results are tensors; arrays of other libraries bypass it."""
    returned: list[Any] = []

    def of_tensors(*given: Array) -> tuple[Array, Arrays]:
        value, others = function(*given)
        returned[:] = [None if isinstance(x, torch.Tensor) else x for x in others]
        return value, tuple(x for x in others if isinstance(x, torch.Tensor))

    positions = tuple(range(len(arrays)))
    found, (value, tensors) = _torch.func.grad_and_value(of_tensors, positions, has_aux=True)(*arrays)
    left = iter(tensors)
    return value, tuple(next(left) if x is None else x for x in returned), found


def _is_connected(results: list[Any], own: list[Array]) -> bool:
    """Whether results depend on a tensor that requires a gradient, also in an enclosing call."""
    mine = {id(x) for x in own if x.grad_fn is None}
    tensors = [x for x in results if isinstance(x, torch.Tensor) and x.requires_grad]
    if any(x.grad_fn is None and id(x) not in mine for x in tensors):
        return True
    waiting = [x.grad_fn for x in tensors]
    seen: set[Any] = set()
    while waiting:
        node: Any = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if node.name() == "torch::autograd::AccumulateGrad":
            leaf = node.variable
            if id(leaf) not in mine and getattr(leaf, "differentiates", True):
                return True
        waiting.extend(each for each, _ in node.next_functions)
    return False


def checkpoint(function: Callable[..., Arrays], arrays: Arrays, /) -> Arrays:
    """`torch.utils.checkpoint`, where autograd differentiates."""
    if is_compiling() or _transforms():
        return function(*arrays)
    return _torch.utils.checkpoint.checkpoint(function, *arrays, use_reentrant=False)


def no_grad() -> AbstractContextManager[Any]:
    """`torch.no_grad`; torch.compile traces a call of its ``__enter__`` only in a ``with`` statement."""
    return _NoGrad() if torch.compiler.is_compiling() else torch.no_grad()


class _NoGrad(AbstractContextManager[None]):
    def __enter__(self) -> None:
        self._was_enabled = torch.is_grad_enabled()
        torch._C._set_grad_enabled(False)

    def __exit__(self, *error: object) -> None:
        torch._C._set_grad_enabled(self._was_enabled)


def opaque(x: Array, shape: tuple[int, ...], /) -> Array:
    """Without a gradient. Inductor divides on CPUs as the eager functions do."""
    return x.detach()
