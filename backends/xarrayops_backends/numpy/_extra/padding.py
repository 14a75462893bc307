"""Padding, with a faster path for constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array, generic
from xarrayops.plugin.host import sums

_np: Any = np
"""Typed as Any: the overloads of some functions do not know arrays of any dtype."""
_OPTIONS = {
    **dict.fromkeys(("edge", "empty", "wrap"), ()),
    **dict.fromkeys(("maximum", "mean", "median", "minimum"), ("stat_length",)),
    **dict.fromkeys(("reflect", "symmetric"), ("reflect_type",)),
    "linear_ramp": ("end_values",),
}
"""The options of each mode of `pad`; NumPy refuses all others."""


def pad(
    x: Array,
    /,
    pad_width: Any,
    mode: str = "constant",
    *,
    constant_values: Any = 0,
    end_values: Any = 0,
    stat_length: Any = None,
    reflect_type: str = "even",
) -> Array:
    """np.pad refuses the options of other modes, and takes a dict of widths since 2.2 only."""
    if mode == "constant":
        return _surrounded(
            x,
            generic.padding.pad_widths(x, pad_width, mode, reflect_type),
            generic.padding.pairs("constant_values", constant_values, x.ndim),
        )
    if mode not in _OPTIONS or reflect_type not in ("even", "odd") or isinstance(pad_width, dict):
        pad_width = generic.padding.pad_widths(x, pad_width, mode, reflect_type)
    given = {
        "constant_values": constant_values,
        "end_values": end_values,
        "stat_length": stat_length,
        "reflect_type": reflect_type,
    }
    options = {name: given[name] for name in _OPTIONS[mode]}
    if (mode in ("mean", "median", "linear_ramp") or reflect_type == "odd") and x.dtype.char not in sums.EXACT:
        wide = np.complex128 if x.dtype.kind == "c" else np.float64  # sums and differences of neighbours
        return _np.pad(x.astype(wide), pad_width, mode, **options).astype(x.dtype)
    return _np.pad(x, pad_width, mode, **options)


def _surrounded(x: Array, widths: list[tuple[int, int]], values: list[tuple[Any, Any]]) -> Array:
    """x in the middle of a new array, and constants at both ends of each axis."""
    shape = tuple([before + n + after for n, (before, after) in zip(x.shape, widths, strict=True)])
    out = np.empty(shape, x.dtype, "F" if x.flags.fnc else "C")
    inner = tuple([slice(before, before + n) for n, (before, _) in zip(x.shape, widths, strict=True)])
    out[inner] = x
    for axis, ((before, after), (first, last)) in enumerate(zip(widths, values, strict=True)):
        start = (slice(None),) * axis
        out[(*start, slice(before))] = first
        out[(*start, slice(shape[axis] - after, None))] = last
    return out
