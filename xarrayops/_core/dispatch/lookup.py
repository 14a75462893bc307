"""Dispatch: one look-up finds the function that serves a call, by the classes of its arguments or by a backend.

A dispatching function has a table. The key is the class of the array argument. For two array arguments it is a table of
tables, which is faster than a tuple; for more, the key is the tuple of the classes; for a sequence, their set::

    def add(x1, x2, /):
        try:
            f = _add[type(x1)][type(x2)]
        except KeyError:
            f = getattr(resolved, resolve("add", (type(x1), type(x2))))
        return f(x1, x2)

An operation of several steps calls `find.one_of` once, and takes each step from ``backend.functions``.

`resolve` finds the function, enters it in the table and returns its name in `resolved`. It returns a name because of
torch.compile: Dynamo calls a function that is `constant_while_tracing`, and treats a returned string as a constant.
Dynamo reads the attributes of a module each time, but keeps the contents of a dict from its first access.
`xarrayops._core.backends.find` finds backends in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeGuard

from xarrayops._core.backends import find
from xarrayops._core.backends.find import NON_ARRAY_TYPES, SCALARS, publish as publish, resolved as resolved
from xarrayops._core.backends.integer_inputs import CASTING, casting_integers
from xarrayops._core.backends.numpy_scalars import as_number, converting_scalars, with_python_numbers
from xarrayops._core.backends.registry import Backend
from xarrayops._core.backends.resolved import enter
from xarrayops._core.dispatch.arguments import (
    OPTIONS,
    PUBLIC_NAMES,
    Several,
    array_arguments,
    is_misplaced,
    require_array_argument,
    roles,
    signature,
)
from xarrayops._core.dispatch.listed import are_listed, converting_lists
from xarrayops._core.dispatch.python_scalars import choosing_numbers, is_limited, joining_numbers, within_limits
from xarrayops._core.modes import defaults, precision, tables as modes
from xarrayops.plugin.candidates import constant_while_tracing as constant_while_tracing
from xarrayops.plugin.sparse import CONTAINER_VERBS

if TYPE_CHECKING:
    from xarrayops._core.backends.sparse_backend import SparseBackend

Classes = type | tuple[type, ...]
"""The key of a call: the class of its array, the classes of several parameters, or `Several` and distinct classes."""
Table = dict[Any, Any]


NUMBERS = (bool, int, float, complex)
"""The classes of Python's numbers. torch.compile can trace a tuple of classes but not a set."""


class _TableInModes(Table):
    """A table while a mode is active. torch.compile guards on the class of a table, and retraces when it changes."""


_CLASSES = (Table, Table, _TableInModes)
_tables: tuple[dict[str, Table], ...] = tuple({} for _ in modes.STATES)
"""The tables by the state of a verb. While a mode is active, such as a default dtype, functions in them look up the
modes of their thread."""
Change = Callable[[str, Backend, Classes, Callable[..., Any], int], Callable[..., Any]]
changes: list[Change] = []
"""Each gets a verb, its backend, the classes, the function that serves them, and a state, and returns the function to
use in this state."""


def table(verb: str, module: dict[str, Any] | None = None, name: str = "") -> Table:
    """The table of a verb, which `resolve` fills. The variable holds that of the state of the verb."""
    of_states = tuple(tables.setdefault(verb, cls()) for tables, cls in zip(_tables, _CLASSES, strict=True))
    if module is not None:
        modes.bind(module, name, verb, of_states)
    return of_states[modes.state_of(verb)]


def forget(verb: str, state: int) -> None:
    """Find the functions of a verb in a state again."""
    _tables[state].get(verb, {}).clear()


def function_for(verb: str, key: Classes) -> Callable[..., Any]:
    """The function of a verb for some classes, for callers that need not be as fast as a generated function."""
    try:
        return _tables[modes.state_of(verb)][verb][key]
    except KeyError:
        return getattr(resolved, resolve(verb, key))


def function_without_modes(verb: str, key: Classes) -> Callable[..., Any]:
    """The function of a verb for some classes, as it is outside of all modes."""
    return getattr(resolved, _find(verb, key, modes.PLAIN))


