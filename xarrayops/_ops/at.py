"""at: an indexed update with one notation for mutable and immutable arrays."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import EllipsisType
from typing import Any, Generic, NoReturn

from xarrayops._core import registry
from xarrayops._core.arguments import NON_ARRAY_TYPES, signature
from xarrayops._core.dispatch import constant_while_tracing, require_one_backend
from xarrayops._core.numpy_scalars import is_numpy_scalar, number_class, with_numbers
from xarrayops._core.refused import NotGiven, Refused, shows_own_parameters
from xarrayops._core.registry import Backend
from xarrayops._core.sequences import leaves, named_leaves
from xarrayops._ops.explanation import Explanation, explain_call
from xarrayops._ops.verb import Verb
from xarrayops._protocol.dtypes import INTEGER_LIMITS, does_not_fit
from xarrayops._protocol.indexing import BASIC, Index
from xarrayops._protocol.types import Array, ArrayT, Scalar
from xarrayops.errors import Unsupported, XArrayOpsError

_PLAIN = NON_ARRAY_TYPES | BASIC
"""Classes of values and indices that are not arrays."""
_UNKNOWN, _BOOL, _INTEGER, _REAL, _COMPLEX = range(-1, 4)
"""Kinds of values. An array can hold values of its own kind and of lower kinds."""
_NUMBERS = (bool, int, float, complex)
"""The class of Python's numbers for each kind."""
_KIND_OF_NUMBER = {cls: kind for kind, cls in enumerate(_NUMBERS)}
_KINDS = (("bool", _BOOL), ("int", _INTEGER), ("uint", _INTEGER), ("complex", _COMPLEX), ("", _REAL))
"""The kind of a dtype, by the prefix of its name."""
_KINDS_OF_X = {
    "subtract": (_INTEGER, _COMPLEX),
    "divide": (_REAL, _COMPLEX),
    "min": (_BOOL, _REAL),
    "max": (_BOOL, _REAL),
}
"""The lowest and the highest kind of x that an operation serves, where it does not serve all."""
_INSTEAD = {
    "subtract": "xo.logical_xor of the elements, or xo.astype(x, dtype) before the call",
    "divide": "xo.astype(x, dtype) before the call, or set the elements to a xo.floor_divide",
    "min": "numbers that have an order, such as xo.abs(x)",
    "max": "numbers that have an order, such as xo.abs(x)",
}
_OF_NUMPY_AND_JAX = {
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "minimum": "min",
    "maximum": "max",
    "true_divide": "divide",
    "assign": "set",
    "replace": "set",
    "take": "get",
}
"""Names of updates in other notations, with ours."""
_Conversion = tuple[int, tuple[int, int] | None]
"""The kind to which a number is converted, or `_UNKNOWN`, and the limits of an integer."""
_checked: dict[tuple[Any, ...], tuple[Backend, _Conversion | None]] = {}
"""The backend and the conversion of the value, of operations, classes and dtypes that passed the checks."""


@shows_own_parameters
def at(x: ArrayT, extra: Refused = NotGiven, /, copy: Refused = NotGiven) -> AtIndexer[ArrayT]:
    """Update the elements of x that an index selects: ``xo.at(x)[index].add(value)``.

    The index means what it means in NumPy, on every library. x itself does not change unless ``copy=`` allows it.

    Parameters
    ----------
    x : array
        Any array.

    Returns
    -------
    AtIndexer
        Indexing it with integers, slices, None, an ellipsis, lists, and arrays of integers or bools gives an object
        with the methods ``set``, ``add``, ``subtract``, ``multiply``, ``divide``, ``min`` and ``max``, each with the
        signature ``f(value, /, *, copy=True)``, and ``get(*, copy=True)``, which returns the elements.

        ``copy=True``, the default, never touches x, so that the result does not depend on the library. None may reuse
        the memory of x: neither x nor arrays that share its memory may be used afterwards, only the result. False
        writes x in place, and raises if x cannot be written.

    Raises
    ------
    IndexError
        A Python integer is out of bounds, a mask has another shape than the axes that it indexes, or x has too few
        axes.
    ValueError
        The value does not broadcast to the shape of the selected elements.
    MixedBackends
        The value or an index is an array of another library than x.
    TypeError
        The value is None, a list or a tuple, or ``copy`` is not True, False or None.
    OverflowError
        The value is an integer beyond the limits of the dtype of x: a Python number or a NumPy scalar.
    Unsupported
        ``copy=False`` and x cannot be written (JAX, Dask, read-only NumPy); x cannot hold the result, such as a float
        or a quotient in an integer array; or the index holds floats.

    Notes
    -----
    Laws: ``at(x)[i].set(v)`` equals a copy of x after ``x[i] = v`` in NumPy, and ``at(x)[i].add(v)`` equals one after
    ``numpy.add.at(x, i, v)``: duplicate indices accumulate in add, subtract, multiply, divide, min and max in every
    library. Values are cast to the dtype of x first; NumPy's scalars count as Python numbers, as values and as
    indices. Values and indices are read before x is written, also where they share memory with x. If an index repeats
    in ``set``, which value remains is unspecified. The result of an out-of-bounds element of an array of indices is
    unspecified. Products and quotients by duplicate indices may differ from NumPy's by rounding.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> x = np.zeros(3)
    >>> xo.at(x)[np.asarray([0, 0, 2])].add(1.0)
    array([2., 0., 1.])
    >>> x
    array([0., 0., 0.])
    >>> xo.at(x)[1:].set(5.0, copy=None) is x
    True
    >>> xo.at(x)[[2, 1, 0]].get()
    array([5., 5., 0.])
    """
    if extra is not NotGiven or copy is not NotGiven:
        option = f", copy={copy!r}" if copy is not NotGiven else ""
        raise TypeError(f"xo.at takes an array alone. Instead: xo.at(x)[index].set(value{option})")
    return AtIndexer(x)


