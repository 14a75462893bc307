"""Lists and tuples of numbers next to an array: options such as quantiles, bins, indices and weights, as in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from xarrayops._core.backends.find import NON_ARRAY_TYPES
from xarrayops._core.dispatch.arguments import roles, signature

LISTED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("quantile", "percentile", "nanquantile", "nanpercentile"), ("q",)),
    **dict.fromkeys(("segment_max", "segment_mean", "segment_min", "segment_sum"), ("segment_ids",)),
    **dict.fromkeys(("convolve", "correlate", "isin"), ("x2",)),
    **dict.fromkeys(("take", "take_along_axis"), ("indices",)),
    **dict.fromkeys(("average", "bincount"), ("weights",)),
    "compress": ("condition",),
    "cov": ("fweights", "aweights"),
    "diff": ("prepend", "append"),
    "digitize": ("bins",),
    "fill_diagonal": ("value",),
    "histogram": ("bins", "weights"),
    "insert": ("values",),
    "interp": ("xp", "fp"),
    "polyval": ("p",),
    "repeat": ("repeats",),
    "searchsorted": ("x1", "x2", "sorter"),
    "trapezoid": ("x",),
}
"""The parameters that may be lists, by verb. Other array parameters hold the data, whose library a list lacks."""


def are_listed(verb: str, key: Any) -> bool:
    """Whether the classes of a call have a list or a tuple, and only where one is accepted."""
    if verb not in LISTED or not isinstance(key, tuple):
        return False
    places = [name for name, cls in zip(roles(verb), key, strict=True) if cls in (list, tuple)]
    has_array = any(cls not in (list, tuple, *NON_ARRAY_TYPES) for cls in key)
    return bool(places) and set(places) <= set(LISTED[verb]) and has_array


def converting_lists(verb: str, serve: Callable[[Any], Callable[..., Any]]) -> Callable[..., Any]:
    """The function of a verb that makes arrays of lists, in the library of the arrays of the call.

    They have the floating-point dtype of these arrays where the default would be used. ``serve`` gets the classes of
    the arrays and returns the function for them.
    """
    names, arrays = tuple(signature(verb).parameters), tuple(roles(verb))
    asarray = import_module("xarrayops._ops.creation").asarray  # here: torch.compile does not trace imports

    def function(*args: Any, **options: Any) -> Any:
        given = {**dict(zip(names, args, strict=False)), **options}
        members = {name: given[name] for name in arrays if name in given}
        like = next((x for x in members.values() if hasattr(x, "dtype")), None)
        made = {name: asarray(x, like=like) for name, x in members.items() if isinstance(x, (list, tuple))}
        given |= made
        positional = [given[name] for name in names[: len(args)]]
        classes = tuple([type(given.get(name)) for name in arrays])
        return serve(classes)(*positional, **{name: given[name] for name in options})

    return function
