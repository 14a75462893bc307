"""The loops that numba compiles, if numba is installed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


@cache
def loops(name: str) -> ModuleType | None:
    """The module of compiled loops with that name, such as ``"compact"``; None without numba.

    Compilation takes seconds, once per installation: numba caches the result on disk.
    """
    return import_module(f"xarrayops._host.sparse.loops_{name}") if find_spec("numba") else None