class AtIndexer(Generic[ArrayT]):
    """An array to index: ``indexer[index]`` selects the elements to update."""

    __slots__ = ("_x",)

    def __init__(self, x: ArrayT) -> None:
        self._x = x

    def __getitem__(self, index: Any) -> IndexedUpdate[ArrayT]:
        return IndexedUpdate(self._x, index)

    def __getattr__(self, name: str) -> NoReturn:
        place = f"xo.at(x)[index].{name}; the index ... selects all elements"
        fix = f". Instead: {place}" if hasattr(IndexedUpdate, name) else ""
        raise AttributeError(f"xo.at(x) has no {name}{fix}", name=None, obj=None)


class IndexedUpdate(Generic[ArrayT]):
    """The elements of an array that an index selects, and the updates of them."""

    __slots__ = ("_index", "_x")

    def __init__(self, x: ArrayT, index: Any) -> None:
        self._x = x
        self._index = index

    def __getattr__(self, name: str) -> NoReturn:
        ours = _OF_NUMPY_AND_JAX.get(name)
        listed = ", ".join(method for method in vars(IndexedUpdate) if not method.startswith("_"))
        fix = f". Instead: xo.at(x)[index].{ours}" if ours else f": it has {listed}"
        raise AttributeError(f"xo.at(x)[index] has no {name}{fix}", name=None, obj=None)

    def get(self, *, copy: bool | None = True) -> ArrayT:
        """The selected elements: a new array, or under ``copy=None`` a view of x where the library gives one."""
        return _selected(self._x, self._index, copy)

    def set(self, value: Array | Scalar, /, *, copy: bool | None = True) -> ArrayT:
        """x with the selected elements set to the value."""
        return _updated(self._x, self._index, "set", value, copy)

    def add(self, value: Array | Scalar, /, *, copy: bool | None = True) -> ArrayT:
        """x with the value added to the selected elements."""
        return _updated(self._x, self._index, "add", value, copy)

    def subtract(self, value: Array | Scalar, /, *, copy: bool | None = True) -> ArrayT:
        """x with the value subtracted from the selected elements."""
        return _updated(self._x, self._index, "subtract", value, copy)

    def multiply(self, value: Array | Scalar, /, *, copy: bool | None = True) -> ArrayT:
        """x with the selected elements multiplied by the value."""
        return _updated(self._x, self._index, "multiply", value, copy)

    def divide(self, value: Array | Scalar, /, *, copy: bool | None = True) -> ArrayT:
        """x with the selected elements divided by the value; x must hold floating point."""
        return _updated(self._x, self._index, "divide", value, copy)

    def min(self, value: Array | Scalar, /, *, copy: bool | None = True) -> ArrayT:
        """x with each selected element replaced by the minimum of it and the value."""
        return _updated(self._x, self._index, "min", value, copy)

    def max(self, value: Array | Scalar, /, *, copy: bool | None = True) -> ArrayT:
        """x with each selected element replaced by the maximum of it and the value."""
        return _updated(self._x, self._index, "max", value, copy)


def _updated(x: Array, index: Any, op: str, value: Any, copy: bool | None) -> Array:
    _check_copy(op, copy)
    try:
        backend, conversion = _checked[op, type(x), x.dtype, type(value), _dtype_of(value)]
    except (KeyError, AttributeError, TypeError):
        backend, conversion = _check(x, index, op, value)
    if conversion is not None:
        value = _converted(value, conversion, x, op)
    selected = _read(backend, x, index, op)
    try:
        result: Array = backend.functions["update"](x, selected, op, value, copy=copy)
    except (IndexError, ValueError, TypeError, RuntimeError) as error:
        _explain(error, x, selected, op, value)
        raise
    return result


