"""Functions of Dask that lose data where a chunk has length 0, and are right otherwise."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from xarrayops.plugin import Array
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import compat


def _solid(function: Callable[..., Array]) -> Callable[..., Array]:
    @wraps(function)
    def wrapped(x: Array, /, **options: Any) -> Array:
        return function(_blocks.solid(x), **options)

    return wrapped


cumulative_prod, cumulative_sum, flip, std, var = map(
    _solid, (compat.cumulative_prod, compat.cumulative_sum, compat.flip, compat.std, compat.var)
)
