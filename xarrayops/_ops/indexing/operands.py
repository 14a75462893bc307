"""The checks of an indexed update: the index, the value and the backend that serves them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache, partial
from math import nan
from numbers import Real
from types import EllipsisType
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.find import NON_ARRAY_TYPES
from xarrayops._core.backends.numpy_scalars import is_numpy_scalar, number_class, with_numbers
from xarrayops._core.backends.registry import Backend
from xarrayops._core.backends.resolved import enter
from xarrayops._core.dispatch.lookup import constant_while_tracing
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.dtypes import INTEGER_LIMITS, does_not_fit
from xarrayops.plugin.indexing import BASIC, Index
from xarrayops.plugin.nested import members, named_members

_PLAIN = NON_ARRAY_TYPES | BASIC | {range}
"""Classes of values and indices that are not arrays."""
_UNKNOWN, _BOOL, _INTEGER, _REAL, _COMPLEX = range(-1, 4)
"""Kinds of values. An array can hold values of its own kind and of lower kinds."""
_NUMBERS = (bool, int, float, complex)
"""The Python number class of each kind."""
_KIND_OF_NUMBER = {cls: kind for kind, cls in enumerate(_NUMBERS)}
_DTYPE_OF = ("bool", "int64", "float64", "complex128")
"""A dtype of each kind, for messages."""
_KINDS = (("bool", _BOOL), ("int", _INTEGER), ("uint", _INTEGER), ("complex", _COMPLEX), ("", _REAL))
"""The kind of a dtype, by the prefix of its name."""
_KINDS_OF_X = {
    "subtract": (_INTEGER, _COMPLEX),
    "divide": (_REAL, _COMPLEX),
    "min": (_BOOL, _REAL),
    "max": (_BOOL, _REAL),
}
"""The lowest and highest kind of x that an operation supports, if it does not support all."""
_INSTEAD = {
    "subtract": 'xo.astype(x, "int64") before the call, or xo.logical_xor of the elements',
    "divide": 'xo.astype(x, "float64") before the call, or set the elements to a xo.floor_divide',
    "min": "numbers that have an order, such as xo.abs(x)",
    "max": "numbers that have an order, such as xo.abs(x)",
}
_Conversion = tuple[int, tuple[int, int] | None]
"""Cache: the kind to which a number is converted, or `_UNKNOWN`, and the limits of an integer."""
checked: dict[tuple[Any, ...], tuple[Backend, _Conversion | None]] = {}
"""Cache: the backend and the conversion of the value, for operations, classes and dtypes that passed the checks."""


def wrong_copy(op: str, copy: Any) -> TypeError:
    return TypeError(f"xo.at(x)[index].{op}: copy must be True, False or None, not {copy!r}")


def converted(value: Any, conversion: _Conversion, x: Array, op: str) -> Any:
    """The value as a Python number that x can hold. Integers become floats first if x holds floating point."""
    kind, limits = conversion
    if kind != _UNKNOWN:
        try:
            value = _NUMBERS[kind](value)
        except OverflowError as error:
            raise OverflowError(f"xo.at(x)[index].{op}: {error}, which an array of {x.dtype} requires") from None
    if limits is not None and not limits[0] <= value <= limits[1]:
        raise does_not_fit(
            f"at(x)[index].{op}", value, f"an array of {x.dtype}", 'xo.astype(x, "int64") before the call'
        )
    return value


def is_assigned_by_python(x: Any) -> bool:
    """Whether x is not an array of numbers of a known library: a list, a data frame, or NumPy's array of text."""
    return find.if_array(x) is None or find.refusal(x) is not None or _kind(x) == _UNKNOWN


