"""The loops that numba compiles, if numba is installed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


@cache
def loops(package: str) -> ModuleType | None:
    """The module of the compiled loops of a package of `xarrayops._host`; None without numba.

    Compilation takes seconds, once per installation: numba caches the result on disk.
    """
    return import_module(f"xarrayops._host.{package}.loops") if find_spec("numba") else None
