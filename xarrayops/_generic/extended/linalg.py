"""Functions of numpy.linalg that the standard lacks."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

from xarrayops._generic.extended.common import floating
from xarrayops._protocol.types import Array

_OF_MATRICES = ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)


def norm(
    xp: ModuleType, x: Array, /, *, ord: Any = None, axis: int | tuple[int, int] | None = None, keepdims: bool = False
) -> Array:
    """The norm of vectors or of matrices, by the number of axes."""
    x = floating(xp, x)
    if axis is None and ord is None:
        return xp.linalg.vector_norm(x, keepdims=keepdims)
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ValueError(f"ord={ord!r} is a norm of matrices; the axes are {axes}")
        return xp.linalg.vector_norm(x, axis=axes[0], ord=2 if ord is None else ord, keepdims=keepdims)
    if len(axes) != 2:
        raise ValueError(f"a norm is of vectors or matrices, along 1 or 2 axes, not {len(axes)}")
    if ord is not None and ord not in _OF_MATRICES:
        raise ValueError(f"ord={ord!r} is no norm of matrices; these are {', '.join(map(str, _OF_MATRICES))}")
    found = xp.linalg.matrix_norm(xp.moveaxis(x, axes, (-2, -1)), ord="fro" if ord is None else ord)
    if not keepdims:
        return found
    kept = {axis % x.ndim for axis in axes}
    return xp.reshape(found, tuple(1 if axis in kept else extent for axis, extent in enumerate(x.shape)))
