"""Arguments by position that our functions take by keyword: which options NumPy's function would set."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from xarrayops._core.dispatch.arguments import signature
from xarrayops._protocol.dtypes import DTYPE_NAMES
from xarrayops._surface import CREATION

_ORDERS = {
    "dtype order": "asarray empty full ones zeros empty_like full_like ones_like zeros_like",
    "axis out": "argmax argmin concat stack",
    "axis out keepdims": "all any",
    "axis dtype out": "cumulative_prod cumulative_sum",
    "axis dtype out keepdims": "mean",
    "axis dtype out keepdims initial where": "prod sum",
    "axis out keepdims initial where": "max min",
    "axis kind": "argpartition argsort partition sort",
    "axis out mode": "take",
    "n axis prepend append": "diff",
    "k dtype order": "eye",
    "endpoint retstep dtype": "linspace",
    "assume_unique invert": "isin",
    "order casting": "astype",
    "order": "reshape",
    "decimals out": "round",
    "out": "vecdot",
    "axisa axisb axisc axis": "linalg.cross",
    "full_matrices compute_uv": "linalg.svd",
    "tol": "linalg.matrix_rank",
    "rcond": "linalg.pinv linalg.lstsq",
    "rowvar bias ddof fweights aweights": "cov",
    "axis out overwrite_input keepdims": "median nanmedian",
    "axis out overwrite_input method keepdims": "nanpercentile nanquantile percentile quantile",
    "axis dtype out ddof keepdims": "nanstd nanvar std var",
    "ord": "linalg.matrix_norm",
    "ord axis keepdims": "linalg.vector_norm",
}
POSITIONS = {verb: tuple(order.split()) for order, verbs in _ORDERS.items() for verb in verbs.split()}
"""NumPy's positional options where they are not our options in our order, as far as there is an answer for them."""


def parameters(verb: str) -> Mapping[str, inspect.Parameter]:
    """The parameters of a function, with those that select the library."""
    ours = {name: _with_default(p) for name, p in signature(verb).parameters.items()}
    if verb in CREATION:
        ours |= {name: inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in _LIBRARY}
    return ours


_LIBRARY = ("like", "backend")


def _with_default(parameter: inspect.Parameter) -> inspect.Parameter:
    """A parameter of a hook has no default, because hooks get all options: it is None, or False."""
    if parameter.kind is not parameter.KEYWORD_ONLY or parameter.default is not parameter.empty:
        return parameter
    return parameter.replace(default=False if parameter.annotation == "bool" else None)


def moved(verb: str, given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The options that a call gives by position, and its other arguments; None if they fit no call of NumPy.

    The first of them is ``extra``. Python has assigned the positions after it to our options in their order, as if they
    were given by keyword. So this is the smallest number of positions with which no option has two values or an
    impossible one.
    """
    ours = parameters(verb)
    options = [name for name, p in ours.items() if p.kind is p.KEYWORD_ONLY]
    order = POSITIONS.get(verb, tuple(options))
    names = list(given)
    place = names.index("extra")
    for count in range(min(len(order), len(names) - place)):
        values = (given[name] for name in names[place : place + count + 1])
        pairs = zip(order, values, strict=False)
        by_position = {name: value for name, value in pairs if value is not None or _takes_none(ours, name)}
        others = {name: given[name] for name in (*names[:place], *names[place + count + 1 :])}
        chosen = {name: value for name, value in others.items() if not is_default(ours.get(name), value)}
        possible = all(_is_possible(ours.get(name), value) for name, value in (*by_position.items(), *chosen.items()))
        if possible and not by_position.keys() & chosen.keys():
            return by_position, {name: value for name, value in others.items() if name not in by_position}
    return None


def _takes_none(ours: Mapping[str, inspect.Parameter], name: str) -> bool:
    """Whether None by position is a value; of other options it is NumPy's default, such as that of ``norm``."""
    return name == "axis" or name not in ours or ours[name].default is None


def is_default(parameter: inspect.Parameter | None, value: Any) -> bool:
    """Whether a value is the default of a parameter; refused parameters, which are not ours, have None."""
    default = None if parameter is None else parameter.default
    return value is default or (type(value) is type(default) and bool(value == default))


def _is_possible(parameter: inspect.Parameter | None, value: Any) -> bool:
    """Whether an option may have a value."""
    if parameter is None or parameter.kind is not parameter.KEYWORD_ONLY or is_default(parameter, value):
        return True
    if parameter.name == "dtype":
        is_array = hasattr(value, "dtype") and not isinstance(value, type)
        return not isinstance(value, (int, float)) and not is_array
    if parameter.name == "device" and isinstance(value, str):
        return value not in DTYPE_NAMES
    return value is not None and isinstance(value, bool) >= isinstance(parameter.default, bool)
