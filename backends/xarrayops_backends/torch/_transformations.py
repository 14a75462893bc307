"""Transformations of functions: autograd and torch.func; and arrays without a gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

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


def opaque(x: Array, shape: tuple[int, ...], /) -> Array:
    """Without a gradient. Inductor divides on CPUs as the eager functions do."""
    return x.detach()
