"""at: an indexed update that reads the same on mutable and immutable arrays."""

from __future__ import annotations

from types import EllipsisType
from typing import Any

from xarrayops.dispatch import serving
from xarrayops.plugin import Array
from xarrayops.registry import SCALARS

_PLAIN = SCALARS | {slice, EllipsisType, type(None), list}
"""The classes of values and indices that belong to no library."""


def at(x: Array, /) -> Target:
    """Choose places of x to update: ``xo.at(x)[index].add(value)``.

    Use the result: it may be x itself, updated in place, or a new array.

    Parameters
    ----------
    x : array
        Any array.

    Returns
    -------
    Target
        Indexed, it offers ``set``, ``add``, ``multiply``, ``min`` and ``max``, each as ``f(value, /, *, copy=None)``:
        None may update in place, True never touches x, False raises where x cannot be updated in place.

    Raises
    ------
    MixedBackends
        The value or an index is an array of another library than x.
    Unsupported
        ``copy=False`` on an array that its library does not write (JAX, Dask, read-only NumPy).

    Notes
    -----
    Law: ``at(x)[i].add(v, copy=True)`` equals x with ``numpy.add.at(x, i, v)``: duplicate indices accumulate in add,
    multiply, min and max on every library. Which of several values a duplicate ``set`` keeps is unspecified, and so is
    what happens out of bounds.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.at(np.zeros(3))[np.asarray([0, 0, 2])].add(1.0)
    array([2., 0., 1.])
    """
    return Target(x)


class Target:
    """An array of which an index will choose places."""

    __slots__ = ("_x",)

    def __init__(self, x: Array) -> None:
        self._x = x

    def __getitem__(self, index: Any) -> Places:
        return Places(self._x, index)


class Places:
    """Chosen places of an array."""

    __slots__ = ("_index", "_x")

    def __init__(self, x: Array, index: Any) -> None:
        self._x = x
        self._index = index

    def _update(self, op: str, value: Any, copy: bool | None) -> Array:
        parts = [self._x, value, *(self._index if type(self._index) is tuple else (self._index,))]
        key = frozenset([type(part) for part in parts if type(part) not in _PLAIN])
        return serving("update", key)(self._x, self._index, op, value, copy=copy)

    def set(self, value: Array | complex, /, *, copy: bool | None = None) -> Array:
        """x with the places set to the value."""
        return self._update("set", value, copy)

    def add(self, value: Array | complex, /, *, copy: bool | None = None) -> Array:
        """x with the value added at the places."""
        return self._update("add", value, copy)

    def multiply(self, value: Array | complex, /, *, copy: bool | None = None) -> Array:
        """x with the places multiplied by the value."""
        return self._update("multiply", value, copy)

    def min(self, value: Array | complex, /, *, copy: bool | None = None) -> Array:
        """x with the places held down to at most the value."""
        return self._update("min", value, copy)

    def max(self, value: Array | complex, /, *, copy: bool | None = None) -> Array:
        """x with the places raised to at least the value."""
        return self._update("max", value, copy)
