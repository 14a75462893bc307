"""What to write instead of an argument that NumPy's function takes and ours does not.

The answers have the values of the call: a user who follows them gets what NumPy's call returns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xarrayops._core.arguments import signature

POSITIONS = {
    "astype": "order",
    "diff": "n",
    "isin": "assume_unique",
    "linalg.cross": "axisa",
    "linalg.matrix_norm": "ord",
    "linalg.matrix_rank": "tol",
    "linalg.vector_norm": "ord",
    "linspace": "endpoint",
    "reshape": "order",
    "round": "decimals",
    "unique": "return_index",
    "vecdot": "out",
}
"""NumPy's parameter for one positional argument more, where it is not the first keyword of our function."""
KEYWORDS = {
    "a_max": "Instead: max={value}",
    "a_min": "Instead: min={value}",
    "assume_unique": "Leave it out: xo.isin does not need it",
    "axisa": "Instead: xo.linalg.cross(xo.moveaxis(x1, {value}, -1), x2)",
    "casting": "Instead: test xo.can_cast(x.dtype, dtype) first",
    "compute_uv": "Instead: xo.linalg.svdvals(x) for the values alone",
    "ddof": "Instead: correction={value}",
    "decimals": "Instead: xo.round(x * 10.0**{value}) / 10.0**{value}",
    "dtype": "Instead: xo.astype({call}, {value})",
    "initial": "Instead: combine it with the result, as in xo.sum(x) + {value}",
    "kind": "Instead: stable=True, which is the default, or stable=False",
    "mode": "Instead: xo.clip or xo.remainder of the indices first",
    "order": 'Values are in C order. Instead: xo.contiguous({call}, order="F")',
    "out": "The result is a new array. Instead: out = {call}; to reuse the memory of out where the library can: "
    "out = xo.at(out)[...].set({call}, copy=None)",
    "rcond": "Instead: rtol={value}",
    "retstep": "Instead: the step is (stop - start) / (num - 1)",
    "tol": "Instead: rtol={value} / xo.max(xo.linalg.svdvals(x), axis=-1)",
    "where": "Instead: xo.where(where, {call}, out), with out for the other elements",
}
"""By NumPy's keyword."""
DEFAULTS = {
    "casting": ("unsafe",),
    "compute_uv": (True,),
    "order": ("C", "K"),
    "retstep": (False,),
    "where": (True,),
}
"""The values with which NumPy's function does what ours does."""
NEUTRAL = {"all": "True", "any": "False", "max": "-xo.inf", "min": "xo.inf", "prod": "1", "sum": "0"}
"""The value that leaves a reduction as it is."""
COMBINED = {
    "max": "xo.maximum({call}, {value})",
    "min": "xo.minimum({call}, {value})",
    "prod": "{call} * {value}",
    "sum": "{call} + {value}",
}
"""A reduction with an initial value."""


def answer(verb: str, given: dict[str, Any]) -> str:
    """The text about the first argument of a call that our function does not take; ``given`` has its arguments."""
    if verb == "where":
        return "xo.where takes three arguments. Instead of np.where(condition): xo.nonzero(condition)"
    if verb == "squeeze":
        return f"xo.squeeze needs the axes: xo.squeeze(x, {_axes_of_extent_one(given['x'])})"
    ours = signature(verb).parameters
    given = {name: value for name, value in given.items() if name in ("extra", *ours) or value is not None}
    if "extra" in given:
        value = given["extra"]
        dimensions = _dimensions(verb, given)
        if dimensions:
            shown = ", ".join([*_positional(verb, given)[:-1], repr(dimensions)])
            return f"xo.{verb} takes the shape as one tuple: xo.{verb}({shown})"
        keyword = POSITIONS.get(verb) or next(p.name for p in ours.values() if p.kind is p.KEYWORD_ONLY)
        given = {**given, keyword: value}
        if keyword in ours:
            call = ", ".join([*_positional(verb, given), f"{keyword}={shown_value(keyword, value)}"])
            return f"xo.{verb} takes {keyword} by keyword: xo.{verb}({call})"
    name = next(name for name in sorted(given, key=lambda name: name != "where") if name in KEYWORDS.keys() - ours)
    return f"xo.{verb} has no {name}=. {_of_keyword(name, verb, given)}"


def _of_keyword(name: str, verb: str, given: dict[str, Any]) -> str:
    """The text about one keyword."""
    value = given[name]
    if isinstance(value, (str, bool)) and value in DEFAULTS.get(name, ()):
        return f"Leave it out: xo.{verb} does the same without it"
    text = _OF_VALUES[name](verb, given) if name in _OF_VALUES else None
    return text or KEYWORDS[name].format(call=_call(verb, given), value=shown_value(name, value))


def shown_value(name: str, value: Any) -> str:
    """A value as it is written in a call: numbers, strings and tuples of them as they are, others by their name."""
    members = value if isinstance(value, tuple) else (value,)
    plain = all(member is None or isinstance(member, (int, float, complex, str)) for member in members)
    return repr(value) if plain else name


def _positional(verb: str, given: dict[str, Any]) -> list[str]:
    """The positional arguments, as they are written in a call."""
    parameters = signature(verb).parameters.values()
    return [shown_value(p.name, given[p.name]) for p in parameters if p.kind is not p.KEYWORD_ONLY and p.name in given]


