"""Classes of pure states, such as that of `loss_scale`, which the transformations of a library must know."""

from __future__ import annotations

from xarrayops._core.backends import registry
from xarrayops._core.backends.registry import Backend

_states: list[tuple[type, tuple[str, ...], tuple[str, ...]]] = []


def add(cls: type, data: tuple[str, ...], constants: tuple[str, ...]) -> None:
    """Register a class with the loaded libraries, and with others as they load.

    For the arguments see the hook `register_state`.
    """
    _states.append((cls, data, constants))
    for backend in list(registry.by_module.values()):
        backend.functions["register_state"](cls, data, constants)


def _register(backend: Backend) -> None:
    for state in _states:
        backend.functions["register_state"](*state)


registry.on_load.append(_register)
