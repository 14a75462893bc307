"""at: an indexed update with one notation for mutable and immutable arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from types import EllipsisType
from typing import Any, Generic

from xarrayops._core import registry
from xarrayops._core.arguments import NON_ARRAY_TYPES, signature
from xarrayops._core.dispatch import constant_while_tracing, require_one_backend
from xarrayops._core.registry import Backend
from xarrayops._ops.explanation import Explanation, explain_call
from xarrayops._ops.verb import Verb
from xarrayops._protocol.dtypes import INTEGER_LIMITS
from xarrayops._protocol.types import Array, ArrayT, Scalar
from xarrayops.errors import Unsupported

_PLAIN = NON_ARRAY_TYPES | {slice, EllipsisType}
"""Classes of values and indices that are not arrays."""
_UNKNOWN, _BOOL, _INTEGER, _REAL, _COMPLEX = range(-1, 4)
"""Kinds of values. An array can hold values of its own kind and of lower kinds."""
_KIND_OF_NUMBER = {bool: _BOOL, int: _INTEGER, float: _REAL, complex: _COMPLEX}
_KINDS = (("bool", _BOOL), ("int", _INTEGER), ("uint", _INTEGER), ("complex", _COMPLEX), ("", _REAL))
"""The kind of a dtype, by the prefix of its name."""


def at(x: ArrayT, /) -> AtIndexer[ArrayT]:
    """Update the elements of x that an index selects: ``xo.at(x)[index].add(value)``.

    Use the result: it may be x itself, updated in place, or a new array.

    Parameters
    ----------
    x : array
        Any array.

    Returns
    -------
    AtIndexer
        Indexing it gives an object with the methods ``set``, ``add``, ``multiply``, ``min`` and ``max``, each with the
        signature ``f(value, /, *, copy=None)``. None may update in place, True never modifies x, and False raises if x
        cannot be updated in place.

    Raises
    ------
    MixedBackends
        The value or an index is an array of another library than x.
    TypeError
        The value is a list or a tuple.
    OverflowError
        The value is a Python integer beyond the limits of the dtype of x.
    Unsupported
        ``copy=False`` and x cannot be written (JAX, Dask, read-only NumPy); x cannot hold the value, such as a float
        in an integer array; or the index holds floats.

    Notes
    -----
    Law: ``at(x)[i].add(v, copy=True)`` equals x with ``numpy.add.at(x, i, v)``: duplicate indices accumulate in add,
    multiply, min and max in every library. If an index repeats in ``set``, which value remains is unspecified. The
    result of an out-of-bounds index is unspecified.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.at(np.zeros(3))[np.asarray([0, 0, 2])].add(1.0)
    array([2., 0., 1.])
    """
    return AtIndexer(x)


class AtIndexer(Generic[ArrayT]):
    """An array to index: ``indexer[index]`` selects the elements to update."""

    __slots__ = ("_x",)

    def __init__(self, x: ArrayT) -> None:
        self._x = x

    def __getitem__(self, index: Any) -> IndexedUpdate[ArrayT]:
        return IndexedUpdate(self._x, index)


class IndexedUpdate(Generic[ArrayT]):
    """The elements of an array that an index selects, and the updates of them."""

    __slots__ = ("_index", "_x")

    def __init__(self, x: ArrayT, index: Any) -> None:
        self._x = x
        self._index = index

    def _update(self, op: str, value: Any, copy: bool | None) -> ArrayT:
        return validated_update(self._x, self._index, op, value)(self._x, self._index, op, value, copy=copy)

    def set(self, value: Array | Scalar, /, *, copy: bool | None = None) -> ArrayT:
        """x with the selected elements set to the value."""
        return self._update("set", value, copy)

    def add(self, value: Array | Scalar, /, *, copy: bool | None = None) -> ArrayT:
        """x with the value added to the selected elements."""
        return self._update("add", value, copy)

    def multiply(self, value: Array | Scalar, /, *, copy: bool | None = None) -> ArrayT:
        """x with the selected elements multiplied by the value."""
        return self._update("multiply", value, copy)

    def min(self, value: Array | Scalar, /, *, copy: bool | None = None) -> ArrayT:
        """x with each selected element replaced by the minimum of it and the value."""
        return self._update("min", value, copy)

    def max(self, value: Array | Scalar, /, *, copy: bool | None = None) -> ArrayT:
        """x with each selected element replaced by the maximum of it and the value."""
        return self._update("max", value, copy)


def validated_update(x: Array, index: Any, op: str, value: Any) -> Callable[..., Array]:
    """The function that serves an update, after a check of the arguments.

    The check is needed because some libraries truncate values and indices silently.
    """
    if type(value) in (list, tuple):
        raise TypeError(
            f"xo.at(x)[index].{op}: the value must be an array or a Python number, not a {type(value).__name__}. "
            f"Instead: xo.asarray(value, like=x)"
        )
    indices = _leaves(index)
    backend = require_one_backend(
        "at", {"x": x, **dict(_named_arrays("index", index)), **dict(_named_arrays("value", value))}
    )
    for leaf in indices:
        if _kind(leaf) > _INTEGER:
            raise Unsupported(
                f"xo.at(x)[index].{op}: an index must hold integers or bools, not {_described(leaf)}. "
                f'Instead: xo.astype(index, "int64")'
            )
    kind = _kind(x)
    if _kind(value) > kind >= _BOOL:
        raise Unsupported(
            f"xo.at(x)[index].{op}: {_described(value)} does not fit into an array of {x.dtype}. "
            f"Instead: xo.astype(x, dtype) before, or xo.astype(value, dtype)"
        )
    if type(value) is int and kind == _INTEGER:
        low, high = _limits_of(type(x), x.dtype)
        if not low <= value <= high:
            raise OverflowError(
                f"xo.at(x)[index].{op}: the Python integer {value} does not fit into an array of {x.dtype}. "
                f"Instead: xo.astype(x, dtype) before"
            )
    return backend.functions["update"]


def _leaves(part: Any) -> list[Any]:
    """The members of nested lists and tuples."""
    return [leaf for member in part for leaf in _leaves(member)] if type(part) in (list, tuple) else [part]


def _named_arrays(name: str, part: Any) -> Iterator[tuple[str, Any]]:
    """The members that may be arrays, each with a name for error messages, such as ``index[0]``."""
    if type(part) in (list, tuple):
        for i, member in enumerate(part):
            yield from _named_arrays(f"{name}[{i}]", member)
    elif type(part) not in _PLAIN:
        yield name, part


def _described(leaf: Any) -> str:
    return f"a Python {type(leaf).__name__}" if type(leaf) in _PLAIN else f"an array of {leaf.dtype}"


def _kind(leaf: Any) -> int:
    cls = type(leaf)
    return _KIND_OF_NUMBER.get(cls, _UNKNOWN) if cls in _PLAIN else _kind_of(cls, getattr(leaf, "dtype", None))


@constant_while_tracing
def _kind_of(cls: type, dtype: Any) -> int:
    backend = registry.backend_of_class(cls)
    return _UNKNOWN if backend is None else _kind_of_dtype(backend, dtype)


@constant_while_tracing
def _limits_of(cls: type, dtype: Any) -> tuple[int, int]:
    """The limits of an integer dtype; the caller has found that it is one."""
    backend = registry.backend_of_class(cls)
    assert backend is not None
    return INTEGER_LIMITS[backend.functions["dtype_name"](dtype)]


@cache
def _kind_of_dtype(backend: Backend, dtype: Any) -> int:
    name: str | None = backend.functions["dtype_name"](dtype)
    return _UNKNOWN if name is None else next(kind for beginning, kind in _KINDS if name.startswith(beginning))


def explain_at(verb: str, /, *args: Any, copy: bool | None = None, **kwargs: Any) -> Explanation:
    """Explain an update of x. The arguments are x, the index, the operation and the value."""
    validated_update(*signature("update").bind(*args, copy=copy, **kwargs).args)
    return explain_call(verb, *args, copy=copy, **kwargs)


VERBS = (Verb("at", at, hook="update", explain=explain_at),)
