"""Notes the arrays on several devices whose values JAX reads, from the import on."""

from __future__ import annotations

from typing import Any

import jax

READS: list[tuple[int, ...]] = []
"""The shapes of the arrays on several devices whose values were read."""
_ArrayImpl: Any = type(jax.numpy.zeros(()))
_read = _ArrayImpl._value.fget


def _noted(x: Any) -> Any:
    if len(x.sharding.device_set) > 1:
        READS.append(x.shape)
    return _read(x)


_ArrayImpl._value = property(_noted)
