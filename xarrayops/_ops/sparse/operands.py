"""The calls of sparse verbs: find the library that serves the operands, check them, call a kernel or explain it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache, partial, wraps
from typing import TYPE_CHECKING, Any, ParamSpec

from xarrayops._core.backends import find, registry
from xarrayops._core.backends.find import NON_ARRAY_TYPES
from xarrayops._core.dispatch.arguments import require_array_argument
from xarrayops._core.modes import defaults, tables as modes
from xarrayops._ops.engines.explaining import with_engines
from xarrayops._ops.engines.functions import SPARSE
from xarrayops._ops.engines.serving import by_engines
from xarrayops._ops.explained import explain_call
from xarrayops._ops.explanation import Explanation, candidates, chosen_name
from xarrayops.errors import NotAnArray, Unsupported
from xarrayops.plugin.candidates import Call
from xarrayops.plugin.sparse import FORMATS, Container

if TYPE_CHECKING:
    from xarrayops._core.backends.backend import Backend
    from xarrayops._core.backends.sparse_backend import SparseBackend

P = ParamSpec("P")


Prepared = tuple["SparseBackend", tuple[Any, ...]]
"""The sparse backend that serves a call, and the arguments for it."""


def sparse_verb(returns: str) -> Callable[[Callable[P, Prepared]], Callable[P, Any]]:
    """Make a verb from the function that checks its arguments. ``returns`` is the annotation of its result.

    The verb calls the backend with the result of ``prepare``; `explain` calls only ``prepare``.
    """

    def verb_of(prepare: Callable[P, Prepared]) -> Callable[P, Any]:
        name = f"sparse.{prepare.__name__}"

        @wraps(prepare)
        def verb(*args: P.args, **kwargs: P.kwargs) -> Any:
            try:
                sparse, arguments = prepare(*args, **kwargs)
            except TypeError:
                wrong = _wrong_call(prepare, args, kwargs)
                if wrong is None:
                    raise
                raise wrong from None
            if not modes.state_of(name):
                return sparse.call(prepare.__name__, *arguments)
            return call_in_modes(prepare.__name__)(sparse.backend, *arguments)

        vars(verb)["prepare"] = prepare
        prepare.__annotations__["return"] = returns  # what `inspect.signature` shows of the verb
        return verb

    return verb_of


@cache
def call_in_modes(name: str) -> Callable[..., Any]:
    """The function of a verb in modes, which uses an engine if engines serve the verb."""
    call = partial(_call, name)
    return by_engines(f"sparse.{name}", call) if name in SPARSE else call


def _call(name: str, backend: Backend, *arguments: Any) -> Any:
    return backend.sparse.call(name, *arguments, dtype=defaults.floating_dtype())


def _wrong_call(prepare: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> TypeError | None:
    """The error for arguments that do not fit the parameters, with the equivalent call; None if they fit."""
    from inspect import signature  # these are needed for errors only

    verb, parameters = f"sparse.{prepare.__name__}", signature(prepare).parameters
    try:
        signature(prepare).bind(*args, **kwargs)
    except TypeError as error:
        why = str(error)
    else:
        return None
    places = [name for name, p in parameters.items() if p.kind is not p.KEYWORD_ONLY]
    options = [name for name in parameters if name not in places]
    further = args[len(places) :]
    if any(hasattr(x, "shape") for x in further) and str(parameters[places[0]].annotation).startswith("Sequence"):
        members = ", ".join(f"s{i}" for i in range(1, len(args) + 1))
        return TypeError(f"xo.{verb} takes one sequence of containers: xo.{verb}([{members}])")
    moved = dict(zip(options, further, strict=False))
    if len(moved) < len(further) or not moved or moved.keys() & kwargs.keys() or not kwargs.keys() <= {*options}:
        takes = f". It takes {', '.join(places + [f'{name}=' for name in options])}"
        return TypeError(f"xo.{verb}: {why}{takes}")
    shown = {name: repr(x) if isinstance(x, (int, float, str)) else "..." for name, x in (moved | kwargs).items()}
    call = f"xo.{verb}({', '.join([*places, *(f'{name}={text}' for name, text in shown.items())])})"
    return TypeError(f"xo.{verb} takes {' and '.join(moved)} by keyword: {call}")


def common_sparse_backend(verb: str, arguments: dict[str, Any], *, numbers: bool = False) -> SparseBackend:
    """The sparse backend of the library of all arguments. With ``numbers``, Python numbers are allowed too."""
    for name, x in arguments.items():
        if type(x) in NON_ARRAY_TYPES:
            require_array_argument(f"sparse.{verb}", name, x, "operand" if numbers else "array")
    return sparse_backend(verb, find.one_of(f"sparse.{verb}", arguments, containers=True))


def sparse_backend(verb: str, backend: Backend) -> SparseBackend:
    """The sparse backend of a library. Raises Unsupported with the name of the verb if it has none."""
    try:
        return backend.sparse
    except Unsupported as error:
        raise Unsupported(f"xo.sparse.{verb}: {error}") from None


def require_container(verb: str, name: str, x: Any) -> SparseBackend:
    """The sparse backend of x, which must be a container."""
    if find.of_container(type(x)) is None and find.if_array(x) is None and find.refusal(x) is None:
        kind = registry.describe_class(type(x))
        raise NotAnArray(f"xo.sparse.{verb}: {name} is a {kind}, not a sparse container of a supported library")
    sparse = common_sparse_backend(verb, {name: x})
    if not sparse.holds(x):
        instead = f"the functions of xo for dense arrays, or xo.sparse.from_dense({name})"
        raise TypeError(f"xo.sparse.{verb}: {name} is dense ({sparse.shown(x)}). Instead: {instead}")
    return sparse


def require_matrix(verb: str, name: str, x: Any) -> None:
    """Raise unless x has two axes."""
    if len(x.shape) != 2:
        raise ValueError(f"xo.sparse.{verb}: {name} has shape {tuple(x.shape)}, but must be a matrix, with two axes")


def require_matrices(verb: str, **operands: Any) -> SparseBackend:
    """The sparse backend of the last operand. Raises unless each one is a container with two axes."""
    for name, x in operands.items():
        sparse = require_container(verb, name, x)
        require_matrix(verb, name, x)
    return sparse


def require_format(verb: str, format: Any, sparse: SparseBackend) -> None:
    """Raise unless the containers of a library have the format."""
    if format not in FORMATS:
        library = ", or backend= for a library" if verb == "convert" else ""
        raise ValueError(f"xo.sparse.{verb}: unknown format {format!r}. Instead: one of {', '.join(FORMATS)}{library}")
    if format not in sparse.formats:
        has = ", ".join(sparse.formats)
        raise Unsupported(f"xo.sparse.{verb}: {sparse.backend.name} has no {format} containers. Instead: one of {has}")


def count(name: str, value: Any) -> int:
    """The value as a non-negative integer; raises for other values."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name}={value!r} is not an integer") from None
    if number < 0 or isinstance(value, bool):
        raise ValueError(f"{name}={value!r} is not a non-negative integer")
    return number


