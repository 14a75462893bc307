"""Functions of numpy.linalg beyond the standard, where they follow the contract of `xarrayops`."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.generic import common, linalg
from xarrayops_backends.numpy._guard import require_all_numbers as _require_numbers


def linalg_norm(x: Array, /, *, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """The root of the sum of squares as in np.linalg.norm, without its checks and its copy of the conjugate."""
    if ord is None and x.dtype.kind == "f":
        if axis is None and not keepdims:
            flat = x if x.ndim == 1 else x.ravel("K")
            return np.sqrt(flat.dot(flat))
        if type(axis) is int:
            squares: Array = np.add.reduce(x * x, axis=axis, keepdims=keepdims)  # type: ignore[call-overload]
            return np.sqrt(squares)
    _require_numbers("linalg.norm", x)
    return np.linalg.norm(x, ord, common.checked_axes(axis, x.ndim), keepdims)


def linalg_cond(x: Array, /, *, p: Any = None) -> Array:
    """np.linalg.cond is infinite for singular matrices, but raises for p="nuc", singular values of their inverse."""
    _require_numbers("linalg.cond", x)
    if isinstance(p, str) and p == "nuc" and x.size:
        return _nuclear_cond(x)
    found: Array = np.linalg.cond(x, p)
    return found


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
        _require_numbers("linalg.lstsq", x1, x2)
        linalg.require_equations(x1, x2)
        raise
    if not residuals.size:
        errors = np.abs(x2 - x1 @ solution)
        residuals = np.atleast_1d((errors * errors).sum(0))
    return solution, residuals, np.int64(rank), values
