"""Python numbers in the place of arrays: `where` with numbers alone, and `diff` with ``prepend=0``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xarrayops._core.backends.registry import Backend
from xarrayops._core.modes import defaults
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.dtypes import INTEGER_LIMITS, does_not_fit


def joining_numbers(hooks: Mapping[str, Callable[..., Any]]) -> Callable[..., Array]:
    """`diff` that takes Python numbers for ``prepend`` and ``append``. As everywhere, they are weakly typed."""
    function, full, result_type, device = (hooks[name] for name in ("diff", "full", "result_type", "device"))

    def slice_of(x: Array, axis: int, end: Any) -> Any:
        if end is None or hasattr(end, "dtype"):
            return end
        dtype = result_type(x, end)
        if type(end) is int:
            name = hooks["dtype_name"](dtype)
            low, high = INTEGER_LIMITS.get(name, (end, end))
            if not low <= end <= high:
                raise does_not_fit("diff", end, f"{name}, the dtype of x", "xo.astype(x, dtype) with a wider dtype")
        shape = list(x.shape)
        shape[axis] = 1
        return full(tuple(shape), end, dtype=dtype, device=device(x))

    def diff(x: Array, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Array:
        prepend, append = slice_of(x, axis, prepend), slice_of(x, axis, append)
        return function(x, axis=axis, n=n, prepend=prepend, append=append)

    return diff


def choosing_numbers(backend: Backend, classes: tuple[type, ...]) -> Callable[..., Any]:
    """`where` for numbers alone: the result has the default dtype of the widest of their classes."""
    function, full, device = (backend.functions[name] for name in ("where", "full", "device"))
    widest = max(classes, key=(bool, int, float, complex).index)

    def choose(condition: Array, x1: Any, x2: Any, /) -> Any:
        name = defaults.floating_dtype() if widest is float else None
        dtype = None if name is None else backend.native_dtype(name)
        numbers = (full((), widest(x), dtype=dtype, device=device(condition)) for x in (x1, x2))
        return function(condition, *numbers)

    return choose
