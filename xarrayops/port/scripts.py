"""Scripts and notebooks as functions: each call executes the whole program, and returns its variables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any
from unittest import mock

from xarrayops.plugin.nested import is_array, leaves
from xarrayops.port.loading import importable, registered
from xarrayops.port.source import read
from xarrayops.port.source.modules import ModulePlace

_SIMPLE = (bool, int, float, complex, str, bytes, type(None))


def script(path: Path) -> Callable[[], dict[str, Any]]:
    """The function that executes a script as ``__main__``, or the code cells of a notebook in their order.

    It returns the variables that have arrays, numbers, texts, and lists, tuples and dicts of them.
    """
    source = read(path)
    code = compile(source.text, str(path.resolve()), "exec")

    def run() -> dict[str, Any]:
        with module_of(path) as variables:
            executed(code, variables)
        return {name: value for name, value in variables.items() if not name.startswith("_") and _is_compared(value)}

    run.__qualname__ = path.name
    return run


@contextmanager
def module_of(path: Path, name: str = "__main__") -> Iterator[dict[str, Any]]:
    """The variables of a new module for a file, which its code can import with the other modules of its program."""
    place = ModulePlace.of(path)
    module = ModuleType(name)
    module.__file__, module.__package__ = str(path), place.package
    with importable(place), mock.patch.object(sys, "argv", [str(path)]), registered(name, module):
        yield vars(module)


def executed(code: CodeType, variables: dict[str, Any]) -> None:
    """Execute a script, which may end with ``sys.exit(0)``."""
    try:
        exec(code, variables)
    except SystemExit as end:
        if end.code:
            raise


def _is_compared(value: Any) -> bool:
    def is_array_with_shape(each: Any) -> bool:
        return is_array(each) and isinstance(each.shape, tuple)  # the namespace numpy has both names, too

    return all(isinstance(each, _SIMPLE) or is_array_with_shape(each) for each in leaves(value))
