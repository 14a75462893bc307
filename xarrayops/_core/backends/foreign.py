"""Objects that are not arrays of a known library, such as columns of pandas: how to convert them, for errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

TAKEN = "a number, a nested list or tuple of numbers, a buffer or an array"
"""What xo.asarray takes."""


def has_buffer(obj: Any) -> bool:
    """Whether an object gives its memory by Python's buffer protocol."""
    try:
        memoryview(obj)
    except TypeError:
        return False
    return True


def taken_by_asarray(name: str, obj: Any) -> str | None:
    """What to give to xo.asarray for an object with this name; None if no such call would work."""
    cls = type(obj)
    if isinstance(obj, (type, dict, set, frozenset, str, bytes)) or _holds_other_values(obj) or _is_ragged(obj):
        return None
    if isinstance(obj, (list, tuple, int, float, complex)) or hasattr(obj, "__array_interface__") or has_buffer(obj):
        return name
    if hasattr(cls, "__array__"):  # before __dlpack__, which Arrow refuses for arrays with nulls
        return f"numpy.asarray({name})"
    if isinstance(obj, Sequence):
        return f"list({name})"
    return name if hasattr(cls, "__dlpack__") else None


def _holds_other_values(obj: Any) -> bool:
    """Whether an object with ``__array__`` holds text, dates or objects. Only a part without elements is converted."""
    if not hasattr(type(obj), "__array__"):
        return False
    import numpy

    try:
        return numpy.asarray(obj[:0]).dtype.kind not in "biufcV"  # V: the dtypes of ml_dtypes
    except Exception:  # an object of another kind, which is converted as a whole
        return False


def _is_ragged(obj: Any) -> bool:
    """Whether sequences in a nested list or tuple have different lengths or depths."""
    if not isinstance(obj, (list, tuple)):
        return False
    inner = [each for each in obj if isinstance(each, (list, tuple))]
    if not inner:
        return False
    return len(inner) < len(obj) or len({*map(len, inner)}) > 1 or _is_ragged([leaf for each in inner for leaf in each])


def fix(name: str, obj: Any, like: str = "") -> str:
    """The end of an error about an object where an array is needed: the call that makes one, or why there is none.

    ``like`` follows the argument of xo.asarray.
    """
    taken = taken_by_asarray(name, obj)
    if taken is not None:
        return f"Instead: xo.asarray({taken}{like})"
    if _holds_other_values(obj):
        return "Its elements are not numbers. Instead: select the numeric elements or convert the others first"
    if _is_ragged(obj):
        return "Its nested sequences have different lengths. Instead: pad them to one length"
    return f"xo.asarray takes {TAKEN}"