def cast(x: Array, value: Any) -> Any:
    """The value of an assignment in the dtype of x, by the rule of NumPy's assignments."""
    kind = _kind(x)
    if is_numpy_scalar(value) and kind == _INTEGER and _kind(value) <= _REAL:
        backend = find.of(x)
        value = value.astype(backend.functions["dtype_name"](x.dtype))  # integers wrap
    value = with_numbers(value)
    if value is None and kind != _INTEGER:
        value = nan if kind >= _REAL else False
    elif isinstance(value, str) or (type(value) not in NON_ARRAY_TYPES and isinstance(value, (Real, Decimal))):
        number: Any = value
        value = _NUMBERS[kind](number)
    elif type(value) not in NON_ARRAY_TYPES and find.if_array(value) is None:
        value = _listed(value)
    if type(value) in NON_ARRAY_TYPES:
        is_narrowed = _BOOL <= kind < _KIND_OF_NUMBER.get(type(value), _UNKNOWN) < _COMPLEX
        return _NUMBERS[kind](value) if is_narrowed else value
    is_listed = isinstance(value, (list, tuple))
    if is_listed and any(each is None or isinstance(each, str) for each in members(value)):
        value = _each(value, partial(cast, x))
    backend = one_backend(x, (), value)
    if is_listed:
        is_plain = NON_ARRAY_TYPES.issuperset(map(type, members(value)))
        if is_plain and kind < _REAL:  # each by itself: an array of them would have their common dtype
            value = _each(value, _NUMBERS[kind])
        f = backend.functions
        value = f["asarray"](value, dtype=x.dtype if is_plain or kind >= _REAL else None, device=f["device"](x))
    return value if _kind(value) <= kind else backend.functions["astype"](value, x.dtype)


def _each(value: Any, function: Any) -> Any:
    """A nested sequence with a function of each number."""
    return [_each(member, function) for member in value] if isinstance(value, (list, tuple)) else function(value)


def _listed(value: Any) -> list[Any] | tuple[Any, ...]:
    """Any other sequence, or what NumPy makes an array of, as a list."""
    if isinstance(value, (list, tuple)):
        return value
    if hasattr(type(value), "__array__"):
        return list(value.__array__().tolist())
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return list(value)
    raise TypeError(f"xo.at(x)[index].assign takes numbers, sequences and arrays, not {type(value).__name__}")


def check(x: Array, index: Any, op: str, value: Any) -> tuple[Backend, _Conversion | None]:
    """The backend that serves an update, and the conversion of the value if it needs one.

    The checks are needed because some libraries truncate values silently. Later calls with operands of the same classes
    and dtypes skip them, if those determine the backend.
    """
    if value is None or type(value) in (list, tuple):
        found = "None" if value is None else f"a {type(value).__name__}"
        fix = "a number such as xo.nan" if value is None else "xo.asarray(value, like=x)"
        raise TypeError(
            f"xo.at(x)[index].{op}: the value must be an array or a Python number, not {found}. Instead: {fix}"
        )
    backend = one_backend(x, index, value)
    kind = _kind(x)
    number = _kind_of_number_for(kind, type(value))
    kind_of_value = _kind(value) if number == _UNKNOWN else number
    if kind_of_value > kind >= _BOOL:
        raise Unsupported(
            f"xo.at(x)[index].{op}: {_described(value)} does not fit into an array of {x.dtype}. "
            f'Instead: xo.astype(x, "{_DTYPE_OF[kind_of_value]}") before the call, or xo.astype(value, x.dtype)'
        )
    lowest, highest = _KINDS_OF_X.get(op, (_BOOL, _COMPLEX))
    if kind != _UNKNOWN and not lowest <= kind <= highest:
        raise Unsupported(f"xo.at(x)[index].{op} does not support arrays of {x.dtype}. Instead: {_INSTEAD[op]}")
    is_integer = kind == _INTEGER and (number == _INTEGER or type(value) is int)
    limits = _limits_of(type(x), x.dtype) if is_integer else None
    conversion = None if number == _UNKNOWN and limits is None else (number, limits)
    if backend.refine is None:
        _remember(op, (type(x), x.dtype, type(value), dtype_of(value)), conversion)
    return backend, conversion


@constant_while_tracing
def _remember(op: str, operands: tuple[Any, ...], conversion: _Conversion | None) -> None:
    backend = find.of_class(operands[0])
    if backend is not None:
        enter(checked, (op, *operands), (backend, conversion))


