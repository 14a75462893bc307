"""The arguments of a call: which of them may be arrays, their one backend, and their description in errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from xarrayops._core.backends import registry
from xarrayops._core.backends.numpy_scalars import is_numpy_scalar
from xarrayops._core.backends.registry import SCALARS, Backend
from xarrayops._protocol.candidates import constant_while_tracing
from xarrayops._protocol.hooks import HOOKS
from xarrayops._protocol.sparse import ELEMENTWISE
from xarrayops._protocol.types import Array
from xarrayops._surface import EXTRA, OWN, ROLES, SURFACE
from xarrayops.errors import BackendNotFound, MixedBackends, Unsupported

if TYPE_CHECKING:
    import inspect

NON_ARRAY_TYPES = SCALARS | {type(None)}
"""The classes that every library accepts: Python's numbers, and the class of None."""
ALLOWED_SCALARS: dict[str, frozenset[type]] = {
    "array": frozenset(),
    "arrays": frozenset(),
    "operand": SCALARS,
    "operands": SCALARS,
    "maybe": NON_ARRAY_TYPES,
}
"""The classes of `NON_ARRAY_TYPES` that a parameter accepts, by its role."""
HOOK_ROLES = {"x": "array", "arrays": "arrays", "operands": "arrays"}
"""The roles of the parameters of hooks; those of the standard's functions are in its table."""
SPARSE_NAMES = {
    **{dense: own for own, dense in ELEMENTWISE.items()},
    "count_nonzero": "count",
    **dict.fromkeys(("diag", "linalg.diagonal"), "diagonal"),
    **dict.fromkeys(("linalg.matrix_norm", "linalg.norm", "linalg.vector_norm"), "norm"),
    **dict.fromkeys(("matrix_transpose", "permute_dims"), "transpose"),
}
"""The verbs of sparse containers with another name than the function of dense arrays."""
PUBLIC_NAMES = {hook: verb for verb, hook in OWN.items() if hook}
"""The public name of a verb, by its hook."""


def roles(verb: str) -> dict[str, str]:
    """The array parameters of a function of the tables or a hook, each with its role."""
    if verb in SURFACE or verb in EXTRA:
        return ROLES.get(verb, {})
    return {name: HOOK_ROLES[name] for name in signature(verb).parameters if name in HOOK_ROLES}


@cache
def signature(verb: str) -> inspect.Signature:
    """The signature of a function of the tables or a hook."""
    import inspect

    if verb in HOOKS:
        return inspect.signature(HOOKS[verb])
    scope: dict[str, Any] = {}
    exec(f"def f{SURFACE.get(verb) or EXTRA[verb]}: ...", scope)
    return inspect.signature(scope["f"])


def is_misplaced(cls: type, role: str) -> bool:
    """Whether the class is that of None or of a number, and a parameter of that role does not accept it."""
    return cls in NON_ARRAY_TYPES and cls not in ALLOWED_SCALARS[role]


def require_array_argument(verb: str, name: str, value: Any, role: str) -> Any:
    """Return the argument; raise if it is None or a number and its role requires an array."""
    if is_misplaced(type(value), role):
        public = PUBLIC_NAMES.get(verb, verb)
        fix = "" if value is None else f" Instead: {_of_number(public, value)}."
        raise BackendNotFound(f"xo.{public}: argument {name} is {value!r}, but it must be an array.{fix}")
    return value


def _of_number(verb: str, value: Any) -> str:
    """What to write for a number in the place of an array: Python's own function, or an array of the user's library."""
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
    return (
        has_array_namespace(type(value))
        or registry.register_conforming(value) is not None
        or registry.refusal(value) is not None
    )


@constant_while_tracing
def has_array_namespace(cls: type) -> bool:
    """Whether the generic functions may serve a class."""
    return hasattr(cls, "__array_namespace__")


def _written(verb: str) -> str:
    """A verb as users write it; an operation of a user has a namespace of its own."""
    return verb if "::" in verb else f"xo.{verb}"


def common_backend(verb: str, arguments: dict[str, Any], *, containers: bool = False) -> Backend:
    """The one backend that serves all arguments. Every backend accepts scalars and None, NumPy's scalars too.

    With ``containers`` it accepts sparse containers too.

    Raises
    ------
    MixedBackends
        The arguments belong to several libraries. The message describes each of them, and shows a conversion.
    BackendNotFound, Unsupported
        An argument is not an array or not supported, or no argument is an array.
    """
    arrays = {name: x for name, x in arguments.items() if type(x) not in NON_ARRAY_TYPES}
    if not arrays:
        values = ", ".join(f"{name}={x!r}" for name, x in arguments.items())
        received = f"the arguments are {values}" if values else "no arrays were given"
        number = next((x for x in arguments.values() if type(x) in SCALARS), None)
        fix = "" if number is None else f" Instead of a number: xo.asarray({number!r}, like=x)."
        raise BackendNotFound(f"{_written(verb)} needs an array to determine the library; {received}.{fix}")
    found = {name: _backend_of_argument(verb, name, arrays, containers=containers) for name in arrays}
    if len(set(found.values())) > 1:  # beside arrays of another library, NumPy's scalars are numbers
        found = {name: b for name, b in found.items() if not is_numpy_scalar(arrays[name])}
    if len(set(found.values())) > 1:
        raise MixedBackends(_several_libraries_message(verb, arrays, found))
    return next(iter(found.values()))


