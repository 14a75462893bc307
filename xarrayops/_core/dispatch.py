"""From a call to the function that serves it: one look-up by class, and what happens when the look-up misses.

A dispatching function holds a table keyed by the class of its array argument; with two array arguments a table of
tables (cheaper than a tuple), with more the tuple of all classes, with a sequence the set of its classes::

    def add(x1, x2, /):
        try:
            f = _add[type(x1)][type(x2)]
        except KeyError:
            f = getattr(resolved, miss("add", (type(x1), type(x2))))
        return f(x1, x2)

`miss` finds the function, enters it in the table and answers with the name under which `resolved` holds it. It answers
with a name, and not with the function, for torch.compile's sake: Dynamo calls a function that is
`constant_while_tracing` and takes a string for a constant, and it reads a module's attribute afresh each time, whereas
it keeps the contents of a dict as they were when it first met it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from xarrayops._core import default_backend, registry
from xarrayops._core.registry import SCALARS, Backend
from xarrayops._protocol.candidates import constant_while_tracing as constant_while_tracing
from xarrayops._protocol.dtypes import INTEGER_LIMITS
from xarrayops._protocol.hooks import HOOKS
from xarrayops._protocol.sparse import OF_CONTAINERS
from xarrayops._protocol.surface import OWN, ROLES, SURFACE
from xarrayops._protocol.types import Array
from xarrayops.errors import BackendNotFound, MixedBackends, Unsupported

if TYPE_CHECKING:
    import inspect

Key = type | tuple[type, ...] | frozenset[type]
Table = dict[Any, Any]
Home = tuple[type, str | None]

PLAIN = SCALARS | {type(None)}
"""The classes that tell no library: Python's numbers, and that of None."""
FITTING: dict[str, frozenset[type]] = {
    "array": frozenset(),
    "arrays": frozenset(),
    "operand": SCALARS,
    "maybe": PLAIN,
}
"""Those of them that a parameter takes beside arrays, by its role."""
HOOK_ROLES = {"x": "array", "arrays": "arrays", "operands": "arrays"}
"""The roles of the parameters of hooks; those of the standard's functions are in its table."""
SHOWN = {hook: verb for verb, hook in OWN.items() if hook}
"""The names of verbs as users know them, by the hook that serves them."""