@constant_while_tracing
def resolve(verb: str, key: Classes) -> str:
    """Find the function of a verb for some classes, enter it in the verb's table, and return its name in `resolved`.

    None and Python's numbers are ignored where the table of the standard accepts them. If the classes do not determine
    one backend, the function found is `dispatch_slow` for this verb. It examines the arguments themselves, registers a
    class by ``__array_namespace__``, or raises.
    """
    return _find(verb, key, modes.state_of(verb))


def _find(verb: str, key: Classes, state: int) -> str:
    """`resolve` for the tables of a state: another thread may open or close a block meanwhile."""
    if are_listed(verb, key):
        function = converting_lists(verb, lambda served: getattr(resolved, resolve(verb, served)))
        return _enter(verb, key, f"{verb}:lists", function, None, state)
    classes = key[not _is_positional(key) :] if isinstance(key, tuple) else (key,)
    arrays = [cls for cls in classes if cls not in NON_ARRAY_TYPES]
    backends = {find.of_class(cls) for cls in arrays}
    backend = backends.pop() if len(backends) == 1 else None
    if backend is None or (len(arrays) < len(classes) and _lacks_an_array(verb, key)):
        numbers = with_python_numbers(key) if _is_positional(key) else key
        if numbers != key and not _lacks_an_array(verb, numbers):
            return _find_numpy_scalars(verb, key, numbers, state)
        sparse = _sparse_backend_of(arrays) if verb in CONTAINER_VERBS else None
        if sparse is None:
            return publish(f"{verb}:slow", partial(dispatch_slow, verb))
        name, function = f"{verb}:{sparse.backend.name}:sparse", getattr(sparse, verb)
        found = find.named(sparse.backend.name)
        return _enter(verb, key, name, function, found, state, containers=True)
    function, name = backend.functions[verb], f"{verb}:{backend.name}"
    if verb == "where" and _is_positional(key) and len(arrays) == 1:
        name = f"{name}:{'_'.join(cls.__name__ for cls in key[1:])}"
        function = choosing_numbers(backend, key[1:])
    elif verb == "diff" and not SCALARS.isdisjoint(classes):
        name, function = f"{name}:numbers", joining_numbers(backend.functions)
    elif _is_positional(key) and int in key and is_limited(verb, backend):
        name = f"{name}:{key.index(int)}"
        function = within_limits(verb, backend, key)
    if state == modes.IN_MODES and verb in CASTING:
        function = casting_integers(verb, function, backend.functions, defaults.floating_dtype)
    return _enter(verb, key, name, function, backend, state)


def _is_positional(key: Classes) -> TypeGuard[tuple[type, ...]]:
    """Whether a key has the class of each parameter, in order."""
    return isinstance(key, tuple) and key[0] is not Several


def _sparse_backend_of(classes: list[type]) -> SparseBackend | None:
    """The sparse backend of some classes; None if none is a container class, or they belong to several backends."""
    containers = {cls: find.of_container(cls) for cls in classes}
    if not any(containers.values()):
        return None
    backends = {found or find.of_class(cls) for cls, found in containers.items()}
    backend = backends.pop() if len(backends) == 1 else None
    return None if backend is None else backend.sparse


def _find_numpy_scalars(verb: str, key: Classes, numbers: Classes, state: int) -> str:
    """The function for NumPy scalars combined with another library: it converts them to Python numbers."""
    name = _find(verb, numbers, state)
    function = converting_scalars(getattr(resolved, name))
    if name.endswith(":slow"):  # the arguments decide, not only their classes
        return publish(f"{name}:numpy_scalars", function)
    return _enter(verb, key, f"{name}:numpy_scalars", function, None, state)