def sparse_argument(verb: str, name: str, x: Any) -> Unsupported:
    """The error for a sparse container that is given to a function of dense arrays."""
    own = f"sparse.{SPARSE_NAMES.get(verb, verb)}"
    instead = f"{_written(verb)} of the dense array xo.sparse.to_dense({name})"
    instead = f"xo.{own}, or {instead}" if own in OWN else instead
    return Unsupported(f"{_written(verb)}: argument {name} is a sparse {type(x).__name__}. Instead: {instead}")


def _backend_of_argument(verb: str, name: str, arrays: dict[str, Any], *, containers: bool) -> Backend:
    x = arrays[name]
    sparse = registry.backend_of_container(type(x))
    gap = registry.refusal(x) if sparse is None else None
    if gap is not None:
        raise Unsupported(f"{_written(verb)}: argument {name} is a {registry.describe_class(type(x))}. {gap}.")
    if sparse is not None and not containers:
        raise sparse_argument(verb, name, x)
    backend = sparse or registry.register_conforming(x)
    if backend is None:
        fix = _of_string(verb, name, x) if isinstance(x, (str, bytes)) else f" Instead: {_made_an_array(name, arrays)}."
        raise BackendNotFound(
            f"{_written(verb)}: argument {name} is a {registry.describe_class(type(x))}, which is not an array of "
            f"a known library.{fix}"
        )
    return registry.refined(backend, x)


def _of_string(verb: str, name: str, value: str | bytes) -> str:
    """What to write for a string that NumPy's function takes in the place of an array."""
    from xarrayops._core.numpy_names.renamed import STRINGS  # needed for errors only

    template = STRINGS.get((verb, name))
    return "" if template is None else f" Instead: {template.format(value=value)}."


def _made_an_array(name: str, arrays: dict[str, Any]) -> str:
    """How to make an array of an argument, in the library of another argument if there is one."""
    another = next((other for other, x in arrays.items() if registry.register_conforming(x) is not None), None)
    if another is not None:
        return f"xo.asarray({name}, like={another})"
    like = "y" if "x" in arrays else "x"
    return f"xo.asarray({name}, like={like}), with {like} an array of your library"


def _several_libraries_message(verb: str, arrays: dict[str, Any], found: dict[str, Backend]) -> str:
    parts = [f"{name}: {described(arrays[name], b)}" for name, b in found.items()]
    kept = _kept(arrays, found)
    is_container = registry.backend_of_container(type(arrays[kept])) is not None
    target = f'"{found[kept].name}"' if is_container else kept
    fixes = [f"{name} -> xo.convert({name}, {target})" for name, b in found.items() if b is not found[kept]]
    listing = "; ".join(parts)
    fix = f"Convert to one library: {' and '.join(fixes)}."
    return f"{_written(verb)} was given arrays of several libraries: {listing}. {fix}"


def another_library(verb: str, arrays: dict[str, Any], backend: Backend) -> MixedBackends:
    """The error for arrays of another library than ``backend=``."""
    listing = "; ".join(f"{name}: {described(x, registry.backend_for(x))}" for name, x in arrays.items())
    fixes = " and ".join(f'{name} -> xo.convert({name}, "{backend.name}")' for name in arrays)
    return MixedBackends(
        f"xo.{verb}(..., backend={backend.name!r}) was given arrays of another library: {listing}. Instead: {fixes}."
    )


def _kept(arrays: dict[str, Any], found: dict[str, Backend]) -> str:
    """The argument to which the others should be converted, so that no values leave an accelerator.

    It is ``like``, else the first on an accelerator, else the first that is not NumPy's.
    """

    def preference(name: str) -> tuple[bool, bool, bool]:
        accelerated = _if_known(lambda: _device_kind(arrays[name], found[name])) not in (None, "cpu")
        return name == "like", accelerated, found[name].name != "numpy"

    return max(found, key=preference)


def _device_kind(x: Array, backend: Backend) -> str | None:
    native = backend.functions["device"](x)
    return next((d.kind for d in backend.devices() if d.native == native), None)


def described(x: Array, backend: Backend, *, device: bool = True) -> str:
    """Describe an array for an error, as ``numpy float64 (3, 2) on cpu``; what a tracer does not know is left out."""
    dtype = _if_known(lambda: backend.functions["dtype_name"](x.dtype) or x.dtype)
    shape = _if_known(lambda: tuple(x.shape))
    text = " ".join([backend.name, *(str(part) for part in (dtype, shape) if part is not None)])
    if not device:
        return text
    native = _if_known(lambda: backend.functions["device"](x))
    place = _if_known(lambda: next((d.name for d in backend.devices() if d.native == native), native))
    return text if place is None else f"{text} on {place}"


def _if_known(ask: Callable[[], Any]) -> Any:
    """Call ``ask``; None if it raises, because that error must not replace the one that is reported."""
    try:
        return ask()
    except Exception:  # a library may raise any error about a tracer
        return None