def _selected(x: Array, index: Any, copy: bool | None) -> Array:
    _check_copy("get", copy)
    backend = _one_backend(x, index)
    selected = _read(backend, x, index, "get")
    try:
        result: Array = backend.functions["select"](x, selected, copy=copy)
    except (IndexError, ValueError, TypeError, RuntimeError) as error:
        _explain(error, x, selected, "get")
        raise
    return result


def _check_copy(op: str, copy: Any) -> None:
    if copy is not True and copy is not None and copy is not False:
        raise TypeError(f"xo.at(x)[index].{op}: copy must be True, False or None, not {copy!r}")


def _explain(error: Exception, x: Array, index: Index, op: str, value: Any = None) -> None:
    """Raise an error of ours if the index or the value is wrong. The caller raises other errors again, unchanged."""
    if isinstance(error, XArrayOpsError):
        return
    reason = error
    try:
        index.counted(index.selection(x.shape)).padded(getattr(value, "shape", ()))
    except (IndexError, ValueError) as found:
        reason = found
    if isinstance(reason, (IndexError, ValueError)):
        cls = IndexError if isinstance(reason, IndexError) else ValueError
        raise cls(f"xo.at(x)[index].{op}: {reason}") from error


def _converted(value: Any, conversion: _Conversion, x: Array, op: str) -> Any:
    """The value as a Python number that x can hold. Integers become floats first if x holds floating point."""
    kind, limits = conversion
    if kind != _UNKNOWN:
        try:
            value = _NUMBERS[kind](value)
        except OverflowError as error:
            raise OverflowError(f"xo.at(x)[index].{op}: {error}, which an array of {x.dtype} requires") from None
    if limits is not None and not limits[0] <= value <= limits[1]:
        raise does_not_fit(f"at(x)[index].{op}", value, f"an array of {x.dtype}", "xo.astype(x, dtype) before the call")
    return value


def _check(x: Array, index: Any, op: str, value: Any) -> tuple[Backend, _Conversion | None]:
    """The backend that serves an update, and the conversion of the value if it is a number that needs one.

    The checks are needed because some libraries truncate values silently. Later calls with operands of the same classes
    and dtypes skip them, if those determine the backend.
    """
    if value is None or type(value) in (list, tuple):
        found = "None" if value is None else f"a {type(value).__name__}"
        fix = "a number such as xo.nan" if value is None else "xo.asarray(value, like=x)"
        raise TypeError(
            f"xo.at(x)[index].{op}: the value must be an array or a Python number, not {found}. Instead: {fix}"
        )
    backend = _one_backend(x, index, value)
    kind = _kind(x)
    number = _kind_of_number_for(kind, type(value))
    if (_kind(value) if number == _UNKNOWN else number) > kind >= _BOOL:
        raise Unsupported(
            f"xo.at(x)[index].{op}: {_described(value)} does not fit into an array of {x.dtype}. "
            f"Instead: xo.astype(x, dtype) before the call, or xo.astype(value, dtype)"
        )
    lowest, highest = _KINDS_OF_X.get(op, (_BOOL, _COMPLEX))
    if kind != _UNKNOWN and not lowest <= kind <= highest:
        raise Unsupported(f"xo.at(x)[index].{op} does not serve arrays of {x.dtype}. Instead: {_INSTEAD[op]}")
    is_integer = kind == _INTEGER and (number == _INTEGER or type(value) is int)
    limits = _limits_of(type(x), x.dtype) if is_integer else None
    conversion = None if number == _UNKNOWN and limits is None else (number, limits)
    if backend.refine is None:
        _remember(op, (type(x), x.dtype, type(value), _dtype_of(value)), conversion)
    return backend, conversion


@constant_while_tracing
def _remember(op: str, operands: tuple[Any, ...], conversion: _Conversion | None) -> None:
    backend = registry.backend_of_class(operands[0])
    if backend is not None:
        _checked[op, *operands] = backend, conversion


@constant_while_tracing
def _kind_of_number_for(kind: int, cls: type) -> int:
    """The kind of number to which a value for an array of that kind is converted; `_UNKNOWN` if it stays as it is."""
    number = number_class(cls) or cls
    if number is int and kind > _INTEGER:
        return _REAL
    return _UNKNOWN if number is cls or kind == _UNKNOWN else _KIND_OF_NUMBER[number]


def _dtype_of(value: Any) -> Any:
    """The dtype of an array. Dynamo has no default for an attribute of a symbolic integer."""
    return None if type(value) in NON_ARRAY_TYPES else value.dtype


