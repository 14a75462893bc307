"""The loops that numba compiles, where numba is installed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


@cache
def loops(name: str) -> ModuleType | None:
    """The module of compiled loops of that name, such as ``"compact"``; None without numba.

    To compile them takes seconds, once for each installation: they are kept on disk.
    """
    return import_module(f"xarrayops._host.sparse.loops_{name}") if find_spec("numba") else None
