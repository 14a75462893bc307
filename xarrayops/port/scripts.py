"""Scripts and notebooks as functions: each call executes the whole program, and returns its variables."""

from __future__ import annotations

import sys
from collections.abc import Callable
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
    place = ModulePlace.of(path)

    def run() -> dict[str, Any]:
        module = ModuleType("__main__")
        module.__file__ = str(path)
        with importable(place), mock.patch.object(sys, "argv", [str(path)]), registered("__main__", module):
            executed(code, vars(module))
        found = vars(module).items()
        return {name: value for name, value in found if not name.startswith("_") and _is_compared(value)}

    run.__qualname__ = path.name
    return run


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