def _options(verb: str, given: dict[str, Any]) -> dict[str, str]:
    """The options that are not their defaults, as they are written in a call."""
    parameters = signature(verb).parameters.values()
    options = [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.name in given]
    written = {p.name: (shown_value(p.name, given[p.name]), shown_value(p.name, p.default)) for p in options}
    return {name: value for name, (value, default) in written.items() if value != default}


def _written(verb: str, arguments: list[str], options: dict[str, str]) -> str:
    return f"xo.{verb}({', '.join([*arguments, *(f'{name}={value}' for name, value in options.items())])})"


def _call(verb: str, given: dict[str, Any]) -> str:
    """The call without the arguments that our function does not take."""
    return _written(verb, _positional(verb, given), _options(verb, given))


def _axes_of_extent_one(x: Any) -> str:
    """The axes that NumPy's squeeze removes."""
    return repr(tuple(axis for axis, extent in enumerate(x.shape) if extent == 1)) if hasattr(x, "shape") else "axis"


def _dimensions(verb: str, given: dict[str, Any]) -> tuple[int, ...]:
    """The shape, if it is given as several integers in the place of one tuple."""
    values = [value for name, value in given.items() if name != "x"]
    count = next((i for i, value in enumerate(values) if type(value) is not int), len(values))
    *_, last = (p.name for p in signature(verb).parameters.values() if p.kind is not p.KEYWORD_ONLY)
    return tuple(values[:count]) if last == "shape" and count > 1 else ()


def _of_where(verb: str, given: dict[str, Any]) -> str | None:
    """A reduction of some elements, or a function whose other elements are those of out."""
    if verb in ("mean", "std", "var"):
        return _of_moments(verb, given)
    if verb in NEUTRAL:
        return _of_reduction(verb, given)
    return None


def _of_reduction(verb: str, given: dict[str, Any]) -> str:
    """A reduction with an initial value, of all or of some elements."""
    x, initial, value = "x", "initial" in given, shown_value("initial", given.get("initial"))
    if given.get("where", True) is not True:
        x = f"xo.where(where, x, {value if initial and verb in ('max', 'min') else NEUTRAL[verb]})"
    call = _written(verb, [x], _options(verb, given))
    return f"Instead: {COMBINED[verb].format(call=call, value=value) if initial else call}"


def _of_moments(verb: str, given: dict[str, Any]) -> str:
    """The mean, variance or standard deviation of some elements."""
    options = _options(verb, given)
    correction = shown_value("ddof", given["ddof"]) if "ddof" in given else options.pop("correction", "0")
    extents = [getattr(given[name], "shape", None) for name in ("x", "where")]
    mask = "where" if extents[0] == extents[1] else "xo.broadcast_to(where, x.shape)"

    def total(of: str, options: dict[str, str]) -> str:
        return _written("sum", [f"xo.where(where, {of}, 0)"], options)

    def number(options: dict[str, str]) -> str:
        return _written("count_nonzero", [mask], options)

    if verb == "mean":
        return f"Instead: {total('x', options)} / {number(options)}"
    kept = {**options, "keepdims": "True"}
    is_zero = correction in ("0", "0.0")
    count = number(options) if is_zero else f"xo.maximum({number(options)} - {correction}, 0)"
    variance = f"{total('xo.abs(x - m) ** 2', options)} / {count}"
    result = variance if verb == "var" else f"xo.sqrt({variance})"
    return f"Instead, with m = {total('x', kept)} / {number(kept)}: {result}"


def _of_order(verb: str, given: dict[str, Any]) -> str | None:
    """A reshape in Fortran order is one in C order, with all axes reversed before and after."""
    if verb != "reshape":
        return None
    x, shape = given["x"], given.get("shape")
    if given["order"] != "F" or not isinstance(shape, (int, tuple)) or not hasattr(x, "shape"):
        return 'Values are read and written in C order. Instead for order="F": xo.permute_dims before and after'
    shape = shape if isinstance(shape, tuple) else (shape,)
    before, after = (tuple(reversed(range(len(axes)))) for axes in (x.shape, shape))
    return f"Instead: xo.permute_dims(xo.reshape(xo.permute_dims(x, {before}), {shape[::-1]}), {after})"


def _of_retstep(verb: str, given: dict[str, Any]) -> str:
    start, stop, num = _positional(verb, given)
    intervals = num if given.get("endpoint") is False else f"({num} - 1)"
    return f"Instead: the step is ({stop} - {start}) / {intervals}"


def _of_mode(verb: str, given: dict[str, Any]) -> str | None:
    axis = given.get("axis")
    extent = f"x.shape[{axis or 0}]"
    changed = {"clip": f"xo.clip(indices, 0, {extent} - 1)", "wrap": f"xo.remainder(indices, {extent})"}
    if given["mode"] not in changed:
        return None
    return f"Instead: {_written(verb, ['x', changed[given['mode']]], _options(verb, given))}"


_OF_VALUES: dict[str, Callable[[str, dict[str, Any]], str | None]] = {
    "initial": _of_reduction,
    "mode": _of_mode,
    "order": _of_order,
    "retstep": _of_retstep,
    "where": _of_where,
}
"""The answers that depend on the function and on other arguments, by NumPy's keyword."""
