"""The variables of a module that a function changes: lists, dicts, arrays and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin.arrays import Record
from xarrayops.plugin.nested import fill, leaves
from xarrayops.testing._verify._values import NUMBERS, is_array, structure

_LEAVES = (*NUMBERS, str, bytes, type(None), np.ndarray)


class _Kept(Record):
    """An object, with the objects in it, or a copy of its elements."""

    found: Any
    parts: Any


class State:
    """The variables of a module before a run."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._before = {name: fill(x, _copied) for name, x in self._variables().items()}
        self._kept = {name: _kept(x) for name, x in self._variables().items()}

    def _variables(self) -> dict[str, Any]:
        return {name: x for name, x in self._namespace.items() if not name.startswith("__") and _is_simple(x)}

    def changed(self) -> dict[str, Any]:
        """The variables that are new or have another value now."""
        new = {name: x for name, x in self._variables().items() if name not in self._before}
        now = {name: self._namespace.get(name) for name in self._before}
        return {name: x for name, x in now.items() if not _is_equal(x, self._before[name])} | new

    def restore(self) -> None:
        """Give the variables their values of before, so that no run sees another."""
        for name in self.changed():
            if name in self._kept:
                self._namespace[name] = _restored(self._kept[name])
            else:
                del self._namespace[name]


def _is_simple(x: Any) -> bool:
    return isinstance(x, (*_LEAVES, list, tuple, dict)) and all(isinstance(each, _LEAVES) for each in leaves(x))


def _copied(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x


def _kept(x: Any) -> _Kept:
    if isinstance(x, dict):
        return _Kept(x, {key: _kept(each) for key, each in x.items()})
    return _Kept(x, [_kept(each) for each in x] if isinstance(x, (list, tuple)) else _copied(x))


def _restored(kept: _Kept) -> Any:
    """The object with its elements of before; a copy of an array that cannot be written any more."""
    x, parts = kept
    if isinstance(x, dict):
        x.clear()
        x.update({key: _restored(each) for key, each in parts.items()})
    elif isinstance(x, list):
        x[:] = map(_restored, parts)
    elif isinstance(x, tuple):
        for each in parts:
            _restored(each)
    elif isinstance(x, np.ndarray):
        if x.shape != parts.shape or x.dtype != parts.dtype or not x.flags.writeable:
            return parts
        x[...] = parts
    return x


def _is_equal(x: Any, y: Any) -> bool:
    pairs = zip(leaves(x), leaves(y), strict=True)
    return structure(x) == structure(y) and all(type(a) is type(b) and _same(a, b) for a, b in pairs)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    return not is_array(a) and (a == b or (a != a and b != b))
