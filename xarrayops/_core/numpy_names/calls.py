"""What to write instead of a call with arguments that NumPy's function takes and ours does not.

The answer has the whole call, rewritten: all arguments are kept, short values as they are and arrays by their names. A
user who follows it gets what NumPy's call returns.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from xarrayops._core.dispatch.arguments import roles
from xarrayops._core.numpy_names.positions import moved, parameters
from xarrayops._core.numpy_names.written import Call, shown_value, written

DEFAULTS = {
    "assume_unique": (False, True),
    "bias": (False,),
    "casting": ("unsafe",),
    "compute_uv": (True,),
    "copy": (False, True),
    "equal_nan": (True,),
    "kind": ("introselect", "quicksort", "stable", "mergesort", "heapsort"),
    "mode": ("raise",),
    "order": ("C", "K"),
    "overwrite_input": (False, True),
    "retstep": (False,),
    "sorted": (False, True),
    "sparse": (False,),
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
OPTIONS = {
    "a_max": ("max", "{value}"),
    "a_min": ("min", "{value}"),
    "ddof": ("correction", "{value}"),
    "interpolation": ("method", "{value}"),
    "rcond": ("rtol", "{value}"),
    "tol": ("rtol", "{value} / xo.max(xo.linalg.svdvals(x), axis=-1)"),
}
"""By NumPy's keyword, our option and its value."""
MOMENTS = ("mean", "std", "var")


def answer(verb: str, given: dict[str, Any]) -> str:
    """The text about a call with arguments that our function does not take; ``given`` has all arguments by name."""
    if verb == "where":
        return "xo.where takes three arguments. Instead of np.where(condition): xo.nonzero(condition)"
    if verb == "squeeze":
        return f"xo.squeeze needs the axes: xo.squeeze(x, {_axes_of_extent_one(given['x'])})"
    by_position: dict[str, Any] = {}
    if "extra" in given:
        special = _of_members(verb, given) or _of_dimensions(verb, given)
        if special:
            return special
        found = moved(verb, given)
        if found is None:
            options = [f"{name}=" for name, p in parameters(verb).items() if p.kind is p.KEYWORD_ONLY]
            return f"xo.{verb} takes options by keyword: {', '.join(options)}"
        by_position, others = found
        given = {**others, **by_position}
    ours = parameters(verb)
    refused = [name for name in STEPS if name in given.keys() - ours.keys() and given[name] is not None]
    call = Call(verb, given, by_position)
    if not refused:
        names = _listed([name for name in by_position if name in call.options])
        return f"xo.{verb} takes {names} by keyword: {call.text()}"
    start = f"xo.{verb} has no {_listed([f'{name}=' for name in sorted(refused)])}."
    changing = [name for name in refused if not _is_default(name, given[name])]
    if not changing:
        return f"{start} Leave it out: {call.text()} does the same" + _of_default(refused)
    for name in changing:
        STEPS[name](call)
    return f"{start}{call.first} Instead{call.before}: {call.text()}{call.last}"


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _is_default(name: str, value: Any) -> bool:
    return isinstance(value, (str, bool)) and value in DEFAULTS.get(name, ())


def _of_default(refused: list[str]) -> str:
    return ", where the library can raise" if "mode" in refused else ""


def _axes_of_extent_one(x: Any) -> str:
    """The axes that NumPy's squeeze removes."""
    return repr(tuple(axis for axis, extent in enumerate(x.shape) if extent == 1)) if hasattr(x, "shape") else "axis"


def _of_members(verb: str, given: dict[str, Any]) -> str | None:
    """The answer for arrays that are given one by one in the place of one sequence."""
    first, *others = given.values()
    if "arrays" not in roles(verb).values() or not hasattr(first, "shape") or not hasattr(given["extra"], "shape"):
        return None
    count = 1 + sum(hasattr(value, "shape") for value in others)
    members = ", ".join(f"x{i}" for i in range(1, count + 1))
    return f"xo.{verb} takes one sequence of arrays: xo.{verb}([{members}])"


