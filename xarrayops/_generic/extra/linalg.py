"""Functions of numpy.linalg that the standard lacks."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

from xarrayops._generic.extra import common
from xarrayops.plugin.arrays import Array

_OF_MATRICES = ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)


def norm(
    xp: ModuleType, x: Array, /, *, ord: Any = None, axis: int | tuple[int, int] | None = None, keepdims: bool = False
) -> Array:
    """The norm of vectors or of matrices, by the number of axes."""
    x = common.floating(xp, x)
    if axis is None and ord is None:
        return xp.linalg.vector_norm(x, keepdims=keepdims)
    axes = common.normal_axes(axis, x.ndim)
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ValueError(f"ord={ord!r} requires a matrix; the axes are {axes}")
        return xp.linalg.vector_norm(x, axis=axes[0], ord=2 if ord is None else ord, keepdims=keepdims)
    if len(axes) != 2:
        raise ValueError(f"norm reduces 1 or 2 axes (vectors or matrices), not {len(axes)}")
    if ord is not None and ord not in _OF_MATRICES:
        raise ValueError(f"ord={ord!r} is not a matrix norm; the matrix norms are {', '.join(map(str, _OF_MATRICES))}")
    found = xp.linalg.matrix_norm(xp.moveaxis(x, axes, (-2, -1)), ord="fro" if ord is None else ord)
    if not keepdims:
        return found
    return xp.reshape(found, tuple(1 if axis in axes else extent for axis, extent in enumerate(x.shape)))


def cond(xp: ModuleType, x: Array, /, *, p: Any = None) -> Array:
    """The ratio of singular values, or a product of norms.

    The inverse is computed from singular values, because ``linalg.inv`` raises for singular matrices in some libraries.
    """
    if x.ndim < 2:
        raise ValueError(f"x must have at least 2 dimensions, but its shape is {tuple(x.shape)}")
    if 0 in x.shape[-2:]:
        raise ValueError(f"an empty matrix has no condition number, but the shape of x is {tuple(x.shape)}")
    x = common.floating(xp, x)
    if p in (None, 2, -2):
        values = xp.linalg.svdvals(x)
        greatest, least = values[..., 0], values[..., -1]
        above, below = (least, greatest) if p == -2 else (greatest, least)
        found = above / _or_one(xp, below)
        is_infinite = below == 0
    else:
        if x.shape[-1] != x.shape[-2]:
            raise ValueError(f"p={p!r} needs square matrices, but the shape of x is {tuple(x.shape)}")
        size = xp.max(xp.abs(x), axis=(-2, -1), keepdims=True)
        size = xp.where(xp.isfinite(size), size, 1.0)
        x = x / common.astype(xp, _or_one(xp, size), x.dtype)  # the norm of the inverse may underflow
        u, values, vh = xp.linalg.svd(x, full_matrices=False)
        scaled = _adjoint(xp, vh) / common.astype(xp, _or_one(xp, values), x.dtype)[..., None, :]
        inverse = xp.matmul(scaled, _adjoint(xp, u))
        found = norm(xp, x, ord=p, axis=(-2, -1)) * norm(xp, inverse, ord=p, axis=(-2, -1))
        is_infinite = values[..., -1] == 0
    return xp.where(is_infinite, xp.full_like(found, math.inf), found)


def _or_one(xp: ModuleType, x: Array) -> Array:
    """The values, with 0 replaced by 1."""
    return xp.where(x == 0, xp.ones_like(x), x)


def require_equations(x1: Array, x2: Array) -> None:
    """Raise unless x1 is a matrix and x2 has as many rows."""
    if x1.ndim != 2 or x2.ndim not in (1, 2) or x1.shape[0] != x2.shape[0]:
        shapes = f"{tuple(x1.shape)} and {tuple(x2.shape)}"
        raise ValueError(f"x1 must be a matrix, and x2 a vector or a matrix with as many rows; the shapes are {shapes}")


def lstsq(xp: ModuleType, x1: Array, x2: Array, /, *, rtol: float | None = None) -> tuple[Array, Array, Array, Array]:
    """By singular values; those that count as 0 are omitted."""
    require_equations(x1, x2)
    x1, x2 = common.floating(xp, x1), common.floating(xp, x2)
    x1, x2 = common.alike(xp, x1, x2)
    right = x2[:, None] if x2.ndim == 1 else x2
    u, s, vh = xp.linalg.svd(x1, full_matrices=False)
    limit = float(xp.finfo(s.dtype).eps) * max(x1.shape) if rtol is None else rtol
    is_kept = s > limit * s[:1]
    inverse = xp.where(is_kept, 1.0 / xp.where(is_kept, s, xp.ones_like(s)), xp.zeros_like(s))
    projected = xp.matmul(_adjoint(xp, u), right)
    solution = xp.matmul(_adjoint(xp, vh), common.astype(xp, inverse, right.dtype)[:, None] * projected)
    errors = xp.abs(right - xp.matmul(x1, solution))
    residuals = xp.sum(errors * errors, axis=0)
    return solution[:, 0] if x2.ndim == 1 else solution, residuals, xp.count_nonzero(is_kept), s


def _adjoint(xp: ModuleType, x: Array) -> Array:
    flipped = xp.matrix_transpose(x)
    return xp.conj(flipped) if xp.isdtype(x.dtype, "complex floating") else flipped
