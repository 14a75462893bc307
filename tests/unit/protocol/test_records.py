"""A record is what `typing.NamedTuple` makes of the same class statement."""

from __future__ import annotations

import pickle
from typing import NamedTuple, get_type_hints

import pytest

from xarrayops.plugin.arrays import Record


class Point(Record):
    """A point."""

    x: int
    y: int = 2

    @property
    def total(self) -> int:
        """The sum."""
        return self.x + self.y

    def moved(self, by: int) -> Point:
        """Another point."""
        return self._replace(x=self.x + by)

    @classmethod
    def origin(cls) -> Point:
        """The point of zeros."""
        return cls(0, 0)


class TypingPoint(NamedTuple):
    """A point."""

    x: int
    y: int = 2


def test_a_record_is_a_named_tuple():
    assert Point._fields == TypingPoint._fields
    assert Point._field_defaults == TypingPoint._field_defaults
    assert get_type_hints(Point) == get_type_hints(TypingPoint) == {"x": int, "y": int}
    assert Point.__doc__ == TypingPoint.__doc__
    assert (Point.__module__, Point.__qualname__) == (__name__, "Point")
    assert repr(Point(1)) == "Point(x=1, y=2)"
    assert Point(1) == TypingPoint(1) == (1, 2)
    assert isinstance(Point(1), tuple)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Point()
    with pytest.raises(AttributeError):
        Point(1).x = 3


def test_members_and_pickles():
    assert Point(1).total == 3
    assert Point(1).moved(4) == Point(5, 2)
    assert Point.origin() == Point(0, 0)
    assert pickle.loads(pickle.dumps(Point(1, 5))) == Point(1, 5)
    assert isinstance(pickle.loads(pickle.dumps(Point(1, 5))), Point)