def _of_dimensions(verb: str, given: dict[str, Any]) -> str | None:
    """The answer for a shape that is given as several integers in the place of one tuple."""
    names = [name for name in given if name != "x"]
    count = next((i for i, name in enumerate(names) if type(given[name]) is not int), len(names))
    *_, last = (name for name, p in parameters(verb).items() if p.kind is not p.KEYWORD_ONLY)
    if last != "shape" or count < 2:
        return None
    shape = tuple(given[name] for name in names[:count])
    others = {name: value for name, value in given.items() if name not in names[:count]}
    return f"xo.{verb} takes the shape as one tuple: {Call(verb, {**others, 'shape': shape}, {}).text()}"


def _renamed(name: str) -> Callable[[Call], None]:
    """An option with another name, and for ``tol`` another unit."""

    def step(call: Call) -> None:
        option, template = OPTIONS[name]
        call.options[option] = template.replace("{value}", shown_value(name, call.given[name]))

    return step


def _of_dtype(call: Call) -> None:
    """The dtype of a result; moments are computed with it."""
    dtype = shown_value("dtype", call.given["dtype"])
    if call.verb.removeprefix("nan") in MOMENTS:
        call.arguments["x"] = f"xo.astype({call.arguments['x']}, {dtype})"
    else:
        call.wrap(f"xo.astype({{call}}, {dtype})")


def _of_where(call: Call) -> None:
    """A reduction of some elements, or a function whose other elements are those of out."""
    if call.verb in MOMENTS:
        _of_moments(call)
    elif call.verb in NEUTRAL:
        initial = "initial" in call.given and call.given["initial"] is not None and call.verb in ("max", "min")
        neutral = shown_value("initial", call.given["initial"]) if initial else NEUTRAL[call.verb]
        call.arguments["x"] = f"xo.where(where, {call.arguments['x']}, {neutral})"
    else:
        call.wrap("xo.where(where, {call}, out)")
        call.last = ", with out for the other elements"


def _of_moments(call: Call) -> None:
    """The mean, variance or standard deviation of some elements."""
    x, options = call.arguments["x"], dict(call.options)
    correction = options.pop("correction", "0")
    mask = "where" if call.shape_of("x") == call.shape_of("where") else "xo.broadcast_to(where, x.shape)"

    def total(of: str, **options: str) -> str:
        return written("sum", f"xo.where(where, {of}, 0)", **options)

    def number(**options: str) -> str:
        return written("count_nonzero", mask, **options)

    if call.verb == "mean":
        call.result = f"{total(x, **options)} / {number(**options)}"
        return
    kept = {**options, "keepdims": "True"}
    is_zero = correction in ("0", "0.0")
    count = number(**options) if is_zero else f"xo.maximum({number(**options)} - {correction}, 0)"
    variance = f"{total(f'xo.abs({x} - m) ** 2', **options)} / {count}"
    call.before = f", with m = {total(x, **kept)} / {number(**kept)}"
    call.result = variance if call.verb == "var" else f"xo.sqrt({variance})"


def _of_initial(call: Call) -> None:
    value = shown_value("initial", call.given["initial"])
    call.wrap(COMBINED[call.verb].replace("{value}", value))


def _of_casting(call: Call) -> None:
    call.first = f" Test xo.can_cast(x.dtype, {call.arguments['dtype']}) first."


def _of_decimals(call: Call) -> None:
    power = f"10.0**{shown_value('decimals', call.given['decimals'])}"
    call.arguments["x"] += f" * {power}"
    call.wrap(f"{{call}} / {power}")


def _of_axisa(call: Call) -> None:
    """The axis of the first array; with ``axis`` NumPy ignores it."""
    if "axis" not in call.options:
        axis = shown_value("axisa", call.given["axisa"])
        call.arguments["x1"] = f"xo.moveaxis({call.arguments['x1']}, {axis}, -1)"