def _one_backend(x: Array, index: Any, value: Any = None) -> Backend:
    """The backend of x, of the arrays of the index, and of the value."""
    arguments = {"x": x, **dict(_named_arrays("index", index)), **dict(_named_arrays("value", value))}
    return require_one_backend("at", arguments)


def _read(backend: Backend, x: Array, index: Any, op: str) -> Index:
    """The index with its entries in a tuple, and with arrays in the place of lists and Python bools."""
    entries = index if type(index) is tuple else (index,)
    for entry in entries:
        if type(entry) not in BASIC:
            break
    else:
        return Index(entries, backend.functions, is_basic=True)
    _one_backend(x, index)
    entries = tuple([_entry(backend, x, with_numbers(entry), op) for entry in entries])
    return Index(entries, backend.functions, is_basic=all(type(entry) in BASIC for entry in entries))


def _entry(backend: Backend, x: Array, entry: Any, op: str) -> Any:
    if type(entry) in BASIC:
        return entry
    members = leaves(entry)
    for leaf in members:
        if _kind(leaf) > _INTEGER or type(leaf) in (slice, EllipsisType, type(None)):
            fix = 'xo.astype(index, "int64")' if hasattr(leaf, "dtype") and leaf is entry else "int(index)"
            fix = "a tuple in the place of the list" if type(leaf) in BASIC else fix
            raise Unsupported(
                f"xo.at(x)[index].{op}: an index must hold integers or bools, not {_described(leaf)}. Instead: {fix}"
            )
    if type(entry) not in (bool, list, tuple):
        return entry
    f = backend.functions
    try:
        return f["asarray"](entry, dtype=None if members else f["as_dtype"]("int32"), device=f["device"](x))
    except (ValueError, TypeError) as error:
        raise ValueError(f"xo.at(x)[index].{op}: the list {entry!r} in the index is no array: {error}") from error


def _named_arrays(name: str, part: Any) -> Iterator[tuple[str, Any]]:
    """The members that may be arrays, each with a name for error messages, such as ``index[0]``.

    NumPy's scalars are not among them: they count as Python numbers.
    """
    return ((place, leaf) for place, leaf in named_leaves(name, part, _PLAIN) if not is_numpy_scalar(leaf))


def _described(leaf: Any) -> str:
    if type(leaf) in _PLAIN:
        return f"a Python {type(leaf).__name__}"
    return f"{'a scalar' if is_numpy_scalar(leaf) else 'an array'} of {leaf.dtype}"


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


def explain_at(verb: str, /, *args: Any, copy: bool | None = True, **kwargs: Any) -> Explanation:
    """Explain an update of x. The arguments are x, the index, the operation and the value."""
    x, index, op, value = signature("update").bind(*args, copy=copy, **kwargs).args
    backend = _check(x, index, op, value)[0]
    _read(backend, x, index, op)
    _check_copy(op, copy)
    served = explain_call(verb, *args, copy=copy, **kwargs)
    obstacle = "copy=True" if copy else _obstacle(backend, x, op, value, copy)
    if served.chosen is None or (obstacle is not None and copy is False):
        reason = served.candidates[0].reason if served.chosen is None else obstacle
        refused = tuple(c._replace(ok=False, reason=reason or "") for c in served.candidates)
        return Explanation(verb, f"{backend.name} cannot serve this call", refused, None, "refuse", None, reason)
    action, reason = ("zero-copy", "x is updated in place") if obstacle is None else ("copy", obstacle)
    nbytes = 0 if obstacle is None else _nbytes(backend, x)
    copies = ("copies x" if nbytes is None else f"copies {nbytes} bytes",) if nbytes != 0 else ()
    listed = tuple(c._replace(reason=f"{c.reason}; {reason}", copies=copies) for c in served.candidates)
    return Explanation(verb, f"{action}: {reason}", listed, served.chosen, action, nbytes, reason)


def _obstacle(backend: Backend, x: Array, op: str, value: Any, copy: bool | None) -> str | None:
    """Why an update cannot or, under ``copy=None``, would not write x: a dry run updates no element."""
    f = backend.functions
    nothing = (slice(0, 0),) if x.ndim else (f["asarray"](False, device=f["device"](x)),)
    index = Index(nothing, f, is_basic=x.ndim > 0)
    if hasattr(value, "dtype"):
        value = f["reshape"](value, (-1,))[0:1]
    try:
        f["update"](x, index, op, value, copy=False)
    except Unsupported as error:
        return str(error) if copy is False else str(error).partition(". Instead:")[0]
    kept = copy is False or f["update"](x, index, op, value, copy=None) is x
    return None if kept else "the library does not write x in place here"


def _nbytes(backend: Backend, x: Array) -> int | None:
    memory = backend.functions["memory"](x)
    return None if memory is None else int(memory.nbytes)


VERBS = (Verb("at", at, hook="update", explain=explain_at),)