@constant_while_tracing
def _kind_of_number_for(kind: int, cls: type) -> int:
    """The kind of number to which a value for an array of that kind is converted; `_UNKNOWN` for no conversion."""
    number = number_class(cls) or cls
    if number is int and kind > _INTEGER:
        return _REAL
    return _UNKNOWN if number is cls or kind == _UNKNOWN else _KIND_OF_NUMBER[number]


def dtype_of(value: Any) -> Any:
    """The dtype of an array. Dynamo has no default for an attribute of a symbolic integer."""
    return None if type(value) in NON_ARRAY_TYPES else value.dtype


def one_backend(x: Array, index: Any, value: Any = None) -> Backend:
    """The backend of x, of the arrays of the index, and of the value."""
    arguments = {"x": x, **dict(_named_arrays("index", index)), **dict(_named_arrays("value", value))}
    return find.one_of("at", arguments)


def read(backend: Backend, x: Array, index: Any, op: str) -> Index:
    """The index as a tuple, with lists and Python bools replaced by arrays."""
    entries = index if type(index) is tuple else (index,)
    for entry in entries:
        if type(entry) not in BASIC:
            break
    else:
        return Index(entries, backend.functions, is_basic=True)
    one_backend(x, index)
    listed = (list(entry) if type(entry) is range else entry for entry in entries)
    entries = tuple([_entry(backend, x, with_numbers(entry), op) for entry in listed])
    return Index(entries, backend.functions, is_basic=all(type(entry) in BASIC for entry in entries))


def _entry(backend: Backend, x: Array, entry: Any, op: str) -> Any:
    if type(entry) in BASIC:
        return entry
    listed = members(entry)
    for leaf in listed:
        if _kind(leaf) > _INTEGER or type(leaf) in (slice, EllipsisType, type(None)):
            fix = 'xo.astype(index, "int64")' if hasattr(leaf, "dtype") and leaf is entry else "int(index)"
            fix = "a tuple instead of the list" if type(leaf) in BASIC else fix
            raise Unsupported(
                f"xo.at(x)[index].{op}: an index must hold integers or bools, not {_described(leaf)}. Instead: {fix}"
            )
    if type(entry) not in (bool, list, tuple):
        return entry
    f = backend.functions
    try:
        return f["asarray"](entry, dtype=None if listed else f["as_dtype"]("int32"), device=f["device"](x))
    except (ValueError, TypeError) as error:
        raise ValueError(f"xo.at(x)[index].{op}: the list {entry!r} in the index is not an array: {error}") from error


def _named_arrays(name: str, part: Any) -> Iterator[tuple[str, Any]]:
    """The members that may be arrays, each with a name for error messages, such as ``index[0]``.

    NumPy scalars are not included: they count as Python numbers.
    """
    return ((place, leaf) for place, leaf in named_members(name, part, _PLAIN) if not is_numpy_scalar(leaf))


def _described(leaf: Any) -> str:
    if type(leaf) in _PLAIN:
        return f"a Python {type(leaf).__name__}"
    return f"{'a scalar' if is_numpy_scalar(leaf) else 'an array'} of {leaf.dtype}"


def _kind(leaf: Any) -> int:
    cls = type(leaf)
    return _KIND_OF_NUMBER.get(cls, _UNKNOWN) if cls in _PLAIN else _kind_of(cls, getattr(leaf, "dtype", None))


@constant_while_tracing
def _kind_of(cls: type, dtype: Any) -> int:
    backend = find.of_class(cls)
    return _UNKNOWN if backend is None else _kind_of_dtype(backend, dtype)


@constant_while_tracing
def _limits_of(cls: type, dtype: Any) -> tuple[int, int]:
    """The limits of a dtype that the caller knows to be an integer dtype."""
    backend = find.of_class(cls)
    assert backend is not None
    return INTEGER_LIMITS[backend.functions["dtype_name"](dtype)]


@cache
def _kind_of_dtype(backend: Backend, dtype: Any) -> int:
    name: str | None = backend.functions["dtype_name"](dtype)
    return _UNKNOWN if name is None else next(kind for beginning, kind in _KINDS if name.startswith(beginning))