def _enter(
    verb: str,
    key: Classes,
    name: str,
    function: Callable[..., Any],
    backend: Backend | None,
    state: int,
    *,
    containers: bool = False,
) -> str:
    """Enter the function of a key in the table of the verb, and publish it.

    ``backend`` is None if the function uses another entry of the table, which modes have already changed. The casts of
    a precision policy come first, so that every kernel gets the cast operands.
    """
    if state and backend is not None:
        name = f"{name}:{state}"  # another object than in other states, so it needs its own name
        for change in changes:
            function = change(verb, backend, key, function, state)
    if state == modes.IN_MODES and backend is not None:
        function = precision.in_modes(verb, function, backend, containers=containers)
    entries = _tables[state].get(verb, _CLASSES[state]())
    enter(_tables[state], verb, entries)
    if _is_positional(key) and len(key) == 2:
        second = entries.get(key[0], {})
        enter(second, key[1], function)
        enter(entries, key[0], second)
    else:
        enter(entries, key, function)
    return publish(f"{name}:{hash(key):x}", function)  # the function depends on the classes


def _lacks_an_array(verb: str, key: Classes) -> bool:
    """Whether the key has the class of None or of a number where an array is required."""
    if _is_positional(key):
        return any(is_misplaced(cls, role) for cls, role in zip(key, roles(verb).values(), strict=True))
    return True


def dispatch_slow(verb: str, /, *args: Any, **kwargs: Any) -> Any:
    """Serve a call whose argument classes do not determine the backend. Raise if the arguments do not either.

    The arguments register their classes. Then the function for these classes serves, as in later calls.
    """
    arguments = dict(array_arguments(verb, args, kwargs))
    backend = find.one_of(PUBLIC_NAMES.get(verb, verb), arguments, containers=verb in CONTAINER_VERBS)
    for name, x in arguments.items():
        if find.of_class(type(x)) not in (None, backend):  # perhaps a NumPy scalar
            is_operand = roles(verb).get(name.partition("[")[0]) == "operands"
            require_array_argument(verb, name, as_number(x), "operands" if is_operand else "array")
    bound = signature(verb).bind(*args, **kwargs)
    for name, role in roles(verb).items():
        if role == "operands":
            bound.arguments[name] = tuple(map(as_number, bound.arguments.get(name, ())))
    for name, convert in (("dtype", backend.native_dtype), ("device", backend.native_device)):
        if bound.arguments.get(name) is not None:
            bound.arguments[name] = convert(bound.arguments[name])
    function = getattr(resolved, resolve(verb, _key(verb, bound.arguments)))
    return function(*bound.args, **bound.kwargs)


def key_of(verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Classes:
    """The key of a call in the table of the verb."""
    return _key(verb, signature(verb).bind(*args, **kwargs).arguments)


def _key(verb: str, arguments: dict[str, Any]) -> Classes:
    """The key of a call in the table of the verb."""
    values: list[Any] = [arguments.get(name) for name in roles(verb)]
    if "operands" in roles(verb).values():
        return (Several, *{type(value) for value in (values[0], *(values[1] or ())) if type(value) not in NUMBERS})
    if "arrays" in roles(verb).values():
        several = [value if isinstance(value, (tuple, list)) else [value] for value in values]
        return (Several, *{type(value) for each in several for value in each})
    return tuple(map(type, values)) if len(values) > 1 else type(values[0])


@constant_while_tracing
def native_dtype(cls: type, dtype: Any) -> Any:
    """The native dtype in the library of a class; the dtype unchanged if the library is unknown."""
    if dtype is None:  # for some libraries it is float64, for others their default
        raise TypeError('xo.astype: dtype is None. Instead: a dtype or its name, as in xo.astype(x, "float64")')
    backend = find.of_class(cls)
    return dtype if backend is None else backend.native_dtype(dtype)


@constant_while_tracing
def native_device(cls: type, device: Any) -> Any:
    """The native device in the library of a class; the device unchanged if the library is unknown."""
    backend = find.of_class(cls)
    return device if backend is None else backend.native_device(device)


def with_options(verb: str, /, *args: Any, **options: Any) -> Any:
    """Call a function of the standard with options that we add."""
    return getattr(resolved, _publish_with_options(verb))(*args, **options)


@constant_while_tracing
def _publish_with_options(verb: str) -> str:
    return publish(f"{verb}:options", import_module(OPTIONS[verb][1]).with_options)
