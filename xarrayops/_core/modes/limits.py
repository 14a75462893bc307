"""The limits of what a call on split arrays moves and holds, which are checked before it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from functools import wraps
from math import ceil, prod
from numbers import Integral
from operator import index
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.dispatch.arguments import PUBLIC_NAMES, signature
from xarrayops._core.modes.settings import Setting
from xarrayops._system.texts import amount
from xarrayops.errors import Unsupported
from xarrayops.plugin.candidates import Call
from xarrayops.plugin.costs import RULES, Rule, Whole, bound, takes_results
from xarrayops.plugin.sharding import Cost, Sharding, is_known, shardings

limit_of_moves: Setting[float | None] = Setting("xo.limits(moves=)", is_carried=False)
limit_of_holds: Setting[float | None] = Setting("xo.limits(holds=)", is_carried=False)


_is_checked: ContextVar[bool] = ContextVar("xarrayops checked limits", default=False)
"""Whether the limits of this call are checked: the rule of a function covers those that it calls."""


def arguments(verb: str, call: Call, results: Any = None) -> dict[str, Any]:
    """The arguments of a call by name, and its results, with the `Sharding` of each array."""
    bound = signature(verb).bind(*call.args, **call.kwargs)
    bound.apply_defaults()
    given = bound.arguments | {"results": results}
    if hasattr(given.get("axis"), "__index__"):  # also a 0-d array, which is no array of the call
        given["axis"] = index(given["axis"])
    return {name: _split(value) for name, value in given.items()}


def _split(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        found = [_split(each) for each in value]
        return type(value)(*found) if hasattr(value, "_fields") else found
    if isinstance(value, Integral):  # also an integer of NumPy
        return int(value)
    backend = find.of_class(type(value))
    return value if backend is None else backend.functions["sharding_of"](value) or _UNKNOWN


_UNKNOWN = Sharding(None, None, None, (), (), None, 0)
"""Of a tracer: its compiler decides it."""


def cost_of(verb: str, function: Callable[..., Any], call: Call) -> Cost | None:
    """What a call of a function or kernel costs; None if it has no rule, or no array of the call can be split."""
    own: Callable[[Call], Cost | None] | None = getattr(function, "cost", None)
    if own is not None:
        return own(call)
    return _by_rule(RULES[verb], arguments(verb, call)) if verb in RULES else None


def _by_rule(rule: Rule, given: dict[str, Any]) -> Cost | None:
    """The cost by a rule; None if no array is split."""
    arrays = [x for _, x in shardings(given)]
    if not any(x is _UNKNOWN or x.engine for x in arrays):
        return None
    return rule(given) if all(map(is_known, arrays)) else Cost()


def following(verb: str, rule: Rule) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that gives a function or kernel of a verb its rule, as the attributes ``rule`` and ``cost``."""

    def with_rule(function: Callable[..., Any]) -> Callable[..., Any]:
        def cost(call: Call) -> Cost | None:
            results = _within(function, call) if takes_results(rule) else None
            return _by_rule(rule, arguments(verb, call, results))

        vars(function).update(rule=rule, cost=cost)
        return function

    return with_rule


def _within(function: Callable[..., Any], call: Call) -> Any:
    """The results of a function, inside which no limit is checked."""
    token = _is_checked.set(True)
    try:
        return function(*call.args, **call.kwargs)
    finally:
        _is_checked.reset(token)


def excess(verb: str, function: Callable[..., Any], call: Call, cost: Cost | None) -> str | None:
    """Why the cost of a call exceeds the limits, with the bytes and what to do instead; None if it does not."""
    if cost is None:
        return None
    rule = getattr(function, "rule", None)
    most = _most(rule, call)
    rule = rule if takes_results(rule) else RULES.get(verb)
    for name, would, value, limit in (
        ("moves", "move", cost.moves, limit_of_moves.value(None)),
        ("holds", "hold", cost.holds, most),
    ):
        if value is not None and limit is not None and value > limit:
            helps = _advice(rule, arguments(verb, call), value / limit) if limit else None
            allowed = f'with xo.limits({name}="{amount(value, up=True)}")'
            instead = allowed if helps is None else f"{helps}; or {allowed}"
            where = f"{place_of(verb, call)} (limit {amount(limit)})"
            return f"it would {would} {amount(value)} {where}. Instead: {instead}"
    return None


