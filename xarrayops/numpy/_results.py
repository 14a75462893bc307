"""What every function does with its result, such as for ``out=``, and what it refuses."""

from __future__ import annotations

from typing import Any

import xarrayops as xo
from xarrayops._core.backends.dtype_names import name_of
from xarrayops._core.backends.resolved import is_traced
from xarrayops._core.dispatch.python_scalars import COMPARISONS
from xarrayops.errors import Unsupported
from xarrayops.numpy import _axes, _operands as ops, _promotion


def is_fortran(x: Any) -> bool:
    """Whether x is in Fortran order and not in C order; arrays without a known layout are not."""
    try:
        return x.ndim > 1 and xo.layout_of(x).order == "F"
    except (xo.Unsupported, xo.LayoutError):
        return False


def refuse(function: str, instead: str, **options: bool) -> None:
    """Raise `Unsupported` for options without the supported value."""
    for name, is_refused in options.items():
        if is_refused:
            raise Unsupported(f"np.{function}: {name}= is not supported. Instead: {instead}")


def truth(function: str, x: Any, instead: str) -> bool:
    """The truth value of x; raises in a function that JAX traces, where values are unknown."""
    try:
        return bool(x)
    except TypeError as error:
        if type(error).__name__ != "TracerBoolConversionError":
            raise
        raise _values_unknown(function, instead) from error


def require_between(x: Any, low: int, high: int, error: Exception) -> None:
    """Raise unless all integers are from low to below high, where they are known. PyTorch on CUDA fails later."""
    if not xo.is_lazy(x) and _axes.size_of(x):
        is_within = xo.all(xo.logical_and(x >= low, x < high))
        xo.backend(x).functions["require"](is_within, error)


def require_values(function: str, instead: str) -> None:
    """Raise in a function that torch.compile traces: the shape or the dtype of the result depends on values."""
    if is_traced():
        raise _values_unknown(function, instead)


def _values_unknown(function: str, instead: str) -> Unsupported:
    why = "the result depends on values, which are unknown while a function is traced or compiled"
    return Unsupported(f"np.{function}: {why}. Instead: {instead}")


def no_subclass(function: str, subok: Any, default: bool = False) -> None:
    """Raise unless ``subok`` is the default: arrays of subclasses are refused anyway."""
    refuse(function, f"leave it at {default}; results have the library's own class", subok=subok not in (default, None))


def only_of(out: Any) -> Any:
    """The array of ``out=``, which may be a tuple of one array."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
        out = out[0]
    if out is not None and not ops.is_array(out):
        raise TypeError("return arrays must be of ArrayType")
    return out


def wider_for(out: Any, x: Any) -> str | None:
    """The wider dtype in which NumPy reduces x into ``out``, that to which both promote; None if there is none."""
    out = only_of(out)
    if out is None or not ops.is_array(out):
        return None
    own = name_of(x.dtype)
    found = _promotion.promoted([own, name_of(out.dtype)], [])
    return None if found == own else found


def floating_for(out: Any, x: Any) -> str | None:
    """The wider floating-point dtype for an output; sums of integers wrap in any dtype as they do in that of out."""
    wider = wider_for(out, x)
    return None if wider is None or "int" in wider else wider


def widened_for(name: str, out: Any, x: Any, dtype: Any) -> Any:
    """x in the dtype of `wider_for`, unless ``dtype`` is given; comparisons have no wider loop."""
    wider = wider_for(out, x) if dtype is None and name not in COMPARISONS else None
    # PyTorch does not compute with its wide unsigned integers
    return x if wider is None or wider.startswith("uint") else xo.astype(x, wider)


def written(function: str, result: Any, out: Any, casting: str = "same_kind") -> Any:
    """The result, or ``out`` with the result in it. The result is computed before anything is written."""
    if out is None:
        return result
    out = only_of(out)
    if out is None:
        return result
    if xo.is_lazy(out):
        overwritten(function, out, ..., out, f"out = np.{function}(...), without out=")
    require_cast(function, result, out, casting)
    if tuple(xo.broadcast_shapes(result.shape, out.shape)) != tuple(out.shape):
        raise ValueError(
            f"np.{function}: the result of shape {tuple(result.shape)} cannot be broadcast to the shape of "
            f"out, {tuple(out.shape)}"
        )
    return overwritten(function, out, ..., xo.astype(result, out.dtype), f"out = np.{function}(...), without out=")


def require_cast(function: str, result: Any, out: Any, casting: str) -> None:
    """Raise unless ``casting`` allows the cast of a result to the dtype of out."""
    source, target = name_of(result.dtype), name_of(out.dtype)
    if not _promotion.casts(source, target, casting):
        raise TypeError(
            f"np.{function}: cannot cast the result from {source} to {target}, the dtype of out, "
            f"with casting={casting!r}. Instead: out= of {source}"
        )


def overwritten(function: str, x: Any, index: Any, value: Any, instead: str) -> Any:
    """x, with the selected elements set to the value in place."""
    try:
        return xo.at(x)[index].set(value, copy=False)
    except Unsupported as error:
        raise Unsupported(
            f"np.{function} writes into an ops.array, and this array cannot be written. Instead: {instead}"
        ) from error


def kept(function: str, result: Any, out: Any, where: Any, casting: str) -> Any:
    """The result where the mask is true, and the elements of out elsewhere."""
    out = only_of(out)
    if out is None:
        raise Unsupported(
            f"np.{function}: where= without out= leaves elements undefined. "
            f"Instead: np.where(where, np.{function}(...), other)"
        )
    require_cast(function, result, out, casting)
    mask = ops.arrays(out, where)[1]
    return xo.where(mask, xo.astype(result, out.dtype), out)


def ordered(function: str, result: Any, order: Any) -> Any:
    """The result in NumPy's ``order=``: F changes the memory order; K, A and C keep the library's order."""
    if order in ("K", "A", None) or result.ndim < 2:
        return result
    if order not in ("C", "F"):
        raise ValueError(f"np.{function}: order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    return xo.contiguous(result, order=order)
