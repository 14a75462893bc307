"""Complex numbers in functions that order elements: generic functions serve libraries that do not order them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from xarrayops.plugin.candidates import constant_while_tracing

if TYPE_CHECKING:
    from xarrayops._core.backends.backend import Backend

ORDERING = (
    *("sort", "argsort", "searchsorted", "isin", "max", "min", "argmax", "argmin", "maximum", "minimum", "clip"),
    *("less", "less_equal", "greater", "greater_equal"),
)
"""The functions of the standard that order elements."""


def ordering_complex(verb: str, function: Callable[..., Any], backend: Backend) -> Callable[..., Any]:
    """The function of a verb; for complex arrays and numbers, the generic function on the backend's namespace."""
    known: dict[Any, bool] = {}

    @constant_while_tracing
    def is_complex(dtype: Any) -> bool:
        if dtype not in known:
            known[dtype] = backend.functions["isdtype"](dtype, "complex floating")
        return known[dtype]

    @wraps(function)
    def ordered(*args: Any, **kwargs: Any) -> Any:
        for x in args:
            if is_complex(x.dtype) if hasattr(x, "dtype") else type(x) is complex:
                from xarrayops._generic import complex_order  # imported when it is needed

                return getattr(complex_order, verb)(backend.namespace, *args, **kwargs)
        return function(*args, **kwargs)

    return ordered
