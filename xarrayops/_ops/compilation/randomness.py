"""Detect draws from global generators, whose numbers would be constants of compiled code."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from xarrayops._core.backends import registry
from xarrayops._core.backends.registry import Backend


class Used:
    """The libraries whose global generators a call used."""

    def __init__(self) -> None:
        self.backends: list[Backend] = []
        self.is_python = False

    @property
    def is_any(self) -> bool:
        """Whether a generator was used."""
        return self.is_python or bool(self.backends)

    def foreign_to(self, engine: Backend | None) -> bool:
        """Whether a generator was used that does not belong to the compiling library."""
        return self.is_python or any(backend is not engine for backend in self.backends)

    def names(self) -> str:
        """The owners of the generators."""
        return ", ".join([*(backend.name for backend in self.backends), *(["Python"] if self.is_python else [])])


@contextmanager
def watched() -> Iterator[Used]:
    """Record which generators the block uses, and reset them, so that it does not change later numbers."""
    found = Used()
    before: list[tuple[Backend, Any, Callable[[], None]]] = []
    for backend in dict.fromkeys(registry.by_module.values()):
        state = backend.functions["random_state"]()
        if state is not None:
            before.append((backend, *state))
    python = random.getstate()
    try:
        yield found
    finally:
        if random.getstate() != python:
            found.is_python = True
            random.setstate(python)
        for backend, state, restore in before:
            if backend.functions["random_state"]()[0] != state:
                found.backends.append(backend)
                restore()