def _of_mode(call: Call) -> None:
    """Indices out of bounds: NumPy clips them or takes their remainder."""
    axis, shape = call.options.get("axis"), call.shape_of("x")
    extent = f"x.shape[{axis or 0}]"
    if axis is None and shape is not None and len(shape) > 1:
        call.arguments["x"], extent = "xo.reshape(x, (-1,))", str(prod(shape))
    changed = {"clip": f"xo.clip(indices, 0, {extent} - 1)", "wrap": f"xo.remainder(indices, {extent})"}
    mode = call.given["mode"]
    if mode in changed:
        call.arguments["indices"] = changed[mode]
    else:
        call.last = ", with xo.clip or xo.remainder of the indices"


def _of_compute_uv(call: Call) -> None:
    call.result = written("linalg.svdvals", *call.arguments.values())


def _of_equal_nan(call: Call) -> None:
    """The functions of the standard keep every NaN."""
    wanted = call.options.keys() - {"axis"}
    verb = {(): "values", ("return_counts",): "counts", ("return_inverse",): "inverse"}.get(tuple(wanted), "all")
    call.verb, call.options = f"unique_{verb}", {}
    call.last = ", which keeps every NaN"


def _of_sparse(call: Call) -> None:
    """Vectors of as many axes as there are vectors, which broadcast to the grids."""
    count = len(call.arguments)
    axes = [1, 0, *range(2, count)] if "indexing" not in call.options and count > 1 else list(range(count))
    shapes = [tuple(-1 if axis == place else 1 for axis in range(count)) for place in axes]
    vectors = (f"xo.reshape({name}, {shape})" for name, shape in zip(call.arguments, shapes, strict=True))
    call.result = f"[{', '.join(vectors)}]"


def _of_order(call: Call) -> None:
    """A reshape in Fortran order is one in C order, with all axes reversed before and after."""
    if call.verb != "reshape":
        call.first += " Values are in C order."
        call.wrap('xo.contiguous({call}, order="F")')
        return
    shape, extents = call.given.get("shape"), call.shape_of("x")
    call.first += " Values are read and written in C order."
    if call.given["order"] != "F" or not isinstance(shape, (int, tuple)) or extents is None:
        call.last = ', for order="F" with xo.permute_dims before and after'
        return
    shape = shape if isinstance(shape, tuple) else (shape,)
    before, after = (tuple(reversed(range(len(axes)))) for axes in (extents, shape))
    call.arguments = {"x": f"xo.permute_dims(x, {before})", "shape": repr(shape[::-1])}
    call.wrap(f"xo.permute_dims({{call}}, {after})")


def _of_retstep(call: Call) -> None:
    """The values, and the step between them."""
    start, stop, num = call.arguments.values()
    intervals = num if call.options.get("endpoint") == "False" else f"({num} - 1)"
    call.wrap(f"({{call}}, ({stop} - {start}) / {intervals})")


def _of_out(call: Call) -> None:
    """The result as a new array, or in the memory of out."""
    if call.last.startswith(", with out"):
        return
    call.first += " The result is a new array."
    text = call.text()
    call.wrap("out = {call}")
    call.last = f"; to reuse the memory of out where the library can: out = xo.at(out)[...].set({text}, copy=None)"


def _of_bias(call: Call) -> None:
    """The divisor of a covariance is the number of observations; NumPy's ddof, if given, overrides it."""
    if call.given.get("ddof") is None:
        call.options["correction"] = "0"


def _nothing(call: Call) -> None:
    """The argument is left out."""


STEPS: dict[str, Callable[[Call], None]] = {
    **{name: _renamed(name) for name in OPTIONS},
    **dict.fromkeys(("assume_unique", "copy", "kind", "overwrite_input", "sorted"), _nothing),
    "bias": _of_bias,
    "dtype": _of_dtype,
    "where": _of_where,
    "mode": _of_mode,
    "axisa": _of_axisa,
    "decimals": _of_decimals,
    "compute_uv": _of_compute_uv,
    "equal_nan": _of_equal_nan,
    "sparse": _of_sparse,
    "casting": _of_casting,
    "initial": _of_initial,
    "order": _of_order,
    "retstep": _of_retstep,
    "out": _of_out,
}
"""How a call is rewritten, by NumPy's keyword, in this order: arguments, then the function, then its result."""
