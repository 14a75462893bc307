"""The operands of a sparse verb: which library serves them, and whether they fit."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

from xarrayops._core import registry
from xarrayops._core.arguments import common_backend, require_array_argument
from xarrayops._protocol.sparse import FORMATS, Container
from xarrayops.errors import BackendNotFound, Unsupported

if TYPE_CHECKING:
    from xarrayops._core.sparse_backend import SparseBackend

P = ParamSpec("P")


def served(prepare: Callable[P, Any]) -> Callable[P, Any]:
    """The verb of which a function is the checks at the edge.

    It answers with what serves the call and the arguments for it; `explain` asks it without calling.
    """

    @wraps(prepare)
    def verb(*args: P.args, **kwargs: P.kwargs) -> Any:
        sparse, arguments = prepare(*args, **kwargs)
        return sparse.call(prepare.__name__, *arguments)

    vars(verb)["prepare"] = prepare
    return verb


def serving_sparse(verb: str, arguments: dict[str, Any], *, numbers: bool = False) -> SparseBackend:
    """The sparse side of the one library to which all arguments belong; numbers, where they will do, belong to any."""
    for name, x in arguments.items():
        require_array_argument(f"sparse.{verb}", name, x, "operand" if numbers else "array")
    return common_backend(f"sparse.{verb}", arguments, containers=True).sparse


def require_container(verb: str, name: str, x: Any) -> SparseBackend:
    """The sparse side of the library of x, which must be a container."""
    if registry.backend_of_container(type(x)) is None and registry.register_conforming(x) is None:
        kind = registry.describe_class(type(x))
        raise BackendNotFound(f"xo.sparse.{verb}: {name} is a {kind}, no sparse container of a library that we know")
    sparse = serving_sparse(verb, {name: x})
    if not sparse.holds(x):
        way_out = f"the functions of xo for dense arrays, or xo.sparse.from_dense({name})"
        raise TypeError(f"xo.sparse.{verb}: {name} is dense ({sparse.shown(x)}). Instead: {way_out}")
    return sparse


def require_matrix(verb: str, name: str, x: Any) -> None:
    """Raise unless x has two axes."""
    if len(x.shape) != 2:
        raise ValueError(
            f"xo.sparse.{verb}: {name} has shape {tuple(x.shape)}, but only matrices, with two axes, will do"
        )


def require_format(verb: str, format: Any, sparse: SparseBackend) -> None:
    """Raise unless a library's containers have a format."""
    if format not in FORMATS:
        library = ", or backend= for a library" if verb == "convert" else ""
        raise ValueError(f"xo.sparse.{verb}: no format {format!r}. Instead: one of {', '.join(FORMATS)}{library}")
    if format not in sparse.formats:
        has = ", ".join(sparse.formats)
        raise Unsupported(f"xo.sparse.{verb}: {sparse.backend.name} has no {format} containers. Instead: one of {has}")


def count(name: str, value: Any) -> int:
    """The number, which must be a count of something."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name}={value!r} is no whole number") from None
    if number < 0 or isinstance(value, bool):
        raise ValueError(f"{name}={value!r} is no count")
    return number


def require_block(block: Any, shape: tuple[int, ...]) -> None:
    """Raise unless blocks of such extents fill a matrix."""
    if not isinstance(block, tuple | list) or len(block) != 2:
        raise ValueError(f"block={block!r} is not the two extents of a block")
    rows, columns = (count("block", extent) for extent in block)
    if not rows or not columns or shape[0] % rows or shape[1] % columns:
        raise ValueError(f"blocks of {rows} x {columns} do not fill a matrix of {shape[0]} x {shape[1]}")


def require_alike(verb: str, a: Container, b: Any) -> None:
    """Raise unless two operands have one shape."""
    if tuple(a.shape) != tuple(b.shape):
        raise ValueError(f"xo.sparse.{verb}: the shapes differ, {tuple(a.shape)} and {tuple(b.shape)}")
