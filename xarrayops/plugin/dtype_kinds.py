"""The kinds that `isdtype` accepts."""

from __future__ import annotations

from typing import Any

from xarrayops.plugin.dtypes import DTYPE_NAMES

KINDS = ("bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric")
"""The kinds of the standard."""
_NAMES_OF_PYTHON = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
"""The dtypes of Python's classes of numbers, as in NumPy."""
_KINDS_OF_NUMPY = {
    "number": '"numeric"',
    "integer": '"integral"',
    "signedinteger": '"signed integer"',
    "unsignedinteger": '"unsigned integer"',
    "inexact": '("real floating", "complex floating")',
    "floating": '"real floating"',
    "complexfloating": '"complex floating"',
}
"""What to write for NumPy's abstract classes."""
_EXAMPLE = 'a kind such as "real floating"'


def checked_kind(kind: Any) -> Any:
    """A kind of the standard, a dtype, or its name; the name of the dtype for a class of Python's numbers.

    Raises
    ------
    ValueError
        No kind or dtype has the name.
    TypeError
        The kind is not a name, a dtype, or a class of Python's numbers.
    """
    if isinstance(kind, str):
        if kind in KINDS or kind in DTYPE_NAMES:
            return kind
        raise ValueError(f"xo.isdtype: {str(kind)!r} is neither a kind nor a dtype. The kinds are {', '.join(KINDS)}")
    cls = kind if isinstance(kind, type) else type(kind)
    if cls is kind and kind in _NAMES_OF_PYTHON:
        return _NAMES_OF_PYTHON[kind]
    instead = _KINDS_OF_NUMPY.get(cls.__name__) if cls is kind and cls.__module__ == "numpy" else None
    if instead is not None or cls.__module__ == "builtins":
        raise TypeError(
            f"xo.isdtype: the kind must be a dtype or a string, or a tuple of these, not {kind!r}. "
            f"Instead: {instead or _EXAMPLE}"
        )
    return kind
