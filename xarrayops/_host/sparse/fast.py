"""The loops that numba compiles, if numba is installed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


@cache
def loops() -> ModuleType | None:
    """The module of compiled loops; None without numba.

    Compilation takes seconds, once per installation: numba caches the result on disk.
    """
    return import_module("xarrayops._host.sparse.loops") if find_spec("numba") else None