ARITHMETIC = (
    *("add", "subtract", "multiply", "floor_divide", "remainder", "pow", "maximum", "minimum"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"),
)
"""The functions of two operands whose result has their dtype, which a Python integer must fit into."""
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
"""The functions of two operands that tell true from false, of any numbers."""
LIMITED = frozenset((*ARITHMETIC, *COMPARISONS))
UNLIMITED = (-math.inf, math.inf)
"""The limits that a Python integer never passes, for dtypes that are none of integers."""

resolved = ModuleType("xarrayops._resolved", doc="The functions that `miss` has found.")
_tables: dict[str, Table] = {}


def table(verb: str) -> Table:
    """The table of a verb: empty, to be filled by `miss`."""
    return _tables.setdefault(verb, {})


@constant_while_tracing
def miss(verb: str, key: Key) -> str:
    """Find what serves a verb for some classes, and answer with its name in `resolved`.

    None and Python's numbers belong to any library where the table of the standard allows them, and nowhere else. Where
    no one backend serves, the name leads to a function that raises with the arguments in hand, or that admits a class
    by its instance's ``__array_namespace__``.
    """
    classes = key if isinstance(key, (tuple, frozenset)) else (key,)
    arrays = [cls for cls in classes if cls not in PLAIN]
    backends = {registry.backend_of_class(cls) for cls in arrays}
    backend = backends.pop() if len(backends) == 1 else None
    if backend is None or (len(arrays) < len(classes) and _lacks_an_array(verb, key)):
        sparse = registry.sparse_backend_of(arrays) if verb in OF_CONTAINERS else None
        if sparse is None:
            return hold(f"{verb}:late", partial(_late, verb))
        return _enter(verb, key, f"{verb}:{sparse.backend.name}:sparse", getattr(sparse, verb))
    function, name = backend.functions[verb], f"{verb}:{backend.name}"
    if isinstance(key, tuple) and int in key and verb in LIMITED and getattr(backend.module, "WRAPS_INTEGERS", False):
        name = f"{name}:{key.index(int)}"
        function = _within_limits(verb, backend, scalar_first=key[0] is int)
    return _enter(verb, key, name, function)


def _enter(verb: str, key: Key, name: str, function: Callable[..., Any]) -> str:
    """Enter what serves some classes in the table of the verb, and hold it."""
    if isinstance(key, tuple) and len(key) == 2:
        table(verb).setdefault(key[0], {})[key[1]] = function
    else:
        table(verb)[key] = function
    return hold(name, function)


def _within_limits(verb: str, backend: Backend, *, scalar_first: bool) -> Callable[..., Any]:
    """What serves an array beside a Python integer, where the library would wrap one that the dtype cannot hold.

    Such a number raises as in NumPy; compared, it is beyond every element. Calls of two arrays pay nothing.
    """
    function, as_dtype = backend.functions[verb], backend.functions["as_dtype"]
    limits = {as_dtype(name): pair for name, pair in INTEGER_LIMITS.items()}

    def beyond(name: str, x: Array, number: float) -> tuple[Array, float]:
        """What compares as the operands do: fractions, beside an infinity."""
        if verb not in COMPARISONS:
            dtype = backend.functions["dtype_name"](x.dtype)
            raise OverflowError(
                f"xo.{verb}: the Python integer {number} does not fit into {dtype}, the dtype of {name}. "
                f"Instead: xo.astype({name}, dtype) first, to a dtype that holds both"
            )
        return backend.functions["astype"](x, as_dtype("float32")), math.inf if number > 0 else -math.inf

    def first(x1: float, x2: Array, /) -> Any:
        low, high = limits.get(x2.dtype, UNLIMITED)
        if not low <= x1 <= high:
            x2, x1 = beyond("x2", x2, x1)
        return function(x1, x2)

    def second(x1: Array, x2: float, /) -> Any:
        low, high = limits.get(x1.dtype, UNLIMITED)
        if not low <= x2 <= high:
            x1, x2 = beyond("x1", x1, x2)
        return function(x1, x2)

    return first if scalar_first else second


def roles(verb: str) -> dict[str, str]:
    """The parameters of a standard function or a hook that take arrays, each with its role."""
    if verb in SURFACE:
        return ROLES.get(verb, {})
    return {name: HOOK_ROLES[name] for name in signature(verb).parameters if name in HOOK_ROLES}


def _lacks_an_array(verb: str, key: Key) -> bool:
    """Whether None or a number stands in the key where an array must be."""
    if isinstance(key, tuple):
        return any(_is_misplaced(cls, role) for cls, role in zip(key, roles(verb).values(), strict=True))
    return True


def _is_misplaced(cls: type, role: str) -> bool:
    return cls in PLAIN and cls not in FITTING[role]


def serving(verb: str, key: type | frozenset[type]) -> Callable[..., Any]:
    """What serves a verb of some arrays, where the call need not be as quick as a generated function's."""
    try:
        return _tables[verb][key]
    except KeyError:
        return getattr(resolved, miss(verb, key))


def hold(name: str, function: Any) -> str:
    """Keep something in `resolved`; the name under which it is found there."""
    name = name.replace(".", "_")  # Dynamo takes a dot for the way to an attribute of an attribute
    setattr(resolved, name, function)
    return name


def hold_verb(verb: str, backend: Backend) -> str:
    """The name in `resolved` of what serves a verb in a backend."""
    return hold(f"{verb}:{backend.name}", backend.functions[verb])


def _late(verb: str, /, *args: Any, **kwargs: Any) -> Any:
    """Serve a call whose classes alone did not tell the backend; raise if the arguments do not either."""
    arguments = dict(array_arguments(verb, args, kwargs))
    backend = common_backend(SHOWN.get(verb, verb), arguments, containers=verb in OF_CONTAINERS)
    bound = signature(verb).bind(*args, **kwargs)
    for name, convert in (("dtype", backend.native_dtype), ("device", backend.native_device)):
        if bound.arguments.get(name) is not None:
            bound.arguments[name] = convert(bound.arguments[name])
    return backend.functions[verb](*bound.args, **bound.kwargs)


@cache
def signature(verb: str) -> inspect.Signature:
    """The signature of a standard function or a hook."""
    import inspect

    if verb in HOOKS:
        return inspect.signature(HOOKS[verb])
    scope: dict[str, Any] = {}
    exec(f"def f{SURFACE[verb]}: ...", scope)
    return inspect.signature(scope["f"])


def array_arguments(verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The arguments that may be arrays, each with the name that an error gives it; members of sequences one by one."""
    taking = roles(verb)
    for name, value in signature(verb).bind(*args, **kwargs).arguments.items():
        members = [(f"{name}[{i}]", m) for i, m in enumerate(value)] if isinstance(value, (tuple, list)) else []
        role = taking.get(name)
        if role is None:  # an index, say
            yield from ((place, m) for place, m in (*members, (name, value)) if _may_be_array(m))
        elif role == "arrays" and (members or not value):
            yield from ((place, given(verb, place, member, role)) for place, member in members)
        elif value is not None or role != "maybe":
            yield name, given(verb, name, value, role)


def given(verb: str, name: str, value: Any, role: str) -> Any:
    """The argument, which may not be None or a number where its role wants an array."""
    if _is_misplaced(type(value), role):
        fix = "" if value is None else f" Make it one: xo.asarray({value!r})."
        raise BackendNotFound(
            f"xo.{SHOWN.get(verb, verb)}: argument {name} is {value!r}, but it must be an array.{fix}"
        )
    return value


def _may_be_array(value: Any) -> bool:
    return conforms(type(value)) or registry.admit(value) is not None or registry.refusal(value) is not None


def common_backend(verb: str, arguments: dict[str, Any], *, containers: bool = False) -> Backend:
    """The one backend that serves all arguments, sparse containers too if asked; scalars and None belong to any.

    Raises
    ------
    MixedBackends
        It names each argument with its library, dtype, shape and device, and the conversion that would mend the call.
    BackendNotFound, Unsupported
        An argument is no array, or one that is not served; there is no array at all.
    """
    arrays = {name: x for name, x in arguments.items() if type(x) not in PLAIN}
    if not arrays:
        given = ", ".join(f"{name}={x!r}" for name, x in arguments.items()) or "nothing"
        raise BackendNotFound(f"xo.{verb} needs an array to tell the library by; it was given {given}.")
    found: dict[str, Backend] = {}
    for name, x in arrays.items():
        gap = registry.refusal(x)
        if gap is not None:
            raise Unsupported(f"xo.{verb}: argument {name} is a {registry.describe_class(type(x))}. {gap}.")
        sparse = registry.backend_of_container(type(x))
        if sparse is not None and not containers:
            way_out = f"a function of xo.sparse, or xo.sparse.to_dense({name})"
            raise Unsupported(f"xo.{verb}: argument {name} is a sparse {type(x).__name__}. Instead: {way_out}")
        backend = sparse or registry.admit(x)
        if backend is None:
            raise BackendNotFound(
                f"xo.{verb}: argument {name} is a {registry.describe_class(type(x))}, which is no array of a library "
                f"that we know. Make it one: xo.asarray({name})."
            )
        found[name] = registry.refined(backend, x)
    if len(set(found.values())) > 1:
        raise MixedBackends(_mixture(verb, arrays, found))
    return next(iter(found.values()))


def _mixture(verb: str, arrays: dict[str, Any], found: dict[str, Backend]) -> str:
    parts = [f"{name}: {described(arrays[name], b)}" for name, b in found.items()]
    first = next(iter(found.values()))
    foreign = [name for name, b in found.items() if b is not first]
    target = f'"{first.name}"' if first.has_entry_point else first.name
    fixes = " and ".join(f"{name} -> xo.convert({name}, {target})" for name in foreign)
    return f"xo.{verb} was given arrays of several libraries: {'; '.join(parts)}. Convert so that one serves: {fixes}."


def described(x: Array, backend: Backend) -> str:
    """An array as an error shows it, ``numpy float64 (3, 2) on cpu``: what it cannot tell, as a tracer, is left out."""
    dtype = _told(lambda: backend.functions["dtype_name"](x.dtype) or x.dtype)
    shape = _told(lambda: tuple(x.shape))
    native = _told(lambda: backend.functions["device"](x))
    device = _told(lambda: next((d.name for d in backend.devices() if d.native == native), native))
    return " ".join([backend.name, *(str(part) for part in (dtype, shape) if part is not None)]) + (
        "" if device is None else f" on {device}"
    )


def _told(ask: Callable[[], Any]) -> Any:
    """The answer, or None where a library raises: an error about something else must not be lost to that."""
    try:
        return ask()
    except Exception:  # whatever a library raises of an array that it has not made yet
        return None


def home(x: Array) -> Home | None:
    """Where this very array is served, which may be refused or refined; None if it is not, or its class is not met yet.

    A class and perhaps a name, as `hold_function` takes them: constants to torch.compile, which cannot trace the
    registry and so not `registry.backend_of`.
    """
    cls = type(x)
    if is_unmet(cls) or serving("refuse", cls)(x) is not None:
        return None
    return cls, serving("refine", cls)(x)


def serving_at(verb: str, where: Home) -> Callable[..., Any]:
    """What serves a verb there."""
    cls, name = where
    return serving(verb, cls) if name is None else getattr(resolved, hold_function(verb, cls, name))


@constant_while_tracing
def native_dtype(cls: type, dtype: Any) -> Any:
    """The native dtype of a class's library for a name or a native dtype; unchanged while the library is unknown."""
    backend = registry.backend_of_class(cls)
    return dtype if backend is None else backend.native_dtype(dtype)


@constant_while_tracing
def native_device(cls: type, device: Any) -> Any:
    """The native device of a class's library for a name or a native device; unchanged while the library is unknown."""
    backend = registry.backend_of_class(cls)
    return device if backend is None else backend.native_device(device)


def creation(verb: str, like: Any, name: str | None, dtype: Any, device: Any) -> tuple[Callable[..., Any], Any, Any]:
    """What creates an array: the function, the native dtype and the native device.

    ``like`` gives library and device, ``name`` the library; without both the default does (`xarrayops.use`).
    """
    if like is not None:
        refuse_both(verb, like, name)
        if is_unmet(type(like)):
            registry.admit(like)
        if device is None:
            device = getattr(resolved, hold_function("device", type(like), None))(like)
        else:
            device = _created(native_device.__name__, type(like), None, device)
    else:
        if name is None:
            name, default_device = default_backend.current()
            device = default_device if device is None else device
        if device is not None:
            device = _created(native_device.__name__, type(None), name, device)
    if dtype is not None:
        dtype = _created(native_dtype.__name__, type(like), name, dtype)
    return getattr(resolved, hold_function(verb, type(like), name)), dtype, device


def refuse_both(verb: str, like: Any, name: str | None) -> None:
    """Two answers to which library creates are one too many."""
    if like is not None and name is not None:
        raise TypeError(f"xo.{verb} takes like= or backend=, not both.")


@constant_while_tracing
def is_unmet(cls: type) -> bool:
    """Whether no backend serves a class, or none does until an instance is at hand."""
    return registry.backend_of_class(cls) is None


@constant_while_tracing
def is_akin(cls: type, other: type) -> bool:
    """Whether one backend serves two classes: a tensor beside a parameter."""
    return registry.backend_of_class(cls) is registry.backend_of_class(other) is not None


def require_array(verb: str, x: Any) -> None:
    """Raise unless x is an array that some library serves, as a call of a function of the standard would."""
    if is_unmet(type(x)):
        common_backend(verb, {"x": x})


@constant_while_tracing
def conforms(cls: type) -> bool:
    """Whether a class may be admitted on the generic road."""
    return hasattr(cls, "__array_namespace__")


def creator(cls: type, name: str | None) -> Backend:
    """The backend that creates: of an array's class, or of a name."""
    if name is not None:
        return registry.backend_by_name(name)
    backend = registry.backend_of_class(cls)
    if backend is None:
        raise BackendNotFound(f"like= must be an array of a known library; it is a {registry.describe_class(cls)}.")
    return backend


@constant_while_tracing
def hold_function(verb: str, cls: type, name: str | None) -> str:
    """The name in `resolved` of what serves a verb in the library of a class, or of a name."""
    return hold_verb(verb, creator(cls, name))


@constant_while_tracing
def _created(convert: str, cls: type, name: str | None, value: Any) -> Any:
    return getattr(creator(cls, name), convert)(value)
