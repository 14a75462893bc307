"""The values of results and variables of any library, as NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops._host.compare import Value as Value
from xarrayops.plugin.nested import fill

NUMBERS = (bool, int, float, complex)
_array = np.array  # `rounding` replaces it in NumPy


def is_array(x: Any) -> bool:
    """Whether x is an array of any library, or one of NumPy's scalars. The namespace ``numpy`` has both names, too."""
    return isinstance(getattr(x, "shape", None), tuple) and hasattr(x, "dtype")


def value(x: Any, *, has_values: bool = True) -> Value:
    """A copy of the values of x."""
    if isinstance(x, NUMBERS):
        return Value("", (), _array(x))
    if isinstance(x, (np.ndarray, np.generic)):
        return Value(x.dtype.name, x.shape, _array(x, subok=False), "numpy")
    if not is_array(x):
        return Value("", (), x, is_numeric=False)
    backend = xo.backend(x)
    dtype = str(backend.functions["dtype_name"](x.dtype))
    if not has_values:
        return Value(dtype, tuple(map(int, x.shape)), None, backend.name)
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


def opened(tree: Any) -> Any:
    """A result with objects of users' classes, such as what ``fit`` returns, replaced by dicts of their attributes."""
    seen: set[int] = set()

    def open_(x: Any) -> Any:
        cls = type(x)
        is_comparable = not is_dataclass(cls) and any("__eq__" in vars(each) for each in cls.__mro__[:-1])
        if is_array(x) or is_comparable or not hasattr(x, "__dict__") or cls.__module__ == "builtins" or id(x) in seen:
            return x
        seen.add(id(x))
        return fill(dict(vars(x)), open_)

    return fill(tree, open_)


def first_line(error: BaseException) -> str:
    """The class of an error, and the first line of its message; only the message of an error that is no Exception."""
    line = next(iter(str(error).strip().splitlines()), "")
    return f"{type(error).__name__}: {line}" if isinstance(error, Exception) else line


def structure(tree: Any) -> Any:
    """The nesting that two results must share: lists count as tuples."""
    if isinstance(tree, dict):
        return {key: structure(each) for key, each in tree.items()}
    if isinstance(tree, (tuple, list)):
        return tuple(structure(each) for each in tree)
    return None
