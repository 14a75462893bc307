"""What static analysis knows of a value, and of the variables at a point of the program."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from xarrayops.plugin.arrays import Record

ARRAY, SCALAR, SEQUENCE, OTHER, UNKNOWN = "array", "scalar", "sequence", "other", "unknown"
WEAK = {"bool": bool, "int": int, "float": float, "complex": complex}
"""The dtypes of Python numbers, which are weaker than array dtypes in promotion."""
PYTHON_NUMBERS = {f"builtins.{name}" for name in WEAK}
"""The full names of the classes of Python's numbers."""
DEFAULT_DTYPES = {"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"}
"""The dtypes of arrays that NumPy makes of Python's numbers."""


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
        The variables whose memory the value may share: it is a view of them, or the same object.
    fresh : bool
        Whether the memory is certainly new: no variable refers to it yet.
    items : tuple of Value or None
        The members of a tuple or list of known length.
    element : Value or None
        What iteration gives if all members are alike.
    is_view : bool
        Whether the value is a view of a part or another shape of an array, and not the same object.
    certain : bool
        False if the kind is a guess from the use of a parameter.
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
    def is_proved(self) -> bool:
        """Whether this is certainly an array, not a guess."""
        return self.is_array and self.certain

    @property
    def dtype_kind(self) -> str | None:
        """The kind of the dtype: "bool", "int", "float" or "complex"; None for others and if unknown."""
        if self.dtype is None or self.dtype in WEAK:
            return self.dtype
        return {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}.get(np.dtype(self.dtype).kind)


NOTHING = Value()
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
    """The common knowledge of two possible values."""
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
        return reduce(joined, value.items)
    return value.element or NOTHING._replace(views=value.views)


def common_dtype(*values: Value) -> str | None:
    """The dtype of arrays and numbers together, by NumPy's rules; None if one is unknown."""
    if not values or any(value.dtype is None for value in values):
        return None
    try:
        if all(value.kind == SCALAR for value in values):
            return max((str(value.dtype) for value in values), key=list(WEAK).index)
        weak = (WEAK[v.dtype](1) if v.dtype in WEAK and v.kind == SCALAR else v.dtype for v in values)
        return np.result_type(*weak).name
    except (TypeError, ValueError):
        return None


def common_ndim(*values: Value) -> int | None:
    """The number of axes of arrays that are broadcast; numbers have none."""
    known = [0 if value.kind == SCALAR else value.ndim for value in values]
    return max((ndim for ndim in known if ndim is not None), default=None) if None not in known else None


class State:
    """The variables at a point of a function: their values, and which of them share memory.

    Attributes such as ``self.x`` are variables, too.
    """

    def __init__(self, outer: State | None = None) -> None:
        self.values: dict[str, Value] = {}
        self.stored: set[str] = set()
        """The variables whose memory something else may refer to: a container, a generator, another function."""
        self.outer = outer

    def copy(self) -> State:
        """A copy of the variables."""
        other = State(self.outer)
        other.values, other.stored = dict(self.values), set(self.stored)
        return other

    def knows(self, name: str) -> bool:
        """Whether the variable was bound here."""
        return name in self.values

    def load(self, name: str) -> Value:
        """The value of a variable."""
        value = self.values.get(name) or (NOTHING if self.outer is None else self.outer.load(name))
        return value if value.kind == SCALAR else value._replace(views=value.views | {name}, fresh=False)

    def bind(self, name: str, value: Value) -> None:
        """Assign to a variable. Other variables keep the memory of its previous value."""
        holders = {other for other, known in self.values.items() if name in known.views and other != name}
        for other in holders:
            known = self.values[other]
            self.values[other] = known._replace(views=known.views - {name} | (holders - {other}))
        if name in value.views:  # what shared the previous memory replaces the name itself
            previous = self.values[name].views if name in self.values else frozenset()
            value = value._replace(views=(value.views | previous | holders) - {name})
        self.values[name] = value
        self.stored.discard(name)

    def store(self, names: frozenset[str]) -> None:
        """Note that something else refers to the memory of these variables."""
        self.stored |= names

    def aliases(self, name: str) -> frozenset[str]:
        """The other variables that may share memory with a variable."""
        found = {name}
        while True:
            more = {other for other in found if other in self.values for other in self.values[other].views}
            more |= {other for other, value in self.values.items() if value.views & found}
            if more <= found:
                return frozenset(found - {name})
            found |= more

    def joined(self, other: State) -> State:
        """The variables after either of two branches."""
        both = State(self.outer)
        both.values = self.values | {name: joined(self.values.get(name), value) for name, value in other.values.items()}
        both.stored = self.stored | other.stored
        return both

    def same(self, other: State) -> bool:
        """Whether the variables and their values are equal."""
        return self.values == other.values and self.stored == other.stored
