"""Transformations of functions: autograd and torch.func; and arrays without a gradient."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch
import torch.utils.checkpoint
from torch.compiler import is_compiling

from xarrayops.plugin import Array

_torch: Any = torch  # untyped: PyTorch does not annotate these functions


def vjp(
    function: Callable[..., tuple[Array, ...]], arrays: tuple[Array, ...], cotangents: tuple[Array, ...], /
) -> tuple[Array, ...]:
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


class _Thread(threading.local):
    """How many functions this thread differentiates."""

    depth = 0


_thread = _Thread()


def value_and_grad(
    function: Callable[..., tuple[Array, tuple[Array, ...]]], arrays: tuple[Array, ...], /
) -> tuple[Array, tuple[Array, ...], tuple[Array, ...]]:
    """By autograd, which supports checkpoints; by torch.func in its transformations and under torch.compile."""
    if is_transformed():
        positions = tuple(range(len(arrays)))
        found, (value, others) = _torch.func.grad_and_value(function, positions, has_aux=True)(*arrays)
        return value, others, found
    is_inner = _thread.depth > 0 or any(x.requires_grad for x in arrays)
    with torch.enable_grad():
        leaves = [x.view_as(x) if x.requires_grad else x.detach().requires_grad_() for x in arrays]
        _thread.depth += 1
        try:
            value, others = function(*leaves)
        finally:
            _thread.depth -= 1
        if not value.requires_grad:
            found = tuple(torch.zeros_like(x) for x in arrays)
        else:
            found = torch.autograd.grad(value, leaves, create_graph=is_inner, allow_unused=True, materialize_grads=True)
    if is_inner:
        return value, others, found
    return value.detach(), tuple(x.detach() for x in others), found


def is_transformed() -> bool:
    """Whether torch.func transforms, or torch.compile traces."""
    return bool(is_compiling()) or torch._C._functorch.peek_interpreter_stack() is not None


def checkpoint(function: Callable[..., tuple[Array, ...]], arrays: tuple[Array, ...], /) -> tuple[Array, ...]:
    """`torch.utils.checkpoint`, where autograd differentiates."""
    if is_transformed():
        return function(*arrays)
    found: tuple[Array, ...] = _torch.utils.checkpoint.checkpoint(function, *arrays, use_reentrant=False)
    return found


def no_grad() -> AbstractContextManager[Any]:
    """`torch.no_grad`."""
    return torch.no_grad()


def opaque(x: Array, shape: tuple[int, ...], /) -> Array:
    """Without a gradient. Inductor divides on CPUs as the eager functions do."""
    return x.detach()
