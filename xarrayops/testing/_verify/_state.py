"""The variables of a module that a function changes: lists, dicts, arrays and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin.nested import fill, leaves
from xarrayops.testing._verify._values import NUMBERS, is_array, structure

_LEAVES = (*NUMBERS, str, bytes, type(None), np.ndarray)


class State:
    """The variables of a module before a run."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        kept = {name: x for name, x in namespace.items() if not name.startswith("__") and _is_kept(x)}
        self._before = {name: (x, fill(x, _copied)) for name, x in kept.items()}

    def changed(self) -> dict[str, Any]:
        """The variables that have another value now."""
        now = {name: self._namespace.get(name) for name in self._before}
        return {name: x for name, x in now.items() if not _is_equal(x, self._before[name][1])}

    def now(self, names: Any) -> dict[str, Any]:
        """The values of variables."""
        return {name: self._namespace.get(name) for name in names}

    def restore(self) -> None:
        """Give the variables their values of before, so that no run sees another."""
        for name in self.changed():
            x, copy = self._before[name]
            if isinstance(x, np.ndarray):
                x[...] = copy
            elif isinstance(x, list):
                x[:] = copy
            elif isinstance(x, dict):
                x.clear()
                x.update(copy)
            self._namespace[name] = x


def _is_kept(x: Any) -> bool:
    if isinstance(x, (*_LEAVES, list, tuple, dict)):
        return all(isinstance(each, _LEAVES) for each in leaves(x))
    return False


def _copied(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x


def _is_equal(x: Any, y: Any) -> bool:
    if structure(x) != structure(y):
        return False
    return all(type(a) is type(b) and _same(a, b) for a, b in zip(leaves(x), leaves(y), strict=True))


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    return not is_array(a) and (a == b or a != a)
