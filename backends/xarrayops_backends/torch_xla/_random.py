"""Random numbers on XLA devices, by the generic functions."""

from __future__ import annotations

from typing import Any

import torch

from xarrayops.plugin import Array, generic, unsupported
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.distributions import Arithmetic
from xarrayops.plugin.random import Draw
from xarrayops_backends.torch_xla._guard import with_correct_operators as _with_correct_operators

native_generator = unsupported("PyTorch/XLA has one generator for each device", instead="leave native=True out")
native_draw = native_generator


@_with_correct_operators
def random_draw(draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
    """All elements at once, in int64. A key is a tensor, because scalars 0 and 1 are constants of the program."""
    key = torch.tensor(key, dtype=torch.int64).to(device) if type(key) is tuple else key
    return generic.random_draw(_namespace(), draw, key, shape, device, _exact())


@_with_correct_operators
def beta_numbers(dtype: str, shapes: Array, normals: Array, exponentials: Array, /) -> Array:
    """All proposals at once."""
    return generic.beta_numbers(_namespace(), dtype, shapes.detach(), normals, exponentials, _exact())


def _namespace() -> Any:
    return backend_by_name("torch_xla").namespace


def _exact() -> Arithmetic:
    return generic.arithmetic(_namespace())._replace(rounded=_rounded, positive=torch.abs)


def _rounded(x: Array) -> Array:
    """x, protected from contraction: XLA keeps the choice unless it can exclude NaN."""
    return torch.where(x == x, x, 0.0)


@_with_correct_operators
def random_permutation(key: Any, size: int, device: Any, /) -> Array:
    """By a stable sort."""
    return generic.random_permutation(_namespace(), key, size, device)


@_with_correct_operators
def random_keys(key: Any, counters: Array, /) -> Array:
    """The two words for each counter are a key."""
    return generic.random_keys(_namespace(), key, counters)
