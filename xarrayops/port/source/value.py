"""What is known of a value without running the program."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin.arrays import Record

ARRAY, SCALAR, SEQUENCE, OTHER, UNKNOWN = "array", "scalar", "sequence", "other", "unknown"
WEAK = {"bool": bool, "int": int, "float": float, "complex": complex}
"""The dtypes of Python's numbers, which give way to those of arrays."""
MOST_DIMENSIONS = 64


class Value(Record):
    """What is known of the value of an expression.

    Attributes
    ----------
    kind : str
        "array", "scalar" (a Python number), "sequence" (list, tuple or another iterable in Python), "other" (neither
        an array nor a number, such as a string or a function), or "unknown".
    dtype : str or None
        The name of the dtype of an array, or "bool", "int", "float" or "complex" of a scalar; None if unknown.
    ndim : int or None
        The number of axes of an array; a reduction of all elements has 0. None if unknown.
    views : frozenset of str
        The variables whose memory the value may share: those that it is a view of, or that are the same object.
    fresh : bool
        Whether the memory is surely new: no variable refers to it yet.
    items : tuple of Value or None
        The members of a tuple or list of known length.
    element : Value or None
        What iteration gives, where the members are alike.
    is_view : bool
        Whether the value is a view of a part or another shape of an array, and not the same object.
    certain : bool
        False where the kind is a guess from the way in which a parameter is used.
    """

    kind: str = UNKNOWN
    dtype: str | None = None
    ndim: int | None = None
    views: frozenset[str] = frozenset()
    fresh: bool = False
    items: tuple[Any, ...] | None = None
    element: Any = None
    is_view: bool = False
    certain: bool = True

    @property
    def is_array(self) -> bool:
        """Whether this is an array."""
        return self.kind == ARRAY

    @property
    def dtype_kind(self) -> str | None:
        """The kind of the dtype: "bool", "int", "float" or "complex"; None if unknown or something else."""
        if self.dtype is None:
            return None
        if self.dtype in WEAK:
            return self.dtype
        return {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}.get(np.dtype(self.dtype).kind)


NOTHING = Value()
STRING = Value(OTHER)
INTEGER, FLOAT, BOOLEAN = (Value(SCALAR, name) for name in ("int", "float", "bool"))


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def array(dtype: str | None = None, ndim: int | None = None, *, certain: bool = True) -> Value:
    """A new array."""
    return Value(ARRAY, dtype, ndim, fresh=True, certain=certain)


def of_constant(constant: object) -> Value:
    """The value of a literal."""
    name = type(constant).__name__
    return Value(SCALAR, name) if name in WEAK else Value(OTHER)


def joined(a: Value | None, b: Value) -> Value:
    """What is known of a value that is one or the other."""
    if a is None or a == b:
        return b
    items = None
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        items = tuple(map(joined, a.items, b.items))
    return Value(
        a.kind if a.kind == b.kind else UNKNOWN,
        a.dtype if a.dtype == b.dtype else None,
        a.ndim if a.ndim == b.ndim else None,
        a.views | b.views,
        a.fresh and b.fresh,
        items,
        None if a.element is None or b.element is None else joined(a.element, b.element),
        a.is_view or b.is_view,
        a.certain and b.certain,
    )


def member(value: Value) -> Value:
    """What iteration over a value gives."""
    if value.kind == ARRAY:
        ndim = None if value.ndim is None else max(value.ndim - 1, 0)
        return Value(ARRAY, value.dtype, ndim, value.views, is_view=True, certain=value.certain)
    if value.items:
        result = None
        for item in value.items:
            result = joined(result, item)
        return result or NOTHING
    return value.element or NOTHING._replace(views=value.views)


def common_dtype(*values: Value) -> str | None:
    """The dtype of arrays and numbers together, by NumPy's rules; None if one is unknown."""
    if not values or any(value.dtype is None for value in values):
        return None
    try:
        if all(value.kind == SCALAR for value in values):
            return max((str(value.dtype) for value in values), key=list(WEAK).index)
        return np.result_type(
            *(WEAK[v.dtype](1) if v.dtype in WEAK and v.kind == SCALAR else v.dtype for v in values)
        ).name
    except (TypeError, ValueError):
        return None


def common_ndim(*values: Value) -> int | None:
    """The number of axes of arrays that are broadcast; numbers have none."""
    known = [0 if value.kind == SCALAR else value.ndim for value in values]
    return None if None in known or not known else max(ndim for ndim in known if ndim is not None)