def _advice(rule: Rule | None, given: Mapping[str, Any], times: float) -> str | None:
    """How to split the first array, so that a call needs so many times less memory; None if it cannot.

    An array that is gathered is split along other axes; one of a function of chunks too, because the results must be.
    """
    of_chunks = takes_results(rule)
    whole = rule if isinstance(rule, Whole) else Whole(dict.fromkeys(given, "axis"))
    if rule is not whole and not of_chunks:
        return None
    name, x = next((name, x) for name, x in shardings(given) if name in whole.axes and x.engine is not None)
    if not isinstance(given[name], Sharding):  # a sequence of arrays
        return None
    gathered = whole.axes_of(name, x, given)
    free = [axis for axis in range(len(x.shape)) if axis not in gathered]
    if not free:
        return None
    axis = max(free, key=lambda axis: x.shape[axis])
    part = int(x.shard_shape[axis] / times)  # of the new shards, at most
    if part == 0:
        return None
    count = ceil(x.shape[axis] / part)
    mesh = {f"axis{i}": n for i, n in enumerate(x.counts) if i != axis and n > 1 and (of_chunks or i not in gathered)}
    if x.engine != "dask":  # the devices of the mesh, and equal shards
        needed, count, mesh = count, prod((x.mesh or {}).values()), {}
        if count < needed or x.shape[axis] % count:
            return None
    spec = tuple("split" if i == axis else f"axis{i}" if f"axis{i}" in mesh else None for i in range(len(x.shape)))
    return f"xo.shard({name}, {spec}, mesh={mesh | {'split': count}})"


def place_of(verb: str, call: Call) -> str:
    """Where a call gathers shards."""
    engines = [x.engine for _, x in shardings(arguments(verb, call))]
    return "in one task" if "dask" in engines else "on each device"


def _most(rule: Rule | None, call: Call) -> float | None:
    """The limit of what a task holds: that of an open block, or by default of the library of the arrays."""
    most = limit_of_holds.value(None)
    if most is not None or getattr(rule, "is_worst", False):
        return most
    for value in (*call.args, *call.kwargs.values()):
        for x in value if isinstance(value, (tuple, list)) else (value,):
            backend = find.of_class(type(x))
            if backend is not None:
                limit: int | None = backend.functions["task_limit"](x)
                return limit
    return None


def _is_small(rule: Rule | None, call: Call, results: Any) -> bool:
    """Whether the bytes of all arrays of a call already show that it is within the limits: a quick test."""
    most = _most(rule, call)
    return limit_of_moves.value(None) is None and (most is None or most_held(rule, call, results) <= most)


def most_held(rule: Rule | None, call: Call, results: Any) -> float:
    """An upper bound of what a task holds; infinity or NaN if it is unknown."""
    return bound(rule) * _nbytes((call.args, *call.kwargs.values(), results))


def _nbytes(values: Iterable[Any]) -> float:
    """The bytes of all arrays; NaN if the size of one is unknown."""
    arrays = (x for x in values if not isinstance(x, type))  # classes are dtypes
    return sum(_nbytes(x) if isinstance(x, (tuple, list)) else getattr(x, "nbytes", 0) for x in arrays)


def limited(
    verb: str,
    function: Callable[..., Any],
    rule: Rule | None = None,
    *,
    may_be_split: Callable[..., bool] = lambda *args: True,
    of_split: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """The function; if it gathers shards, or has a rule of its own, it raises for calls that exceed the limits.

    ``may_be_split`` gets the arguments, and returns whether one may be a split array: a quick test of the library.
    ``of_split`` serves these calls, by default the function.
    """
    if rule is None and not isinstance(RULES.get(verb), Whole):
        return function
    of_call = (rule or RULES[verb]) if of_split is None else None  # plans have costs of their own
    serve, of_results = of_split or function, rule if takes_results(rule) else None

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if not may_be_split(*args):
            return function(*args, **kwargs)
        if _is_checked.get():
            return serve(*args, **kwargs)
        call = Call(args, kwargs)
        results = _within(serve, call) if of_results else None
        if not _is_small(of_call, call, results):
            cost = _by_rule(of_results, arguments(verb, call, results)) if of_results else cost_of(verb, checked, call)
            reason = excess(verb, checked, call, cost)
            if reason is not None:
                raise Unsupported(f"xo.{PUBLIC_NAMES.get(verb, verb)}: {reason}")
        return results if of_results else _within(serve, call)

    return checked if rule is None else following(verb, rule)(checked)
