"""NumPy's arguments about results: ``out=``, ``where=``, ``order=``, ``casting=``; and the refusal of others."""

from __future__ import annotations

from typing import Any

import xarrayops as xo
from xarrayops._core.backends.dtype_names import name_of
from xarrayops.errors import Unsupported
from xarrayops.numpy._operands import arrays, is_array
from xarrayops.numpy._promotion import casts


def refuse(function: str, instead: str, **options: bool) -> None:
    """Raise `Unsupported` for the options whose value is not the one that is supported."""
    for name, is_refused in options.items():
        if is_refused:
            raise Unsupported(f"np.{function}: {name}= is not supported. Instead: {instead}")


def no_subclass(function: str, subok: Any, default: bool = False) -> None:
    """Raise unless ``subok`` is the default: arrays of subclasses are refused anyway."""
    refuse(function, f"leave it at {default}; results have the library's own class", subok=subok not in (default, None))


def only_of(out: Any) -> Any:
    """The array of ``out=``, which may be a tuple of one array."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
        out = out[0]
    if out is not None and not is_array(out):
        raise TypeError("return arrays must be of ArrayType")
    return out


def written(function: str, result: Any, out: Any, casting: str = "same_kind") -> Any:
    """The result, or ``out`` with the result in it. The result is computed before anything is written."""
    if out is None:
        return result
    out = only_of(out)
    if out is None:
        return result
    source, target = name_of(result.dtype), name_of(out.dtype)
    if not casts(source, target, casting):
        raise TypeError(
            f"np.{function}: cannot cast the result from {source} to {target}, the dtype of out, "
            f"with casting={casting!r}"
        )
    if tuple(xo.broadcast_shapes(result.shape, out.shape)) != tuple(out.shape):
        raise ValueError(
            f"np.{function}: the result of shape {tuple(result.shape)} cannot be broadcast to the shape of "
            f"out, {tuple(out.shape)}"
        )
    return overwritten(function, out, ..., xo.astype(result, out.dtype), f"out = np.{function}(...), without out=")


def overwritten(function: str, x: Any, index: Any, value: Any, instead: str) -> Any:
    """x, with the selected elements set to the value in place."""
    try:
        return xo.at(x)[index].set(value, copy=False)
    except Unsupported as error:
        raise Unsupported(
            f"np.{function} writes into an array, and this one cannot be written. Instead: {instead}"
        ) from error


def kept(function: str, result: Any, out: Any, where: Any) -> Any:
    """The result where the mask is true, and the elements of out elsewhere."""
    out = only_of(out)
    if out is None:
        raise Unsupported(
            f"np.{function}: where= without out= leaves elements undefined. "
            f"Instead: np.where(where, np.{function}(...), other)"
        )
    mask = arrays(out, where)[1]
    return xo.where(mask, xo.astype(result, out.dtype), out)


def ordered(function: str, result: Any, order: Any) -> Any:
    """The result in the order of NumPy's ``order=``: F is physical, K, A and C leave the library's own order."""
    if order in ("K", "A", None) or result.ndim < 2:
        return result
    if order not in ("C", "F"):
        raise ValueError(f"np.{function}: order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    return xo.contiguous(result, order=order)
