"""The arguments of a call: the signatures of functions, and which arguments may be arrays."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from xarrayops._core.backends.find import NON_ARRAY_TYPES, SCALARS, if_array, refusal
from xarrayops._generic import hooks
from xarrayops._surface import EXTRA, OWN, ROLES, SURFACE
from xarrayops.errors import NotAnArray
from xarrayops.plugin.candidates import constant_while_tracing

if TYPE_CHECKING:
    import inspect

ALLOWED_SCALARS: dict[str, frozenset[type]] = {
    "array": frozenset(),
    "arrays": frozenset(),
    "operand": SCALARS,
    "operands": SCALARS,
    "maybe": NON_ARRAY_TYPES,
}
"""The classes of `NON_ARRAY_TYPES` that a parameter accepts, by role."""
HOOK_ROLES = {"x": "array", "arrays": "arrays", "operands": "arrays"}
"""The roles of the parameters of hooks. The table of the standard has the roles for its functions."""
PUBLIC_NAMES = {"select": "at", "matmul_int32": "matmul"} | {hook: verb for verb, hook in OWN.items() if hook}
"""The public name of a verb, by its hook."""
OPTIONS = {"astype": ("saturate", "xarrayops._ops.casts"), "matmul": ("out_dtype", "xarrayops._ops.products")}
"""The keyword options that we add to functions of the standard, and the modules that serve calls with them, by verb.

So other calls cost nothing more, and backends define only the function of the standard.
"""


class Several:
    """The first member of the key of a call with a sequence of arrays. The distinct classes follow, in any order.

    torch.compile of PyTorch 2.9 to 2.12 cannot read a table with sets as keys.
    """


def roles(verb: str) -> dict[str, str]:
    """The array parameters of a function of the tables or a hook, each with its role."""
    if verb in SURFACE or verb in EXTRA:
        return ROLES.get(verb, {})
    return {name: HOOK_ROLES[name] for name in signature(verb).parameters if name in HOOK_ROLES}


@cache
def signature(verb: str) -> inspect.Signature:
    """The signature of a function of the tables or a hook."""
    import inspect

    if verb in hooks.HOOKS:
        return hooks.signature(verb)
    scope: dict[str, Any] = {}
    exec(f"def f{SURFACE.get(verb) or EXTRA[verb]}: ...", scope)
    return inspect.signature(scope["f"])


def is_misplaced(cls: type, role: str) -> bool:
    """Whether a class is NoneType or a number class that a parameter of that role does not accept."""
    return cls in NON_ARRAY_TYPES and cls not in ALLOWED_SCALARS[role]


def require_array_argument(verb: str, name: str, value: Any, role: str) -> Any:
    """Return the argument; raise if it is None or a number and its role requires an array."""
    if is_misplaced(type(value), role):
        public = PUBLIC_NAMES.get(verb, verb)
        fix = "" if value is None else f" Instead: {_of_number(public, value)}."
        raise NotAnArray(f"xo.{public}: argument {name} is {value!r}, but it must be an array.{fix}")
    return value


def _of_number(verb: str, value: Any) -> str:
    """The suggestion for a number where an array is required: Python's own function, or how to make an array."""
    import math

    array = f"xo.asarray({value!r}, like=x)"
    of_numbers = f"math.{verb}" if hasattr(math, verb) else verb if verb in ("abs", "round") else None
    if of_numbers is None or isinstance(value, complex) or len(signature(verb).parameters) > 1:
        return f"{array}, with x an array of your library"
    return f"{of_numbers}({value!r}), or xo.{verb}({array}) with x an array of your library"


def array_arguments(verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The arguments that may be arrays, by their names in errors; each item of a sequence has an entry."""
    taking = roles(verb)
    for name, value in signature(verb).bind(*args, **kwargs).arguments.items():
        members = [(f"{name}[{i}]", m) for i, m in enumerate(value)] if isinstance(value, (tuple, list)) else []
        role = taking.get(name)
        if role is None:  # an index, for example
            yield from ((place, m) for place, m in (*members, (name, value)) if _may_be_array(m))
        elif role in ("arrays", "operands") and isinstance(value, (tuple, list)):
            yield from ((place, require_array_argument(verb, place, member, role)) for place, member in members)
        elif value is not None or role != "maybe":
            yield name, require_array_argument(verb, name, value, role)


def _may_be_array(value: Any) -> bool:
    return has_array_namespace(type(value)) or if_array(value) is not None or refusal(value) is not None


@constant_while_tracing
def has_array_namespace(cls: type) -> bool:
    """Whether the generic functions can serve a class."""
    return hasattr(cls, "__array_namespace__")
