"""Modes in compiled code: libraries that compile functions keep the code of each mode separately."""

from __future__ import annotations

from contextlib import ExitStack

from xarrayops._core.backends import registry
from xarrayops._core.backends.registry import Backend

_carriers: list[Backend] = []
"""The loaded backends that define `carry_mode`."""


def _remember(backend: Backend) -> None:
    if backend.own_hook("carry_mode") is not None:
        _carriers.append(backend)


registry.on_load.append(_remember)


def carry(name: str, key: str) -> ExitStack:
    """Open the contexts in which the imported libraries compile functions for a mode with this key.

    ``name`` is the kind of mode, such as ``"xo.use"``.
    """
    registry.load_imported()
    with ExitStack() as contexts:
        for backend in _carriers:
            contexts.enter_context(backend.functions["carry_mode"](name, key))
        return contexts.pop_all()


def require_carried(name: str, key: str) -> None:
    """Raise if a library is compiling a function for another mode: the mode would become part of its code."""
    for backend in _carriers:
        if not backend.functions["carries_mode"](name, key):
            raise RuntimeError(
                f"{name} would become a constant of a function that {backend.name} compiles now, because the block was "
                f"opened before {backend.name} was imported, or in another task. Instead: import {backend.name} before "
                f"the block, or open the block inside the function."
            )
