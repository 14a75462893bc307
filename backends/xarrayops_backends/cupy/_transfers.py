"""Transfers: methods of CuPy's arrays that report them. CuPy itself refuses implicit copies to the host."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import cupy

from xarrayops.plugin import ReportingMethods

_PULLS = ("item", "__bool__", "__int__", "__float__", "__complex__", "__index__", "__format__")
_READS = ("get", "tolist")
_INDEXING = ("__getitem__", "nonzero")


def _kind(name: str, x: Any, *args: Any) -> str | None:
    """The kind of transfer or synchronisation of a call. A mask as an index determines a shape."""
    if name == "__getitem__":
        entries = args[0] if isinstance(args[0], tuple) else (args[0],)
        return "wait" if any(str(getattr(entry, "dtype", "")) == "bool" for entry in entries) else None
    return "transfer" if name in _READS else "wait"


_METHODS = ReportingMethods(cupy.ndarray, (*_PULLS, *_READS, *_INDEXING), _kind)


def crossings(report: Callable[..., None], /) -> AbstractContextManager[Any]:
    """Let the methods of arrays report, in all threads."""
    return _METHODS.reporting(report)
