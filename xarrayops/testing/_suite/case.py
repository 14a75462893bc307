"""The arguments of one call of a table, as NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

HostArray = np.ndarray[Any, Any]


@dataclass(frozen=True)
class NativeDtype:
    """A placeholder for the library's own dtype of this name."""

    name: str


@dataclass(frozen=True)
class Case:
    """The arguments of one call. Each NumPy array and `NativeDtype` is replaced by the library's array or dtype."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __str__(self) -> str:
        listed = [_show(a) for a in self.args] + [f"{name}={_show(value)}" for name, value in self.kwargs.items()]
        return f"({', '.join(listed)})"

    @property
    def arrays(self) -> list[HostArray]:
        """All arrays, including those in sequences."""
        return list(_arrays((self.args, self.kwargs)))

    @property
    def dtypes(self) -> set[str]:
        """The dtypes that the library must have for this call."""
        requested = self.kwargs.get("dtype")
        named = {requested.name if isinstance(requested, NativeDtype) else requested} - {None}
        return {str(name) for name in named} | {a.dtype.name for a in self.arrays}

    def filled(self, array: Callable[[HostArray], Any], dtype: Callable[[str], Any]) -> Case:
        """The case with every array and `NativeDtype` replaced by the results of the two functions."""

        def fill(item: Any) -> Any:
            if isinstance(item, np.ndarray):
                return array(item)
            if isinstance(item, NativeDtype):
                return dtype(item.name)
            return type(item)(map(fill, item)) if isinstance(item, (tuple, list)) else item

        return Case(fill(self.args), {name: fill(value) for name, value in self.kwargs.items()})


def call(*args: Any, **kwargs: Any) -> Case:
    """The case of a call with these arguments."""
    return Case(args, kwargs)


def _arrays(item: Any) -> Iterator[HostArray]:
    if isinstance(item, np.ndarray):
        yield item
    elif isinstance(item, dict):
        yield from _arrays(tuple(item.values()))
    elif isinstance(item, (tuple, list)):
        for member in item:
            yield from _arrays(member)


def _show(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name}{list(value.shape)}"
    if isinstance(value, (tuple, list)) and any(isinstance(v, np.ndarray) for v in value):
        return f"[{', '.join(map(_show, value))}]"
    return repr(value)
