"""Random numbers on XLA devices, by the generic functions."""

from __future__ import annotations

from typing import Any

import torch

from xarrayops.plugin import Array, generic, unsupported
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.random import Draw
from xarrayops_backends.torch_xla._guard import with_correct_operators as _with_correct_operators

native_generator = unsupported("PyTorch/XLA has one generator for each device", instead="leave native=True out")
native_draw = native_generator


@_with_correct_operators
def random_draw(draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
    """All elements at once, in int64."""
    xp = backend_by_name("torch_xla").namespace
    exact = generic.arithmetic(xp)._replace(rounded=_rounded, positive=torch.abs)
    return generic.random_draw(xp, draw, key, shape, device, exact)


def _rounded(x: Array) -> Array:
    """x, protected from contraction: XLA keeps the choice unless it can exclude NaN."""
    return torch.where(x == x, x, 0.0)


@_with_correct_operators
def random_permutation(key: Any, size: int, device: Any, /) -> Array:
    """By a stable sort."""
    return generic.random_permutation(backend_by_name("torch_xla").namespace, key, size, device)


@_with_correct_operators
def random_keys(key: Any, counters: Array, /) -> Array:
    """The two words for each counter are a key."""
    return generic.random_keys(backend_by_name("torch_xla").namespace, key, counters)
