"""Attributes of a module that are imported at their first use."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazy_attributes(contents: dict[str, Any], package: str, homes: dict[str, tuple[str, str]]) -> Callable[[str], Any]:
    """The function ``__getattr__`` of a module with the globals ``contents``.

    ``homes`` has, for each attribute, the module below ``package`` and the name there; the empty name means the module.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {contents['__name__']!r} has no attribute {name!r}")
        home, attribute = homes[name]
        module = import_module(f"{package}.{home}")
        contents[name] = found = getattr(module, attribute) if attribute else module
        return found

    return find
