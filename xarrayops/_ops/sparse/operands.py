"""The operands of a sparse verb: the library that serves them, and the checks of their shapes and formats."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

from xarrayops._core import defaults, modes, registry
from xarrayops._core.arguments import common_backend, require_array_argument
from xarrayops._protocol.sparse import FORMATS, Container
from xarrayops.errors import BackendNotFound, Unsupported

if TYPE_CHECKING:
    from xarrayops._core.sparse_backend import SparseBackend

P = ParamSpec("P")


def sparse_verb(prepare: Callable[P, Any]) -> Callable[P, Any]:
    """Make a verb of the function that checks its arguments.

    ``prepare`` returns the sparse backend that serves the call, and the arguments for it. The verb calls that backend;
    `explain` calls ``prepare`` alone.
    """

    @wraps(prepare)
    def verb(*args: P.args, **kwargs: P.kwargs) -> Any:
        sparse, arguments = prepare(*args, **kwargs)
        if not modes.active():
            return sparse.call(prepare.__name__, *arguments)
        return sparse.call(prepare.__name__, *arguments, dtype=defaults.floating_dtype())

    vars(verb)["prepare"] = prepare
    return verb


def common_sparse_backend(verb: str, arguments: dict[str, Any], *, numbers: bool = False) -> SparseBackend:
    """The sparse backend of the library of all arguments. With ``numbers``, Python numbers are allowed too."""
    for name, x in arguments.items():
        require_array_argument(f"sparse.{verb}", name, x, "operand" if numbers else "array")
    return common_backend(f"sparse.{verb}", arguments, containers=True).sparse


def require_container(verb: str, name: str, x: Any) -> SparseBackend:
    """The sparse backend of x, which must be a container."""
    if registry.backend_of_container(type(x)) is None and registry.register_conforming(x) is None:
        kind = registry.describe_class(type(x))
        raise BackendNotFound(f"xo.sparse.{verb}: {name} is a {kind}, not a sparse container of a supported library")
    sparse = common_sparse_backend(verb, {name: x})
    if not sparse.holds(x):
        instead = f"the functions of xo for dense arrays, or xo.sparse.from_dense({name})"
        raise TypeError(f"xo.sparse.{verb}: {name} is dense ({sparse.shown(x)}). Instead: {instead}")
    return sparse


def require_matrix(verb: str, name: str, x: Any) -> None:
    """Raise unless x has two axes."""
    if len(x.shape) != 2:
        raise ValueError(f"xo.sparse.{verb}: {name} has shape {tuple(x.shape)}, but must be a matrix, with two axes")


def require_format(verb: str, format: Any, sparse: SparseBackend) -> None:
    """Raise unless the containers of a library have the format."""
    if format not in FORMATS:
        library = ", or backend= for a library" if verb == "convert" else ""
        raise ValueError(f"xo.sparse.{verb}: unknown format {format!r}. Instead: one of {', '.join(FORMATS)}{library}")
    if format not in sparse.formats:
        has = ", ".join(sparse.formats)
        raise Unsupported(f"xo.sparse.{verb}: {sparse.backend.name} has no {format} containers. Instead: one of {has}")


def count(name: str, value: Any) -> int:
    """The value as an integer; raises unless it is one, and not negative."""
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
    """The axis of a matrix as 0 or 1; raises if there is none such."""
    if type(axis) is not int or not -2 <= axis < 2:
        raise ValueError(f"xo.sparse.{verb}: a matrix has no axis {axis!r}. Instead: 0 or 1")
    return axis % 2


def require_same_shape(verb: str, a: Container, b: Any) -> None:
    """Raise unless two operands have the same shape."""
    if tuple(a.shape) != tuple(b.shape):
        raise ValueError(f"xo.sparse.{verb}: the shapes differ, {tuple(a.shape)} and {tuple(b.shape)}")
