"""Blocks in which Python calls a function at each call and line of the program."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any


@contextmanager
def hooked(hook: Callable[..., Any], name: str = "trace", module: ModuleType = sys) -> Iterator[None]:
    """A block with a hook of ``sys.settrace``, or of ``sys.setprofile`` by the name "profile".

    With the module `threading`, the hook is for the threads that start in the block.
    """
    install = getattr(module, f"set{name}")
    before = getattr(module, f"get{name}")()
    install(hook)
    try:
        yield
    finally:
        install(before)
