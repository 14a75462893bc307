"""Linear algebra beyond the standard."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array, generic
from xarrayops.plugin.host import sums
from xarrayops_backends.numpy._guard import require_all_numbers
from xarrayops_backends.numpy._standard import linalg_matrix_norm, linalg_vector_norm


def linalg_norm(x: Array, /, *, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """The root of the sum of squares as in np.linalg.norm, without its checks and its copy of the conjugate."""
    if ord is None and x.dtype.kind == "f":
        if axis is None and not keepdims:
            return sums.root_of_squares(x)
        if type(axis) is int:
            return np.sqrt(sums.sum_along(x * x, axis, keepdims))
    require_all_numbers("linalg.norm", x)
    axes = generic.common.normal_axes(axis, x.ndim)
    if x.dtype.char not in "fF" or len(axes) not in (1, 2) or (len(axes) == 1 and isinstance(ord, str)):
        return np.linalg.norm(x, ord, generic.common.checked_axes(axis, x.ndim), keepdims)
    if len(axes) == 1:
        return linalg_vector_norm(x, axis=axes, keepdims=keepdims, ord=2 if ord is None else ord)
    found = linalg_matrix_norm(np.moveaxis(x, axes, (-2, -1)), ord="fro" if ord is None else ord)
    return np.expand_dims(found, axes) if keepdims else found


def linalg_cond(x: Array, /, *, p: Any = None) -> Array:
    """np.linalg.cond is infinite for singular matrices, but raises for p="nuc", singular values of their inverse."""
    require_all_numbers("linalg.cond", x)
    if isinstance(p, str) and p == "nuc" and x.size:
        return _nuclear_cond(x)
    return np.linalg.cond(x, p)


def _nuclear_cond(x: Array) -> Array:
    """The sum of the singular values times the sum of their inverses."""
    size = np.linalg.slogdet(x)[1]
    is_regular = np.isfinite(size)
    values = np.linalg.svd(np.where(is_regular[..., None, None], x, 0), compute_uv=False)
    with np.errstate(all="ignore"):
        found = values.sum(-1) * (1 / values).sum(-1)
    irregular = np.where(np.isnan(x).any((-2, -1)), np.nan, np.inf)
    return np.where(is_regular, found, irregular.astype(found.dtype))


def linalg_lstsq(x1: Array, x2: Array, /, *, rtol: float | None = None) -> tuple[Array, Array, Array, Array]:
    """np.linalg.lstsq lacks sums of squares for some ranks and shapes. It is tried first, because checks cost time."""
    try:
        solution, residuals, rank, values = np.linalg.lstsq(x1, x2, rtol)
    except (TypeError, ValueError):
        require_all_numbers("linalg.lstsq", x1, x2)
        generic.linalg.require_equations(x1, x2)
        raise
    if not residuals.size:
        errors = np.abs(x2 - x1 @ solution)
        residuals = np.atleast_1d((errors * errors).sum(0))
    return solution, residuals, np.int64(rank), values
