"""Nested lists and tuples: their members."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any


def leaves(obj: Any) -> list[Any]:
    """The members of nested sequences, in order; any other object is its own only member."""
    return [leaf for member in obj for leaf in leaves(member)] if isinstance(obj, (list, tuple)) else [obj]


def named_leaves(name: str, obj: Any, skipped: Container[Any]) -> Iterator[tuple[str, Any]]:
    """The members of nested sequences, each with a name for error messages, such as ``obj[0]``.

    Objects of the skipped classes are left out.
    """
    if isinstance(obj, (list, tuple)):
        for i, member in enumerate(obj):
            if type(member) not in skipped:
                yield from named_leaves(f"{name}[{i}]", member, skipped)
    elif type(obj) not in skipped:
        yield name, obj