def require_block(block: Any, shape: tuple[int, ...]) -> None:
    """Raise unless the extents of the block divide those of the matrix."""
    if not isinstance(block, tuple | list) or len(block) != 2:
        raise ValueError(f"block={block!r} is not a pair (rows, columns)")
    rows, columns = (count("block", extent) for extent in block)
    if not rows or not columns or shape[0] % rows or shape[1] % columns:
        raise ValueError(f"blocks of {rows} x {columns} do not divide a matrix of {shape[0]} x {shape[1]}")


def require_axis(verb: str, axis: Any) -> int:
    """The axis of a matrix as 0 or 1; raises if it is out of bounds."""
    if type(axis) is not int or not -2 <= axis < 2:
        raise ValueError(f"xo.sparse.{verb}: a matrix has no axis {axis!r}. Instead: 0 or 1")
    return axis % 2


def reduction(verb: str, s: Any, axis: Any) -> Prepared:
    """A reduction of a matrix along an axis, or of all its elements if the axis is None."""
    return require_matrices(verb, s=s), (s, None if axis is None else require_axis(verb, axis))


def require_same_shape(verb: str, a: Container, b: Any) -> None:
    """Raise unless two operands have the same shape."""
    if tuple(a.shape) != tuple(b.shape):
        raise ValueError(f"xo.sparse.{verb}: the shapes differ, {tuple(a.shape)} and {tuple(b.shape)}")


def broadcast(verb: str, sparse: SparseBackend, s: Container, b: Any) -> Any:
    """A number, or a dense array that must broadcast to the shape of s."""
    if type(b) in find.SCALARS:
        return b
    shape = tuple(b.shape)
    pairs = zip(reversed(shape), reversed(tuple(s.shape)), strict=False)
    if len(shape) > 2 or any(extent not in (1, whole) for extent, whole in pairs):
        raise ValueError(f"xo.sparse.{verb}: shape {shape} cannot be broadcast to {tuple(s.shape)}")
    return sparse.backend.functions["asarray"](b)  # a NumPy scalar becomes an array, which has a memory address


def require_numbers(verb: str, sparse: SparseBackend, *containers: Any) -> None:
    """Raise if the values of a container are booleans."""
    for x in filter(sparse.holds, containers):
        if sparse.backend.functions["dtype_name"](x.dtype) == "bool":
            shown = sparse.shown(x)
            raise TypeError(f"xo.sparse.{verb}({shown}): booleans are not numbers. Instead: xo.sparse.multiply(s, 1)")


def require_order(verb: str, sparse: SparseBackend, *containers: Any) -> None:
    """Raise if the values of a container are complex numbers."""
    for x in filter(sparse.holds, containers):
        if (sparse.backend.functions["dtype_name"](x.dtype) or "").startswith("complex"):
            raise TypeError(f"xo.sparse.{verb}({sparse.shown(x)}): complex numbers have no order")


def explain_prepared(function: Callable[..., Any]) -> Callable[..., Explanation]:
    """The explanation of a verb made by `sparse_verb`: its ``prepare`` gives the backend and the arguments."""

    def explain(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
        sparse, arguments = vars(function)["prepare"](*args, **kwargs)
        return explain_kernels(verb, sparse, function.__name__, *arguments)

    return explain


def explain_matmul(verb: str, /, *args: Any) -> Explanation:
    """The kernels that serve a product: kernels of sparse containers if an operand is sparse."""
    sparse = next(filter(None, map(find.sparse_of, args)), None)
    return explain_call(verb, *args) if sparse is None else explain_kernels(verb, sparse, "matmul", *args)


def explain_kernels(verb: str, sparse: SparseBackend, name: str, *arguments: Any) -> Explanation:
    """The kernels that a library has for a verb, and whether each can serve a call."""
    library = sparse.backend.name
    listed = candidates(library, sparse.kernels[name], Call(arguments, {}))
    chosen = chosen_name(listed)
    summary = f"{library} serves its own containers" if chosen else f"{library} cannot serve this call"
    found = Explanation(verb, summary, listed, chosen)
    is_served = verb == "matmul" or name in SPARSE
    return with_engines(found, find.named(library), arguments, {}) if is_served else found
