"""The values of results and variables of any library, as NumPy arrays."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, MappingView
from itertools import islice
from types import FunctionType
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops._host.compare import Value as Value
from xarrayops.errors import XArrayOpsError
from xarrayops.plugin.nested import fill

NUMBERS = (bool, int, float, complex)
MOST_ITEMS = 10_000
"""How many items of an iterator are compared."""
_INSTALLED = ("site-packages", "dist-packages")
_OF_OBJECTS = "OSUT"
"""The kinds of NumPy's dtypes of objects and of text."""
_array = np.array  # `rounding` replaces it in NumPy


def is_installed(file: str) -> bool:
    """Whether a file belongs to an installed package."""
    return any(part in file for part in _INSTALLED)


def is_array(x: Any) -> bool:
    """Whether x is an array of any library, or one of NumPy's scalars. The namespace ``numpy`` has both names, too."""
    return isinstance(getattr(x, "shape", None), tuple) and hasattr(x, "dtype")


def value(x: Any, *, has_values: bool = True) -> Value:
    """A copy of the values of x."""
    if isinstance(x, (np.ndarray, np.generic)):
        library = "numpy" if isinstance(x, np.ndarray) else ""
        return Value(x.dtype.name, x.shape, _array(x, subok=False), library)
    is_large = isinstance(x, int) and abs(x) >= 2**63
    if isinstance(x, NUMBERS) and not is_large:
        return Value("", (), _array(x))
    if type(x).__name__.lower().endswith("dtype"):
        return Value("", (), str(x).rpartition(".")[2], is_numeric=False)
    if not is_array(x):
        return Value("", (), x, is_numeric=False)
    backend = xo.backend(x)
    dtype = str(backend.functions["dtype_name"](x.dtype))
    if not has_values:
        return Value(dtype, tuple(map(int, x.shape)), None, backend.name, device=str(xo.device(x)))
    data = _array(xo.convert(xo.compute(x), "numpy"))
    return Value(dtype, data.shape, data, backend.name)


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of nested tuples, lists and dicts, each with its path, such as ``[0]['mean']``."""
    if isinstance(tree, dict):
        for key in tree:
            yield from leaves(tree[key], f"{path}[{key!r}]")
    elif isinstance(tree, (tuple, list)):
        names = getattr(tree, "_fields", None)
        for i, each in enumerate(tree):
            yield from leaves(each, f"{path}.{names[i]}" if names else f"{path}[{i}]")
    else:
        yield path, tree


class Opened(dict[str, Any]):
    """The members of an object that is not a tuple, list or dict. ``of`` is the name of its class."""

    of = ""


def opened(tree: Any, *, exhausts: bool = True) -> Any:
    """A result whose objects, such as what ``fit`` returns, are replaced by their members.

    With ``exhausts`` iterators are exhausted, such as the generator that a function with ``yield`` returns.
    """
    seen: dict[int, Any] = {}

    def open_(x: Any) -> Any:
        members = _members(x, exhausts=exhausts)
        if members is None:
            return x
        if id(x) in seen:
            return f"{type(x).__qualname__} again"
        seen[id(x)] = x, members  # both live until the end, so that no other object has their identity
        found = Opened(fill(members, open_))
        found.of = type(x).__qualname__
        return found

    return fill(tree, open_)


def _members(x: Any, *, exhausts: bool) -> dict[str, Any] | None:
    """What an object consists of; None for what is compared as a whole."""
    if isinstance(x, np.ma.MaskedArray):
        return {"data": x.filled(x.dtype.type(0)), "mask": np.ma.getmaskarray(x)}
    if isinstance(x, np.matrix):
        return {"data": np.asarray(x)}
    if isinstance(x, (np.ndarray, np.generic)):
        if x.dtype.names:
            fields: Any = x
            return {name: fields[name] for name in x.dtype.names}
        return {"dtype": x.dtype.name, "items": x.tolist()} if x.dtype.kind in _OF_OBJECTS else None
    if is_array(x):
        return _parts(x)
    if isinstance(x, (deque, MappingView)) or (exhausts and isinstance(x, Iterator)):
        items: Any = x
        return {"items": list(islice(items, MOST_ITEMS))}
    return attributes(x)


def _parts(x: Any) -> dict[str, Any] | None:
    """The parts of a sparse array; None for a dense one."""
    try:
        return xo.sparse.parts(x)._asdict()
    except (TypeError, XArrayOpsError):
        return None


def attributes(x: Any) -> dict[str, Any] | None:
    """The attributes of an object of a user's class, or of a class that has no comparison of its own."""
    cls = type(x)
    if isinstance(x, type) or cls.__module__ == "builtins" or cls.__module__.partition(".")[0] == "xarrayops":
        return None
    module = sys.modules.get(cls.__module__)
    if is_installed(getattr(module, "__file__", None) or "") and any(
        "__eq__" in vars(each) for each in cls.__mro__[:-1]
    ):
        return None
    slots = [name for each in cls.__mro__ for name in getattr(each, "__slots__", ()) if hasattr(x, name)]
    found = getattr(x, "__dict__", None) or {}
    return {**{name: getattr(x, name) for name in slots if not name.startswith("__")}, **found} or None


def class_difference(want: Value, got: Value) -> str:
    """How the classes of two results differ, of numbers of Python and of objects; empty if they do not."""
    if not (want.is_numeric or got.is_numeric):
        return "" if _is_same(want.data, got.data) else f"{got} where the reference has {want}, which is not equal"
    if want.is_numeric and got.is_numeric and _class_of(want) != _class_of(got):
        return f"{_class_of(got)} where the reference has {_class_of(want)}"
    return ""


def _class_of(x: Value) -> str:
    if x.dtype:
        return "an array or a scalar of a library"
    return {"b": "bool", "f": "float", "c": "complex"}.get(x.data.dtype.kind, "int")


def _is_same(want: Any, got: Any) -> bool:
    """Whether two objects are the same. Functions and classes of the same name are, but for functions in functions."""
    cls = type(want)
    if cls.__qualname__ != type(got).__qualname__:
        return False
    if isinstance(want, (type, FunctionType)):
        return want.__qualname__ == got.__qualname__ and "<" not in want.__qualname__
    if cls.__module__.partition(".")[0] == "xarrayops":  # a generator
        return True
    try:
        return bool(np.all(want == got))
    except Exception:  # objects may raise anything
        return False


def first_line(error: BaseException) -> str:
    """The class of an error, and the first line of its message; without the class if it is not an Exception."""
    line = next(iter(str(error).strip().splitlines()), "")
    return f"{type(error).__name__}: {line}" if isinstance(error, Exception) else line


def structure(tree: Any) -> str:
    """The nesting and the classes that two results must share."""
    if isinstance(tree, Opened):
        return f"{tree.of}({', '.join(f'{key}={structure(tree[key])}' for key in sorted(tree))})"
    if isinstance(tree, dict):
        return f"{{{', '.join(f'{key!r}: {structure(tree[key])}' for key in sorted(tree, key=repr))}}}"
    if not isinstance(tree, (tuple, list)):
        return "."
    names = getattr(tree, "_fields", None)
    members = [structure(each) for each in tree]
    inner = ", ".join(map("=".join, zip(names, members, strict=True)) if names else members)
    return f"[{inner}]" if isinstance(tree, list) else f"({inner})"
